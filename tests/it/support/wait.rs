//! Waiting: on a condition, with a bound.

use std::time::{Duration, Instant};

/// The bound for everything that should happen soon: generous, since the machine may be loaded. No test measures with
/// it; what is timed is printed, never asserted.
pub(crate) const BOUND: Duration = Duration::from_mins(1);

/// How often a condition is looked at: often at first, then ever less, since looking may load what is looked at.
const LOOK: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// Waits until `condition` holds; panics past `bound`, naming `what`.
#[track_caller]
pub(crate) fn wait_for(what: &str, bound: Duration, mut condition: impl FnMut() -> bool) {
    wait_some(what, bound, || condition().then_some(()));
}

/// Waits until `condition` has a value and returns it; panics past `bound`, naming `what`.
#[track_caller]
pub(crate) fn wait_some<T>(
    what: &str,
    bound: Duration,
    mut condition: impl FnMut() -> Option<T>,
) -> T {
    let start = Instant::now();
    let mut look = LOOK.0;
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(
            start.elapsed() < bound,
            "gave up after {bound:?} waiting: {what}"
        );
        pause(look);
        look = (look * 3 / 2).min(LOOK.1);
    }
}

/// Lets `time` pass while `condition` holds; panics as soon as it does not. For "nothing happens" claims.
#[track_caller]
pub(crate) fn holds_for(what: &str, time: Duration, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while start.elapsed() < time {
        assert!(
            condition(),
            "no longer true after {:?}: {what}",
            start.elapsed()
        );
        pause(LOOK.0);
    }
}

/// The one place that lets time pass.
#[expect(
    clippy::disallowed_methods,
    reason = "waiting on another process's condition has no wake-up"
)]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}
