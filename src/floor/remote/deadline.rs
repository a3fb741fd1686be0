//! Until when something may take, and whether somebody called it off.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Until when a call may take. A clone is the same deadline: what ends one ends all.
#[derive(Debug, Clone)]
pub struct Deadline {
    at: Instant,
    called_off: Arc<AtomicBool>,
}

impl Deadline {
    /// A deadline that long from now.
    #[must_use]
    pub fn after(time: Duration) -> Self {
        Self {
            at: Instant::now() + time,
            called_off: Arc::new(AtomicBool::new(false)),
        }
    }

    /// Ends now whatever waits for this deadline, from any thread.
    pub fn call_off(&self) {
        self.called_off.store(true, Ordering::Relaxed);
    }

    /// How much is left; nothing of one that was called off.
    #[must_use]
    pub fn left(&self) -> Duration {
        if self.called_off.load(Ordering::Relaxed) {
            return Duration::ZERO;
        }
        self.at.saturating_duration_since(Instant::now())
    }
}
