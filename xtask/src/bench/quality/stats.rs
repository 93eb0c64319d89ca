//! The measures: nDCG, AUROC, bootstrap intervals.

use std::collections::HashMap;

/// nDCG@k with linear gain and log2 discount (Järvelin and Kekäläinen 2002).
pub fn ndcg(ranked: &[String], gains: &HashMap<String, f64>, k: usize) -> f64 {
    let discounted = |gains: &mut dyn Iterator<Item = f64>| {
        gains
            .take(k)
            .enumerate()
            .map(|(rank, gain)| gain / ((rank + 2) as f64).log2())
            .sum::<f64>()
    };
    let mut best: Vec<f64> = gains.values().copied().collect();
    best.sort_by(|a, b| b.total_cmp(a));
    let best = discounted(&mut best.into_iter());
    if best == 0.0 {
        return 0.0;
    }
    discounted(&mut ranked.iter().map(|id| gains.get(id).copied().unwrap_or(0.0))) / best
}

/// The chance that a bad case has a higher risk than a good one, ties counting half; `None` where one kind is missing.
pub fn auroc(cases: &[(bool, f64)]) -> Option<f64> {
    let risks = |wanted: bool| {
        cases
            .iter()
            .filter(move |(bad, _)| *bad == wanted)
            .map(|(_, risk)| *risk)
    };
    let (bad, good) = (risks(true).count(), risks(false).count());
    if bad == 0 || good == 0 {
        return None;
    }
    let won: f64 = risks(true)
        .map(|bad| {
            risks(false)
                .map(|good| match bad.total_cmp(&good) {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                })
                .sum::<f64>()
        })
        .sum();
    Some(won / (bad * good) as f64)
}

/// Numbers that look random and are the same every time (splitmix64, Steele et al. 2014).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % bound.max(1)
    }

    /// Some of the items, in random order, none twice.
    pub fn sample<T: Clone>(&mut self, items: &[T], count: usize) -> Vec<T> {
        let mut pool = items.to_vec();
        for at in 0..pool.len() {
            let other = at + self.below(pool.len() - at);
            pool.swap(at, other);
        }
        pool.truncate(count);
        pool
    }
}

const DRAWS: usize = 2_000;

/// 95 % interval of a measure over cases, by drawing the cases again with replacement.
pub fn interval<T: Clone>(cases: &[T], measure: impl Fn(&[T]) -> Option<f64>) -> (f64, f64) {
    let mut dice = Dice::new(20);
    let mut drawn: Vec<f64> = (0..DRAWS)
        .filter_map(|_| {
            let again: Vec<T> = (0..cases.len())
                .map(|_| cases[dice.below(cases.len())].clone())
                .collect();
            measure(&again)
        })
        .collect();
    percentiles(&mut drawn)
}

/// The 2.5th and the 97.5th percentile.
pub fn percentiles(values: &mut [f64]) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let last = values.len().saturating_sub(1);
        values
            .get((share * last as f64).round() as usize)
            .copied()
            .unwrap_or(f64::NAN)
    };
    (at(0.025), at(0.975))
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perfect_ranking_has_one_and_an_empty_one_nothing() {
        let gains = HashMap::from([("a".to_owned(), 2.0), ("b".to_owned(), 1.0)]);
        let ids = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!((ndcg(&ids("a b c"), &gains, 10) - 1.0).abs() < 1e-12);
        assert!(ndcg(&ids("b a c"), &gains, 10) < 1.0);
        assert_eq!(ndcg(&ids("c d"), &gains, 10), 0.0);
    }

    #[test]
    fn the_area_under_the_curve() {
        assert_eq!(auroc(&[(true, 0.9), (false, 0.1)]), Some(1.0));
        assert_eq!(auroc(&[(true, 0.5), (false, 0.5)]), Some(0.5));
        assert_eq!(auroc(&[(true, 0.5)]), None);
    }

    #[test]
    fn the_interval_holds_the_mean_and_repeats() {
        let cases: Vec<f64> = (0..50).map(f64::from).collect();
        let (low, high) = interval(&cases, |drawn| Some(mean(drawn)));
        assert!(low < 24.5 && 24.5 < high);
        assert_eq!((low, high), interval(&cases, |drawn| Some(mean(drawn))));
    }
}
