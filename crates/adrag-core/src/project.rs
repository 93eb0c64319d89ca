//! The three projections of a published text: vectors, words, entities. Writing, removing and flushing them.

use crate::engine::Ports;
use crate::entity::entities_of;
use crate::ports::{
    Chunk, DocumentKey, EmbedRole, Embedder, GraphChunk, KeywordChunk, PortError, PortResult, VectorPoint,
};
use crate::run::Pause;
use adrag_contract::{CollectionName, DocumentId, ErrorCode};
use std::collections::{HashMap, HashSet};
use tokio_util::sync::CancellationToken;

/// Texts embedded between two looks at the buttons to pause and to stop; the embedder batches by tokens itself.
const EMBED_AT_ONCE: usize = 16;

/// One generation of a document, ready to be written.
pub(crate) struct Generation<'a> {
    pub key: &'a DocumentKey,
    pub collection: &'a CollectionName,
    pub title: &'a str,
    pub chunks: &'a [Chunk],
}

/// Embeds the chunks of a generation, resting while `pause` is on; `progress` hears how many are done.
pub(crate) async fn embed(
    embedder: &dyn Embedder,
    chunks: &[Chunk],
    cancel: &CancellationToken,
    pause: &Pause,
    progress: impl Fn(usize),
) -> PortResult<Vec<Vec<f32>>> {
    let mut vectors = Vec::with_capacity(chunks.len());
    for part in chunks.chunks(EMBED_AT_ONCE) {
        pause.pass(cancel).await?;
        let texts = part.iter().map(Chunk::embedded_text).collect();
        let embedded = embedder.embed(texts, EmbedRole::Passage, cancel).await?;
        // An embedder that answers fewer or shorter vectors must not leave half a document behind.
        let dim = embedder.info().dim;
        if embedded.len() != part.len() || embedded.iter().any(|vector| vector.len() != dim) {
            return Err(PortError::permanent(
                ErrorCode::BadReply,
                format!(
                    "the embedder did not return {} vectors of {dim} components",
                    part.len()
                ),
            ));
        }
        vectors.extend(embedded);
        progress(vectors.len());
    }
    Ok(vectors)
}

/// Writes the vectors of a generation, one a chunk.
pub(crate) async fn write_vectors(
    ports: &Ports,
    of: &Generation<'_>,
    vectors: Vec<Vec<f32>>,
) -> PortResult<()> {
    let points = of.chunks.iter().zip(vectors).map(|(chunk, vector)| VectorPoint {
        chunk: chunk.id.clone(),
        key: of.key.clone(),
        collection: of.collection.clone(),
        vector,
    });
    ports.vectors.upsert(points.collect()).await
}

/// Writes the words of a generation.
pub(crate) async fn write_words(ports: &Ports, of: &Generation<'_>) -> PortResult<()> {
    let words = of.chunks.iter().map(|chunk| KeywordChunk {
        chunk: chunk.id.clone(),
        key: of.key.clone(),
        collection: of.collection.clone(),
        title: of.title.to_owned(),
        headings: chunk.headings.join(" > "),
        text: chunk.text.clone(),
    });
    ports.keywords.add(words.collect()).await
}

/// Writes the entities of a generation.
pub(crate) async fn write_entities(ports: &Ports, of: &Generation<'_>) -> PortResult<()> {
    let chunks = of.chunks.iter().map(|chunk| GraphChunk {
        chunk: chunk.id.clone(),
        key: of.key.clone(),
        collection: of.collection.clone(),
        entities: entities_of(&chunk.embedded_text()),
    });
    ports.graph.add(chunks.collect()).await
}

/// Removes one generation from all projections.
pub(crate) async fn undo(ports: &Ports, key: &DocumentKey) -> PortResult<()> {
    ports.vectors.delete_generation(key).await?;
    ports.keywords.delete_generation(key).await?;
    ports.graph.delete_generation(key).await
}

/// Removes a document from all projections, but for a generation to keep.
pub(crate) async fn forget(ports: &Ports, document: &DocumentId, keep: Option<u64>) -> PortResult<()> {
    ports.vectors.delete(document, keep).await?;
    ports.keywords.delete(document, keep).await?;
    ports.graph.delete(document, keep).await
}

/// Makes all projections durable and visible.
pub(crate) async fn flush(ports: &Ports) -> PortResult<()> {
    tokio::try_join!(ports.vectors.flush(), ports.keywords.flush(), ports.graph.flush()).map(|_| ())
}

/// Removes documents that are marked as deleting from every store, the catalogue last.
pub(crate) async fn remove_marked(ports: &Ports, documents: &[DocumentId]) -> PortResult<()> {
    if documents.is_empty() {
        return Ok(());
    }
    for document in documents {
        forget(ports, document, None).await?;
    }
    flush(ports).await?;
    ports.catalog.remove(documents).await
}

/// Cleans the stores of documents that were deleted a while ago. Those that are still marked leave the catalogue too; of
/// one that was added again meanwhile stays what is published now.
pub(crate) async fn clean_deleted(ports: &Ports, documents: &[DocumentId]) -> PortResult<()> {
    let marked: HashSet<DocumentId> = ports.catalog.deleting().await?.into_iter().collect();
    let (gone, back): (Vec<DocumentId>, Vec<DocumentId>) = documents
        .iter()
        .cloned()
        .partition(|document| marked.contains(document));
    remove_marked(ports, &gone).await?;
    if back.is_empty() {
        return Ok(());
    }
    let published: HashMap<DocumentId, u64> = ports
        .catalog
        .published()
        .await?
        .into_iter()
        .map(|held| (held.key.document, held.key.generation))
        .collect();
    for document in &back {
        forget(ports, document, published.get(document).copied()).await?;
    }
    flush(ports).await
}
