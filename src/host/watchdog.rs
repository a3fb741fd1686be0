//! A thread that notices a host whose own thread no longer turns (I5).
//!
//! It counts its own ticks and never reads a clock: a process that was suspended finds at most one tick gone on
//! waking, and must not die of that. Each tick asks the host's runtime for a sign of life; a runtime that gave none
//! for long enough is wedged, and what it holds is taken from it: links, listener and lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;

use crate::floor::limits::WATCHDOG;

/// One tick.
const TICK: Duration = Duration::from_secs(1);

/// Ends the watchdog when it is dropped.
#[derive(Debug)]
pub(super) struct Watchdog {
    stop: Arc<(Mutex<bool>, Condvar)>,
}

impl Watchdog {
    /// Watches the runtime behind `handle`; calls `wedged` once, from the watchdog's thread.
    pub(super) fn watch(handle: Handle, wedged: impl FnOnce() + Send + 'static) -> Self {
        let ticks = WATCHDOG.as_secs() / TICK.as_secs();
        Self::every(TICK, ticks, handle, wedged)
    }

    fn every(
        tick: Duration,
        ticks: u64,
        handle: Handle,
        wedged: impl FnOnce() + Send + 'static,
    ) -> Self {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let stopped = Arc::clone(&stop);
        let watch = move || {
            let beats = Arc::new(AtomicU64::new(0));
            let (mut seen, mut silent) = (0, 0);
            let (lock, condition) = &*stopped;
            loop {
                let guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
                let (guard, _) = condition
                    .wait_timeout(guard, tick)
                    .unwrap_or_else(PoisonError::into_inner);
                if *guard {
                    return;
                }
                drop(guard);
                let now = beats.load(Ordering::Relaxed);
                silent = if now == seen { silent + 1 } else { 0 };
                seen = now;
                // The first tick has asked for nothing yet.
                if silent > ticks {
                    return wedged();
                }
                let beat = Arc::clone(&beats);
                handle.spawn(async move { beat.fetch_add(1, Ordering::Relaxed) });
            }
        };
        let spawned = thread::Builder::new()
            .name("watchdog".to_owned())
            .spawn(watch);
        if let Err(error) = spawned {
            tracing::warn!(%error, "no watchdog: the system gives no thread");
        }
        Self { stop }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        *self.stop.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.1.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::Watchdog;

    /// Guards I5.
    #[test]
    fn a_runtime_that_does_not_turn_is_noticed_and_one_that_turns_is_not() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let (sender, wedged) = mpsc::channel();
        let told = sender.clone();
        let handle = runtime.handle().clone();
        // A second of silence, which even a starved thread breaks.
        let watchdog = Watchdog::every(Duration::from_millis(5), 200, handle.clone(), move || {
            told.send("turning").unwrap();
        });
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(100)).await });
        assert!(wedged.try_recv().is_err());
        drop(watchdog);
        // Nobody drives the runtime from here on.
        let _watchdog = Watchdog::every(Duration::from_millis(5), 4, handle, move || {
            sender.send("wedged").unwrap();
        });
        assert_eq!(
            wedged.recv_timeout(Duration::from_secs(10)).unwrap(),
            "wedged"
        );
    }
}
