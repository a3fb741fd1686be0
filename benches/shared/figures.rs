//! Samples, percentiles, ratios and the order of measures.

use std::time::Duration;

/// The times of one measure, kept by round.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples {
    rounds: Vec<Vec<Duration>>,
}

impl Samples {
    /// Adds one round's times.
    pub(crate) fn add_round(&mut self, times: Vec<Duration>) {
        if !times.is_empty() {
            self.rounds.push(times);
        }
    }

    /// Returns the percentile (nearest rank) over all rounds; zero without samples.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let mut all: Vec<Duration> = self.rounds.concat();
        rank(&mut all, percent)
    }

    /// Returns the longest time.
    pub(crate) fn longest(&self) -> Duration {
        self.rounds
            .iter()
            .flatten()
            .max()
            .copied()
            .unwrap_or_default()
    }

    /// Returns how many times were taken.
    pub(crate) fn count(&self) -> usize {
        self.rounds.iter().map(Vec::len).sum()
    }

    /// Returns the median, over the rounds, of this round's median divided by the other's.
    pub(crate) fn ratio_to(&self, other: &Self) -> f64 {
        let mut ratios: Vec<f64> = self
            .rounds
            .iter()
            .zip(&other.rounds)
            .map(|(mine, theirs)| {
                let (mut mine, mut theirs) = (mine.clone(), theirs.clone());
                rank(&mut mine, 50).as_secs_f64() / rank(&mut theirs, 50).as_secs_f64()
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// Returns `p50   p99`, in microseconds or milliseconds.
    pub(crate) fn line(&self, unit: Unit) -> String {
        format!(
            "{:>9} {:>9}",
            unit.show(self.percentile(50)),
            unit.show(self.percentile(99))
        )
    }
}

/// How a time is printed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    /// With one digit after the point.
    Micros,
    /// With two digits after the point.
    Millis,
}

impl Unit {
    /// Returns the bare number.
    pub(crate) fn show(self, time: Duration) -> String {
        match self {
            Self::Micros => format!("{:.1}", time.as_secs_f64() * 1e6),
            Self::Millis => format!("{:.2}", time.as_secs_f64() * 1e3),
        }
    }
}

fn rank(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100).max(1);
    times.get(rank - 1).copied().unwrap_or_default()
}

/// `SplitMix64`: the order of measures, repeatable by seed.
#[derive(Debug, Clone)]
pub(crate) struct Order(u64);

impl Order {
    /// Starts at a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which is small.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or_default()
    }

    /// Returns `0..count` in a fresh order.
    pub(crate) fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}
