//! A support model that counts shared words, and the suite every support model passes.

use crate::ports::{PortError, PortResult, SupportModel, SupportPair};
use async_trait::async_trait;
use std::collections::HashSet;
use std::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// Supports a claim by the share of its words that the evidence holds.
#[derive(Default)]
pub struct FakeSupport {
    fault: Mutex<Option<PortError>>,
}

impl FakeSupport {
    /// Every call from now on fails.
    pub fn fail(&self, error: PortError) {
        *self.fault.lock().unwrap() = Some(error);
    }
}

#[async_trait]
impl SupportModel for FakeSupport {
    fn name(&self) -> String {
        "shared words".to_owned()
    }

    async fn support(&self, pairs: &[SupportPair], cancel: &CancellationToken) -> PortResult<Vec<f32>> {
        if cancel.is_cancelled() {
            return Err(PortError::cancelled());
        }
        if let Some(error) = self.fault.lock().unwrap().clone() {
            return Err(error);
        }
        let share = |pair: &SupportPair| {
            let claimed = words(&pair.claim);
            claimed.intersection(&words(&pair.evidence)).count() as f32 / claimed.len().max(1) as f32
        };
        Ok(pairs.iter().map(share).collect())
    }
}

fn words(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Every support model: one probability a pair in order, a claim that is said above one that is not, and a cancelled
/// call says so.
pub async fn conformance(model: &dyn SupportModel) {
    let cancel = CancellationToken::new();
    let said = "Seal kit SK-131-A is kept in bin C-04.";
    let pair = |evidence: &str| SupportPair {
        claim: said.to_owned(),
        evidence: evidence.to_owned(),
    };
    let pairs = [
        pair("The harbour was closed on Monday because of ice."),
        pair("Seal kit SK-131-A is kept in bin C-04. It fits the pump."),
        pair(""),
    ];
    let support = model.support(&pairs, &cancel).await.unwrap();
    assert_eq!(support.len(), 3, "one probability a pair");
    assert!(
        support.iter().all(|share| (0.0..=1.0).contains(share)),
        "probabilities lie between 0 and 1"
    );
    assert!(support[1] > support[0], "what is said is above what is not");
    assert!(model.support(&[], &cancel).await.unwrap().is_empty());
    cancel.cancel();
    assert!(model.support(&pairs, &cancel).await.unwrap_err().is_cancelled());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_fake_conforms() {
        conformance(&FakeSupport::default()).await;
    }
}
