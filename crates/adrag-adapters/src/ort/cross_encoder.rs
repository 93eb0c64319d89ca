//! Cross-encoders: models that read two texts together and say one thing of the pair.
//!
//! One adapter for three shapes: our judge (two named outputs, a logit a pair each), MS MARCO rerankers (one logit) and
//! NLI models (a logit a class).

use super::batch::{Row, by_length, inputs};
use super::runtime::open;
use super::tokenizer::WordPieces;
use adrag_contract::ErrorCode;
use adrag_core::ports::{PortError, PortResult, Reranker, SupportModel, SupportPair};
use async_trait::async_trait;
use ort::session::Session;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Tokens of the first text that are read; the second has the rest of the room.
const FIRST_TOKENS: usize = 96;

/// How an output becomes a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// One logit a pair: `sigmoid(slope * logit + bias)`.
    Logit {
        /// Factor of the logit.
        slope: f32,
        /// Added to it.
        bias: f32,
    },
    /// One logit a class: the softmax share of this class.
    Class(usize),
}

impl Reading {
    /// A logit as the model gives it.
    pub const PLAIN: Self = Self::Logit {
        slope: 1.0,
        bias: 0.0,
    };

    fn probability(self, logits: &[f32]) -> Option<f32> {
        match (self, logits) {
            (Self::Logit { slope, bias }, [logit]) => Some(1.0 / (1.0 + (-(slope * logit + bias)).exp())),
            (Self::Class(class), logits) if class < logits.len() && logits.len() > 1 => {
                let most = logits.iter().copied().fold(f32::MIN, f32::max);
                let sum: f32 = logits.iter().map(|logit| (logit - most).exp()).sum();
                Some((logits[class] - most).exp() / sum)
            }
            _ => None,
        }
    }
}

/// One of a model's outputs and how it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Name of the output.
    pub output: String,
    /// How it becomes a probability.
    pub reading: Reading,
}

/// A model that reads pairs.
pub struct CrossEncoder {
    tokenizer: WordPieces,
    session: Mutex<Session>,
    max_tokens: usize,
    takes_types: bool,
}

impl CrossEncoder {
    /// Opens a model.
    ///
    /// # Errors
    /// When the runtime or the model is missing or damaged.
    pub fn open(runtime: &Path, model: &Path, tokenizer: WordPieces, max_tokens: usize) -> PortResult<Self> {
        let session = open(runtime, model)?;
        let takes_types = session
            .inputs()
            .iter()
            .any(|input| input.name() == "token_type_ids");
        Ok(Self {
            tokenizer,
            session: Mutex::new(session),
            max_tokens,
            takes_types,
        })
    }

    /// One pair through a head proves that the model is what it should be.
    fn prove(&self, head: &Head) -> PortResult<()> {
        let cancel = CancellationToken::new();
        self.read(&[("adRAG".to_owned(), "adRAG".to_owned())], head, &cancel)
            .map(drop)
    }

    fn read(
        &self,
        pairs: &[(String, String)],
        head: &Head,
        cancel: &CancellationToken,
    ) -> PortResult<Vec<f32>> {
        let rows: Vec<Row> = pairs
            .iter()
            .map(|(first, second)| {
                self.tokenizer
                    .encode_pair(first, second, FIRST_TOKENS, self.max_tokens)
            })
            .collect::<PortResult<_>>()?;
        let mut scores = vec![0.0; rows.len()];
        for batch in by_length(&rows) {
            if cancel.is_cancelled() {
                return Err(PortError::cancelled());
            }
            let of_batch: Vec<&Row> = batch.iter().map(|at| &rows[*at]).collect();
            for (at, score) in batch.iter().zip(self.run(&of_batch, head)?) {
                scores[*at] = score;
            }
        }
        Ok(scores)
    }

    fn run(&self, rows: &[&Row], head: &Head) -> PortResult<Vec<f32>> {
        let failed = |error: ort::Error| {
            PortError::permanent(ErrorCode::ModelMissing, format!("the model failed: {error}"))
        };
        let inputs = inputs(rows, self.takes_types, failed)?;
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session.run(inputs).map_err(failed)?;
        let wrong = |what: String| {
            PortError::permanent(
                ErrorCode::ModelMissing,
                format!("the model is of another kind: {what}"),
            )
        };
        let output = outputs
            .get(&head.output)
            .ok_or_else(|| wrong(format!("it has no output `{}`", head.output)))?;
        let (shape, values) = output.try_extract_tensor::<f32>().map_err(failed)?;
        let classes = values.len() / rows.len().max(1);
        let scores: Option<Vec<f32>> = values
            .chunks_exact(classes.max(1))
            .map(|logits| head.reading.probability(logits))
            .collect();
        scores
            .filter(|scores| scores.len() == rows.len() && scores.iter().all(|score| score.is_finite()))
            .ok_or_else(|| wrong(format!("`{}` has the shape {shape:?}", head.output)))
    }
}

/// Runs the reading of pairs beside the asynchronous work.
async fn read(
    encoder: &Arc<CrossEncoder>,
    pairs: Vec<(String, String)>,
    head: &Head,
    cancel: &CancellationToken,
) -> PortResult<Vec<f32>> {
    if cancel.is_cancelled() {
        return Err(PortError::cancelled());
    }
    let (encoder, head, cancel) = (encoder.clone(), head.clone(), cancel.clone());
    tokio::task::spawn_blocking(move || encoder.read(&pairs, &head, &cancel))
        .await
        .map_err(|error| {
            PortError::permanent(ErrorCode::Internal, format!("the model broke down: {error}"))
        })?
}

/// A cross-encoder as a reranker.
pub struct OrtReranker {
    name: String,
    encoder: Arc<CrossEncoder>,
    head: Head,
}

impl OrtReranker {
    /// Over a head for relevance.
    ///
    /// # Errors
    /// When the model has no such head.
    pub fn new(name: &str, encoder: Arc<CrossEncoder>, head: Head) -> PortResult<Self> {
        encoder.prove(&head)?;
        Ok(Self {
            name: name.to_owned(),
            encoder,
            head,
        })
    }
}

#[async_trait]
impl Reranker for OrtReranker {
    fn name(&self) -> String {
        self.name.clone()
    }

    async fn score(
        &self,
        question: &str,
        passages: &[String],
        cancel: &CancellationToken,
    ) -> PortResult<Vec<f32>> {
        let pairs = passages
            .iter()
            .map(|passage| (question.to_owned(), passage.clone()))
            .collect();
        read(&self.encoder, pairs, &self.head, cancel).await
    }
}

/// How a support model wants its pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairForm {
    /// The evidence comes first: NLI models read premise and hypothesis.
    pub evidence_first: bool,
    /// The claim carries its question in front.
    pub with_question: bool,
}

/// A cross-encoder as a support model.
pub struct OrtSupport {
    name: String,
    encoder: Arc<CrossEncoder>,
    head: Head,
    form: PairForm,
}

impl OrtSupport {
    /// Over a head for support.
    ///
    /// # Errors
    /// When the model has no such head.
    pub fn new(name: &str, encoder: Arc<CrossEncoder>, head: Head, form: PairForm) -> PortResult<Self> {
        encoder.prove(&head)?;
        Ok(Self {
            name: name.to_owned(),
            encoder,
            head,
            form,
        })
    }
}

#[async_trait]
impl SupportModel for OrtSupport {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn wants_question(&self) -> bool {
        self.form.with_question
    }

    async fn support(&self, pairs: &[SupportPair], cancel: &CancellationToken) -> PortResult<Vec<f32>> {
        let pairs = pairs
            .iter()
            .map(|pair| {
                let (claim, evidence) = (pair.claim.clone(), pair.evidence.clone());
                if self.form.evidence_first {
                    (evidence, claim)
                } else {
                    (claim, evidence)
                }
            })
            .collect();
        read(&self.encoder, pairs, &self.head, cancel).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logits_become_probabilities() {
        let calibrated = Reading::Logit {
            slope: 2.0,
            bias: -1.0,
        };
        assert_eq!(calibrated.probability(&[0.5]), Some(0.5));
        assert_eq!(Reading::PLAIN.probability(&[0.0]), Some(0.5));
        let thirds = Reading::Class(1).probability(&[4.0, 4.0, 4.0]);
        assert!(thirds.is_some_and(|share| (share - 1.0 / 3.0).abs() < 1e-6));
        assert_eq!(Reading::Class(0).probability(&[f32::MAX, 0.0]), Some(1.0));
    }

    #[test]
    fn another_number_of_logits_is_another_kind_of_model() {
        assert_eq!(Reading::PLAIN.probability(&[0.0, 1.0]), None);
        assert_eq!(Reading::Class(3).probability(&[0.0, 1.0, 2.0]), None);
        assert_eq!(Reading::Class(0).probability(&[1.0]), None);
    }
}
