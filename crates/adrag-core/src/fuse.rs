//! Fusing ranked lists of several stores into one.

use crate::ports::StoreHit;
use adrag_contract::{ChunkId, Finding, Fusion, RetrievalSettings, Store};
use std::collections::BTreeMap;

/// A candidate after fusion.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused {
    /// The chunk.
    pub chunk: ChunkId,
    /// Fused score, higher is better.
    pub score: f32,
    /// Every list that held it, with rank and score there.
    pub found_by: Vec<Finding>,
}

/// One list of hits, best first, and how much it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedList {
    /// The store it came from.
    pub store: Store,
    /// Factor on its reciprocal ranks.
    pub weight: f32,
    /// The hits.
    pub hits: Vec<StoreHit>,
}

/// The lists as one, in the way of the settings. Best first; ties by chunk id, so that the result never depends on which store
/// answered first.
pub fn fuse(lists: &[RankedList], settings: &RetrievalSettings) -> Vec<Fused> {
    match settings.fusion {
        Fusion::Rrf => reciprocal_rank_fusion(lists, settings.rrf_k),
        Fusion::Convex => convex_combination(lists),
    }
}

/// Weighted reciprocal rank fusion: `score(d) = sum over lists of weight / (k + rank)`, ranks 1-based.
///
/// Source: Cormack, Clarke and Buettcher, SIGIR 2009 (k = 60, weight 1). A chunk twice in one list counts at its better
/// rank.
pub fn reciprocal_rank_fusion(lists: &[RankedList], k: f32) -> Vec<Fused> {
    #[expect(clippy::cast_precision_loss, reason = "a rank is far below 2^23")]
    combined(lists, |list, rank, _| list.weight / (k + rank as f32))
}

/// Weighted mean of scores: each list is scaled so that its best is 1 and its worst 0, and a chunk that a list does not hold has 0
/// there. A list of one score is all 1.
///
/// Source: min-max normalised convex combination, Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
/// Retrieval", TOIS 2023.
pub fn convex_combination(lists: &[RankedList]) -> Vec<Fused> {
    let total: f32 = lists.iter().map(|list| list.weight).sum();
    combined(lists, |list, _, score| {
        let (low, high) = list
            .hits
            .iter()
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), hit| {
                (low.min(hit.score), high.max(hit.score))
            });
        let scaled = if high > low {
            (score - low) / (high - low)
        } else {
            1.0
        };
        if total > 0.0 {
            list.weight / total * scaled
        } else {
            0.0
        }
    })
}

/// Adds up what each list says of its chunks.
fn combined(lists: &[RankedList], worth: impl Fn(&RankedList, u32, f32) -> f32) -> Vec<Fused> {
    let mut pool: BTreeMap<&ChunkId, Fused> = BTreeMap::new();
    for list in lists {
        let mut seen = std::collections::HashSet::new();
        for (rank, hit) in (1_u32..).zip(list.hits.iter().filter(|hit| seen.insert(&hit.chunk))) {
            let fused = pool.entry(&hit.chunk).or_insert_with(|| Fused {
                chunk: hit.chunk.clone(),
                score: 0.0,
                found_by: Vec::new(),
            });
            fused.score += worth(list, rank, hit.score);
            match fused
                .found_by
                .iter_mut()
                .find(|finding| finding.store == list.store)
            {
                Some(finding) if finding.rank <= rank => {}
                Some(finding) => {
                    finding.rank = rank;
                    finding.score = hit.score;
                }
                None => fused.found_by.push(Finding {
                    store: list.store,
                    rank,
                    score: hit.score,
                }),
            }
        }
    }
    let mut fused: Vec<Fused> = pool.into_values().collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.chunk.cmp(&b.chunk)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(store: Store, ids: &[&str]) -> RankedList {
        RankedList {
            store,
            weight: 1.0,
            hits: ids
                .iter()
                .map(|id| StoreHit {
                    chunk: ChunkId::new(*id),
                    score: 1.0,
                })
                .collect(),
        }
    }

    #[test]
    fn a_chunk_of_two_lists_beats_the_best_of_one() {
        let fused = reciprocal_rank_fusion(
            &[
                list(Store::Vector, &["a", "b"]),
                list(Store::Keyword, &["c", "b"]),
            ],
            60.0,
        );
        assert_eq!(fused[0].chunk.as_str(), "b");
        assert!((fused[0].score - 2.0 / 62.0).abs() < 1e-6);
        assert_eq!(fused[0].found_by.len(), 2);
    }

    #[test]
    fn ties_go_by_chunk_id_whatever_the_order_of_lists() {
        let one = reciprocal_rank_fusion(&[list(Store::Vector, &["b"]), list(Store::Keyword, &["a"])], 60.0);
        let two = reciprocal_rank_fusion(&[list(Store::Keyword, &["a"]), list(Store::Vector, &["b"])], 60.0);
        assert_eq!(one[0].chunk, two[0].chunk);
        assert_eq!(one[0].chunk.as_str(), "a");
    }

    #[test]
    fn scores_are_scaled_list_by_list_and_weighed() {
        let scored = |store, weight, hits: &[(&str, f32)]| RankedList {
            store,
            weight,
            hits: hits
                .iter()
                .map(|(id, score)| StoreHit {
                    chunk: ChunkId::new(*id),
                    score: *score,
                })
                .collect(),
        };
        let lists = [
            scored(Store::Vector, 3.0, &[("a", 0.9), ("b", 0.5), ("c", 0.1)]),
            scored(Store::Keyword, 1.0, &[("b", 40.0), ("d", 8.0)]),
        ];
        let fused = convex_combination(&lists);
        let of = |id: &str| fused.iter().find(|one| one.chunk.as_str() == id).unwrap().score;
        assert!((of("a") - 0.75).abs() < 1e-6);
        assert!((of("b") - (0.75 * 0.5 + 0.25)).abs() < 1e-6);
        assert!(of("c").abs() < 1e-6 && of("d").abs() < 1e-6);
        let alone = convex_combination(&[scored(Store::Graph, 0.4, &[("x", 2.0), ("y", 2.0)])]);
        assert!(alone.iter().all(|one| (one.score - 1.0).abs() < 1e-6));
        assert!(
            convex_combination(&[scored(Store::Graph, 0.0, &[("x", 2.0)])])[0]
                .score
                .abs()
                < 1e-6
        );
    }

    #[test]
    fn a_repeated_chunk_counts_once() {
        let fused = reciprocal_rank_fusion(&[list(Store::Graph, &["a", "a", "b"])], 60.0);
        assert!((fused[0].score - 1.0 / 61.0).abs() < 1e-6);
        assert_eq!(fused[1].found_by[0].rank, 2);
    }
}
