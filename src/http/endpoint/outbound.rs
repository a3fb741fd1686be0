//! What the server says by itself, on its way to the stream of the request that it is about.
//!
//! A queue has one reader, and a newer one takes its place. The queue of a session's stream keeps what was read, as far
//! as its bound and that of all streams ([`super::kept`]) go, for a client whose connection broke and who comes back with
//! the last event that it saw; the queue of a single request keeps nothing. The newest message of a key stands for all of
//! it, among those that were read and among those that were not, so a stream of news keeps two of each; a queue past its
//! bound takes no more. A client that is *let go* comes back in the same way.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;

use super::kept::Keeper;
use crate::floor::limits::OUTBOUND_BYTES;
use crate::mcp::{Message, Outbound};

/// Messages that wait for one stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Queue(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    /// In the order of their numbers, which count from 1.
    events: VecDeque<Event>,
    last: u64,
    /// The last one that was read.
    read: u64,
    /// The last one that any reader read: what was told once is told again as it was.
    told: u64,
    bytes: usize,
    /// Where what was read stays; nowhere, if it does not.
    kept: Option<Kept>,
    /// Nothing more will come.
    ended: bool,
    /// The client was let go, and has not come back.
    away: Option<Away>,
    reader: u64,
    waker: Option<Waker>,
}

/// A stream's place among those that are kept.
#[derive(Debug)]
struct Kept {
    keeper: Keeper,
    table: Weak<Mutex<Table>>,
    stream: u64,
    slot: Option<u64>,
}

#[derive(Debug)]
struct Away {
    /// The last event that it gets before.
    behind: u64,
    /// When it shall come back, until it was told.
    wait: Option<Duration>,
}

#[derive(Debug)]
struct Event {
    number: u64,
    message: Message,
}

/// A queue's current reader, until the next one comes.
#[derive(Debug)]
pub(crate) struct Reader {
    queue: Queue,
    number: u64,
}

impl Queue {
    /// Returns where a session with this one stream sends.
    pub(crate) fn outbound(&self) -> Outbound {
        let queue = self.clone();
        Outbound::to(move |message| queue.push(message))
    }

    /// Adds a message, and says whether there was room for it.
    pub(crate) fn push(&self, message: Message) -> bool {
        let mut waiting = self.waiting();
        if let Some(key) = &message.coalesce {
            waiting.supersede(key);
        }
        let room = waiting.makes_room(message.json.len());
        if room {
            waiting.add(message);
        }
        waiting.wake();
        room
    }

    /// Adds the last message, for which there is always room, and ends the stream; whether anything of it is kept.
    pub(crate) fn end(&self, last: Option<Bytes>) -> bool {
        let mut waiting = self.waiting();
        if let Some(json) = last {
            waiting.makes_room(json.len());
            waiting.add(Message {
                about: 0,
                coalesce: None,
                json,
            });
        }
        waiting.ended = true;
        waiting.wake();
        if waiting.events.is_empty() {
            return false;
        }
        let keeper = waiting.keep();
        drop(waiting);
        sweep(keeper.as_ref());
        keeper.is_some()
    }

    /// Whether something was said that nobody has read.
    pub(crate) fn has_unread(&self) -> bool {
        let waiting = self.waiting();
        waiting.last > waiting.read
    }

    /// Ends its reader behind what was said so far; the client comes back after `wait` for the rest.
    fn let_go(&self, wait: Duration) {
        let mut waiting = self.waiting();
        waiting.away = Some(Away {
            behind: waiting.last,
            wait: Some(wait),
        });
        waiting.wake();
    }

    /// Resolves when something is to be said, be it that the client is let go; cancel safe.
    pub(crate) async fn ready(&self) {
        poll_fn(|context| {
            let mut waiting = self.waiting();
            if waiting.last > waiting.read || waiting.away.is_some() {
                return Poll::Ready(());
            }
            waiting.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Reads from here on: behind the event `after`, for a client that came back, or what nobody has read yet. An older
    /// reader is at its end.
    pub(crate) fn reader(&self, after: Option<u64>) -> Reader {
        let mut waiting = self.waiting();
        waiting.reader += 1;
        if let Some(after) = after {
            waiting.read = after.min(waiting.last);
            waiting.away = None;
        }
        waiting.wake();
        Reader {
            queue: self.clone(),
            number: waiting.reader,
        }
    }

    /// Forgets what was read before, unless the slot `emptied` was renewed; whether nothing of it is kept any more.
    fn forget(&self, emptied: u64) -> bool {
        let mut waiting = self.waiting();
        let Some(kept) = &mut waiting.kept else {
            return true;
        };
        if kept.slot != Some(emptied) {
            return false;
        }
        kept.slot = None;
        while waiting.forget_oldest() {}
        if waiting.ended {
            waiting.kept = None;
        }
        waiting.ended
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn add(&mut self, message: Message) {
        self.last += 1;
        self.bytes += message.json.len();
        self.events.push_back(Event {
            number: self.last,
            message,
        });
    }

    /// Makes place for a newer message of a key: of those that were told the last one stays, as it was told, and stands for
    /// the rest; one that nobody was told of goes.
    fn supersede(&mut self, key: &str) {
        let told = self.told;
        let is_same = |event: &Event| event.message.coalesce.as_deref() == Some(key);
        let newest = |event: &&Event| event.number <= told && is_same(event);
        let stays = self.events.iter().rev().find(newest).map(|e| e.number);
        let mut freed = 0;
        self.events.retain(|event| {
            let goes = is_same(event) && Some(event.number) != stays;
            freed += if goes { event.message.json.len() } else { 0 };
            !goes
        });
        self.bytes -= freed;
    }

    /// Drops what was read before, oldest first, until this much fits.
    fn makes_room(&mut self, bytes: usize) -> bool {
        while self.bytes + bytes > OUTBOUND_BYTES {
            if !self.forget_oldest() {
                return false;
            }
        }
        true
    }

    /// Drops the oldest event, if it was read.
    fn forget_oldest(&mut self) -> bool {
        let read = self.read;
        let Some(event) = self.events.pop_front_if(|event| event.number <= read) else {
            return false;
        };
        self.bytes -= event.message.json.len();
        true
    }

    /// Renews the slot of a stream that keeps what was read, and returns who must then look at all of them.
    fn keep(&mut self) -> Option<Keeper> {
        let kept = self.kept.as_mut()?;
        let (table, stream) = (Weak::clone(&kept.table), kept.stream);
        let emptied = move |slot| {
            if let Some(table) = table.upgrade() {
                empty(&table, stream, slot);
            }
        };
        kept.slot = Some(kept.keeper.keep(kept.slot, self.bytes, emptied));
        Some(kept.keeper.clone())
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(kept) = &self.kept {
            kept.keeper.release(kept.slot);
        }
    }
}

fn sweep(keeper: Option<&Keeper>) {
    if let Some(keeper) = keeper {
        keeper.sweep();
    }
}

impl Reader {
    /// Takes the next event with its number, or has the task woken when there is one; `None` at the stream's end.
    pub(crate) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<(u64, Bytes)>> {
        let mut waiting = self.queue.waiting();
        if waiting.reader != self.number {
            return Poll::Ready(None);
        }
        let at = waiting
            .events
            .partition_point(|event| event.number <= waiting.read);
        let next = waiting.events.get(at);
        let lets_go = |away: &Away| next.is_none_or(|event| event.number > away.behind);
        if waiting.away.as_ref().is_some_and(lets_go) {
            return Poll::Ready(None);
        }
        let Some(event) = next else {
            if waiting.ended {
                return Poll::Ready(None);
            }
            waiting.waker = Some(context.waker().clone());
            return Poll::Pending;
        };
        let (number, json) = (event.number, event.message.json.clone());
        waiting.read = number;
        waiting.told = waiting.told.max(number);
        if waiting.kept.is_none() {
            waiting.bytes -= json.len();
            waiting.events.remove(at);
        } else if !waiting.ended {
            let keeper = waiting.keep();
            drop(waiting);
            sweep(keeper.as_ref());
        }
        Poll::Ready(Some((number, json)))
    }

    /// How long its client is to wait before it comes back, where it was let go; said once.
    pub(crate) fn wait(&self) -> Option<Duration> {
        let mut waiting = self.queue.waiting();
        if waiting.reader != self.number {
            return None;
        }
        waiting.away.as_mut()?.wait.take()
    }
}

/// The queues of one legacy session: its own stream's under 0, and those of its requests under their numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Routes {
    table: Arc<Mutex<Table>>,
    keeper: Keeper,
}

type Table = HashMap<u64, Queue>;

impl Routes {
    /// The queues of a session whose ended streams `keeper` bounds.
    pub(crate) fn new(keeper: &Keeper) -> Self {
        Self {
            table: Arc::default(),
            keeper: keeper.clone(),
        }
    }

    /// Returns where the session sends. A message that belongs to no stream is not taken.
    pub(crate) fn outbound(&self) -> Outbound {
        let (table, again) = (Arc::clone(&self.table), Arc::clone(&self.table));
        Outbound::to(move |message| {
            let queue = lock(&table).get(&message.about).cloned();
            queue.is_some_and(|queue| queue.push(message))
        })
        .disconnecting(move |about, wait| {
            let queue = lock(&again).get(&about).cloned();
            if let Some(queue) = queue {
                queue.let_go(wait);
            }
        })
    }

    /// Returns the queue of a stream, if it is there.
    pub(crate) fn get(&self, number: u64) -> Option<Queue> {
        self.keeper.sweep();
        lock(&self.table).get(&number).cloned()
    }

    /// Opens the queue of a request, or the session's own.
    pub(crate) fn open(&self, number: u64) -> Queue {
        self.keeper.sweep();
        let new = || {
            let queue = Queue::default();
            queue.waiting().kept = Some(Kept {
                keeper: self.keeper.clone(),
                table: Arc::downgrade(&self.table),
                stream: number,
                slot: None,
            });
            queue
        };
        lock(&self.table).entry(number).or_insert_with(new).clone()
    }

    /// Forgets the queue of a request that became no stream.
    pub(crate) fn close(&self, number: u64) {
        let closed = lock(&self.table).remove(&number);
        drop(closed);
    }
}

/// Empties the slot of a stream; whoever reads it still gets to its end.
fn empty(table: &Mutex<Table>, stream: u64, slot: u64) {
    let mut table = lock(table);
    let over = table.get(&stream).is_some_and(|queue| queue.forget(slot));
    let forgotten = over.then(|| table.remove(&stream));
    drop(table);
    drop(forgotten);
}

fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
