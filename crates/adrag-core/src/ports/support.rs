//! Whether a text says what a sentence claims.

use super::PortResult;
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

/// A sentence and a text that may say it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SupportPair {
    /// What is claimed.
    pub claim: String,
    /// What is read: a few sentences of a passage.
    pub evidence: String,
}

/// Checks claims against evidence.
#[async_trait]
pub trait SupportModel: Send + Sync {
    /// Name shown in the tracker, e.g. `adrag-judge`.
    fn name(&self) -> String;

    /// Whether a claim is to be given with its question in front: question, space, sentence.
    fn wants_question(&self) -> bool {
        false
    }

    /// The probability that each pair's evidence says its claim, in order, 0 to 1.
    async fn support(&self, pairs: &[SupportPair], cancel: &CancellationToken) -> PortResult<Vec<f32>>;
}
