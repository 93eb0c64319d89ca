//! Documents as the library shows them, and what an ingestion reports.

use crate::{CollectionName, DocumentId};
use serde::{Deserialize, Serialize};

/// Where a document stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentState {
    /// Accepted, not begun.
    Queued,
    /// Text is being extracted.
    Parsing,
    /// Text is being cut into chunks.
    Chunking,
    /// Chunks are being embedded.
    Embedding,
    /// Chunks are being written to the stores.
    Indexing,
    /// Complete in all stores; searchable.
    Ready,
    /// Read without error but holds no text.
    Empty,
    /// Could not be ingested; the reason says why.
    Failed,
    /// Being removed from all stores; no longer searchable.
    Deleting,
}

impl DocumentState {
    /// True when its text can be found.
    pub fn is_searchable(self) -> bool {
        matches!(self, Self::Ready)
    }

    /// True when nothing more will happen by itself.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Ready | Self::Empty | Self::Failed)
    }

    /// Name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Parsing => "parsing",
            Self::Chunking => "chunking",
            Self::Embedding => "embedding",
            Self::Indexing => "indexing",
            Self::Ready => "ready",
            Self::Empty => "empty",
            Self::Failed => "failed",
            Self::Deleting => "deleting",
        }
    }
}

/// A document as the library lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentInfo {
    /// Its id.
    pub id: DocumentId,
    /// The collection it belongs to.
    pub collection: CollectionName,
    /// Where it was read from.
    pub path: String,
    /// Title for people: from the document, else the file name.
    pub title: String,
    /// Kind of file, lower case: `pdf`, `markdown`, `csv`, `rust`, ...
    pub kind: String,
    /// Where it stands.
    pub state: DocumentState,
    /// Why it is empty or failed, or what is worth knowing about a ready one.
    pub reason: Option<String>,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Characters of extracted text.
    pub chars: u64,
    /// Pages, where the format has them.
    pub pages: Option<u32>,
    /// Chunks of the current generation.
    pub chunks: u64,
    /// When it was added or last replaced, milliseconds since the Unix epoch.
    pub updated_at_ms: i64,
}

/// A collection with its counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionInfo {
    /// Its name.
    pub name: CollectionName,
    /// Documents in any state.
    pub documents: u64,
    /// Documents that can be searched.
    pub ready: u64,
    /// Chunks of the ready documents.
    pub chunks: u64,
}

/// What became of one file of an ingestion. Field names are a contract with scripts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentReport {
    /// The file as given.
    pub path: String,
    /// The document's id, if one was made.
    pub id: Option<DocumentId>,
    /// `ready`, `empty` or `failed`.
    pub state: DocumentState,
    /// Why, when it is not plainly ready.
    pub reason: Option<String>,
    /// Chunks indexed.
    pub chunks: u64,
    /// Characters of extracted text.
    pub chars: u64,
}

/// First and last page of a passage, 1-based and inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PageRange {
    /// First page.
    pub first: u32,
    /// Last page.
    pub last: u32,
}

/// A passage with its surroundings, for the source pane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassageView {
    /// The document.
    pub document: DocumentInfo,
    /// Pages of the passage.
    pub pages: Option<PageRange>,
    /// Heading path of the passage, outermost first.
    pub headings: Vec<String>,
    /// Extracted text just before the passage.
    pub before: String,
    /// The passage itself.
    pub passage: String,
    /// Extracted text just after the passage.
    pub after: String,
}
