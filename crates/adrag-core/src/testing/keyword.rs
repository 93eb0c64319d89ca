//! A keyword index in memory, and the promises every [`KeywordIndex`] keeps.
//!
//! The fake is plain BM25 over words, whole identifiers and character pairs. It does not stem; how well an index ranks
//! is measured by its adapter, not promised here.

mod conformance;

pub use conformance::{HOSTILE_QUERIES, conformance};

use super::vector::{Faults, chunk_id, key, tally, within};
use crate::ports::{DocumentKey, HeldDocument, KeywordChunk, KeywordIndex, PortResult, Scope, StoreHit};
use adrag_contract::DocumentId;
use async_trait::async_trait;
use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use unicode_normalization::UnicodeNormalization;

/// A [`KeywordIndex`] that scans.
#[derive(Debug, Default)]
pub struct FakeKeywordIndex {
    state: Mutex<State>,
    /// What it is told to do wrong.
    pub faults: Faults,
}

#[derive(Debug, Default)]
struct State {
    written: Vec<KeywordChunk>,
    visible: Vec<KeywordChunk>,
}

impl FakeKeywordIndex {
    /// An empty index.
    pub fn new() -> Self {
        Self::default()
    }

    fn retain(&self, keep: impl Fn(&KeywordChunk) -> bool) {
        self.state.lock().unwrap().written.retain(keep);
    }
}

#[async_trait]
impl KeywordIndex for FakeKeywordIndex {
    async fn add(&self, chunks: Vec<KeywordChunk>) -> PortResult<()> {
        self.faults.strike().await?;
        self.state.lock().unwrap().written.extend(chunks);
        Ok(())
    }

    async fn search(&self, text: &str, limit: usize, scope: &Scope) -> PortResult<Vec<StoreHit>> {
        self.faults.strike().await?;
        let state = self.state.lock().unwrap();
        let mut hits = bm25(&state.visible, text, scope);
        hits.truncate(limit);
        Ok(hits)
    }

    async fn delete(&self, document: &DocumentId, keep: Option<u64>) -> PortResult<()> {
        self.faults.strike().await?;
        self.retain(|chunk| chunk.key.document != *document || Some(chunk.key.generation) == keep);
        Ok(())
    }

    async fn delete_generation(&self, key: &DocumentKey) -> PortResult<()> {
        self.faults.strike().await?;
        self.retain(|chunk| chunk.key != *key);
        Ok(())
    }

    async fn clear(&self) -> PortResult<()> {
        self.faults.strike().await?;
        self.retain(|_| false);
        Ok(())
    }

    async fn flush(&self) -> PortResult<()> {
        self.faults.strike().await?;
        let mut state = self.state.lock().unwrap();
        state.visible = state.written.clone();
        Ok(())
    }

    async fn count(&self) -> PortResult<u64> {
        self.faults.strike().await?;
        Ok(self.state.lock().unwrap().visible.len() as u64)
    }

    async fn held(&self) -> PortResult<Vec<HeldDocument>> {
        self.faults.strike().await?;
        let state = self.state.lock().unwrap();
        Ok(tally(state.visible.iter().map(|chunk| &chunk.key)))
    }
}

/// Okapi BM25 in Lucene's form (k1 1.2, b 0.75), over all chunks whatever the scope.
fn bm25(chunks: &[KeywordChunk], text: &str, scope: &Scope) -> Vec<StoreHit> {
    let terms: BTreeSet<String> = tokens(text).into_iter().take(2_000).collect();
    let documents: Vec<Vec<String>> = chunks
        .iter()
        .map(|chunk| tokens(&format!("{}\n{}\n{}", chunk.title, chunk.headings, chunk.text)))
        .collect();
    let total: usize = documents.iter().map(Vec::len).sum();
    let average = total as f32 / documents.len().max(1) as f32;
    let counts: Vec<HashMap<&str, f32>> = documents
        .iter()
        .map(|tokens| {
            let mut counts = HashMap::new();
            for token in tokens {
                *counts.entry(token.as_str()).or_default() += 1.0;
            }
            counts
        })
        .collect();
    let mut scores = vec![0.0_f32; chunks.len()];
    for term in &terms {
        let holders = counts
            .iter()
            .filter(|counts| counts.contains_key(term.as_str()))
            .count() as f32;
        let idf = (1.0 + (chunks.len() as f32 - holders + 0.5) / (holders + 0.5)).ln();
        for (at, counts) in counts.iter().enumerate() {
            if let Some(frequency) = counts.get(term.as_str()) {
                let length = documents[at].len() as f32 / average;
                scores[at] += idf * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length));
            }
        }
    }
    let mut hits: Vec<StoreHit> = chunks
        .iter()
        .zip(scores)
        .filter(|(chunk, score)| *score > 0.0 && within(&chunk.collection, scope))
        .map(|(chunk, score)| StoreHit {
            chunk: chunk.chunk.clone(),
            score,
        })
        .collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    hits
}

fn tokens(text: &str) -> Vec<String> {
    let text: String = text.nfkc().flat_map(char::to_lowercase).collect();
    let mut tokens = Vec::new();
    for run in text.split_whitespace() {
        let whole = run.trim_matches(|c: char| !c.is_alphanumeric());
        let words: Vec<&str> = whole
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        if words.len() > 1 {
            tokens.push(whole.to_owned());
        }
        for word in words {
            if word.is_ascii() {
                tokens.push(word.to_owned());
                continue;
            }
            let chars: Vec<char> = word.chars().collect();
            tokens.extend(chars.iter().map(char::to_string));
            tokens.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
        }
    }
    tokens
}

/// Chunk `number` of a generation with this text, without title and headings.
pub fn chunk(document: &str, generation: u64, collection: &str, number: usize, text: &str) -> KeywordChunk {
    KeywordChunk {
        chunk: chunk_id(document, generation, number),
        key: key(document, generation),
        collection: collection.into(),
        title: String::new(),
        headings: String::new(),
        text: text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::PortError;
    use adrag_contract::ErrorCode;

    #[tokio::test]
    async fn the_fake_keeps_every_promise() {
        conformance(async || FakeKeywordIndex::new()).await;
    }

    #[tokio::test]
    async fn the_fake_fails_when_told() {
        let index = FakeKeywordIndex::new();
        index
            .faults
            .fail_next(PortError::permanent(ErrorCode::Disk, "full"));
        assert_eq!(index.flush().await.unwrap_err().error.message, "full");
        index.flush().await.unwrap();
    }
}
