//! Personalised PageRank by local forward push.
//!
//! The walk starts at the entities of the question and at every step either stops, with probability [`RESTART`], or goes
//! on to a neighbour: from an entity to any of its chunks alike, from a chunk to its entities by their weight
//! `ln(1 + N / n)`, where `N` is the number of chunks and `n` how many name the entity. So rare entities carry a walk on and
//! hubs hardly do. The score of a chunk is the probability that the walk stops there: a chunk that shares no entity with
//! the question is still reached over a chunk that does.
//!
//! Forward push (Andersen, Chung and Lang, "Local Graph Partitioning using PageRank Vectors", FOCS 2006) computes it from
//! below and looks at the neighbourhood only. A node is pushed while what rests on it is at least [`TOLERANCE`] times its
//! degree; every push settles a [`RESTART`] share of that, and all shares together are 1, so the edges looked at are at most
//! `1 / (RESTART * TOLERANCE)`, however large the library is.
//!
//! Shares are whole numbers and pushes go in rounds, so sums do not depend on the order of neighbours: the same chunks
//! give the same scores to the last bit.

use super::{EntityIndex, Slot};
use std::collections::{BTreeSet, HashMap};

/// Probability to stop at each step.
pub const RESTART: f64 = 0.5;

/// Share per edge below which a node is not pushed on.
pub const TOLERANCE: f64 = 1e-4;

/// The whole of the walk, in the unit that shares are counted in.
const WHOLE: u64 = 1 << 52;

/// `TOLERANCE` in that unit.
const THRESHOLD: u64 = (WHOLE as f64 * TOLERANCE) as u64;

/// Every chunk reached, with its score, in no order.
pub(super) fn walk(index: &EntityIndex, seeds: &BTreeSet<Slot>) -> HashMap<Slot, f32> {
    let mut settled: HashMap<Slot, u64> = HashMap::new();
    let mut resting: HashMap<Slot, u64> = HashMap::new();
    let weights: Vec<(Slot, u64)> = seeds.iter().map(|slot| (*slot, weight(index, *slot))).collect();
    spread(WHOLE, &weights, &mut resting);

    let mut round: Vec<Slot> = due(index, &resting, resting.keys().copied());
    while !round.is_empty() {
        let mut moving: HashMap<Slot, u64> = HashMap::new();
        for slot in &round {
            let Some(share) = resting.remove(slot) else {
                continue;
            };
            let stops = stopping(share);
            *settled.entry(*slot).or_default() += stops;
            let is_chunk = index.chunk(*slot).is_some();
            let neighbours: Vec<(Slot, u64)> = index
                .graph
                .neighbors(*slot)
                .map(|next| (next, if is_chunk { weight(index, next) } else { 1 }))
                .collect();
            spread(share - stops, &neighbours, &mut moving);
        }
        let touched: Vec<Slot> = moving.keys().copied().collect();
        for (slot, share) in moving {
            *resting.entry(slot).or_default() += share;
        }
        round = due(index, &resting, touched.into_iter());
    }
    scores(index, seeds, &settled, &resting)
}

/// Weight of an entity on the way out of a chunk, in 1/65536.
fn weight(index: &EntityIndex, entity: Slot) -> u64 {
    let chunks = index.chunks.len() as f64;
    let named = index.degree(entity).max(1) as f64;
    ((1.0 + chunks / named).ln() * 65_536.0) as u64
}

fn stopping(share: u64) -> u64 {
    (share as f64 * RESTART) as u64
}

/// Divides a share by weight. What rounding leaves over, less than one unit a part, is lost.
fn spread(share: u64, parts: &[(Slot, u64)], into: &mut HashMap<Slot, u64>) {
    let total: u128 = parts.iter().map(|(_, weight)| u128::from(*weight)).sum();
    for (slot, weight) in parts {
        let part = (u128::from(share) * u128::from(*weight))
            .checked_div(total)
            .unwrap_or(0);
        *into.entry(*slot).or_default() += u64::try_from(part).unwrap_or(0);
    }
}

/// The nodes that have enough resting on them to be pushed on.
fn due(index: &EntityIndex, resting: &HashMap<Slot, u64>, slots: impl Iterator<Item = Slot>) -> Vec<Slot> {
    slots
        .filter(|slot| {
            let degree = index.degree(*slot).max(1) as u64;
            resting
                .get(slot)
                .is_some_and(|share| *share >= THRESHOLD.saturating_mul(degree))
        })
        .collect()
}

/// What settled on each chunk, and of what still rests the part that would settle there within two steps: still a bound
/// from below. The second step counts for entities of the question only, the hubs among them that were never pushed.
fn scores(
    index: &EntityIndex,
    seeds: &BTreeSet<Slot>,
    settled: &HashMap<Slot, u64>,
    resting: &HashMap<Slot, u64>,
) -> HashMap<Slot, f32> {
    let hubs: HashMap<Slot, u64> = seeds
        .iter()
        .filter_map(|slot| {
            let share = *resting.get(slot)?;
            let onward = share - stopping(share);
            Some((*slot, stopping(onward / index.degree(*slot).max(1) as u64)))
        })
        .collect();
    let reached: BTreeSet<Slot> = settled.keys().chain(resting.keys()).copied().collect();
    reached
        .into_iter()
        .filter(|slot| index.chunk(*slot).is_some())
        .map(|slot| {
            let mut score = settled.get(&slot).copied().unwrap_or(0);
            score += resting.get(&slot).map_or(0, |share| stopping(*share));
            if !hubs.is_empty() {
                score += index
                    .graph
                    .neighbors(slot)
                    .filter_map(|entity| hubs.get(&entity))
                    .sum::<u64>();
            }
            (slot, (score as f64 / WHOLE as f64) as f32)
        })
        .collect()
}
