//! The keyword index.

use super::{DocumentKey, HeldDocument, PortResult, Scope, StoreHit};
use adrag_contract::{ChunkId, CollectionName, DocumentId};
use async_trait::async_trait;

/// A chunk as the keyword index takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeywordChunk {
    /// The chunk.
    pub chunk: ChunkId,
    /// The generation it belongs to.
    pub key: DocumentKey,
    /// The collection of the document.
    pub collection: CollectionName,
    /// Title of the document.
    pub title: String,
    /// Headings above it, joined by ` > `.
    pub headings: String,
    /// Its text.
    pub text: String,
}

/// BM25 over title, headings and text.
///
/// A projection, like the vector index. Writes become visible to searches at [`flush`](Self::flush).
#[async_trait]
pub trait KeywordIndex: Send + Sync {
    /// Adds chunks. Adding a generation again after deleting it leaves it once.
    async fn add(&self, chunks: Vec<KeywordChunk>) -> PortResult<()>;

    /// The best chunks of a scope for the words of a text, best first, at most `limit`. The text is plain words, never
    /// a query language; any word may be missing from a hit.
    async fn search(&self, text: &str, limit: usize, scope: &Scope) -> PortResult<Vec<StoreHit>>;

    /// Removes a document's chunks, but for the generation to keep.
    async fn delete(&self, document: &DocumentId, keep: Option<u64>) -> PortResult<()>;

    /// Removes one generation of a document only.
    async fn delete_generation(&self, key: &DocumentKey) -> PortResult<()>;

    /// Removes everything.
    async fn clear(&self) -> PortResult<()>;

    /// When it returns, all writes so far are visible and survive the loss of the process and of power.
    async fn flush(&self) -> PortResult<()>;

    /// Chunks held, as of the last flush.
    async fn count(&self) -> PortResult<u64>;

    /// Every generation held, with its count, as of the last flush, in any order.
    async fn held(&self) -> PortResult<Vec<HeldDocument>>;
}
