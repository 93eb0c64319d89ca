//! The types of a document on its way in: `SourceFile -> ParsedDocument -> Chunk -> EmbeddedChunk`.

use adrag_contract::{ChunkId, CollectionName, DocumentId, PageRange};
use serde::{Deserialize, Serialize};

/// A file that was looked at but not read into text yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Absolute path.
    pub path: String,
    /// File name, cleaned of control and direction characters.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the content, lower-case hexadecimal.
    pub sha256: String,
}

/// A document as text with its structure.
///
/// `blocks` are in reading order, do not overlap, and lie on character boundaries of `text`; white space between two
/// blocks belongs to none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParsedDocument {
    /// Title found in the document.
    pub title: Option<String>,
    /// Kind of file, lower case: `pdf`, `markdown`, `html`, `csv`, `json`, `docx`, `text`, or the language of code.
    pub kind: String,
    /// All text, UTF-8, lines ended by `\n`.
    pub text: String,
    /// Its structure.
    pub blocks: Vec<Block>,
    /// Number of pages, where the format has them.
    pub pages: Option<u32>,
    /// Remarks worth showing: `pages 3-5 have no text layer`.
    pub remarks: Vec<String>,
}

/// A structural unit of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// First byte in the document's text.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// Page it begins on, 1-based, where the format has pages.
    pub page: Option<u32>,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// A heading of a level, 1 outermost.
    Heading(u8),
    /// Running text.
    Prose,
    /// An item of a list.
    ListItem,
    /// One row of a table, as `column: value` pairs where the columns are known.
    TableRow,
    /// Source code or preformatted text; cut at line ends only.
    Code,
}

/// A piece of a document that is searched and cited as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Its id: derived from document, generation and number.
    pub id: ChunkId,
    /// Number in the document, 0-based.
    pub ordinal: u32,
    /// First byte in the document's text.
    pub start: u64,
    /// Byte after the last.
    pub end: u64,
    /// Pages it covers, where the format has them.
    pub pages: Option<PageRange>,
    /// Headings above it, outermost first.
    pub headings: Vec<String>,
    /// What most of it is.
    pub kind: BlockKind,
    /// The text of the span, without the header.
    pub text: String,
    /// Line indexed and embedded before the text: title, headings. Not part of the citation.
    pub header: String,
    /// Model tokens of header and text.
    pub tokens: u32,
}

impl Chunk {
    /// What is embedded: header, line break, text.
    pub fn embedded_text(&self) -> String {
        if self.header.is_empty() {
            self.text.clone()
        } else {
            format!("{}\n{}", self.header, self.text)
        }
    }
}

/// A chunk with its vector.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedChunk {
    /// The chunk.
    pub chunk: Chunk,
    /// Its vector, of unit length.
    pub vector: Vec<f32>,
}

/// One generation of a document: what projections are keyed by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DocumentKey {
    /// The document.
    pub document: DocumentId,
    /// Counts its replacements, from 1.
    pub generation: u64,
}

/// Which documents a search may see. Every search of a store names one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// All collections.
    #[default]
    Everything,
    /// One collection.
    Collection(CollectionName),
}

impl From<Option<CollectionName>> for Scope {
    fn from(collection: Option<CollectionName>) -> Self {
        collection.map_or(Self::Everything, Self::Collection)
    }
}

/// A hit of one store: a chunk id and the store's own score, higher is better.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreHit {
    /// The chunk.
    pub chunk: ChunkId,
    /// Score on the store's own scale.
    pub score: f32,
}

/// How many chunks of a generation a store holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldDocument {
    /// The generation.
    pub key: DocumentKey,
    /// Its chunks in this store.
    pub chunks: u64,
}
