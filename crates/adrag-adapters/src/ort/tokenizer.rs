//! Word pieces of a BERT vocabulary, through the `tokenizers` library.

use super::batch::Row;
use adrag_contract::ErrorCode;
use adrag_core::ports::{PortError, PortResult, Tokenizer};
use serde_json::Value;
use std::path::Path;

/// The tokenizer of a BERT-like model.
///
/// The file's added tokens are taken out before it is loaded: a document that holds the characters `[SEP]` means those
/// characters, never the model's separator. The two special tokens are added here, by id.
pub struct WordPieces {
    inner: tokenizers::Tokenizer,
    cls: u32,
    sep: u32,
}

impl WordPieces {
    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    /// When the file is missing or not such a file.
    pub fn open(file: &Path) -> PortResult<Self> {
        let unusable = |error: String| {
            PortError::permanent(
                ErrorCode::ModelMissing,
                format!("the tokenizer `{}` cannot be used: {error}", file.display()),
            )
            .with_hint("fetch it again: run `cargo xtask setup`")
        };
        let bytes = std::fs::read(file).map_err(|error| unusable(error.to_string()))?;
        let mut json: Value = serde_json::from_slice(&bytes).map_err(|error| unusable(error.to_string()))?;
        for part in ["truncation", "padding", "post_processor"] {
            json[part] = Value::Null;
        }
        json["added_tokens"] = Value::Array(Vec::new());
        let plain = serde_json::to_vec(&json).map_err(|error| unusable(error.to_string()))?;
        let inner = tokenizers::Tokenizer::from_bytes(&plain).map_err(|error| unusable(error.to_string()))?;
        let id = |token: &str| {
            inner
                .token_to_id(token)
                .ok_or_else(|| unusable(format!("it has no {token}")))
        };
        Ok(Self {
            cls: id("[CLS]")?,
            sep: id("[SEP]")?,
            inner,
        })
    }

    /// `[CLS] text [SEP]`, cut to `max` tokens in all.
    pub(super) fn encode(&self, text: &str, max: usize) -> PortResult<Row> {
        let mut ids = vec![self.cls];
        ids.extend(self.pieces(text, max.saturating_sub(2))?);
        ids.push(self.sep);
        Ok(Row {
            second: ids.len(),
            ids,
        })
    }

    /// `[CLS] first [SEP] second [SEP]`: the first cut to `first_max` tokens with its marks, then the second to fit `max`.
    pub(super) fn encode_pair(
        &self,
        first: &str,
        second: &str,
        first_max: usize,
        max: usize,
    ) -> PortResult<Row> {
        let mut ids = vec![self.cls];
        ids.extend(self.pieces(first, first_max.min(max / 2).saturating_sub(2))?);
        ids.push(self.sep);
        let at = ids.len();
        ids.extend(self.pieces(second, max.saturating_sub(at + 1))?);
        ids.push(self.sep);
        Ok(Row { ids, second: at })
    }

    /// The first `most` word pieces of a text.
    fn pieces(&self, text: &str, most: usize) -> PortResult<Vec<u32>> {
        // No word piece is shorter than a byte: what lies beyond cannot be read and need not be tokenized.
        let text = clip(text, most.saturating_mul(64));
        let encoding = self.inner.encode_fast(text, false).map_err(|error| {
            PortError::rejected(
                ErrorCode::Internal,
                format!("the text cannot be tokenized: {error}"),
            )
        })?;
        Ok(encoding.get_ids().iter().copied().take(most).collect())
    }
}

fn clip(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

impl Tokenizer for WordPieces {
    fn count(&self, text: &str) -> usize {
        match self.inner.encode_fast(text, false) {
            Ok(encoding) => encoding.len(),
            Err(error) => {
                tracing::warn!(%error, "a text cannot be tokenized; its characters are counted");
                ApproximateTokenizer.count(text)
            }
        }
    }
}

/// Counts without a model: a token for four characters of a word, one for every other sign. It serves where the model is
/// missing, so that documents can still be cut and searched by words.
pub struct ApproximateTokenizer;

impl Tokenizer for ApproximateTokenizer {
    fn count(&self, text: &str) -> usize {
        text.split_whitespace()
            .map(|word| {
                let ascii = word.chars().filter(char::is_ascii_alphanumeric).count();
                let other = word.chars().count() - ascii;
                ascii.div_ceil(4) + other
            })
            .sum()
    }
}
