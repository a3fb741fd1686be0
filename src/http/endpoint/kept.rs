//! What was said on streams and stays for a client whose connection broke: together it is bounded.
//!
//! A stream that is kept holds a *slot*, which says since when and how many bytes. Events that are read renew it; the
//! end of the stream is its last renewal. Past the age or the sum of all, the oldest slot is *emptied*: an ended stream
//! is forgotten whole, a running one forgets what was read of it. Looked at when streams are opened, read, ended and
//! asked for: no timer runs (I12).
//!
//! Locks are taken in this order: a session's table, a queue, the slots.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use crate::floor::limits::{STREAM_KEPT, STREAMS_KEPT_BYTES};

/// What a slot costs beside its events.
pub(super) const SLOT_BYTES: usize = 512;

/// What was kept last, by every session of one server.
#[derive(Clone, Default)]
pub(crate) struct Keeper(Arc<Mutex<Slots>>);

#[derive(Default)]
struct Slots {
    /// By their numbers, which are given in the order of time.
    by_age: BTreeMap<u64, Slot>,
    last: u64,
    bytes: usize,
}

struct Slot {
    since: Instant,
    bytes: usize,
    empty: Empty,
}

/// Empties a stream; it gets the number of the slot.
type Empty = Box<dyn FnOnce(u64) + Send>;

impl Keeper {
    /// Keeps this much from now on, in place of what the slot `old` kept; returns the new slot. `empty` gets its number.
    pub(super) fn keep(
        &self,
        old: Option<u64>,
        bytes: usize,
        empty: impl FnOnce(u64) + Send + 'static,
    ) -> u64 {
        let mut slots = self.slots();
        slots.remove(old);
        let bytes = bytes + SLOT_BYTES;
        slots.last += 1;
        slots.bytes += bytes;
        let number = slots.last;
        slots.by_age.insert(
            number,
            Slot {
                since: Instant::now(),
                bytes,
                empty: Box::new(empty),
            },
        );
        number
    }

    /// Gives a slot up.
    pub(super) fn release(&self, slot: Option<u64>) {
        self.slots().remove(slot);
    }

    /// Empties what is too old or too much. The caller holds no lock.
    pub(super) fn sweep(&self) {
        while let Some((number, empty)) = self.over() {
            empty(number);
        }
    }

    fn over(&self) -> Option<(u64, Empty)> {
        let mut slots = self.slots();
        let (number, oldest) = slots.by_age.first_key_value()?;
        let age = Instant::now().saturating_duration_since(oldest.since);
        if age < STREAM_KEPT && slots.bytes <= STREAMS_KEPT_BYTES {
            return None;
        }
        let number = *number;
        slots.remove(Some(number)).map(|slot| (number, slot.empty))
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    fn remove(&mut self, slot: Option<u64>) -> Option<Slot> {
        let slot = self.by_age.remove(&slot?)?;
        self.bytes -= slot.bytes;
        Some(slot)
    }
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper")
            .field("bytes", &self.slots().bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};
    use std::time::Duration;

    use bytes::Bytes;
    use tokio::time::advance;

    use super::{Keeper, SLOT_BYTES};
    use crate::floor::limits::{STREAM_KEPT, STREAMS_KEPT_BYTES};
    use crate::http::endpoint::outbound::{Reader, Routes};
    use crate::mcp::Message;

    fn message(bytes: usize) -> Message {
        Message {
            about: 1,
            coalesce: None,
            json: Bytes::from(vec![b'x'; bytes]),
        }
    }

    fn read(reader: &Reader) -> Option<u64> {
        match reader.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(event) => event.map(|(number, _)| number),
            Poll::Pending => None,
        }
    }

    /// The sessions of one server.
    fn sessions<const N: usize>() -> [Routes; N] {
        let keeper = Keeper::default();
        std::array::from_fn(|_| Routes::new(&keeper))
    }

    /// Guards I15.
    #[tokio::test(start_paused = true)]
    async fn an_ended_stream_is_kept_for_a_while_and_what_is_read_again_is_not_kept_longer() {
        let [routes] = sessions();
        routes.open(1).push(message(1));
        assert!(routes.open(1).end(Some(Bytes::from_static(b"{}"))));
        assert!(!routes.open(2).end(None), "nothing was said on it");
        advance(STREAM_KEPT.checked_sub(Duration::from_millis(1)).unwrap()).await;
        let reader = routes.get(1).unwrap().reader(None);
        assert_eq!(read(&reader), Some(1));
        advance(Duration::from_millis(1)).await;
        assert!(routes.get(1).is_none());
        assert_eq!(read(&reader), Some(2), "who reads it still gets to its end");
        assert_eq!(read(&routes.open(1).reader(Some(0))), None);
    }

    /// Guards I15.
    #[tokio::test(start_paused = true)]
    async fn a_running_stream_forgets_what_was_read_and_nothing_else() {
        let [routes] = sessions();
        let queue = routes.open(0);
        for _ in 0..3 {
            queue.push(message(1));
        }
        let reader = queue.reader(None);
        assert_eq!((read(&reader), read(&reader)), (Some(1), Some(2)));
        advance(STREAM_KEPT.checked_sub(Duration::from_millis(1)).unwrap()).await;
        let again = routes.get(0).unwrap().reader(Some(1));
        assert_eq!(read(&again), Some(2), "it is still there, and stays anew");
        advance(STREAM_KEPT).await;
        let again = routes.get(0).unwrap().reader(Some(0));
        assert_eq!(read(&again), Some(3));
    }

    /// Guards I15.
    #[tokio::test(start_paused = true)]
    async fn all_sessions_together_keep_so_much_and_the_oldest_goes() {
        let sessions = sessions::<9>();
        let json = Bytes::from(vec![b'x'; STREAMS_KEPT_BYTES / 8 - SLOT_BYTES]);
        for routes in &sessions[..8] {
            routes.open(1).end(Some(json.clone()));
        }
        let kept = || sessions.iter().map(|routes| routes.get(1).is_some());
        assert_eq!(kept().filter(|kept| *kept).count(), 8);
        sessions[8].open(1).end(Some(Bytes::from_static(b"{}")));
        assert_eq!(kept().position(|kept| kept), Some(1));
        assert_eq!(kept().filter(|kept| *kept).count(), 8);
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_ends_gives_its_place_back() {
        let [first, gone] = sessions();
        let half = Bytes::from(vec![b'x'; STREAMS_KEPT_BYTES / 2 - SLOT_BYTES]);
        first.open(1).end(Some(half.clone()));
        gone.open(1).end(Some(half.clone()));
        drop(gone);
        first.open(2).end(Some(half));
        assert!(first.get(1).is_some() && first.get(2).is_some());
    }
}
