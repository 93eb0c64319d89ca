//! Scoring passages against a question.

use super::PortResult;
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

/// Scores pairs of question and passage.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Name shown in the tracker, e.g. `adrag-judge`.
    fn name(&self) -> String;

    /// The probability that each passage helps to answer the question, in order, 0 to 1.
    async fn score(
        &self,
        question: &str,
        passages: &[String],
        cancel: &CancellationToken,
    ) -> PortResult<Vec<f32>>;
}
