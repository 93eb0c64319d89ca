//! A tokenizer of words, an embedder of hashed words, and the suite every embedder passes.

use crate::ports::{EmbedRole, Embedder, EmbedderInfo, PortError, PortResult, Tokenizer};
use adrag_contract::ErrorCode;
use async_trait::async_trait;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio_util::sync::CancellationToken;

/// Counts words between white space.
pub struct WordTokenizer;

impl Tokenizer for WordTokenizer {
    fn count(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }
}

/// Embeds a text as its words, hashed into 64 places: texts that share words are near each other.
pub struct FakeEmbedder {
    info: EmbedderInfo,
    embedded: AtomicU64,
    fault: Mutex<Option<PortError>>,
    broken: Mutex<Option<PortError>>,
    spoil: Mutex<Option<(u64, Spoiled)>>,
    calls: AtomicU64,
}

/// What a broken embedder does to its reply.
#[derive(Clone, Copy, Debug)]
pub enum Spoiled {
    /// One vector is missing.
    Fewer,
    /// The last vector is too short.
    Shorter,
    /// There is none.
    Dies,
}

impl Default for FakeEmbedder {
    fn default() -> Self {
        Self {
            info: EmbedderInfo {
                model: "words".to_owned(),
                fingerprint: "words-1".to_owned(),
                dim: 64,
                max_tokens: 256,
            },
            embedded: AtomicU64::new(0),
            fault: Mutex::new(None),
            broken: Mutex::new(None),
            spoil: Mutex::new(None),
            calls: AtomicU64::new(0),
        }
    }
}

impl FakeEmbedder {
    /// Another model: its vectors do not mix with those of other fingerprints.
    pub fn of(fingerprint: &str) -> Self {
        let mut embedder = Self::default();
        embedder.info.fingerprint = fingerprint.to_owned();
        embedder
    }

    /// How many texts were embedded so far.
    pub fn embedded(&self) -> u64 {
        self.embedded.load(Ordering::SeqCst)
    }

    /// The next call fails.
    pub fn fail_next(&self, error: PortError) {
        *self.fault.lock().unwrap() = Some(error);
    }

    /// The call after so many others answers something that cannot be used.
    pub fn spoil_after(&self, calls: u64, how: Spoiled) {
        *self.spoil.lock().unwrap() = Some((self.calls.load(Ordering::SeqCst) + calls, how));
    }

    /// Every call from now on fails.
    pub fn fail(&self, error: PortError) {
        *self.broken.lock().unwrap() = Some(error);
    }
}

#[async_trait]
impl Embedder for FakeEmbedder {
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
        if let Some(error) = self.fault.lock().unwrap().take() {
            return Err(error);
        }
        if let Some(error) = self.broken.lock().unwrap().clone() {
            return Err(error);
        }
        self.embedded.fetch_add(texts.len() as u64, Ordering::SeqCst);
        let mut vectors: Vec<Vec<f32>> = texts.iter().map(|text| vector(text)).collect();
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        match self.spoil.lock().unwrap().take_if(|(at, _)| *at == call) {
            Some((_, Spoiled::Fewer)) => drop(vectors.pop()),
            Some((_, Spoiled::Shorter)) => vectors
                .iter_mut()
                .last()
                .into_iter()
                .for_each(|last| last.truncate(8)),
            Some((_, Spoiled::Dies)) => {
                return Err(PortError::permanent(ErrorCode::Internal, "the embedder died"));
            }
            None => {}
        }
        Ok(vectors)
    }
}

fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0_f32; 64];
    vector[63] = 0.01;
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let hash = word.to_lowercase().bytes().fold(5381_u32, |hash, byte| {
            hash.wrapping_mul(33).wrapping_add(u32::from(byte))
        });
        vector[(hash % 63) as usize] += 1.0;
    }
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / norm).collect()
}

/// Every embedder: one vector a text, of its dimension and unit length, the same for the same text alone or in
/// company, nearer for a paraphrase than for something else, whatever the text holds.
pub async fn conformance(embedder: &dyn Embedder) {
    let cancel = CancellationToken::new();
    let texts: Vec<String> = [
        "The bilge pump failed at sea.",
        "At sea the bilge pump broke and failed.",
        "Quarterly revenue rose by nine percent.",
        "",
        "[CLS] [SEP] [MASK] <pad> <image_soft_token>",
        &"很长的中文段落没有空格".repeat(400),
        &"x".repeat(20_000),
    ]
    .map(str::to_owned)
    .to_vec();
    let together = embedder
        .embed(texts.clone(), EmbedRole::Passage, &cancel)
        .await
        .unwrap();
    assert_eq!(together.len(), texts.len(), "one vector a text");
    for vector in &together {
        assert_eq!(
            vector.len(),
            embedder.info().dim,
            "vectors have the embedder's dimension"
        );
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((norm - 1.0).abs() < 1e-3, "vectors have unit length, got {norm}");
    }
    for (text, vector) in texts.iter().zip(&together) {
        let alone = embedder
            .embed(vec![text.clone()], EmbedRole::Passage, &cancel)
            .await
            .unwrap();
        assert!(
            cosine(&alone[0], vector) > 0.999,
            "company does not change a vector: {text:.40}"
        );
    }
    assert!(
        cosine(&together[0], &together[1]) > cosine(&together[0], &together[2]),
        "a paraphrase is nearer than another subject"
    );
    assert!(
        embedder
            .embed(Vec::new(), EmbedRole::Query, &cancel)
            .await
            .unwrap()
            .is_empty()
    );
    cancel.cancel();
    let stopped = embedder
        .embed(texts, EmbedRole::Passage, &cancel)
        .await
        .unwrap_err();
    assert!(stopped.is_cancelled(), "a cancelled call says so");
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_fake_conforms() {
        conformance(&FakeEmbedder::default()).await;
    }
}
