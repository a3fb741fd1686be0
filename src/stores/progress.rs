//! How far long work on a store has come, for whoever watches it at a terminal.

use std::sync::OnceLock;

/// How many things lie between two words.
const EACH: u64 = 5_000;

/// Says how many things of a store were dealt with, and how: the store's name, the word, the count.
pub type Tell = fn(&str, &str, u64);

static TELL: OnceLock<Tell> = OnceLock::new();

/// Has progress told in this process from now on; without it nothing is said. Only the first one counts.
pub fn tell_by(tell: Tell) {
    // Whoever came first goes on.
    let _first = TELL.set(tell);
}

/// One more thing was dealt with.
pub(super) fn step(store: &str, how: &'static str, done: u64) {
    if done > 0
        && done.is_multiple_of(EACH)
        && let Some(tell) = TELL.get()
    {
        tell(store, how, done);
    }
}
