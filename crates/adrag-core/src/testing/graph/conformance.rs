//! Every sentence of [`EntityGraph`] as a check.

use crate::ports::{DocumentKey, Entity, EntityGraph, GraphChunk, Scope};
use adrag_contract::{ChunkId, CollectionName, DocumentId};

/// A chunk `<document>-<generation>-<number>` that names entities by key.
pub fn graph_chunk(
    collection: &str,
    document: &str,
    generation: u64,
    number: u32,
    entities: &[&str],
) -> GraphChunk {
    GraphChunk {
        chunk: ChunkId::new(format!("{document}-{generation}-{number}")),
        key: key(document, generation),
        collection: CollectionName::from(collection),
        entities: entities
            .iter()
            .map(|entity| Entity {
                key: (*entity).to_owned(),
                name: entity.to_uppercase(),
            })
            .collect(),
    }
}

fn key(document: &str, generation: u64) -> DocumentKey {
    DocumentKey {
        document: DocumentId::from(document),
        generation,
    }
}

async fn ids(graph: &dyn EntityGraph, entities: &[&str], scope: &Scope) -> Vec<String> {
    let entities: Vec<String> = entities.iter().map(|entity| (*entity).to_owned()).collect();
    let hits = graph.search(&entities, 50, scope).await.unwrap();
    assert!(
        hits.windows(2).all(|pair| pair[0].score >= pair[1].score),
        "hits come best first"
    );
    hits.into_iter().map(|hit| hit.chunk.to_string()).collect()
}

async fn counts(graph: &dyn EntityGraph) -> (u64, u64, u64) {
    let count = graph.count().await.unwrap();
    (count.chunks, count.entities, count.edges)
}

/// Panics on the first broken promise. Takes an empty graph and leaves it empty.
pub async fn conformance(graph: &dyn EntityGraph) {
    assert_eq!(counts(graph).await, (0, 0, 0), "a fresh graph is empty");
    finds_over_shared_entities(graph).await;
    keeps_to_scope_and_limit(graph).await;
    replaces_a_chunk_of_the_same_id(graph).await;
    deletes_generations(graph).await;
    graph.clear().await.unwrap();
    graph.flush().await.unwrap();
    assert_eq!(counts(graph).await, (0, 0, 0), "clear removes everything");
    assert!(graph.held().await.unwrap().is_empty());
    assert!(ids(graph, &["curie"], &Scope::Everything).await.is_empty());
}

async fn finds_over_shared_entities(graph: &dyn EntityGraph) {
    graph
        .add(vec![
            graph_chunk("papers", "d1", 1, 0, &["curie", "polonium"]),
            graph_chunk("papers", "d1", 1, 1, &["polonium", "warsaw"]),
            graph_chunk("papers", "d2", 1, 0, &["paris"]),
            graph_chunk("papers", "d2", 1, 1, &[]),
        ])
        .await
        .unwrap();
    graph.flush().await.unwrap();
    assert_eq!(counts(graph).await, (4, 4, 5));
    assert_eq!(
        ids(graph, &["curie"], &Scope::Everything).await,
        ["d1-1-0", "d1-1-1"],
        "the second hop leads over a shared entity, and no further"
    );
    assert_eq!(
        ids(graph, &["nobody", "curie"], &Scope::Everything).await,
        ["d1-1-0", "d1-1-1"],
        "unknown entities are ignored"
    );
    assert!(ids(graph, &["nobody"], &Scope::Everything).await.is_empty());
    assert!(ids(graph, &[], &Scope::Everything).await.is_empty());
    let asked = ["warsaw", "nobody", "curie"].map(str::to_owned);
    let mut known = graph.known(&asked).await.unwrap();
    known.sort();
    assert_eq!(known, ["curie", "warsaw"]);
}

async fn keeps_to_scope_and_limit(graph: &dyn EntityGraph) {
    graph
        .add(vec![graph_chunk("letters", "d3", 1, 0, &["curie"])])
        .await
        .unwrap();
    let letters = Scope::Collection(CollectionName::from("letters"));
    assert_eq!(ids(graph, &["curie"], &letters).await, ["d3-1-0"]);
    let nowhere = Scope::Collection(CollectionName::from("nowhere"));
    assert!(ids(graph, &["curie"], &nowhere).await.is_empty());
    let all = graph
        .search(&["curie".to_owned()], 50, &Scope::Everything)
        .await
        .unwrap();
    let one = graph
        .search(&["curie".to_owned()], 1, &Scope::Everything)
        .await
        .unwrap();
    assert_eq!(one, all[..1], "a limit keeps the best");
    assert!(
        graph
            .search(&["curie".to_owned()], 0, &Scope::Everything)
            .await
            .unwrap()
            .is_empty()
    );
}

async fn replaces_a_chunk_of_the_same_id(graph: &dyn EntityGraph) {
    let before = counts(graph).await;
    graph
        .add(vec![
            graph_chunk("papers", "d2", 1, 0, &["rome"]),
            graph_chunk("papers", "d2", 1, 0, &["oslo", "bergen"]),
        ])
        .await
        .unwrap();
    assert_eq!(counts(graph).await, (before.0, before.1 + 1, before.2 + 1));
    let asked = ["paris", "rome", "oslo"].map(str::to_owned);
    assert_eq!(graph.known(&asked).await.unwrap(), ["oslo"], "the last one stays");
}

async fn deletes_generations(graph: &dyn EntityGraph) {
    graph
        .add(vec![
            graph_chunk("papers", "d1", 2, 0, &["curie", "radium"]),
            graph_chunk("papers", "d1", 3, 0, &["curie", "thorium"]),
        ])
        .await
        .unwrap();
    let held = |held: Vec<crate::ports::HeldDocument>| {
        let mut held: Vec<(String, u64, u64)> = held
            .into_iter()
            .map(|held| (held.key.document.to_string(), held.key.generation, held.chunks))
            .collect();
        held.sort();
        held
    };
    let entry = |document: &str, generation, chunks| (document.to_owned(), generation, chunks);
    assert_eq!(
        held(graph.held().await.unwrap()),
        [
            entry("d1", 1, 2),
            entry("d1", 2, 1),
            entry("d1", 3, 1),
            entry("d2", 1, 2),
            entry("d3", 1, 1)
        ]
    );
    graph.delete_generation(&key("d1", 3)).await.unwrap();
    graph.delete_generation(&key("d1", 9)).await.unwrap();
    let asked = ["thorium", "radium", "warsaw"].map(str::to_owned);
    assert_eq!(
        graph.known(&asked).await.unwrap(),
        ["radium", "warsaw"],
        "an entity that no chunk names any more is gone"
    );
    graph.delete(&DocumentId::from("d1"), Some(2)).await.unwrap();
    assert_eq!(
        held(graph.held().await.unwrap()),
        [entry("d1", 2, 1), entry("d2", 1, 2), entry("d3", 1, 1)]
    );
    assert_eq!(ids(graph, &["curie"], &Scope::Everything).await.len(), 2);
    graph.delete(&DocumentId::from("d1"), None).await.unwrap();
    graph.delete(&DocumentId::from("nobody"), None).await.unwrap();
    assert_eq!(ids(graph, &["curie"], &Scope::Everything).await, ["d3-1-0"]);
    assert_eq!(counts(graph).await, (3, 3, 3));
}
