//! A reranker that counts shared words, and the suite every reranker passes.

use crate::ports::{PortError, PortResult, Reranker};
use async_trait::async_trait;
use std::collections::HashSet;
use std::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// Scores a passage by the share of the question's words it holds.
#[derive(Default)]
pub struct FakeReranker {
    fault: Mutex<Option<PortError>>,
}

impl FakeReranker {
    /// The next call fails.
    pub fn fail_next(&self, error: PortError) {
        *self.fault.lock().unwrap() = Some(error);
    }
}

#[async_trait]
impl Reranker for FakeReranker {
    fn name(&self) -> String {
        "shared words".to_owned()
    }

    async fn score(
        &self,
        question: &str,
        passages: &[String],
        cancel: &CancellationToken,
    ) -> PortResult<Vec<f32>> {
        if cancel.is_cancelled() {
            return Err(PortError::cancelled());
        }
        if let Some(error) = self.fault.lock().unwrap().take() {
            return Err(error);
        }
        let asked = words(question);
        Ok(passages
            .iter()
            .map(|passage| asked.intersection(&words(passage)).count() as f32 / asked.len().max(1) as f32)
            .collect())
    }
}

fn words(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 1)
        .map(str::to_lowercase)
        .collect()
}

/// Every reranker: one score a passage in order, the passage that answers above one that does not, and a cancelled
/// call says so.
pub async fn conformance(reranker: &dyn Reranker) {
    let cancel = CancellationToken::new();
    let passages = [
        "The harbour was closed on Monday because of ice.",
        "Seal kit SK-131-A is kept in bin C-04. It fits the pump.",
        "",
    ]
    .map(str::to_owned);
    let scores = reranker
        .score("In which bin is the seal kit kept?", &passages, &cancel)
        .await
        .unwrap();
    assert_eq!(scores.len(), 3, "one score a passage");
    assert!(
        scores.iter().all(|score| (0.0..=1.0).contains(score)),
        "scores lie between 0 and 1"
    );
    assert!(
        scores[1] > scores[0],
        "the passage that answers is above the one that does not"
    );
    assert!(reranker.score("q", &[], &cancel).await.unwrap().is_empty());
    cancel.cancel();
    assert!(
        reranker
            .score("q", &passages, &cancel)
            .await
            .unwrap_err()
            .is_cancelled()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_fake_conforms() {
        conformance(&FakeReranker::default()).await;
    }
}
