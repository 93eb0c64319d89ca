//! The entity graph.

use super::{DocumentKey, HeldDocument, PortResult, Scope, StoreHit};
use adrag_contract::{ChunkId, CollectionName, DocumentId, GraphCount};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// An entity named in a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entity {
    /// Normal form by which spellings meet: folded case, NFKC.
    pub key: String,
    /// As first written.
    pub name: String,
}

/// A chunk with the entities it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphChunk {
    /// The chunk.
    pub chunk: ChunkId,
    /// The generation it belongs to.
    pub key: DocumentKey,
    /// The collection of the document.
    pub collection: CollectionName,
    /// Distinct entities, in order of appearance.
    pub entities: Vec<Entity>,
}

/// The bipartite graph of chunks and entities.
///
/// A projection, like the vector index.
#[async_trait]
pub trait EntityGraph: Send + Sync {
    /// Adds chunks; one with the same id is replaced.
    async fn add(&self, chunks: Vec<GraphChunk>) -> PortResult<()>;

    /// The chunks of a scope nearest to the entities (by key), best first, at most `limit`, by personalised PageRank.
    /// Entities the graph does not know are ignored; without any known one there is no hit.
    async fn search(&self, entities: &[String], limit: usize, scope: &Scope) -> PortResult<Vec<StoreHit>>;

    /// Which of these keys the graph knows.
    async fn known(&self, keys: &[String]) -> PortResult<Vec<String>>;

    /// Removes a document's chunks, but for the generation to keep, and entities that no chunk names any more.
    async fn delete(&self, document: &DocumentId, keep: Option<u64>) -> PortResult<()>;

    /// Removes one generation of a document only.
    async fn delete_generation(&self, key: &DocumentKey) -> PortResult<()>;

    /// Removes everything.
    async fn clear(&self) -> PortResult<()>;

    /// When it returns, all writes so far survive the loss of the process and of power.
    async fn flush(&self) -> PortResult<()>;

    /// What it holds.
    async fn count(&self) -> PortResult<GraphCount>;

    /// Every generation held, with its count of chunks, in any order.
    async fn held(&self) -> PortResult<Vec<HeldDocument>>;
}
