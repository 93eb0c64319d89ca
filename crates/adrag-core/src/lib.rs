//! The logic of adRAG: the stages of answering and ingestion, and the ports to the world they need.
//!
//! No network, no disk, no vendor, no window: everything outside enters through [`ports`]. Data changes its type as it
//! moves (`SourceFile -> ParsedDocument -> Chunk -> EmbeddedChunk` and `Question -> ... -> Answer`), so a later stage
//! cannot be called with an earlier stage's data. Start at [`Engine`].
#![warn(missing_docs)]

pub mod answer;
pub mod chunk;
pub mod cite;
pub mod compat;
pub mod engine;
pub mod entity;
pub mod fuse;
pub mod graph;
mod hostile;
pub mod ingest;
pub mod ports;
mod project;
mod reconcile;
pub mod run;
pub mod sentence;
#[cfg(any(test, feature = "test-support"))]
pub mod testing;
mod watch;

pub use engine::Engine;
