//! Worked numbers, and that history leaves no trace.

use super::*;
use crate::ports::Entity;
use proptest::prelude::*;

fn chunk(id: &str, document: &str, generation: u64, entities: &[&str]) -> GraphChunk {
    GraphChunk {
        chunk: ChunkId::from(id),
        key: DocumentKey {
            document: DocumentId::from(document),
            generation,
        },
        collection: CollectionName::from(if document.starts_with('z') {
            "other"
        } else {
            "default"
        }),
        entities: entities
            .iter()
            .map(|key| Entity {
                key: (*key).to_owned(),
                name: key.to_uppercase(),
            })
            .collect(),
    }
}

fn index(chunks: &[GraphChunk]) -> EntityIndex {
    let mut index = EntityIndex::new();
    for chunk in chunks {
        index.add(chunk);
    }
    index
}

fn search(index: &EntityIndex, entities: &[&str]) -> Vec<(String, f32)> {
    let entities: Vec<String> = entities.iter().map(|key| (*key).to_owned()).collect();
    index
        .search(&entities, 100, &Scope::Everything)
        .into_iter()
        .map(|hit| (hit.chunk.to_string(), hit.score))
        .collect()
}

fn close(got: f32, want: f64) {
    assert!((f64::from(got) - want).abs() < 2e-4, "{got} is not {want}");
}

#[test]
fn one_entity_and_one_chunk_share_the_walk() {
    // Back and forth, stopping half the time: 1/2 + 1/8 + 1/32 + ... = 2/3 on the entity, 1/3 on the chunk.
    let hits = search(&index(&[chunk("a", "d", 1, &["x"])]), &["x"]);
    assert_eq!(hits.len(), 1);
    close(hits[0].1, 1.0 / 3.0);
}

#[test]
fn the_second_hop_reaches_a_chunk_that_shares_nothing_with_the_question() {
    // x - a - y - b, both entities unlike in weight: w(x) = ln(1 + 2/1) = 1.0986, w(y) = ln(1 + 2/2) = 0.6931.
    // With t = w(x) / (w(x) + w(y)) = 0.6131, stopping half the time:
    //   X = 1/2 + t A / 2, A = X / 2 + Y / 4, Y = (1 - t) A / 2 + B / 2, B = Y / 4
    // hence Y = (1 - t) A / 2 * 8/7, A = 1/4 + t A / 4 + (1 - t) A / 7, A = 0.25 / (1 - 0.15327 - 0.05527) = 0.31587,
    // Y = 0.06983, B = 0.01746.
    let index = index(&[chunk("a", "d", 1, &["x", "y"]), chunk("b", "e", 1, &["y"])]);
    let hits = search(&index, &["x"]);
    assert_eq!(hits[0].0, "a");
    assert_eq!(hits[1].0, "b");
    close(hits[0].1, 0.315_87);
    close(hits[1].1, 0.017_46);
}

#[test]
fn a_rare_entity_leads_on_more_than_a_common_one() {
    let mut chunks = vec![
        chunk("seed", "d", 1, &["x", "rare", "common"]),
        chunk("by-rare", "d", 1, &["rare"]),
        chunk("by-common", "d", 1, &["common"]),
    ];
    for number in 0..20 {
        chunks.push(chunk(&format!("noise-{number}"), "d", 1, &["common"]));
    }
    let hits = search(&index(&chunks), &["x"]);
    let score = |id: &str| hits.iter().find(|hit| hit.0 == id).map_or(0.0, |hit| hit.1);
    assert!(score("seed") > score("by-rare"));
    assert!(score("by-rare") > 10.0 * score("by-common"), "{hits:?}");
}

#[test]
fn more_entities_of_the_question_rank_a_chunk_higher() {
    let index = index(&[
        chunk("one", "d", 1, &["x", "p", "q"]),
        chunk("both", "d", 1, &["x", "y"]),
        chunk("other", "d", 1, &["y", "p"]),
    ]);
    assert_eq!(search(&index, &["x", "y"])[0].0, "both");
}

#[test]
fn a_hub_costs_no_more_than_the_bound_and_still_tells_found_chunks_apart() {
    let mut chunks: Vec<GraphChunk> = (0..30_000)
        .map(|number| chunk(&format!("n{number:05}"), "d", 1, &["hub"]))
        .collect();
    chunks.push(chunk("a-only", "d", 1, &["x", "pad"]));
    chunks.push(chunk("with-hub", "d", 1, &["x", "hub"]));
    let index = index(&chunks);
    assert!(search(&index, &["hub"]).is_empty(), "it tells nothing apart");
    let hits = search(&index, &["x", "hub"]);
    assert!(hits.len() <= 2, "the hub was pushed: {}", hits.len());
    assert!(hits.iter().any(|hit| hit.0 == "with-hub"));
    let lone = search(&index, &["x"]);
    let score =
        |hits: &[(String, f32)], id: &str| hits.iter().find(|hit| hit.0 == id).map_or(0.0, |hit| hit.1);
    let share = score(&hits, "with-hub") / score(&hits, "a-only");
    assert!(
        share > score(&lone, "with-hub") / score(&lone, "a-only"),
        "the hub lends its weight"
    );
}

#[test]
fn a_search_keeps_to_its_scope_and_its_limit_and_orders_equals_by_id() {
    let index = index(&[
        chunk("c", "d", 1, &["x"]),
        chunk("a", "d", 1, &["x"]),
        chunk("b", "z", 1, &["x"]),
    ]);
    let ids = |scope: &Scope, limit| -> Vec<String> {
        index
            .search(&["x".to_owned()], limit, scope)
            .into_iter()
            .map(|hit| hit.chunk.to_string())
            .collect()
    };
    assert_eq!(ids(&Scope::Everything, 10), ["a", "b", "c"]);
    assert_eq!(ids(&Scope::Everything, 2), ["a", "b"]);
    assert_eq!(ids(&Scope::Everything, 0), Vec::<String>::new());
    assert_eq!(ids(&Scope::Collection("other".into()), 10), ["b"]);
    assert!(search(&index, &["unknown"]).is_empty());
    assert!(search(&index, &[]).is_empty());
}

/// Add, replace and remove at random; only chunks matter in the end.
#[derive(Clone, Debug)]
enum Step {
    Add(u8, u8, Vec<u8>),
    Remove(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let add = (0..12_u8, 0..3_u8, prop::collection::vec(0..9_u8, 0..6))
        .prop_map(|(id, document, entities)| Step::Add(id, document, entities));
    let remove = (0..12_u8).prop_map(Step::Remove);
    prop::collection::vec(prop_oneof![3 => add, 1 => remove], 0..60)
}

proptest! {
    #[test]
    fn any_history_equals_a_fresh_build(steps in steps()) {
        let mut lived = EntityIndex::new();
        let mut left: BTreeMap<String, GraphChunk> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Add(id, document, entities) => {
                    let names: Vec<String> = entities.iter().map(|entity| format!("e{entity}")).collect();
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    let chunk = chunk(&format!("c{id}"), &format!("d{document}"), u64::from(document), &names);
                    lived.add(&chunk);
                    left.insert(chunk.chunk.to_string(), chunk);
                }
                Step::Remove(id) => {
                    let id = format!("c{id}");
                    prop_assert_eq!(lived.remove(&ChunkId::from(id.as_str())), left.remove(&id).is_some());
                }
            }
        }
        let chunks: Vec<GraphChunk> = left.into_values().collect();
        let fresh = index(&chunks);
        prop_assert_eq!(lived.count(), fresh.count());
        prop_assert_eq!(lived.held(), fresh.held());
        prop_assert_eq!(lived.nodes.iter().flatten().count(), fresh.nodes.iter().flatten().count());
        for seeds in [&["e0"][..], &["e1", "e2"], &["e3", "e4", "e5", "e8"]] {
            prop_assert_eq!(search(&lived, seeds), search(&fresh, seeds));
        }
        for document in ["d0", "d1", "d2"] {
            let document = DocumentId::from(document);
            prop_assert_eq!(lived.chunks_of(&document, None), fresh.chunks_of(&document, None));
        }
    }

    #[test]
    fn scores_are_a_bound_from_below_and_near_the_exact_walk(
        chunks in prop::collection::vec(prop::collection::vec(0..7_u8, 1..5), 1..10),
    ) {
        let chunks: Vec<GraphChunk> = chunks
            .iter()
            .enumerate()
            .map(|(number, entities)| {
                let names: Vec<String> = entities.iter().map(|entity| format!("e{entity}")).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                chunk(&format!("c{number}"), "d", 1, &names)
            })
            .collect();
        let index = index(&chunks);
        let seed = chunks[0].entities[0].key.as_str();
        let exact = exact_walk(&chunks, seed);
        for (id, score) in search(&index, &[seed]) {
            let want = exact[&id];
            prop_assert!(f64::from(score) <= want + 1e-6, "{} above {}", score, want);
            prop_assert!(f64::from(score) >= want - 2e-2, "{} far below {}", score, want);
        }
    }
}

/// The walk step by step over all nodes, in floating point: what forward push stays below.
fn exact_walk(chunks: &[GraphChunk], seed: &str) -> BTreeMap<String, f64> {
    let edges: Vec<(String, BTreeSet<String>)> = chunks
        .iter()
        .map(|chunk| {
            (
                chunk.chunk.to_string(),
                chunk.entities.iter().map(|entity| entity.key.clone()).collect(),
            )
        })
        .collect();
    let named = |entity: &str| edges.iter().filter(|(_, set)| set.contains(entity)).count() as f64;
    let weight = |entity: &str| (1.0 + edges.len() as f64 / named(entity)).ln();
    let mut at: BTreeMap<String, f64> = BTreeMap::from([(seed.to_owned(), 1.0)]);
    let mut stopped: BTreeMap<String, f64> = edges.iter().map(|(id, _)| (id.clone(), 0.0)).collect();
    for _ in 0..200 {
        let mut next: BTreeMap<String, f64> = BTreeMap::new();
        for (node, mass) in at {
            let onward = mass * (1.0 - RESTART);
            if let Some((_, set)) = edges.iter().find(|(id, _)| *id == node) {
                *stopped.entry(node).or_default() += mass * RESTART;
                let total: f64 = set.iter().map(|entity| weight(entity)).sum();
                for entity in set {
                    *next.entry(entity.clone()).or_default() += onward * weight(entity) / total;
                }
            } else {
                for (id, _) in edges.iter().filter(|(_, set)| set.contains(&node)) {
                    *next.entry(id.clone()).or_default() += onward / named(&node);
                }
            }
        }
        at = next;
    }
    stopped
}
