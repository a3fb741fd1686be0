//! The legacy sessions of this server.
//!
//! | state | on | next |
//! |---|---|---|
//! | unknown | `initialize` | live |
//! | sealed elsewhere: an id that an earlier owner made | any request | live, and its peer enters again |
//! | live | DELETE, or a day without a request or a call that does more than wait for its client | ended, for the next owner too |
//! | ended | any request | stays ended: 404 |
//!
//! Expiry is looked at when a request comes, and when a new session needs room: no timer runs (I12). It goes by the
//! monotonic clock, so neither a jump of the wall clock nor a suspended machine ends a session. An id made elsewhere is
//! taken over for seven days after it was made; how long it was idle before nobody knows.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::OnceCell;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::kept::Keeper;
use super::outbound::{Queue, Reader, Routes};
use super::session_id::SessionId;
use crate::floor::jsonrpc::Id;
use crate::floor::{clock, limits};
use crate::mcp::Session;
use crate::registry::{PeerId, Presence};

/// Ended sessions as a ledger tells them: the session, and until when (milliseconds since the Unix epoch).
pub type Ended = Vec<(String, u64)>;

/// Keeps ended sessions for the next owner. A session is named by its peer's public id, which opens nothing.
pub trait SessionLedger: Send + Sync {
    /// Takes a session as ended until `until_ms`, when its id is too old by itself. Returns at once.
    fn end(&self, session: &str, until_ms: u64);

    /// Tells what earlier owners ended. Asked once, when the first session of an earlier owner comes.
    fn ended(&self) -> Pin<Box<dyn Future<Output = Ended> + Send>>;

    /// Resolves when what was told so far is kept: a client that was told of the end may rely on it.
    fn kept(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(std::future::ready(()))
    }
}

/// Keeps nothing: for a server without a next owner.
impl SessionLedger for () {
    fn end(&self, _: &str, _: u64) {}

    fn ended(&self) -> Pin<Box<dyn Future<Output = Ended> + Send>> {
        Box::pin(async { Ended::new() })
    }
}

/// The sessions of one server.
pub(crate) struct Sessions {
    table: Mutex<Table>,
    ledger: Arc<dyn SessionLedger>,
    earlier: OnceCell<()>,
    kept: Keeper,
    most: usize,
    expiry: Duration,
}

#[derive(Default)]
struct Table {
    live: HashMap<String, Arc<Live>>,
    ended: HashMap<String, u64>,
}

/// One live session.
#[derive(Debug)]
pub(crate) struct Live {
    /// The conversation.
    pub(crate) session: Arc<Session>,
    routes: Routes,
    peer: PeerId,
    until_ms: u64,
    next: AtomicU64,
    /// Stands in every event's id: another owner counts anew.
    stamp: PeerId,
    /// Cancelled when the session ends.
    ended: CancellationToken,
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
    /// What is said about it.
    pub(crate) route: Route,
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

/// What a session id leads to.
#[derive(Debug)]
pub(crate) enum Found {
    /// A session.
    Live(Arc<Live>),
    /// None: forged, unknown, ended or too old.
    Unknown,
    /// One that could be taken over, if there were room.
    Full,
    /// One that could be taken over, if this process still admitted sessions.
    NotServing,
}

impl Sessions {
    /// Makes room for at most `most` sessions, each of which ends after `expiry` without a request.
    pub(crate) fn new(ledger: Arc<dyn SessionLedger>, most: usize, expiry: Duration) -> Self {
        Self {
            table: Mutex::default(),
            ledger,
            earlier: OnceCell::new(),
            kept: Keeper::default(),
            most,
            expiry,
        }
    }

    /// Returns how many are live.
    pub(crate) fn live(&self) -> usize {
        self.table().live.len()
    }

    /// Says whether one more fits, ending what has expired if that is what it takes.
    pub(crate) fn has_room(&self, presence: &dyn Presence) -> bool {
        if self.live() < self.most {
            return true;
        }
        let expired: Vec<String> = {
            let table = self.table();
            let old = table
                .live
                .iter()
                .filter(|(_, live)| live.expired(self.expiry));
            old.map(|(text, _)| text.clone()).collect()
        };
        for text in expired {
            self.end(&text, presence);
        }
        self.live() < self.most
    }

    /// Makes the queues of a session to come.
    pub(crate) fn routes(&self) -> Routes {
        Routes::new(&self.kept)
    }

    /// Adds a session under its sealed id; the caller asked for room before.
    pub(crate) fn add(
        &self,
        text: &str,
        id: &SessionId,
        session: Arc<Session>,
        routes: Routes,
    ) -> Arc<Live> {
        let mut table = self.table();
        let live = table
            .live
            .entry(text.to_owned())
            .or_insert_with(|| Arc::new(Live::new(id, session, routes)));
        Arc::clone(live)
    }

    /// Finds the session of an id, taking over one of an earlier owner.
    pub(crate) async fn find(
        &self,
        text: &str,
        read: impl Fn(&str) -> Option<SessionId>,
        admits: impl Fn() -> bool,
        presence: &dyn Presence,
    ) -> Found {
        let live = self.table().live.get(text).map(Arc::clone);
        if let Some(live) = live {
            if !live.expired(self.expiry) {
                live.touch();
                return Found::Live(live);
            }
            self.end(text, presence);
            return Found::Unknown;
        }
        let Some(id) = read(text) else {
            return Found::Unknown;
        };
        if clock::now_ms() > until_ms(&id) {
            return Found::Unknown;
        }
        self.earlier.get_or_init(|| self.recall()).await;
        if self.table().ended.contains_key(&id.peer.to_string()) {
            return Found::Unknown;
        }
        if !admits() {
            return Found::NotServing;
        }
        if !self.has_room(presence) {
            return Found::Full;
        }
        presence.enter(&id.caller);
        let routes = self.routes();
        let session = Session::resumed(id.caller.clone(), id.revision, routes.outbound());
        Found::Live(self.add(text, &id, session, routes))
    }

    /// Ends a session for good; does nothing to one that is not live.
    pub(crate) fn end(&self, text: &str, presence: &dyn Presence) {
        let live = {
            let mut table = self.table();
            let Some(live) = table.live.remove(text) else {
                return;
            };
            let now = clock::now_ms();
            table.ended.retain(|_, until| *until > now);
            table.ended.insert(live.peer.to_string(), live.until_ms);
            live
        };
        self.ledger.end(&live.peer.to_string(), live.until_ms);
        live.cancel_all();
        presence.leave(live.peer);
    }

    /// Waits until every session that was ended so far stays ended whoever serves next.
    pub(crate) async fn kept(&self) {
        self.ledger.kept().await;
    }

    async fn recall(&self) {
        let earlier = self.ledger.ended().await;
        self.table().ended.extend(earlier);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions")
            .field("live", &self.live())
            .finish_non_exhaustive()
    }
}

fn until_ms(id: &SessionId) -> u64 {
    let adoption = u64::try_from(limits::SESSION_ADOPTION.as_millis()).unwrap_or(u64::MAX);
    id.created_ms.saturating_add(adoption)
}

impl Live {
    fn new(id: &SessionId, session: Arc<Session>, routes: Routes) -> Self {
        Self {
            session,
            routes,
            peer: id.peer,
            until_ms: until_ms(id),
            next: AtomicU64::new(1),
            stamp: PeerId::mint(),
            ended: CancellationToken::new(),
            inner: Mutex::new(Inner {
                last: Instant::now(),
                streams: 0,
                running: HashMap::new(),
            }),
        }
    }

    /// Numbers a request that begins.
    pub(crate) fn begin(&self, id: &Id) -> Begun {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let cancelled = CancellationToken::new();
        let mut inner = self.inner();
        let running = inner.running.entry(id.clone()).or_default();
        running.push((number, cancelled.clone()));
        Begun {
            number,
            cancelled,
            route: Route {
                queue: self.routes.open(number),
                routes: self.routes.clone(),
                session: Arc::clone(&self.session),
                number,
                streamed: false,
            },
        }
    }

    /// Forgets a request that ended.
    pub(crate) fn finish(&self, id: &Id, number: u64) {
        let mut inner = self.inner();
        if let Some(numbers) = inner.running.get_mut(id) {
            numbers.retain(|(running, _)| *running != number);
            if numbers.is_empty() {
                inner.running.remove(id);
            }
        }
        inner.last = Instant::now();
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

    fn cancel_all(&self) {
        self.ended.cancel();
        for (_, token) in self.inner().running.values().flatten() {
            token.cancel();
        }
    }

    fn touch(&self) {
        self.inner().last = Instant::now();
    }

    /// A running call is life, and so is an open stream; a call that waits for its client is neither.
    fn expired(&self, expiry: Duration) -> bool {
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
