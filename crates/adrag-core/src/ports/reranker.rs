//! Scoring passages against a question.

use super::PortResult;
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

/// Scores pairs of question and passage.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Name shown in the tracker, e.g. `embedder all-MiniLM-L6-v2`.
    fn name(&self) -> String;

    /// One score a passage, in order; higher is better, comparable within one call.
    async fn score(
        &self,
        question: &str,
        passages: &[String],
        cancel: &CancellationToken,
    ) -> PortResult<Vec<f32>>;
}
