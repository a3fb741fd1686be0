//! Rounds of destruction, shared by the short forms in `it` and the long forms in `torture`.
//!
//! A round panics when a promise is broken and returns its numbers otherwise.

pub(crate) mod abort;
pub(crate) mod chaos;
pub(crate) mod faults;
pub(crate) mod kill;
pub(crate) mod merge;
pub(crate) mod mix;
pub(crate) mod notes;
pub(crate) mod storm;

use std::time::Duration;

/// Times, sorted, for percentiles.
#[derive(Debug, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// Adds some.
    pub(crate) fn extend(&mut self, times: impl IntoIterator<Item = Duration>) {
        self.0.extend(times);
        self.0.sort();
    }

    /// The time below which `percent` of all are.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let last = self.0.len().saturating_sub(1);
        self.0
            .get((last * percent).div_ceil(100))
            .copied()
            .unwrap_or_default()
    }
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "p50 {:.1} ms, p99 {:.1} ms, max {:.1} ms, n {}",
            self.percentile(50).as_secs_f64() * 1e3,
            self.percentile(99).as_secs_f64() * 1e3,
            self.percentile(100).as_secs_f64() * 1e3,
            self.0.len(),
        )
    }
}
