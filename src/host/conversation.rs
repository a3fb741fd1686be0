//! One link's conversation: frames in, answers and news out.
//!
//! Every link has one task that reads lines, runs requests as tasks of their own, and writes answers as they come: a
//! slow call holds back nothing. What a link may have running and waiting is bounded; past the bound a frame is
//! answered as such, so that control lines behind it are still read (I15).

use std::collections::VecDeque;
use std::future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;
use serde_json::json;
use tokio::sync::broadcast;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::links::{Ending, Links};
use super::messages::Messages;
use crate::bridge::wire::{Reader, Writer};
use crate::floor::jsonrpc::Frame;
use crate::floor::limits::{CALLS_PER_PEER, LABEL_CHARS, LAST_LINES, OUTBOUND_BYTES};
use crate::floor::text::shown;
use crate::floor::turns::Held;
use crate::link::handshake::Auth;
use crate::link::line::{Line, Verb};
use crate::mcp::{ErrorCode, Keep, Message, Reply, Request, Revision, Session, failure};
use crate::registry::{Caller, Delivery, News, PeerId, Transport};

/// How a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The bridge closed its link or broke it: its client is gone.
    Closed,
    /// This host leaves; the bridge goes on to the next one.
    Drained,
    /// The same peer has a newer link.
    Superseded,
}

/// One link's state.
pub(super) struct Conversation {
    links: Arc<Links>,
    peer: PeerId,
    /// The peer, as the scope of its requests' once-keys.
    scope: Arc<str>,
    session: Arc<Session>,
    reader: Reader,
    writer: Writer,
    messages: Messages,
    running: JoinSet<Finished>,
    /// Frames that wait for a place among the running ones.
    waiting: VecDeque<Line>,
    waiting_bytes: usize,
    /// How long starting frames has held the thread.
    held: Held,
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
    Changed(Result<News, broadcast::error::RecvError>),
    Line(std::io::Result<Option<Line>>),
    /// Frames wait, and there is room for them.
    Turn,
}

impl Conversation {
    pub(super) fn new(
        links: Arc<Links>,
        peer: PeerId,
        auth: &Auth,
        reader: Reader,
        writer: Writer,
    ) -> Self {
        let (outbound, messages) = Messages::open();
        let caller = Caller {
            peer: Some(peer),
            transport: Transport::Stdio,
            name: None,
            version: None,
            hooked: auth.hooked,
        };
        let known = auth.digest.as_deref();
        let lists_differ = known.is_some_and(|digest| *digest != **links.digest());
        let session = Session::new(caller, outbound);
        if let Some(client) = &auth.client {
            // Its name is known from an earlier owner, so it is on the board before its first frame.
            let bounded = |text: &String| shown(text, LABEL_CHARS);
            session.reintroduce(
                client.name.as_ref().map(bounded),
                client.version.as_ref().map(bounded),
            );
            links.engine().presence().returning(&session.caller());
        }
        Self {
            session,
            links,
            peer,
            scope: peer.to_string().into(),
            reader,
            writer,
            messages,
            running: JoinSet::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            held: Held::default(),
            last_taken: 0,
            lists_differ,
        }
    }

    pub(super) async fn run(mut self, superseded: &CancellationToken) -> End {
        let mut changes = self.links.engine().changes().listen();
        let mut ending = self.links.ending();
        loop {
            self.messages.pass_on(&mut self.writer);
            self.start_waiting();
            // What answers at once holds the thread meanwhile: other links and their pings have their turn.
            let turns = self.links.engine().turns();
            turns.give_way(&mut self.held).await;
            let more = !self.waiting.is_empty() && self.has_room();
            let event = tokio::select! {
                biased;
                done = self.writer.flush(), if self.writer.wants_flush() => Event::Flushed(done),
                _ = ending.wait_for(|ending| *ending != Ending::Open) => Event::Ending,
                () = superseded.cancelled() => Event::Superseded,
                Some(Ok(finished)) = self.running.join_next(), if !self.running.is_empty() => {
                    Event::Finished(finished)
                }
                Some(message) = self.messages.next() => Event::Message(message),
                changed = changes.recv() => Event::Changed(changed),
                line = self.reader.recv(), if !self.writer.is_full() => {
                    Event::Line(line)
                }
                // Frames that wait are started between two looks at everything else, never in place of one.
                () = future::ready(()), if more => Event::Turn,
            };
            match event {
                Event::Flushed(Ok(())) | Event::Turn => {}
                Event::Flushed(Err(_)) | Event::Line(Err(_) | Ok(None)) => return End::Closed,
                Event::Superseded => return End::Superseded,
                Event::Ending => {
                    if self.is_closed() {
                        return End::Closed;
                    }
                    let how = *ending.borrow();
                    self.leave(how).await;
                    return End::Drained;
                }
                Event::Finished(finished) => self.finished(finished),
                Event::Message(message) => self.messages.hold(message, &self.writer),
                Event::Changed(Ok(news)) => self.session.hear(&news),
                Event::Changed(Err(broadcast::error::RecvError::Lagged(_))) => {
                    self.session.missed();
                }
                Event::Changed(Err(broadcast::error::RecvError::Closed)) => {}
                Event::Line(Ok(Some(line))) => self.take(line),
            }
        }
    }

    fn take(&mut self, line: Line) {
        match line.verb {
            Verb::Frame | Verb::Resend | Verb::Replay if self.waiting_bytes > OUTBOUND_BYTES => {
                self.refuse(&line);
            }
            Verb::Frame | Verb::Resend | Verb::Replay => {
                self.waiting_bytes += line.cost();
                self.waiting.push_back(line);
            }
            Verb::Replayed => {
                // Every replay has begun before this one does.
                let (session, lists) = (Arc::clone(&self.session), self.lists_differ);
                while let Some(replay) = self.waiting.pop_front() {
                    self.waiting_bytes -= replay.cost();
                    self.start(replay);
                }
                // An announcement of a link's peer waits for nothing, so it stands once it has begun.
                self.links.engine().presence().returned(self.peer);
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
            Verb::Ack => self.links.acknowledge(self.peer, line.seq),
            Verb::Ping => self.writer.queue(Line::bare(0, Verb::Pong)),
            Verb::Pong => {}
            verb => tracing::debug!(?verb, "a line that no bridge sends"),
        }
    }

    /// Starts frames that wait, as far as there is room for their answers and others had their turn.
    fn start_waiting(&mut self) {
        while !self.held.is_long() && self.has_room() {
            let Some(line) = self.waiting.pop_front() else {
                return;
            };
            self.waiting_bytes -= line.cost();
            let begin = self.held.begin();
            self.start(line);
            self.held.end(begin);
        }
    }

    /// Whether one more call can be started.
    fn has_room(&self) -> bool {
        self.calls() < CALLS_PER_PEER && !self.writer.is_full()
    }

    /// How many calls run; open listens have a bound of their own.
    fn calls(&self) -> usize {
        self.running
            .len()
            .saturating_sub(self.session.open_listens())
    }

    /// Answers a frame for which there is no room.
    fn refuse(&mut self, line: &Line) {
        self.last_taken = self.last_taken.max(line.seq);
        let frame = line.frame.clone();
        let frame = frame.or_else(|| Frame::parse(line.json.clone()).ok());
        let id = frame.as_ref().and_then(Frame::request_id);
        let failure = failure::CROWDED.fill(&[]);
        let json = failure.answer(id, Revision::NEWEST_LEGACY);
        self.writer.queue(Line::new(line.seq, Verb::Answer, json));
    }

    fn start(&mut self, line: Line) {
        self.last_taken = self.last_taken.max(line.seq);
        let frame = match line.frame.map_or_else(|| Frame::parse(line.json), Ok) {
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
        let (engine, session) = (Arc::clone(self.links.engine()), Arc::clone(&self.session));
        let (seq, key) = (line.seq, Some(Arc::clone(&self.scope)));
        let id = frame.request_id().cloned();
        // A cancellation may stand right behind it, before the task has run at all.
        let begun = id.is_some().then(|| self.session.begin(seq));
        let mut handling = Box::pin(async move {
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
                let failure = failure::PANICKED.fill(&[]);
                Some(Reply::failed(id.as_ref(), revision, &failure))
            });
            drop(begun);
            // A replay rebuilds state; its answer reached the client long ago.
            (seq, reply.filter(|_| delivery != Delivery::Replayed))
        });
        // What answers at once needs no task of its own.
        match (&mut handling).now_or_never() {
            Some(finished) => self.finished(finished),
            None => drop(self.running.spawn(handling)),
        }
    }

    /// A request is handled: what was said about it goes before its answer.
    fn finished(&mut self, (seq, reply): Finished) {
        self.messages.collect(&self.writer);
        self.messages.pass_on(&mut self.writer);
        self.answer(seq, reply);
    }

    fn answer(&mut self, seq: u64, reply: Option<Reply>) {
        let Some(reply) = reply else { return };
        if reply.error == Some(ErrorCode::NotOwner) {
            // Not taken: without an answer it stays in the bridge's ledger, for the next owner.
            self.links.lose();
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

    /// Leaves in order: nothing more is read, running calls get their time, answers are sent, and the bridge is told
    /// what was taken (I4). What does not finish is the ledger's.
    async fn leave(&mut self, ending: Ending) {
        self.session.close_listens();
        let until = match ending {
            Ending::Drain(time) => {
                // Said first: the bridge sends nothing more and knows that what it hears now are last words.
                self.writer.queue(Line::bare(self.last_taken, Verb::Drain));
                Instant::now() + time
            }
            Ending::EndAll | Ending::Open => Instant::now(),
        };
        loop {
            let done = tokio::select! {
                biased;
                flushed = self.writer.flush(), if self.writer.wants_flush() => match flushed {
                    Ok(()) => continue,
                    Err(_) => return,
                },
                done = timeout_at(until, self.running.join_next()) => done,
            };
            match done {
                Ok(Some(Ok(finished))) => self.finished(finished),
                Ok(Some(Err(_))) => {}
                Ok(None) | Err(_) => break,
            }
        }
        self.running.abort_all();
        if ending == Ending::EndAll {
            self.writer.queue(Line::bare(0, Verb::End));
        }
        let last = until.max(Instant::now() + LAST_LINES);
        while self.writer.wants_flush() {
            match timeout_at(last, self.writer.flush()).await {
                Ok(Ok(())) => {}
                // A bridge that does not read finds out by the end of the link.
                Ok(Err(_)) | Err(_) => break,
            }
        }
    }

    /// Whether the bridge has closed its end already, as far as what is there to read tells: such a client needs no
    /// successor. Frames in front of that are not taken; the bridge hears so.
    fn is_closed(&mut self) -> bool {
        while let Some(read) = self.reader.recv().now_or_never() {
            match read {
                Ok(Some(line)) if matches!(line.verb, Verb::Cancel | Verb::Ack) => self.take(line),
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return true,
            }
        }
        false
    }
}
