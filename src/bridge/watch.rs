//! Whether an owner has stalled, told by silence while a request waits and by nothing else (I5b).
//!
//! Time is counted in ticks of this process, not by the clock: a bridge that was itself suspended finds one tick gone
//! on waking, however long it slept, and asks before it judges.

use std::time::Duration;

use tokio::time::Instant;

use crate::floor::limits::STALLED;

/// Ticks of silence after which an owner counts as stalled.
const TICKS: u32 = 4;

/// What a tick comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tick {
    /// It is not time yet.
    Early,
    /// Ask whether the owner is there.
    Ask,
    /// It has been asked and did not answer for long enough.
    Stalled,
}

/// Counts the silence of one link.
#[derive(Debug)]
pub(super) struct Watch {
    silent: u32,
    due: Instant,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            silent: 0,
            due: Instant::now() + interval(),
        }
    }
}

fn interval() -> Duration {
    STALLED / TICKS
}

impl Watch {
    /// A line came.
    pub(super) fn heard(&mut self) {
        self.silent = 0;
        self.due = Instant::now() + interval();
    }

    /// The owner said that it needs this long and will say no more.
    pub(super) fn grant(&mut self, time: Duration) {
        self.silent = 0;
        self.due = Instant::now() + time;
    }

    /// When the next tick is due.
    pub(super) fn due(&self) -> Instant {
        self.due
    }

    pub(super) fn tick(&mut self) -> Tick {
        let now = Instant::now();
        if now < self.due {
            return Tick::Early;
        }
        self.due = now + interval();
        self.silent += 1;
        if self.silent >= TICKS {
            Tick::Stalled
        } else {
            Tick::Ask
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{TICKS, Tick, Watch};

    /// Guards I5b.
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn silence_is_asked_about_before_it_is_judged_and_a_long_sleep_is_one_tick() {
        let mut watch = Watch::default();
        assert_eq!(watch.tick(), Tick::Early);
        tokio::time::advance(Duration::from_hours(5)).await;
        for _ in 1..TICKS {
            assert_eq!(watch.tick(), Tick::Ask);
            tokio::time::advance(Duration::from_millis(250)).await;
        }
        assert_eq!(watch.tick(), Tick::Stalled);
        watch.heard();
        tokio::time::advance(Duration::from_millis(250)).await;
        assert_eq!(watch.tick(), Tick::Ask);
    }
}
