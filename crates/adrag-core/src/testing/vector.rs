//! A vector index in memory, and the promises every [`VectorIndex`] keeps.
//!
//! The fake scans all points exactly. It is no model of speed or of approximate search: only of what is promised.

mod conformance;

pub use conformance::{conformance, vectors_are_given_back};

use crate::ports::{
    DocumentKey, HeldDocument, PortError, PortResult, Scope, StoreHit, VectorIndex, VectorPoint,
};
use adrag_contract::{ChunkId, CollectionName, DocumentId, ErrorCode};
use async_trait::async_trait;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;
use uuid::Uuid;

/// Components of the vectors of the suite: an index under test is made for these.
pub const DIM: usize = 16;

/// Faults that a fake store shows when told to.
#[derive(Debug, Default)]
pub struct Faults {
    next: Mutex<VecDeque<PortError>>,
    delay: Mutex<Duration>,
}

impl Faults {
    /// The next call fails with this error; several are used up in order.
    pub fn fail_next(&self, error: PortError) {
        self.next.lock().unwrap().push_back(error);
    }

    /// Every call from now on waits this long first.
    pub fn delay(&self, by: Duration) {
        *self.delay.lock().unwrap() = by;
    }

    /// What a fake calls at the start of each of its methods.
    pub async fn strike(&self) -> PortResult<()> {
        let delay = *self.delay.lock().unwrap();
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        match self.next.lock().unwrap().pop_front() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// A [`VectorIndex`] that scans.
#[derive(Debug, Default)]
pub struct FakeVectorIndex {
    points: Mutex<BTreeMap<Uuid, VectorPoint>>,
    dim: Option<usize>,
    /// What it is told to do wrong.
    pub faults: Faults,
}

impl FakeVectorIndex {
    /// An empty index for vectors of `dim` components.
    pub fn new(dim: usize) -> Self {
        Self {
            dim: Some(dim),
            ..Self::default()
        }
    }

    /// An empty index that takes the vectors of any embedder.
    pub fn any() -> Self {
        Self::default()
    }

    fn check(&self, vector: &[f32]) -> PortResult<()> {
        let fits = self.dim.is_none_or(|dim| dim == vector.len());
        if fits && vector.iter().all(|component| component.is_finite()) {
            return Ok(());
        }
        Err(PortError::rejected(
            ErrorCode::InvalidRequest,
            "a vector of the wrong shape",
        ))
    }

    fn retain(&self, keep: impl Fn(&VectorPoint) -> bool) {
        self.points.lock().unwrap().retain(|_, point| keep(point));
    }
}

#[async_trait]
impl VectorIndex for FakeVectorIndex {
    async fn upsert(&self, points: Vec<VectorPoint>) -> PortResult<()> {
        self.faults.strike().await?;
        let mut checked = Vec::with_capacity(points.len());
        for point in points {
            self.check(&point.vector)?;
            let id = Uuid::parse_str(point.chunk.as_str())
                .map_err(|_| PortError::rejected(ErrorCode::InvalidRequest, "the id of a chunk is a UUID"))?;
            checked.push((id, point));
        }
        self.points.lock().unwrap().extend(checked);
        Ok(())
    }

    async fn search(&self, vector: Vec<f32>, limit: usize, scope: &Scope) -> PortResult<Vec<StoreHit>> {
        self.faults.strike().await?;
        self.check(&vector)?;
        let points = self.points.lock().unwrap();
        let mut hits: Vec<StoreHit> = points
            .values()
            .filter(|point| within(&point.collection, scope))
            .map(|point| StoreHit {
                chunk: point.chunk.clone(),
                score: cosine(&vector, &point.vector),
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.truncate(limit);
        Ok(hits)
    }

    async fn vectors(&self, chunks: &[ChunkId]) -> PortResult<Vec<Option<Vec<f32>>>> {
        self.faults.strike().await?;
        let points = self.points.lock().unwrap();
        let held = |chunk: &ChunkId| points.get(&Uuid::parse_str(chunk.as_str()).ok()?);
        Ok(chunks
            .iter()
            .map(|chunk| held(chunk).map(|point| point.vector.clone()))
            .collect())
    }

    async fn delete(&self, document: &DocumentId, keep: Option<u64>) -> PortResult<()> {
        self.faults.strike().await?;
        self.retain(|point| point.key.document != *document || Some(point.key.generation) == keep);
        Ok(())
    }

    async fn delete_generation(&self, key: &DocumentKey) -> PortResult<()> {
        self.faults.strike().await?;
        self.retain(|point| point.key != *key);
        Ok(())
    }

    async fn clear(&self) -> PortResult<()> {
        self.faults.strike().await?;
        self.retain(|_| false);
        Ok(())
    }

    async fn flush(&self) -> PortResult<()> {
        self.faults.strike().await
    }

    async fn count(&self) -> PortResult<u64> {
        self.faults.strike().await?;
        Ok(self.points.lock().unwrap().len() as u64)
    }

    async fn held(&self) -> PortResult<Vec<HeldDocument>> {
        self.faults.strike().await?;
        let points = self.points.lock().unwrap();
        Ok(tally(points.values().map(|point| &point.key)))
    }
}

/// Whether a collection lies within a scope.
pub(super) fn within(collection: &CollectionName, scope: &Scope) -> bool {
    match scope {
        Scope::Everything => true,
        Scope::Collection(name) => name == collection,
    }
}

/// How often each generation occurs.
pub(super) fn tally<'a>(keys: impl Iterator<Item = &'a DocumentKey>) -> Vec<HeldDocument> {
    let mut counts: BTreeMap<&DocumentKey, u64> = BTreeMap::new();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
    counts
        .into_iter()
        .map(|(key, chunks)| HeldDocument {
            key: key.clone(),
            chunks,
        })
        .collect()
}

/// Held generations as sorted triples, to compare.
pub(super) fn triples(held: Vec<HeldDocument>) -> Vec<(String, u64, u64)> {
    let mut triples: Vec<_> = held
        .into_iter()
        .map(|held| {
            (
                held.key.document.as_str().to_owned(),
                held.key.generation,
                held.chunks,
            )
        })
        .collect();
    triples.sort();
    triples
}

/// Cosine of two vectors; 0 when one has no length.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    let norms = a.iter().map(|a| a * a).sum::<f32>().sqrt() * b.iter().map(|b| b * b).sum::<f32>().sqrt();
    if norms == 0.0 { 0.0 } else { dot / norms }
}

/// The id of chunk `number` of a generation, as the program derives it: a UUID.
pub fn chunk_id(document: &str, generation: u64, number: usize) -> ChunkId {
    let name = format!("{document}\n{generation}\n{number}");
    ChunkId::new(Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).to_string())
}

/// The key of a generation.
pub fn key(document: &str, generation: u64) -> DocumentKey {
    DocumentKey {
        document: document.into(),
        generation,
    }
}

/// A vector of unit length that depends on `seed` only.
pub fn unit_vector(seed: u64, dim: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut vector: Vec<f32> = (0..dim)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
        .collect();
    let norm = vector
        .iter()
        .map(|component| component * component)
        .sum::<f32>()
        .sqrt();
    for component in &mut vector {
        *component /= norm;
    }
    vector
}

/// Chunk `number` of a generation with a vector of its own.
pub fn point(document: &str, generation: u64, collection: &str, number: usize) -> VectorPoint {
    let chunk = chunk_id(document, generation, number);
    let seed = Uuid::parse_str(chunk.as_str()).unwrap().as_u64_pair().0;
    VectorPoint {
        chunk,
        key: key(document, generation),
        collection: collection.into(),
        vector: unit_vector(seed, DIM),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_fake_keeps_every_promise() {
        conformance(async || FakeVectorIndex::new(DIM)).await;
        vectors_are_given_back(&FakeVectorIndex::new(DIM)).await;
    }

    #[tokio::test]
    async fn the_fake_fails_and_waits_when_told() {
        let index = FakeVectorIndex::any();
        index
            .faults
            .fail_next(PortError::transient(ErrorCode::StoreFailed, "down"));
        assert_eq!(index.count().await.unwrap_err().error.message, "down");
        assert_eq!(index.count().await.unwrap(), 0);
        index.faults.delay(Duration::from_millis(30));
        let waited = tokio::time::timeout(Duration::from_millis(5), index.count()).await;
        assert!(waited.is_err(), "it waits");
    }
}
