//! Sentence embeddings: a BERT encoder, mean pooling over the tokens, unit length.
//!
//! Source of the pooling: Reimers and Gurevych, Sentence-BERT, EMNLP 2019; the model card of all-MiniLM-L6-v2.

use super::batch::{Row, by_length, inputs};
use super::runtime::open;
use super::tokenizer::WordPieces;
use adrag_contract::ErrorCode;
use adrag_core::ports::{EmbedRole, Embedder, EmbedderInfo, PortError, PortResult};
use async_trait::async_trait;
use ort::session::Session;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// An embedder on ONNX Runtime.
pub struct OrtEmbedder {
    info: EmbedderInfo,
    model: Arc<Model>,
}

struct Model {
    tokenizer: Arc<WordPieces>,
    session: Mutex<Session>,
    dim: usize,
    max_tokens: usize,
    takes_types: bool,
}

impl OrtEmbedder {
    /// Opens a model. `name` and `checksum` make up its fingerprint.
    ///
    /// # Errors
    /// When the runtime or the model is missing, damaged, or not an encoder of this kind.
    pub fn open(
        runtime: &Path,
        model: &Path,
        tokenizer: Arc<WordPieces>,
        name: &str,
        checksum: &str,
        max_tokens: usize,
    ) -> PortResult<Self> {
        let session = open(runtime, model)?;
        let takes_types = session
            .inputs()
            .iter()
            .any(|input| input.name() == "token_type_ids");
        let mut opened = Model {
            tokenizer,
            session: Mutex::new(session),
            dim: 0,
            max_tokens,
            takes_types,
        };
        // One text through the model proves that it is what it should be, and tells its dimension.
        let probe = opened.tokenizer.encode("adRAG", max_tokens)?;
        opened.dim = opened.run(&[&probe])?.first().map_or(0, Vec::len);
        Ok(Self {
            info: EmbedderInfo {
                model: name.to_owned(),
                fingerprint: format!("{name}:{}:mean", checksum.get(..16).unwrap_or(checksum)),
                dim: opened.dim,
                max_tokens,
            },
            model: Arc::new(opened),
        })
    }
}

#[async_trait]
impl Embedder for OrtEmbedder {
    fn info(&self) -> &EmbedderInfo {
        &self.info
    }

    async fn embed(
        &self,
        texts: Vec<String>,
        _role: EmbedRole,
        cancel: &CancellationToken,
    ) -> PortResult<Vec<Vec<f32>>> {
        if cancel.is_cancelled() {
            return Err(PortError::cancelled());
        }
        let (model, cancel) = (self.model.clone(), cancel.clone());
        tokio::task::spawn_blocking(move || model.embed(&texts, &cancel))
            .await
            .map_err(|error| {
                PortError::permanent(ErrorCode::Internal, format!("the embedder broke down: {error}"))
            })?
    }
}

impl Model {
    /// One vector a text, in the order given.
    fn embed(&self, texts: &[String], cancel: &CancellationToken) -> PortResult<Vec<Vec<f32>>> {
        let rows: Vec<Row> = texts
            .iter()
            .map(|text| self.tokenizer.encode(text, self.max_tokens))
            .collect::<PortResult<_>>()?;
        let mut vectors = vec![Vec::new(); rows.len()];
        for batch in by_length(&rows) {
            if cancel.is_cancelled() {
                return Err(PortError::cancelled());
            }
            let of_batch: Vec<&Row> = batch.iter().map(|at| &rows[*at]).collect();
            for (at, vector) in batch.iter().zip(self.run(&of_batch)?) {
                vectors[*at] = vector;
            }
        }
        Ok(vectors)
    }

    fn run(&self, rows: &[&Row]) -> PortResult<Vec<Vec<f32>>> {
        let failed = |error: ort::Error| {
            PortError::permanent(
                ErrorCode::ModelMissing,
                format!("the embedding model failed: {error}"),
            )
        };
        let inputs = inputs(rows, self.takes_types, failed)?;
        let length = rows.iter().map(|row| row.ids.len()).max().unwrap_or(0);
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session.run(inputs).map_err(failed)?;
        let (shape, states) = outputs[0].try_extract_tensor::<f32>().map_err(failed)?;
        let [batch, tokens, dim] = **shape else {
            return Err(wrong_shape(shape));
        };
        let (Ok(batch), Ok(tokens), Ok(dim)) = (
            usize::try_from(batch),
            usize::try_from(tokens),
            usize::try_from(dim),
        ) else {
            return Err(wrong_shape(shape));
        };
        if batch != rows.len() || tokens != length || dim == 0 || (self.dim != 0 && dim != self.dim) {
            return Err(wrong_shape(shape));
        }
        let of_row = tokens * dim;
        Ok(rows
            .iter()
            .enumerate()
            .map(|(at, row)| mean(&states[at * of_row..][..row.ids.len() * dim], dim))
            .collect())
    }
}

fn wrong_shape(shape: &ort::value::Shape) -> PortError {
    PortError::permanent(
        ErrorCode::ModelMissing,
        format!(
            "the embedding model answers in the shape {shape:?}; token states of [texts, tokens, components] are needed"
        ),
    )
}

/// Mean of token states, scaled to unit length.
fn mean(states: &[f32], dim: usize) -> Vec<f32> {
    let mut sum = vec![0.0_f32; dim];
    for state in states.chunks_exact(dim) {
        for (total, value) in sum.iter_mut().zip(state) {
            *total += value;
        }
    }
    let norm = sum
        .iter()
        .map(|value| value * value)
        .sum::<f32>()
        .sqrt()
        .max(1e-12);
    sum.iter_mut().for_each(|value| *value /= norm);
    sum
}
