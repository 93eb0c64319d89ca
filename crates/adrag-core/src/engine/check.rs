//! Checking a text against passages, without asking or searching anything.

use super::Engine;
use crate::answer::check_answer;
use adrag_contract::{AppError, Claim, ErrorCode, Grounding};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

/// A text and what it is to stand on. Field names are a contract with scripts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct CheckRequest {
    /// The question it answers; may be empty.
    #[serde(default)]
    pub question: String,
    /// The text. A sentence with `[n]` is checked against passage `n`, one without against all.
    pub answer: String,
    /// The passages.
    pub passages: Vec<String>,
}

/// What the check found. Field names are a contract with scripts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckReply {
    /// The sentences, in order.
    pub claims: Vec<Claim>,
    /// Whether the text stands on the passages.
    pub grounding: Grounding,
    /// Probability that it does, 0 to 1; absent when nothing could be checked.
    pub confidence: Option<f32>,
    /// What checked.
    pub by: String,
}

impl Engine {
    /// Checks every sentence of a text against passages.
    ///
    /// # Errors
    /// When the text is empty, no model is there, or it fails.
    pub async fn check(&self, request: &CheckRequest) -> Result<CheckReply, AppError> {
        if request.answer.trim().is_empty() {
            return Err(AppError::new(
                ErrorCode::InvalidRequest,
                "the text to check is empty",
            ));
        }
        let Some(model) = &self.ports.support else {
            return Err(
                AppError::new(ErrorCode::ModelMissing, "there is no model that could check")
                    .with_hint("run `cargo xtask setup`, or see `adrag doctor`"),
            );
        };
        let cancel = CancellationToken::new();
        let (claims, grounding) = check_answer(
            model.as_ref(),
            &request.question,
            &request.answer,
            &request.passages,
            &cancel,
        )
        .await?;
        let support: Vec<f32> = claims.iter().filter_map(|claim| claim.support).collect();
        Ok(CheckReply {
            confidence: self.ports.fold.of(&support),
            by: model.name(),
            claims,
            grounding,
        })
    }
}
