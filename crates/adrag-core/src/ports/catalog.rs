//! The catalogue: the one authority. Vectors, words and graph are projections of what stands here.

use super::{Chunk, DocumentKey, PortResult};
use adrag_contract::{
    CatalogueCount, ChunkId, CollectionInfo, CollectionName, DocumentId, DocumentInfo, DocumentState,
    RunEvent, RunId, RunSummary, Settings, ThreadId, ThreadSummary,
};
use async_trait::async_trait;

/// A file about to be ingested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDocument {
    /// Where it goes.
    pub collection: CollectionName,
    /// Absolute path.
    pub path: String,
    /// Title until the document gives one: the file name.
    pub title: String,
    /// Size in bytes; 0 when it could not be looked at.
    pub bytes: u64,
    /// SHA-256 of the content; empty when it could not be read.
    pub sha256: String,
    /// Milliseconds since the Unix epoch.
    pub at_ms: i64,
}

/// What the catalogue says to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The document and the generation to build.
    pub key: DocumentKey,
    /// The ready generation with the same bytes and the same fingerprint, if there is one: nothing needs doing.
    pub unchanged: Option<DocumentInfo>,
    /// Path of the document with the same bytes that this one takes over, when it is another path.
    pub takes_over: Option<String>,
}

/// What parsing and chunking made of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Title.
    pub title: String,
    /// Kind of file.
    pub kind: String,
    /// All extracted text.
    pub text: String,
    /// Number of pages.
    pub pages: Option<u32>,
    /// Its chunks, by ordinal.
    pub chunks: Vec<Chunk>,
    /// Parser, chunker and embedder that made it.
    pub fingerprint: String,
}

/// A chunk of a current generation, with what a citation needs of its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChunk {
    /// The chunk.
    pub chunk: Chunk,
    /// The generation.
    pub key: DocumentKey,
    /// The collection.
    pub collection: CollectionName,
    /// Title of the document.
    pub title: String,
    /// Path of the document.
    pub path: String,
}

/// A document that start-up found half done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// The document and the generation that was being built.
    pub key: DocumentKey,
    /// The collection.
    pub collection: CollectionName,
    /// Path of the file.
    pub path: String,
    /// Where it stood: never a final state.
    pub state: DocumentState,
}

/// The authority over documents, settings and the history of runs. Every method is one durable transaction.
///
/// A document's *published* generation is what searches see. While another is being built the published one stays;
/// it is replaced in the moment of [`publish`](Self::publish).
#[async_trait]
pub trait Catalog: Send + Sync {
    /// Admits a file as `Queued`.
    ///
    /// A document of the same path in the collection keeps its id and gets the next generation. Else one with the same
    /// non-empty `sha256` does and moves to the new path. Else a new document begins at generation 1; its id is a UUID
    /// derived from collection and path. A published generation with the same `sha256` and `fingerprint` is reported
    /// as `unchanged` and nothing is written but the path and the time.
    async fn admit(&self, file: NewDocument, fingerprint: &str) -> PortResult<Admission>;

    /// Moves a generation under way to another state that is not final.
    async fn advance(&self, key: &DocumentKey, state: DocumentState) -> PortResult<()>;

    /// Keeps text and chunks of a generation; still invisible.
    async fn store(&self, key: &DocumentKey, content: &Content) -> PortResult<()>;

    /// Publishes a generation as `Ready` (or `Empty` when it has no chunks), with a remark if any, and forgets the text
    /// and chunks of earlier ones. Other documents of the collection with the same `sha256` move to `Deleting`; they
    /// are returned.
    async fn publish(&self, key: &DocumentKey, remark: Option<&str>) -> PortResult<Vec<DocumentId>>;

    /// Ends a generation as failed. An earlier published one stays searchable and the document stays `Ready`, with the
    /// reason; else the document is `Failed`.
    async fn fail(&self, key: &DocumentKey, reason: &str) -> PortResult<()>;

    /// Takes a generation under way back: a document that has nothing published disappears, else it is as before.
    async fn withdraw(&self, key: &DocumentKey) -> PortResult<()>;

    /// Documents that are neither final nor `Deleting`, in the order admitted.
    async fn unfinished(&self) -> PortResult<Vec<Unfinished>>;

    /// Puts a half-done generation back to `Queued` and forgets its text and chunks.
    async fn requeue(&self, key: &DocumentKey) -> PortResult<()>;

    /// Moves documents to `Deleting`: from now on no search sees them. Unknown ids are ignored.
    async fn mark_deleting(&self, documents: &[DocumentId]) -> PortResult<()>;

    /// Takes documents out of `Deleting`: what they had published counts again as it was. One that had nothing
    /// published is `Failed`, for the reason known or because it was not finished. Documents that are not in `Deleting`
    /// are ignored; the others are returned.
    async fn restore(&self, documents: &[DocumentId]) -> PortResult<Vec<DocumentId>>;

    /// Documents in `Deleting`.
    async fn deleting(&self) -> PortResult<Vec<DocumentId>>;

    /// How many chunks documents in `Deleting` had published: so many hits of a store may be of no use.
    async fn hidden(&self) -> PortResult<u64>;

    /// The chunks among these ids that [`resolve`](Self::resolve) would return, in the order of `ids`.
    async fn visible(&self, ids: &[ChunkId]) -> PortResult<Vec<ChunkId>>;

    /// Forgets documents altogether.
    async fn remove(&self, documents: &[DocumentId]) -> PortResult<()>;

    /// A document.
    async fn document(&self, id: &DocumentId) -> PortResult<Option<DocumentInfo>>;

    /// The documents of a collection or all, by title; those in `Deleting` left out.
    async fn documents(&self, collection: Option<&CollectionName>) -> PortResult<Vec<DocumentInfo>>;

    /// The collections that hold documents, by name.
    async fn collections(&self) -> PortResult<Vec<CollectionInfo>>;

    /// The chunks among these ids that belong to published generations of documents not in `Deleting`; in the order of
    /// `ids`, others left out.
    async fn resolve(&self, ids: &[ChunkId]) -> PortResult<Vec<StoredChunk>>;

    /// All chunks of a generation, by ordinal.
    async fn chunks(&self, key: &DocumentKey) -> PortResult<Vec<StoredChunk>>;

    /// Published generations with their counts of chunks: what every projection must hold.
    async fn published(&self) -> PortResult<Vec<super::HeldDocument>>;

    /// Extracted text of the published generation between two byte offsets, both moved outward to character
    /// boundaries; also the start really used.
    async fn text(&self, document: &DocumentId, start: u64, end: u64) -> PortResult<Option<(u64, String)>>;

    /// The chunk of the published generation that begins last at or before a byte offset.
    async fn chunk_at(&self, document: &DocumentId, at: u64) -> PortResult<Option<ChunkId>>;

    /// Counts.
    async fn count(&self) -> PortResult<CatalogueCount>;

    /// A small named value, such as the fingerprint a projection was built with.
    async fn note(&self, name: &str) -> PortResult<Option<String>>;

    /// Keeps a small named value.
    async fn set_note(&self, name: &str, value: &str) -> PortResult<()>;

    /// The settings; defaults where nothing is stored.
    async fn settings(&self) -> PortResult<Settings>;

    /// Replaces the settings.
    async fn save_settings(&self, settings: &Settings) -> PortResult<()>;

    /// Keeps the event log of a finished run.
    async fn save_run(&self, summary: &RunSummary, events: &[RunEvent]) -> PortResult<()>;

    /// The event log of a run; empty when it is unknown.
    async fn run_events(&self, run: &RunId) -> PortResult<Vec<RunEvent>>;

    /// The latest runs, newest first.
    async fn runs(&self, limit: usize) -> PortResult<Vec<RunSummary>>;

    /// The threads whose name, questions or answers hold `find`, whatever the case; all for an empty one. The one asked in
    /// last comes first.
    async fn threads(&self, find: &str, limit: usize) -> PortResult<Vec<ThreadSummary>>;

    /// The runs of a thread, oldest first.
    async fn thread_runs(&self, thread: &ThreadId) -> PortResult<Vec<RunSummary>>;

    /// Names a thread; a blank name goes back to its first question. An unknown thread is ignored.
    async fn rename_thread(&self, thread: &ThreadId, title: &str) -> PortResult<()>;

    /// Forgets threads with their runs. Unknown ones are ignored.
    async fn delete_threads(&self, threads: &[ThreadId]) -> PortResult<()>;

    /// Forgets all runs, and the threads with them.
    async fn clear_runs(&self) -> PortResult<()>;
}
