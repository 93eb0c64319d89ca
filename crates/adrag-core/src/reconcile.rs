//! Start-up: whatever a sudden end left half done is finished or undone, and every projection is made to hold exactly
//! what the catalogue published. Vectors that only a change of the embedder left out are not made here: start-up would wait
//! for them ([`Engine::embed_anew`](crate::Engine::embed_anew)).

use crate::engine::Ports;
use crate::ingest::{is_embedder_new, note_if_complete, note_rules_if_empty};
use crate::ports::{Chunk, DocumentKey, HeldDocument, PortResult};
use crate::project::{
    Generation, embed, flush, remove_marked, undo, write_entities, write_vectors, write_words,
};
use crate::run::Pause;
use adrag_contract::DocumentState;
use std::collections::HashMap;
use tokio_util::sync::CancellationToken;

/// Mends all stores; one line for each thing that had to be mended.
pub(crate) async fn reconcile(ports: &Ports) -> PortResult<Vec<String>> {
    let mut mended = Vec::new();
    let deleting = ports.catalog.deleting().await?;
    remove_marked(ports, &deleting).await?;
    if !deleting.is_empty() {
        mended.push(format!("finished the deletion of {} documents", deleting.len()));
    }
    for unfinished in ports.catalog.unfinished().await? {
        if unfinished.state != DocumentState::Queued {
            undo(ports, &unfinished.key).await?;
            ports.catalog.requeue(&unfinished.key).await?;
            mended.push(format!(
                "`{}` was half done and waits to be read again",
                unfinished.path
            ));
        }
    }
    mend_projections(ports, &mut mended).await?;
    if !mended.is_empty() {
        flush(ports).await?;
    }
    note_if_complete(ports).await?;
    note_rules_if_empty(ports).await?;
    Ok(mended)
}

async fn mend_projections(ports: &Ports, mended: &mut Vec<String>) -> PortResult<()> {
    let published = ports.catalog.published().await?;
    let vectors = ports.vectors.held().await?;
    let words = ports.keywords.held().await?;
    let graph = ports.graph.held().await?;
    let wanted: HashMap<&DocumentKey, u64> = published.iter().map(|held| (&held.key, held.chunks)).collect();
    for held in vectors.iter().chain(&words).chain(&graph) {
        if !wanted.contains_key(&held.key) {
            undo(ports, &held.key).await?;
            mended.push(format!("removed the remains of document {}", held.key.document));
        }
    }
    let (vectors, words, graph) = (counts(&vectors), counts(&words), counts(&graph));
    let mends_vectors = ports.embedder.is_some() && !is_embedder_new(ports).await?;
    for held in published.iter().filter(|held| held.chunks > 0) {
        let lacks = |counts: &HashMap<&DocumentKey, u64>| counts.get(&held.key) != Some(&held.chunks);
        let lacking = Lacking {
            vectors: mends_vectors && lacks(&vectors),
            words: lacks(&words),
            graph: lacks(&graph),
        };
        if let Some(what) = lacking.name() {
            rebuild(ports, &held.key, &lacking).await?;
            mended.push(format!("rebuilt the {what} of document {}", held.key.document));
        }
    }
    Ok(())
}

fn counts(held: &[HeldDocument]) -> HashMap<&DocumentKey, u64> {
    held.iter().map(|held| (&held.key, held.chunks)).collect()
}

struct Lacking {
    vectors: bool,
    words: bool,
    graph: bool,
}

impl Lacking {
    fn name(&self) -> Option<String> {
        let names: Vec<&str> = [
            (self.vectors, "vectors"),
            (self.words, "words"),
            (self.graph, "entities"),
        ]
        .into_iter()
        .filter_map(|(lacks, name)| lacks.then_some(name))
        .collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// Writes what a projection lacks of a generation again, from the chunks the catalogue kept.
async fn rebuild(ports: &Ports, key: &DocumentKey, lacking: &Lacking) -> PortResult<()> {
    let stored = ports.catalog.chunks(key).await?;
    let Some(first) = stored.first() else {
        return Ok(());
    };
    let (collection, title) = (first.collection.clone(), first.title.clone());
    let chunks: Vec<Chunk> = stored.into_iter().map(|stored| stored.chunk).collect();
    let generation = Generation {
        key,
        collection: &collection,
        title: &title,
        chunks: &chunks,
    };
    if let (true, Some(embedder)) = (lacking.vectors, &ports.embedder) {
        let vectors = embed(
            embedder.as_ref(),
            &chunks,
            &CancellationToken::new(),
            &Pause::default(),
            |_| {},
        )
        .await?;
        ports.vectors.delete_generation(key).await?;
        write_vectors(ports, &generation, vectors).await?;
    }
    if lacking.words {
        ports.keywords.delete_generation(key).await?;
        write_words(ports, &generation).await?;
    }
    if lacking.graph {
        ports.graph.delete_generation(key).await?;
        write_entities(ports, &generation).await?;
    }
    Ok(())
}
