//! Vectors of a document's published generation for chunks of its next one whose text did not change: a small change of a
//! long file embeds little.

use crate::engine::Ports;
use crate::ports::{Chunk, DocumentKey, PortResult};
use adrag_contract::ChunkId;
use std::collections::HashMap;

/// Generations looked back for the published one: those between were never finished.
const LOOK_BACK: u64 = 8;

/// For each chunk the vector it had, where text, title and headings are the same. The index holds vectors of one
/// embedder only, so one of it fits. What cannot be read is made again.
pub(super) async fn known_vectors(
    ports: &Ports,
    key: &DocumentKey,
    chunks: &[Chunk],
) -> Vec<Option<Vec<f32>>> {
    match look(ports, key, chunks).await {
        Ok(known) => known,
        Err(error) => {
            tracing::warn!(document = %key.document, %error, "all chunks are embedded again");
            vec![None; chunks.len()]
        }
    }
}

async fn look(ports: &Ports, key: &DocumentKey, chunks: &[Chunk]) -> PortResult<Vec<Option<Vec<f32>>>> {
    let oldest = key.generation.saturating_sub(LOOK_BACK).max(1);
    for generation in (oldest..key.generation).rev() {
        let before = DocumentKey {
            document: key.document.clone(),
            generation,
        };
        let stored = ports.catalog.chunks(&before).await?;
        if stored.is_empty() {
            continue;
        }
        let by_text: HashMap<String, ChunkId> = stored
            .into_iter()
            .map(|stored| (stored.chunk.embedded_text(), stored.chunk.id))
            .collect();
        let same: Vec<Option<&ChunkId>> = chunks
            .iter()
            .map(|chunk| by_text.get(&chunk.embedded_text()))
            .collect();
        let ids: Vec<ChunkId> = same.iter().copied().flatten().cloned().collect();
        let mut vectors = ports.vectors.vectors(&ids).await?.into_iter();
        return Ok(same
            .into_iter()
            .map(|id| id.and_then(|_| vectors.next().flatten()))
            .collect());
    }
    Ok(vec![None; chunks.len()])
}
