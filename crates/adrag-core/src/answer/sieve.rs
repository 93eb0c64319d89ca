//! The person's filters over what a store found.

use crate::engine::Ports;
use crate::filter::Filters;
use crate::ports::{PortResult, StoreHit, StoredChunk};
use adrag_contract::{ChunkId, DocumentId};
use std::collections::HashMap;

/// Looks at each passage and document once, whichever store found it.
pub(super) struct Sieve<'a> {
    ports: &'a Ports,
    filters: &'a Filters,
    chunks: HashMap<ChunkId, Verdict>,
    documents: HashMap<DocumentId, bool>,
}

#[derive(Clone, Copy)]
struct Verdict {
    passes: bool,
    phrases: usize,
}

impl<'a> Sieve<'a> {
    pub(super) fn new(ports: &'a Ports, filters: &'a Filters) -> Self {
        Self {
            ports,
            filters,
            chunks: HashMap::new(),
            documents: HashMap::new(),
        }
    }

    /// Takes out the hits that do not pass, and puts those that hold a phrase first; how many were taken out.
    pub(super) async fn pass(&mut self, hits: &mut Vec<StoreHit>) -> PortResult<u64> {
        if !self.filters.shuts_out() && self.filters.phrases.is_empty() {
            return Ok(0);
        }
        let unknown: Vec<ChunkId> = hits
            .iter()
            .map(|hit| hit.chunk.clone())
            .filter(|chunk| !self.chunks.contains_key(chunk))
            .collect();
        for stored in self.ports.catalog.resolve(&unknown).await? {
            let verdict = Verdict {
                passes: self.filters.passes_chunk(&stored) && self.document_passes(&stored).await?,
                phrases: self.filters.phrases_in(&stored.chunk.text),
            };
            self.chunks.insert(stored.chunk.id, verdict);
        }
        let before = hits.len();
        hits.retain(|hit| self.chunks.get(&hit.chunk).is_some_and(|verdict| verdict.passes));
        // Stable: hits with as many phrases stay in the store's order.
        hits.sort_by_key(|hit| {
            std::cmp::Reverse(self.chunks.get(&hit.chunk).map_or(0, |verdict| verdict.phrases))
        });
        Ok((before - hits.len()) as u64)
    }

    async fn document_passes(&mut self, stored: &StoredChunk) -> PortResult<bool> {
        if !self.filters.asks_of_documents() {
            return Ok(true);
        }
        let id = &stored.key.document;
        if let Some(known) = self.documents.get(id) {
            return Ok(*known);
        }
        let document = self.ports.catalog.document(id).await?;
        let passes = document.is_some_and(|document| self.filters.passes_document(&document));
        self.documents.insert(id.clone(), passes);
        Ok(passes)
    }
}
