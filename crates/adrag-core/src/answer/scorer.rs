//! A reranker made of the embedder: a passage is as relevant as its best sentence. For those who choose it over the
//! judge.

use crate::ports::{EmbedRole, Embedder, PortResult, Reranker};
use crate::sentence::units;
use async_trait::async_trait;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Sentence vectors kept from question to question.
const CACHED: usize = 8_192;

/// Scores by cosine of the question and the passage's best sentence; a negative one counts as 0.
pub struct SentenceReranker {
    embedder: Arc<dyn Embedder>,
    cache: Mutex<HashMap<u64, Arc<[f32]>>>,
}

impl SentenceReranker {
    /// Over an embedder.
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self {
            embedder,
            cache: Mutex::new(HashMap::new()),
        }
    }

    async fn vectors(&self, texts: &[&str], cancel: &CancellationToken) -> PortResult<Vec<Arc<[f32]>>> {
        let keys: Vec<u64> = texts.iter().map(|text| key(text)).collect();
        let mut missing: HashMap<u64, String> = HashMap::new();
        let mut vectors: HashMap<u64, Arc<[f32]>> = HashMap::new();
        {
            let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
            for (key, text) in keys.iter().zip(texts) {
                match cache.get(key) {
                    Some(vector) => drop(vectors.insert(*key, vector.clone())),
                    None => drop(missing.insert(*key, (*text).to_owned())),
                }
            }
        }
        let (new_keys, new_texts): (Vec<u64>, Vec<String>) = missing.into_iter().unzip();
        let embedded = self.embedder.embed(new_texts, EmbedRole::Passage, cancel).await?;
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() + new_keys.len() > CACHED {
            cache.clear();
        }
        for (key, vector) in new_keys.into_iter().zip(embedded) {
            let vector: Arc<[f32]> = vector.into();
            cache.insert(key, vector.clone());
            vectors.insert(key, vector);
        }
        Ok(keys.iter().filter_map(|key| vectors.get(key).cloned()).collect())
    }
}

fn key(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[async_trait]
impl Reranker for SentenceReranker {
    fn name(&self) -> String {
        format!("embedder {}", self.embedder.info().model)
    }

    async fn score(
        &self,
        question: &str,
        passages: &[String],
        cancel: &CancellationToken,
    ) -> PortResult<Vec<f32>> {
        if passages.is_empty() {
            return Ok(Vec::new());
        }
        let asked = self
            .embedder
            .embed(vec![question.to_owned()], EmbedRole::Query, cancel)
            .await?;
        let spans: Vec<Vec<Range<usize>>> = passages.iter().map(|passage| units(passage)).collect();
        let texts: Vec<&str> = passages
            .iter()
            .zip(&spans)
            .flat_map(|(passage, spans)| spans.iter().map(|span| &passage[span.clone()]))
            .collect();
        let vectors = self.vectors(&texts, cancel).await?;
        let mut vectors = vectors.iter();
        Ok(spans
            .iter()
            .map(|spans| {
                vectors
                    .by_ref()
                    .take(spans.len())
                    .map(|vector| {
                        asked
                            .iter()
                            .flatten()
                            .zip(vector.iter())
                            .map(|(x, y)| x * y)
                            .sum::<f32>()
                    })
                    .fold(0.0, f32::max)
                    .min(1.0)
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::embedder::FakeEmbedder;

    #[tokio::test]
    async fn it_conforms_and_does_not_embed_a_sentence_twice() {
        let embedder = Arc::new(FakeEmbedder::default());
        let reranker = SentenceReranker::new(embedder.clone());
        crate::testing::reranker::conformance(&reranker).await;
        let before = embedder.embedded();
        let passages = ["Seal kit SK-131-A is kept in bin C-04. It fits the pump.".to_owned()];
        let cancel = CancellationToken::new();
        reranker
            .score("another question", &passages, &cancel)
            .await
            .expect("scores");
        assert_eq!(embedder.embedded(), before + 1, "only the question is new");
    }
}
