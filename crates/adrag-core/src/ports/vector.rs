//! The vector index.

use super::{DocumentKey, HeldDocument, PortResult, Scope, StoreHit};
use adrag_contract::{ChunkId, CollectionName, DocumentId};
use async_trait::async_trait;

/// A vector with what it is filtered by.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorPoint {
    /// The chunk: also the point's id, a UUID.
    pub chunk: ChunkId,
    /// The generation it belongs to.
    pub key: DocumentKey,
    /// The collection of the document.
    pub collection: CollectionName,
    /// A vector of unit length.
    pub vector: Vec<f32>,
}

/// Nearest-neighbour search by cosine similarity.
///
/// A projection: every write is idempotent, and nothing here is the only copy of anything. It knows nothing of which
/// generation is current; its caller drops hits of others.
#[async_trait]
pub trait VectorIndex: Send + Sync {
    /// Adds points; one with the same id is replaced.
    async fn upsert(&self, points: Vec<VectorPoint>) -> PortResult<()>;

    /// The nearest points of a scope, best first, at most `limit`; score is the cosine.
    async fn search(&self, vector: Vec<f32>, limit: usize, scope: &Scope) -> PortResult<Vec<StoreHit>>;

    /// The vectors of these chunks, in their order; nothing for one that is not held. An index that cannot give vectors
    /// back gives none: whoever asks makes them again.
    async fn vectors(&self, chunks: &[ChunkId]) -> PortResult<Vec<Option<Vec<f32>>>> {
        Ok(vec![None; chunks.len()])
    }

    /// Removes a document's points, but for the generation to keep.
    async fn delete(&self, document: &DocumentId, keep: Option<u64>) -> PortResult<()>;

    /// Removes one generation of a document only.
    async fn delete_generation(&self, key: &DocumentKey) -> PortResult<()>;

    /// Removes everything.
    async fn clear(&self) -> PortResult<()>;

    /// When it returns, all writes so far survive the loss of the process and of power.
    async fn flush(&self) -> PortResult<()>;

    /// Points held.
    async fn count(&self) -> PortResult<u64>;

    /// Every generation held, with its count, in any order.
    async fn held(&self) -> PortResult<Vec<HeldDocument>>;
}
