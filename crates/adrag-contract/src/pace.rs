//! How fast an ingestion goes, as its events tell it: chunks a second over the last seconds.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Time over which the rate is taken, milliseconds.
const WINDOW_MS: i64 = 10_000;
/// Below this much time a rate says nothing, milliseconds.
const SHORTEST_MS: i64 = 400;

/// Chunks embedded, and when.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    chunks: u64,
    recent: VecDeque<(i64, u64)>,
}

impl Pace {
    /// Chunks embedded since the run began.
    pub fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Chunks a second; nothing before there is enough to tell.
    pub fn per_second(&self) -> Option<f64> {
        let (first, last) = (self.recent.front()?, self.recent.back()?);
        let took = last.0 - first.0;
        if took < SHORTEST_MS {
            return None;
        }
        // The work of the first entry was done before its moment.
        let done: u64 = self.recent.iter().skip(1).map(|(_, chunks)| chunks).sum();
        Some(done as f64 * 1_000.0 / took as f64)
    }

    pub(crate) fn note(&mut self, at_ms: i64, chunks: u64) {
        self.chunks += chunks;
        if self.recent.back().is_some_and(|(last, _)| at_ms < *last) {
            // The clock was put back: what was measured before means nothing now.
            self.begin_anew();
        }
        self.recent.push_back((at_ms, chunks));
        while self.recent.len() > 2 && self.recent[1].0 <= at_ms - WINDOW_MS {
            self.recent.pop_front();
        }
    }

    /// Time that passes without work is no part of the rate.
    pub(crate) fn begin_anew(&mut self) {
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(notes: &[(i64, u64)]) -> Pace {
        let mut pace = Pace::default();
        for (at, chunks) in notes {
            pace.note(*at, *chunks);
        }
        pace
    }

    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        for (notes, rate) in [
            (&[][..], None),
            (&[(0, 16)], None),
            (&[(0, 16), (100, 16)], None),
            (&[(0, 16), (1_000, 16), (2_000, 16)], Some(16.0)),
            (&[(0, 500), (30_000, 10), (35_000, 10), (40_000, 10)], Some(2.0)),
            (&[(0, 16), (60_000, 30)], Some(0.5)),
            (&[(50_000, 16), (1_000, 16), (2_000, 8)], Some(8.0)),
        ] {
            assert_eq!(pace(notes).per_second(), rate, "{notes:?}");
        }
    }

    #[test]
    fn a_break_is_no_part_of_the_rate_and_nothing_done_is_forgotten() {
        let mut pace = pace(&[(0, 10), (1_000, 10)]);
        pace.begin_anew();
        pace.note(90_000, 5);
        assert_eq!(pace.per_second(), None);
        pace.note(91_000, 5);
        assert_eq!(pace.per_second(), Some(5.0));
        assert_eq!(pace.chunks(), 30);
    }
}
