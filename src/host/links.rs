//! The host's half of the links: the handshake, and one conversation a link.
//!
//! Every link has one task that reads lines, runs requests as tasks of their own, and writes answers as they come: a
//! slow call holds back nothing. What a link may have running and waiting is bounded; past a bound its frames are not
//! read, while its control lines still are as long as the frames that wait are few (I15).

use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use serde_json::json;
use tokio::sync::{Notify, broadcast, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::bridge::attach::{self, ProbeFailure};
use crate::bridge::wire::{self, AtEnd, Reader, Writer};
use crate::floor::error::Chain;
use crate::floor::hex;
use crate::floor::jsonrpc::Frame;
use crate::floor::limits::{CALLS_PER_PEER, OUTBOUND_BYTES};
use crate::http::LinkStream;
use crate::lease::secret::Token;
use crate::link::handshake::{Auth, Hello, LINK_VERSION, Nonce, Proof, Refuse, Side, Transcript};
use crate::link::line::{Line, Verb};
use crate::mcp::{Engine, ErrorCode, Keep, Message, Outbound, Reply, Request, Revision, Session};
use crate::registry::{Caller, Delivery, PeerId, Transport};

/// How long a connection may take to become a link; the bridge itself waits far less.
const HANDSHAKE: Duration = Duration::from_secs(3);
/// How long the last lines of a draining link may take to leave.
const LAST_WORDS: Duration = Duration::from_millis(15);

/// What a host says of itself in a handshake.
#[derive(Debug, Clone)]
pub(super) struct Introduction {
    pub(super) instance: String,
    pub(super) root_id: String,
    pub(super) epoch: u64,
    pub(super) token: Arc<Token>,
}

/// How the links end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// They do not.
    Open,
    /// Every link drains: running calls get this long.
    Drain(Duration),
    /// Every bridge is told to end with it.
    EndAll,
}

/// What the conversations of one host share.
pub(super) struct Links {
    engine: Arc<Engine>,
    /// Called when a client has an answer that it may not ask for again.
    acknowledge: Box<dyn Fn(PeerId, u64) + Send + Sync>,
    /// Called when a request was not taken, since the lease is lost.
    lost: CancellationToken,
    ending: watch::Sender<Ending>,
    newest: Mutex<HashMap<PeerId, (u64, CancellationToken)>>,
    /// A link was closed.
    gone: Notify,
}

impl std::fmt::Debug for Links {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Links")
            .field("open", &self.count())
            .finish_non_exhaustive()
    }
}

impl Links {
    pub(super) fn new(
        engine: Arc<Engine>,
        lost: CancellationToken,
        acknowledge: impl Fn(PeerId, u64) + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            engine,
            acknowledge: Box::new(acknowledge),
            lost,
            ending: watch::Sender::new(Ending::Open),
            newest: Mutex::default(),
            gone: Notify::new(),
        })
    }

    /// How many links are open.
    pub(super) fn count(&self) -> usize {
        self.newest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    /// How many links are open beside that of `peer`.
    pub(super) fn others(&self, peer: Option<PeerId>) -> usize {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.keys().filter(|other| Some(**other) != peer).count()
    }

    /// Whether they are ending.
    pub(super) fn is_ending(&self) -> bool {
        *self.ending.borrow() != Ending::Open
    }

    /// Waits until no link is open.
    pub(super) async fn closed(&self) {
        while self.count() > 0 {
            self.gone.notified().await;
        }
    }

    /// Begins the end of every link; the tasks that hold them finish by themselves.
    pub(super) fn end(&self, ending: Ending) {
        self.ending.send_replace(ending);
    }

    /// Takes a connection that asked to become a link, and carries it until it ends.
    pub(super) async fn accept(self: Arc<Self>, stream: LinkStream, intro: Introduction) {
        let (read, write) = tokio::io::split(stream);
        let (mut reader, mut writer) =
            wire::stream((Box::new(read), Box::new(write)), b"", AtEnd::Drop);
        match timeout(HANDSHAKE, self.greet(&mut reader, &mut writer, &intro)).await {
            Ok(Ok(auth)) => self.converse(&auth, reader, writer).await,
            Ok(Err(failure)) => tracing::debug!(error = %Chain(&failure), "no link"),
            Err(_) => tracing::debug!("no link: the handshake took too long"),
        }
    }

    async fn greet(
        &self,
        reader: &mut Reader,
        writer: &mut Writer,
        intro: &Introduction,
    ) -> Result<Auth, ProbeFailure> {
        let line = attach::receive(reader).await?;
        if line.verb != Verb::Hello {
            return Err(ProbeFailure::Form);
        }
        let hello: Hello = attach::parse(&line)?;
        let nonce = Nonce::random();
        let transcript = Transcript {
            bridge: &hello.nonce,
            host: &nonce,
            instance: &intro.instance,
            root_id: &intro.root_id,
        };
        let proof = Proof {
            link: LINK_VERSION,
            nonce: nonce.clone(),
            instance: intro.instance.clone(),
            root_id: intro.root_id.clone(),
            epoch: intro.epoch,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            digest: self.engine.registry().digest().to_owned(),
            mac: hex::encode(&intro.token.mac(&transcript.parts(Side::Host))),
        };
        attach::send(writer, Verb::Proof, &proof).await?;
        let line = attach::receive(reader).await?;
        if line.verb != Verb::Auth {
            return Err(ProbeFailure::Form);
        }
        let auth: Auth = attach::parse(&line)?;
        if !attach::proves(&intro.token, &transcript, Side::Bridge, &auth.mac) {
            return Err(ProbeFailure::NotOurs);
        }
        if let Some(reason) = self.objection(&hello, &auth) {
            let refuse = Refuse {
                reason: reason.to_owned(),
            };
            attach::send(writer, Verb::Refuse, &refuse).await?;
            return Err(ProbeFailure::Refused(reason.to_owned()));
        }
        attach::send(writer, Verb::Welcome, &json!({})).await?;
        Ok(auth)
    }

    /// Why a proven bridge is not taken, if it is not.
    fn objection(&self, hello: &Hello, auth: &Auth) -> Option<&'static str> {
        if hello.link != LINK_VERSION {
            return Some("another version of the link is spoken here");
        }
        if auth
            .revision
            .as_deref()
            .is_some_and(|named| Revision::parse(named).is_none())
        {
            return Some("the client's protocol revision is not spoken here");
        }
        if *self.ending.borrow() != Ending::Open || !self.engine.admits() {
            return Some("this server is leaving");
        }
        None
    }

    /// Carries one conversation until its link ends, by whichever side.
    pub(super) async fn converse(self: Arc<Self>, auth: &Auth, reader: Reader, writer: Writer) {
        let peer = PeerId(auth.peer);
        let superseded = CancellationToken::new();
        {
            let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
            match newest.get(&peer) {
                Some((generation, _)) if *generation >= auth.generation => return,
                Some((_, older)) => older.cancel(),
                None => {}
            }
            newest.insert(peer, (auth.generation, superseded.clone()));
        }
        tracing::info!(%peer, version = auth.version, "attached");
        let end = Conversation::new(Arc::clone(&self), peer, auth, reader, writer)
            .run(&superseded)
            .await;
        if end != End::Superseded {
            let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
            // A newer link may have come while this one ended.
            if newest
                .get(&peer)
                .is_some_and(|(generation, _)| *generation == auth.generation)
            {
                newest.remove(&peer);
                drop(newest);
                self.gone.notify_one();
                if end == End::Closed {
                    self.engine.presence().leave(peer);
                }
            }
        }
        tracing::info!(%peer, ?end, "detached");
    }
}

/// How a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The bridge closed its link or broke it: its client is gone.
    Closed,
    /// This host leaves; the bridge goes on to the next one.
    Drained,
    /// The same peer has a newer link.
    Superseded,
}

/// One link's state.
struct Conversation {
    links: Arc<Links>,
    peer: PeerId,
    session: Arc<Session>,
    reader: Reader,
    writer: Writer,
    events: mpsc::UnboundedReceiver<Message>,
    /// Messages that wait for room, at most one of a key.
    held: VecDeque<Message>,
    running: JoinSet<Finished>,
    /// Frames that wait for a place among the running ones.
    waiting: VecDeque<Line>,
    waiting_bytes: usize,
    last_taken: u64,
    /// The client knows another registry than ours.
    lists_differ: bool,
}

/// A handled request: its seq, and the answer if it has one.
type Finished = (u64, Option<Reply>);

/// What one wait brought.
enum Event {
    Flushed(std::io::Result<()>),
    Ending,
    Superseded,
    Finished(Finished),
    Message(Message),
    Changed(Result<String, broadcast::error::RecvError>),
    Line(std::io::Result<Option<Line>>),
}

impl Conversation {
    fn new(links: Arc<Links>, peer: PeerId, auth: &Auth, reader: Reader, writer: Writer) -> Self {
        let (sender, events) = mpsc::unbounded_channel();
        let outbound = Outbound::to(move |message| {
            // The conversation is over: nobody is left to tell.
            drop(sender.send(message));
        });
        let caller = Caller {
            peer: Some(peer),
            transport: Transport::Stdio,
            name: None,
            version: None,
        };
        let known = auth.digest.as_deref();
        let lists_differ = known.is_some_and(|digest| digest != links.engine.registry().digest());
        Self {
            session: Session::new(caller, outbound),
            links,
            peer,
            reader,
            writer,
            events,
            held: VecDeque::new(),
            running: JoinSet::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            last_taken: 0,
            lists_differ,
        }
    }

    async fn run(mut self, superseded: &CancellationToken) -> End {
        let mut changes = self.links.engine.changes().listen();
        let mut ending = self.links.ending.subscribe();
        loop {
            self.pass_on();
            self.start_waiting();
            let event = tokio::select! {
                biased;
                done = self.writer.flush(), if self.writer.wants_flush() => Event::Flushed(done),
                _ = ending.wait_for(|ending| *ending != Ending::Open) => Event::Ending,
                () = superseded.cancelled() => Event::Superseded,
                Some(Ok(finished)) = self.running.join_next(), if !self.running.is_empty() => {
                    Event::Finished(finished)
                }
                Some(message) = self.events.recv() => Event::Message(message),
                changed = changes.recv() => Event::Changed(changed),
                line = self.reader.recv(), if self.waiting_bytes < OUTBOUND_BYTES => {
                    Event::Line(line)
                }
            };
            match event {
                Event::Flushed(Ok(())) => {}
                Event::Flushed(Err(_)) | Event::Line(Err(_) | Ok(None)) => return End::Closed,
                Event::Superseded => return End::Superseded,
                Event::Ending => {
                    let how = *ending.borrow();
                    self.leave(how).await;
                    return End::Drained;
                }
                Event::Finished((seq, reply)) => self.answer(seq, reply),
                Event::Message(message) => self.hold(message),
                Event::Changed(Ok(uri)) => self.session.changed(&uri),
                Event::Changed(Err(broadcast::error::RecvError::Lagged(_))) => self.refresh(),
                Event::Changed(Err(broadcast::error::RecvError::Closed)) => {}
                Event::Line(Ok(Some(line))) => self.take(line),
            }
        }
    }

    fn take(&mut self, line: Line) {
        match line.verb {
            Verb::Frame | Verb::Resend | Verb::Replay => {
                self.waiting_bytes += line.cost();
                self.waiting.push_back(line);
            }
            Verb::Replayed => {
                // The replays are tasks already, so this one runs behind them.
                let (session, lists) = (Arc::clone(&self.session), self.lists_differ);
                self.start_waiting();
                self.running.spawn(async move {
                    if lists {
                        session.lists_changed();
                    }
                    for uri in session.subscribed() {
                        session.changed(&uri);
                    }
                    (0, None)
                });
            }
            Verb::Cancel => {
                let before = self.waiting.len();
                self.waiting.retain(|waiting| waiting.seq != line.seq);
                if self.waiting.len() == before {
                    self.session.cancel(line.seq);
                } else {
                    self.waiting_bytes = self.waiting.iter().map(Line::cost).sum();
                }
            }
            Verb::Ack => (self.links.acknowledge)(self.peer, line.seq),
            Verb::Ping => self.writer.queue(Line::bare(0, Verb::Pong)),
            Verb::Pong => {}
            verb => tracing::debug!(?verb, "a line that no bridge sends"),
        }
    }

    /// Starts frames that wait, as far as there is room for their answers.
    fn start_waiting(&mut self) {
        while self.running.len() < CALLS_PER_PEER && !self.writer.is_full() {
            let Some(line) = self.waiting.pop_front() else {
                return;
            };
            self.waiting_bytes -= line.cost();
            self.start(line);
        }
    }

    fn start(&mut self, line: Line) {
        self.last_taken = self.last_taken.max(line.seq);
        let frame = match Frame::parse(line.json) {
            Ok(frame) => frame,
            Err(error) => {
                return self
                    .writer
                    .queue(Line::new(line.seq, Verb::Answer, error.answer()));
            }
        };
        let delivery = match line.verb {
            Verb::Resend => Delivery::Resent,
            Verb::Replay => Delivery::Replayed,
            _ => Delivery::New,
        };
        let (engine, session) = (Arc::clone(&self.links.engine), Arc::clone(&self.session));
        let (seq, key) = (line.seq, Some(self.peer.to_string()));
        let id = frame.request_id().cloned();
        self.running.spawn(async move {
            let request = Request {
                frame,
                number: seq,
                delivery,
                key,
            };
            let handled = AssertUnwindSafe(engine.handle(&session, request))
                .catch_unwind()
                .await;
            let reply = handled.unwrap_or_else(|_| {
                tracing::error!(seq, "a request panicked");
                let revision = session.revision().unwrap_or(Revision::NEWEST_LEGACY);
                let message = "the server failed on this request; this is a bug";
                Some(Reply::failed(
                    id.as_ref(),
                    revision,
                    ErrorCode::Internal,
                    message,
                ))
            });
            // A replay rebuilds state; its answer reached the client long ago.
            (seq, reply.filter(|_| delivery != Delivery::Replayed))
        });
    }

    fn answer(&mut self, seq: u64, reply: Option<Reply>) {
        let Some(reply) = reply else { return };
        if reply.error == Some(ErrorCode::NotOwner) {
            // Not taken: without an answer it stays in the bridge's ledger, for the next owner.
            self.links.lost.cancel();
            return;
        }
        match reply.keep {
            Some(Keep::Slot(slot)) => self.control(seq, Verb::Keep, &slot),
            Some(Keep::Forget(slot)) => self.control(seq, Verb::Forget, &slot),
            None => {}
        }
        if reply.receipt {
            self.writer.queue(Line::bare(seq, Verb::Receipt));
        }
        self.writer.queue(Line::new(seq, Verb::Answer, reply.json));
    }

    fn control(&mut self, seq: u64, verb: Verb, slot: &str) {
        let body = json!({ "slot": slot }).to_string();
        self.writer.queue(Line::new(seq, verb, Bytes::from(body)));
    }

    /// Holds a message until there is room; a newer one of the same key takes the older one's place.
    fn hold(&mut self, message: Message) {
        if let Some(key) = &message.coalesce {
            self.held.retain(|held| held.coalesce.as_ref() != Some(key));
        } else if self.writer.is_full() {
            // Only progress has no key, and progress that nobody reads is worth nothing.
            return;
        }
        self.held.push_back(message);
    }

    fn pass_on(&mut self) {
        while !self.writer.is_full() {
            let Some(message) = self.held.pop_front() else {
                return;
            };
            self.writer
                .queue(Line::new(message.about, Verb::Event, message.json));
        }
    }

    /// News was missed: everything that the client subscribed to may have changed.
    fn refresh(&self) {
        for uri in self.session.subscribed() {
            self.session.changed(&uri);
        }
    }

    /// Leaves in order: nothing more is read, running calls get their time, answers are sent, and the bridge is told
    /// what was taken (I4). What does not finish is the ledger's.
    async fn leave(&mut self, ending: Ending) {
        let until = match ending {
            Ending::Drain(time) => Instant::now() + time,
            Ending::EndAll | Ending::Open => Instant::now(),
        };
        self.session.close_listens();
        while let Ok(Some(done)) = timeout_at(until, self.running.join_next()).await {
            if let Ok((seq, reply)) = done {
                self.answer(seq, reply);
            }
        }
        self.running.abort_all();
        while let Ok(message) = self.events.try_recv() {
            self.hold(message);
        }
        self.pass_on();
        match ending {
            Ending::EndAll => self.writer.queue(Line::bare(0, Verb::End)),
            Ending::Drain(_) | Ending::Open => {
                self.writer.queue(Line::bare(self.last_taken, Verb::Drain));
            }
        }
        while self.writer.wants_flush() {
            match timeout(LAST_WORDS, self.writer.flush()).await {
                Ok(Ok(())) => {}
                // A bridge that does not read finds out by the end of the link.
                Ok(Err(_)) | Err(_) => break,
            }
        }
    }
}
