//! One live session: its running requests, their queues, and its own stream.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::outbound::{Queue, Reader, Routes};
use super::session_id::SessionId;
use crate::floor::jsonrpc::Id;
use crate::floor::limits;
use crate::mcp::Session;
use crate::registry::PeerId;

/// One live session.
#[derive(Debug)]
pub(crate) struct Live {
    /// The conversation.
    pub(crate) session: Arc<Session>,
    routes: Routes,
    pub(super) peer: PeerId,
    /// When its id is too old by itself.
    pub(super) until_ms: u64,
    next: AtomicU64,
    /// Stands in every event's id: another owner counts anew.
    stamp: PeerId,
    /// Cancelled when the session ends.
    ended: CancellationToken,
    /// Another owner began it, and its own stream was not opened since: news may have been missed.
    missed: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    last: Instant,
    /// Open streams of the session's own.
    streams: usize,
    /// Running requests by the client's id; a client may use one id twice. A request is cancelled through its token
    /// and not through the session, which does not know it before it is first polled.
    running: HashMap<Id, Vec<(u64, CancellationToken)>>,
}

/// The number of a session's own stream.
pub(crate) const OWN: u64 = 0;

/// A session whose own stream is open, which keeps it from expiring.
#[derive(Debug)]
pub(crate) struct Streaming(Arc<Live>);

impl Streaming {
    pub(crate) fn new(live: &Arc<Live>) -> Self {
        live.inner().streams += 1;
        Self(Arc::clone(live))
    }
}

impl std::ops::Deref for Streaming {
    type Target = Live;

    fn deref(&self) -> &Live {
        &self.0
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        let mut inner = self.0.inner();
        inner.streams -= 1;
        inner.last = Instant::now();
    }
}

/// A request that began.
#[derive(Debug)]
pub(crate) struct Begun {
    /// Its number in the session.
    pub(crate) number: u64,
    /// Set when the client cancels it.
    pub(crate) cancelled: CancellationToken,
    /// Held while it runs.
    pub(crate) ongoing: Ongoing,
    /// What is said about it.
    pub(crate) route: Route,
}

/// A request that runs, which keeps its session from expiring; forgotten with this value, however it ended.
#[derive(Debug)]
pub(crate) struct Ongoing {
    live: Arc<Live>,
    id: Id,
    number: u64,
}

impl Drop for Ongoing {
    fn drop(&mut self) {
        let mut inner = self.live.inner();
        if let Some(numbers) = inner.running.get_mut(&self.id) {
            numbers.retain(|(running, _)| *running != self.number);
            if numbers.is_empty() {
                inner.running.remove(&self.id);
            }
        }
        inner.last = Instant::now();
    }
}

/// Where the messages about one request go; forgotten with this value, unless it became a stream.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) queue: Queue,
    routes: Routes,
    session: Arc<Session>,
    pub(crate) number: u64,
    streamed: bool,
}

impl Route {
    /// Ends the stream that it became, and keeps it for a client that comes back.
    pub(crate) fn end(mut self, last: Option<Bytes>) {
        self.streamed = self.queue.end(last);
    }
}

impl Drop for Route {
    fn drop(&mut self) {
        if !self.streamed {
            // In this order: what is asked after it is not taken.
            self.routes.close(self.number);
            self.session.abandon(self.number);
        }
    }
}

pub(super) fn until_ms(id: &SessionId) -> u64 {
    let adoption = u64::try_from(limits::SESSION_ADOPTION.as_millis()).unwrap_or(u64::MAX);
    id.created_ms.saturating_add(adoption)
}

impl Live {
    pub(super) fn new(id: &SessionId, session: Arc<Session>, routes: Routes) -> Self {
        Self {
            session,
            routes,
            peer: id.peer,
            until_ms: until_ms(id),
            next: AtomicU64::new(1),
            stamp: PeerId::mint(),
            ended: CancellationToken::new(),
            missed: AtomicBool::new(false),
            inner: Mutex::new(Inner {
                last: Instant::now(),
                streams: 0,
                running: HashMap::new(),
            }),
        }
    }

    /// Numbers a request that begins.
    pub(crate) fn begin(self: &Arc<Self>, id: Id) -> Begun {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let cancelled = CancellationToken::new();
        {
            let mut inner = self.inner();
            let running = inner.running.entry(id.clone()).or_default();
            running.push((number, cancelled.clone()));
        }
        Begun {
            number,
            cancelled,
            ongoing: Ongoing {
                live: Arc::clone(self),
                id,
                number,
            },
            route: Route {
                queue: self.routes.open(number),
                routes: self.routes.clone(),
                session: Arc::clone(&self.session),
                number,
                streamed: false,
            },
        }
    }

    /// Whether one more request may run. A connection that is gone holds no place, so none is counted here.
    pub(crate) fn has_room(&self) -> bool {
        let running = self.inner().running.values().map(Vec::len).sum::<usize>();
        running < limits::CALLS_PER_PEER
    }

    /// Cancels the running requests with a client's id.
    pub(crate) fn cancel(&self, id: &Id) {
        for (_, token) in self.inner().running.get(id).into_iter().flatten() {
            token.cancel();
        }
    }

    /// What stands before an event's number in its id, on one of this session's streams.
    pub(crate) fn event_prefix(&self, stream: u64) -> String {
        format!("{}-{stream}-", self.stamp.0.simple())
    }

    /// Says that another owner began it.
    pub(super) fn taken_over(&self) {
        self.missed.store(true, Ordering::Relaxed);
    }

    /// Whether news may have been missed between that owner's death and the stream that is opened now.
    pub(crate) fn missed(&self) -> bool {
        self.missed.swap(false, Ordering::Relaxed)
    }

    /// Reads the session's own stream from here on.
    pub(crate) fn own_stream(&self) -> Reader {
        self.routes.open(OWN).reader(None)
    }

    /// Reads the stream of an event behind it; `None` for an event of another owner, or of a stream that is forgotten.
    pub(crate) fn stream_behind(&self, event: &str) -> Option<(u64, Reader)> {
        let rest = event.strip_prefix(&format!("{}-", self.stamp.0.simple()))?;
        let (stream, number) = rest.split_once('-')?;
        let (stream, number) = (stream.parse().ok()?, number.parse().ok()?);
        let reader = self.routes.get(stream)?.reader(Some(number));
        Some((stream, reader))
    }

    /// Cancelled when the session ends.
    pub(crate) fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    pub(super) fn cancel_all(&self) {
        self.ended.cancel();
        for (_, token) in self.inner().running.values().flatten() {
            token.cancel();
        }
    }

    pub(super) fn touch(&self) {
        self.inner().last = Instant::now();
    }

    /// A running call is life, and so is an open stream; a call that waits for its client is neither.
    pub(super) fn expired(&self, expiry: Duration) -> bool {
        let inner = self.inner();
        let runs = |&(number, _): &(u64, _)| !self.session.waits(number);
        inner.streams == 0
            && elapsed(inner.last) > expiry
            && !inner.running.values().flatten().any(runs)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn elapsed(since: Instant) -> Duration {
    Instant::now().saturating_duration_since(since)
}
