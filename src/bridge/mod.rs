//! A client's stdio on one side, one link to the current server on the other (I5b, I6, I7, I11).
//!
//! Every `majordomus mcp` process is a bridge, whether its own process hosts the server or another one does: a change
//! of owner is only a change of link. A bridge is the durable home of its client's soft state, never exits because a
//! server died, and is never silent.
//!
//! | a bridge is | while | a frame of the client |
//! |---|---|---|
//! | looking | it probes the owner that the document names | waits |
//! | quiet | nobody serves and the client asked for nothing but discovery | discovery is answered from the compiled registry |
//! | electing | it stands for election, 2 s at most | waits; the opening is answered from the compiled registry after 250 ms |
//! | attached | it has a link to an owner, in this process or another | goes over the link |
//! | alone | nobody can be shared with | goes over a link to a server of this process's own, and the search goes on |
//!
//! [`Bridge::run`] works until something happens that needs another module: it was elected, it has to serve alone, or
//! its client is gone. `host` then makes what is needed and calls it again with the link.
//!
//! Absent: any knowledge of tools, an index, a database (I8).

pub mod alone;
pub mod attach;
pub mod ledger;
pub mod stdio;
pub mod wire;

mod quest;
mod watch;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

use alone::Alone;
use attach::{Far, Identity, Link};
use ledger::{Ledger, LinkEnd, Receipt};
use quest::{Find, Quest};
use stdio::{Input, Output};
use watch::Watch;

use crate::floor::jsonrpc::{Frame, Kind};
use crate::floor::limits::{DRAIN, FIRST_ANSWER, FRAME_BYTES, OUTBOUND_BYTES, SILENT_CLIENT};
use crate::floor::paths::Site;
use crate::lease::Ownership;
use crate::link::line::{Line, Verb};
use crate::mcp::{Engine, Keep, Outbound, Request, Session};
use crate::registry::{Caller, Delivery, PeerId, Transport};

/// Frames of one client that wait, in bytes, past which its input is not read.
const WAITING_BYTES: usize = 2 * FRAME_BYTES;

/// How long a process whose host was told to hand over leaves the lease to others.
const GIVE_WAY: Duration = Duration::from_millis(100);

/// When the opening is answered from the compiled registry; what is left of [`FIRST_ANSWER`] is for the answer itself.
const PATIENCE: Duration = FIRST_ANSWER.saturating_sub(Duration::from_millis(50));

/// Why [`Bridge::run`] came back.
#[derive(Debug)]
pub enum Turn {
    /// This process is the owner now: start the host and come back with a link to it.
    Elected(Arc<Ownership>),
    /// Serve this client alone, for this reason: come back with a link to a server that does.
    Alone(Alone),
    /// The client is gone, or the server ended everybody in order.
    Gone,
}

/// Makes the server that answers the opening while there is no owner; called at most once, so that a bridge which
/// never needs it never pays for it (I8).
pub type CompiledEngine = Box<dyn Fn() -> Arc<Engine> + Send>;

/// One client's bridge.
pub struct Bridge {
    input: Input,
    output: Output,
    ledger: Ledger,
    link: Option<Link>,
    quest: Option<Quest>,
    watch: Watch,
    /// Where to look for an owner; `None` in a folder that is no checkout.
    site: Option<Site>,
    compiled: CompiledEngine,
    opening: Option<(Arc<Engine>, Arc<Session>)>,
    identity: Identity,
    started: Instant,
    /// Since when the opening has waited without an owner.
    waiting_since: Option<Instant>,
    /// The client's input ended at this moment.
    input_ended: Option<Instant>,
    /// The owner said that it drains: nothing new goes over the link.
    draining: bool,
    /// It stood for election once, so it goes on doing so.
    stands: bool,
}

impl std::fmt::Debug for Bridge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bridge")
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

/// What one wait brought.
enum Event {
    Input(io::Result<Option<Result<Bytes, crate::floor::jsonrpc::FrameError>>>),
    Line(io::Result<Option<Line>>),
    LinkFlushed(io::Result<()>),
    OutputFlushed(io::Result<()>),
    Found(Find),
    Tick,
}

impl Bridge {
    /// Opens the client's stdio. Must run inside a runtime.
    ///
    /// # Errors
    /// The system's own.
    pub fn open(site: Option<Site>, compiled: CompiledEngine) -> io::Result<Self> {
        let identity = Identity {
            peer: PeerId::mint().0,
            generation: 0,
            digest: None,
            revision: None,
        };
        let quest = site
            .as_ref()
            .map(|site| Quest::look(site, identity.clone()));
        Ok(Self {
            input: Input::open()?,
            output: Output::open()?,
            ledger: Ledger::default(),
            link: None,
            quest,
            watch: Watch::default(),
            site,
            compiled,
            opening: None,
            identity,
            started: Instant::now(),
            waiting_since: None,
            input_ended: None,
            draining: false,
            stands: false,
        })
    }

    /// This client's peer id, minted once for the life of its process.
    #[must_use]
    pub fn peer(&self) -> Uuid {
        self.identity.peer
    }

    /// Carries frames until something needs another module. A link given here takes the place of the one before.
    pub async fn run(&mut self, link: Option<Link>) -> Turn {
        if let Some(link) = link {
            self.take(link);
        }
        loop {
            if let Some(turn) = self.settle().await {
                return turn;
            }
            let turn = match self.next_event().await {
                Event::Input(Ok(Some(Ok(line)))) => {
                    self.on_input(line);
                    None
                }
                Event::Input(Ok(Some(Err(error)))) => {
                    self.output.queue(&error.answer());
                    None
                }
                Event::Input(Ok(None) | Err(_)) => {
                    self.input_ended = Some(Instant::now());
                    None
                }
                Event::Line(Ok(Some(line))) => self.on_line(&line),
                Event::Line(Ok(None)) => self.on_link_end("closed"),
                Event::Line(Err(error)) => self.on_link_end(&error.to_string()),
                Event::LinkFlushed(Err(_)) => {
                    // What the owner sent before it died is still to be read; the reader reports the end.
                    self.draining = true;
                    None
                }
                Event::OutputFlushed(Err(_)) => Some(Turn::Gone),
                Event::LinkFlushed(Ok(())) | Event::OutputFlushed(Ok(())) => None,
                Event::Found(find) => self.on_found(find),
                Event::Tick => self.on_tick(),
            };
            if let Some(turn) = turn {
                return turn;
            }
        }
    }

    /// Ends the link from this side: what was at its other end is not to be trusted any more.
    pub fn cut(&mut self, cause: &str) {
        drop(self.on_link_end(cause));
    }

    /// Closes the link for good: the client is gone.
    pub fn hang_up(&mut self) {
        self.link = None;
        self.quest = None;
    }

    /// Carries what the server still says while it leaves, and looks for no other one; returns when its link has ended
    /// and the client has everything.
    pub async fn last_words(&mut self) {
        self.quest = None;
        while self.link.is_some() {
            match self.next_event().await {
                Event::Line(Ok(Some(line))) => drop(self.on_line(&line)),
                Event::Line(Ok(None) | Err(_)) => self.link = None,
                Event::OutputFlushed(Err(_)) => return,
                // Nothing new is taken from the client: the process is about to end.
                Event::Input(_) => self.input_ended = Some(Instant::now()),
                Event::LinkFlushed(_)
                | Event::OutputFlushed(Ok(()))
                | Event::Found(_)
                | Event::Tick => {}
            }
        }
        while self.output.pending() > 0 && self.output.flush().await.is_ok() {}
    }

    /// Waits for the next thing to happen. Every branch is cancel safe.
    async fn next_event(&mut self) -> Event {
        let output_full = self.output.pending() > OUTBOUND_BYTES;
        let deadline = self.deadline();
        let (mut reader, mut writer) = match &mut self.link {
            Some(link) => (Some(&mut link.reader), Some(&mut link.writer)),
            None => (None, None),
        };
        let link_full = writer.as_ref().is_some_and(|writer| writer.is_full());
        let flush_link = !self.draining && writer.as_ref().is_some_and(|w| w.wants_flush());
        let read_input = self.input_ended.is_none()
            && !output_full
            && !link_full
            && self.ledger.bytes() < WAITING_BYTES;
        let quest = &mut self.quest;
        tokio::select! {
            biased;
            done = self.output.flush(), if self.output.pending() > 0 => Event::OutputFlushed(done),
            done = async { writer.as_mut().expect("guarded by the condition").flush().await },
                if flush_link => Event::LinkFlushed(done),
            line = async { reader.as_mut().expect("guarded by the condition").recv().await },
                if reader.is_some() && !output_full => Event::Line(line),
            frame = self.input.next(), if read_input => Event::Input(frame),
            found = async { quest.as_mut().expect("guarded by the condition").found().await },
                if quest.is_some() => Event::Found(found),
            () = sleep_until(deadline) => Event::Tick,
        }
    }

    /// Does what the state asks for by itself; `Some` when it needs another module.
    async fn settle(&mut self) -> Option<Turn> {
        if let Some(ended) = self.input_ended {
            let drained = !self.ledger.is_waiting() && self.output.pending() == 0;
            if drained || ended.elapsed() >= DRAIN {
                return Some(Turn::Gone);
            }
        }
        if self.link.is_some() {
            return None;
        }
        self.waiting_since = match (self.waiting_since, self.ledger.is_waiting()) {
            (since, true) => Some(since.unwrap_or_else(Instant::now)),
            (_, false) => None,
        };
        if self.quest.is_none() {
            let silent = self.is_silent() && self.started.elapsed() >= SILENT_CLIENT;
            if self.site.is_none() {
                return (self.ledger.is_waiting() || silent)
                    .then_some(Turn::Alone(Alone::NoCheckout));
            }
            if self.stands || silent || self.ledger.wants_owner() {
                self.stands = true;
                self.quest = self.stand(Duration::ZERO);
            } else {
                self.answer_opening().await;
            }
        }
        // Once it has answered, what of the opening comes next need not wait again.
        let patient = self.opening.is_none();
        let due = self
            .waiting_since
            .is_some_and(|since| !patient || since.elapsed() >= PATIENCE);
        if due {
            self.answer_opening().await;
        }
        None
    }

    /// Answers what of the opening has not been sent anywhere from the compiled registry.
    async fn answer_opening(&mut self) {
        for (seq, raw) in self.ledger.unsent_handshakes() {
            let Ok(frame) = Frame::parse(raw) else {
                continue;
            };
            let (engine, session) = self.opening.get_or_insert_with(|| {
                let caller = Caller {
                    peer: Some(PeerId(self.identity.peer)),
                    transport: Transport::Stdio,
                    name: None,
                    version: None,
                };
                ((self.compiled)(), Session::new(caller, Outbound::none()))
            });
            let request = Request {
                frame,
                number: seq,
                delivery: Delivery::New,
                key: None,
            };
            let Some(reply) = engine.handle(session, request).await else {
                continue;
            };
            if let Some(revision) = reply.negotiated {
                self.identity.revision = Some(revision.as_str().to_owned());
            }
            self.identity.digest = Some(engine.registry().digest().to_owned());
            if let Some(Keep::Slot(slot)) = reply.keep {
                self.ledger.keep(seq, slot);
            }
            if self.ledger.answered(seq).is_some() {
                self.output.queue(&reply.json);
            }
        }
    }

    fn on_input(&mut self, line: Bytes) {
        let frame = match Frame::parse(line) {
            Ok(frame) => frame,
            Err(error) => return self.output.queue(&error.answer()),
        };
        match frame.kind() {
            Kind::Request { id, .. } => {
                let seq = self.ledger.enter(&frame, &id.clone());
                tracing::trace!(seq, method = frame.method(), "frame");
                self.send_unsent();
            }
            Kind::Notification { method } if &**method == "notifications/cancelled" => {
                self.on_cancelled(&frame);
            }
            Kind::Notification { .. } | Kind::Response { .. } => {
                // Nobody waits for these, so without a server there is nobody to keep them for either.
                let line = Line::new(self.ledger.mint(), Verb::Frame, frame.raw().clone());
                self.send(line);
            }
            Kind::Batch(_) => {
                let message = "a batch is not taken here: send one message at a time";
                self.output
                    .queue(&crate::floor::jsonrpc::error(None, -32600, message, None));
            }
        }
    }

    fn on_cancelled(&mut self, frame: &Frame) {
        let params = frame.params();
        let Some(id) = params.get("requestId") else {
            return;
        };
        if let Some(seq) = self.ledger.cancel(&id.to_string()) {
            self.send(Line::bare(seq, Verb::Cancel));
        }
    }

    fn on_line(&mut self, line: &Line) -> Option<Turn> {
        self.watch.heard();
        match line.verb {
            Verb::Answer => {
                // A cancelled request's late answer is nobody's.
                if let Some(receipt) = self.ledger.answered(line.seq) {
                    self.note_answer(&line.json);
                    self.output.queue(&line.json);
                    if receipt == Receipt::Wanted {
                        self.send(Line::bare(line.seq, Verb::Ack));
                    }
                }
            }
            Verb::Event => self.on_event(line),
            Verb::Keep | Verb::Forget => {
                #[derive(Deserialize)]
                struct Body {
                    slot: String,
                }
                match serde_json::from_slice::<Body>(&line.json) {
                    Ok(body) if line.verb == Verb::Keep => self.ledger.keep(line.seq, body.slot),
                    Ok(body) => self.ledger.forget(&body.slot),
                    Err(_) => return self.on_link_end("a control line has no known form"),
                }
            }
            Verb::Receipt => self.ledger.wants_receipt(line.seq),
            Verb::Ping => self.send(Line::bare(0, Verb::Pong)),
            Verb::Pong => {}
            Verb::Drain => {
                self.draining = true;
                self.ledger.drained(line.seq);
            }
            Verb::End => {
                for answer in self.ledger.abandon("the server was stopped for everybody") {
                    self.output.queue(&answer);
                }
                self.input_ended = Some(Instant::now());
            }
            _ => return self.on_link_end("a line that no server sends"),
        }
        None
    }

    fn on_event(&mut self, line: &Line) {
        #[derive(Deserialize)]
        struct Progress {
            params: Params,
        }
        #[derive(Deserialize)]
        struct Params {
            progress: f64,
        }
        if line.seq != 0 && !self.ledger.is_pending(line.seq) {
            return;
        }
        let progress = line
            .json
            .windows(b"notifications/progress".len())
            .any(|part| part == b"notifications/progress")
            .then(|| serde_json::from_slice::<Progress>(&line.json).ok())
            .flatten();
        let stale = progress.is_some_and(|p| !self.ledger.progressed(line.seq, p.params.progress));
        if !stale {
            self.output.queue(&line.json);
        }
    }

    /// Remembers which registry and revision the client has seen, for the next owner's handshake.
    fn note_answer(&mut self, answer: &Bytes) {
        if let Some(Far::Owner(proof)) = self.link.as_ref().map(|link| &link.far) {
            if self.identity.digest.as_deref() != Some(&proof.digest) {
                self.identity.digest = Some(proof.digest.clone());
            }
        }
        if self.identity.revision.is_none() {
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct Opened {
                protocol_version: String,
            }
            #[derive(Deserialize)]
            struct Answer {
                result: Opened,
            }
            if let Ok(answer) = serde_json::from_slice::<Answer>(answer) {
                self.identity.revision = Some(answer.result.protocol_version);
            }
        }
    }

    /// The link is gone: what it did not answer goes to the next owner, and the search for one begins at once (I7).
    fn on_link_end(&mut self, cause: &str) -> Option<Turn> {
        let link = self.link.take()?;
        let end = if self.draining {
            LinkEnd::Drained
        } else {
            LinkEnd::Broke
        };
        tracing::info!(
            cause,
            drained = self.draining,
            "the server is gone, looking for the next one"
        );
        for answer in self.ledger.lost(end) {
            self.output.queue(&answer);
        }
        self.draining = false;
        self.stands = true;
        if matches!(link.far, Far::Alone) || self.quest.is_none() {
            // A host of this process that ended in order gave way to another one: it gets a moment to take over.
            let gives_way = matches!(link.far, Far::Own) && end == LinkEnd::Drained;
            self.quest = self.stand(if gives_way { GIVE_WAY } else { Duration::ZERO });
        }
        None
    }

    fn on_found(&mut self, find: Find) -> Option<Turn> {
        self.quest = None;
        match find {
            Find::Attached(link) => {
                self.leave_alone();
                self.take(*link);
                None
            }
            Find::Elected(ownership) => {
                self.leave_alone();
                Some(Turn::Elected(ownership))
            }
            Find::Nobody => None,
            Find::Alone(reason) => {
                self.quest = self.search_on();
                // Already alone: the search just goes on.
                self.link.is_none().then_some(Turn::Alone(reason))
            }
        }
    }

    fn on_tick(&mut self) -> Option<Turn> {
        let watched = self
            .link
            .as_mut()
            .filter(|link| matches!(link.far, Far::Owner(_)))?;
        if !self.ledger.is_waiting() || self.output.pending() > OUTBOUND_BYTES {
            self.watch.heard();
            return None;
        }
        match self.watch.tick() {
            watch::Tick::Early => None,
            watch::Tick::Ask => {
                watched.writer.queue(Line::bare(0, Verb::Ping));
                None
            }
            watch::Tick::Stalled => {
                let pid = self.site.as_ref().and_then(quest::named_owner);
                drop(self.link.take());
                for answer in self.ledger.lost(LinkEnd::Drained) {
                    self.output.queue(&answer);
                }
                self.draining = false;
                self.quest = self.search_on();
                Some(Turn::Alone(Alone::Stalled { pid }))
            }
        }
    }

    /// Leaves the server of this process's own for one that is shared: what runs there goes along.
    fn leave_alone(&mut self) {
        if self.link.take().is_some() {
            for answer in self.ledger.lost(LinkEnd::Drained) {
                self.output.queue(&answer);
            }
        }
    }

    /// Takes a link: soft state first, then what has no answer, then new frames.
    fn take(&mut self, link: Link) {
        let mut link = link;
        for line in self.ledger.opening() {
            link.writer.queue(line);
        }
        if !matches!(link.far, Far::Alone) {
            self.quest = None;
        }
        self.link = Some(link);
        self.opening = None;
        self.watch = Watch::default();
        self.draining = false;
        self.stands = true;
        self.waiting_since = None;
    }

    /// Sends every request that no owner has, if there is an owner that takes it.
    fn send_unsent(&mut self) {
        let Some(link) = self.link.as_mut().filter(|_| !self.draining) else {
            return;
        };
        for line in self.ledger.unsent() {
            link.writer.queue(line);
        }
    }

    fn send(&mut self, line: Line) {
        if let Some(link) = self.link.as_mut().filter(|_| !self.draining) {
            link.writer.queue(line);
        }
    }

    fn stand(&mut self, after: Duration) -> Option<Quest> {
        let site = self.site.clone()?;
        Some(Quest::stand(&site, self.identity(), after))
    }

    fn search_on(&mut self) -> Option<Quest> {
        let site = self.site.clone()?;
        Some(Quest::again(&site, self.identity()))
    }

    /// The identity for the next link, which is newer than every one before.
    fn identity(&mut self) -> Identity {
        self.identity.generation += 1;
        self.identity.clone()
    }

    /// Whether the client has sent nothing yet: one that only discovered is not silent, it has what it came for.
    fn is_silent(&self) -> bool {
        self.ledger.is_untouched()
    }

    /// When to look again if nothing else happens.
    fn deadline(&self) -> Instant {
        let now = Instant::now();
        let mut deadline = now + Duration::from_hours(1);
        if let Some(ended) = self.input_ended.filter(|ended| *ended + DRAIN > now) {
            deadline = deadline.min(ended + DRAIN);
        }
        if self.link.is_none() && !self.stands && self.is_silent() {
            deadline = deadline.min(self.started + SILENT_CLIENT);
        }
        if let (None, Some(since)) = (&self.link, self.waiting_since) {
            let due = since + PATIENCE;
            if due > now {
                deadline = deadline.min(due);
            }
        }
        let watched = self
            .link
            .as_ref()
            .is_some_and(|link| matches!(link.far, Far::Owner(_)));
        if watched && self.ledger.is_waiting() {
            deadline = deadline.min(self.watch.due());
        }
        deadline
    }
}
