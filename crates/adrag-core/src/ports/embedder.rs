//! Vectors of texts, and counting in the same model's tokens.

use super::PortResult;
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

/// What an embedder is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbedderInfo {
    /// Name of the model.
    pub model: String,
    /// Name plus checksum of the weights and prefixes: vectors of two fingerprints never mix.
    pub fingerprint: String,
    /// Components of a vector.
    pub dim: usize,
    /// Tokens read of a text, special tokens included; the rest is cut.
    pub max_tokens: usize,
}

/// Whether a text asks or answers; some models want a different prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbedRole {
    /// A question.
    Query,
    /// A passage of a document.
    Passage,
}

/// Turns texts into vectors of unit length.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// What it is.
    fn info(&self) -> &EmbedderInfo;

    /// One vector a text, in order.
    async fn embed(
        &self,
        texts: Vec<String>,
        role: EmbedRole,
        cancel: &CancellationToken,
    ) -> PortResult<Vec<Vec<f32>>>;
}

/// Counts text in model tokens.
pub trait Tokenizer: Send + Sync {
    /// Tokens of a text, without special tokens. Text that looks like a special token counts as plain text.
    fn count(&self, text: &str) -> usize;
}
