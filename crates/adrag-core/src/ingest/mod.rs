//! Ingestion: files become searchable documents, each complete in all stores or in none.
//!
//! The catalogue first, projections after, and a generation is published last. Nothing here knows a vendor; what is
//! left half done by a sudden end is mended by [`crate::reconcile`].

mod anew;
mod document;
mod files;
mod reread;
mod reuse;

pub(crate) use anew::{embed_anew, is_embedder_new, note_if_complete, without_vectors};
pub use files::{IngestRequest, ingest};
pub(crate) use reread::{note_reread, note_rules_if_empty, reread, to_reread};

use crate::chunk::CHUNKER_VERSION;
use crate::engine::Ports;
use adrag_contract::ChunkingSettings;

/// Everything that decides what an index holds: two documents of different fingerprints do not mix.
pub fn fingerprint(ports: &Ports, chunking: &ChunkingSettings) -> String {
    let embedder = ports
        .embedder
        .as_ref()
        .map_or("no embedder", |embedder| embedder.info().fingerprint.as_str());
    format!(
        "{}|{CHUNKER_VERSION}:{}:{}|{embedder}",
        ports.parser.fingerprint(),
        chunking.max_tokens,
        chunking.overlap_tokens
    )
}
