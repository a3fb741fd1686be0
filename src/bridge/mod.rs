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
pub mod identity;
pub mod ledger;
pub mod opening;
pub mod shake;
pub mod stdio;
pub mod wire;

mod batches;
mod quest;
mod succession;
mod traffic;
mod watch;

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use tokio::time::{Instant, Sleep, sleep_until};

use alone::Alone;
use attach::{Far, Link};
use batches::Batches;
use identity::{Identity, Living};
use ledger::Ledger;
use opening::{Compiled, Opening, PATIENCE};
use quest::{Find, Quest};
use stdio::{Input, Output};
use succession::LAST_WORDS;
use watch::Watch;

use crate::floor::jsonrpc::FrameError;
use crate::floor::limits::{
    CALL_WITHOUT_OWNER, DRAIN, OUTBOUND_BYTES, SILENT_CLIENT, WAITING_BYTES,
};
use crate::floor::paths::Site;
use crate::lease::Ownership;
use crate::link::line::Line;

/// Why [`Bridge::run`] came back.
#[derive(Debug)]
pub enum Turn {
    /// This process is the owner now: start the host, come back meanwhile without a link, and then with one to it.
    Elected(Arc<Ownership>),
    /// Serve this client alone, for this reason: come back with a link to a server that does.
    Alone(Alone),
    /// The client is gone, or the server ended everybody in order.
    Gone,
}

/// One client's bridge.
pub struct Bridge {
    input: Input,
    output: Output,
    ledger: Ledger,
    batches: Batches,
    link: Option<Link>,
    quest: Option<Quest>,
    watch: Watch,
    /// Where to look for an owner; `None` in a folder that is no checkout.
    site: Option<Site>,
    opening: Opening,
    identity: Living,
    started: Instant,
    /// Rings at the latest when something has to be looked at; early is no harm. Setting a timer wakes the runtime, so
    /// one that rings early enough is left alone.
    alarm: Pin<Box<Sleep>>,
    armed: bool,
    /// Since when the opening has waited without an owner.
    waiting_since: Option<Instant>,
    /// The client's input ended at this moment.
    input_ended: Option<Instant>,
    /// The owner said that it drains: nothing new goes over the link.
    draining: bool,
    /// A write to the link failed: nothing goes over it any more, and what the owner sent before is still read.
    write_broken: bool,
    /// It was elected, and its host is being started.
    waits_for_host: bool,
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
    Input(io::Result<Option<Result<Bytes, FrameError>>>),
    Line(io::Result<Option<Line>>),
    LinkFlushed(io::Result<()>),
    OutputFlushed(io::Result<()>),
    Found(Find),
    Tick,
}

impl Bridge {
    /// Opens the stdio of the client whom `identity` names. Must run inside a runtime.
    ///
    /// # Errors
    /// The system's own.
    pub fn open(site: Option<Site>, identity: Living, compiled: Compiled) -> io::Result<Self> {
        let quest = site
            .as_ref()
            .map(|site| Quest::look(site, identity.clone()));
        Ok(Self {
            input: Input::open()?,
            output: Output::open()?,
            ledger: Ledger::default(),
            batches: Batches::default(),
            link: None,
            quest,
            watch: Watch::default(),
            site,
            opening: Opening::new(compiled),
            identity,
            started: Instant::now(),
            alarm: Box::pin(sleep_until(Instant::now())),
            armed: false,
            waiting_since: None,
            input_ended: None,
            draining: false,
            write_broken: false,
            waits_for_host: false,
            stands: false,
        })
    }

    /// This client, for a link within the process.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.identity.next()
    }

    /// Carries frames until something needs another module.
    ///
    /// Cancel safety: dropping the future loses nothing.
    pub async fn run(&mut self) -> Turn {
        loop {
            if let Some(turn) = self.settle().await {
                return turn;
            }
            let turn = match self.next_event().await {
                Event::Found(find) => self.on_found(find),
                Event::Tick => self.on_tick(),
                Event::OutputFlushed(Err(error)) => {
                    tracing::warn!(%error, "the client does not take what it is told; it counts as gone");
                    Some(Turn::Gone)
                }
                event => {
                    self.on_traffic(event);
                    None
                }
            };
            if let Some(turn) = turn {
                return turn;
            }
        }
    }

    fn on_traffic(&mut self, event: Event) {
        match event {
            Event::Input(Ok(Some(Ok(line)))) => self.on_input(line),
            Event::Input(Ok(Some(Err(error)))) => self.output.queue(&error.answer()),
            Event::Input(Ok(None) | Err(_)) => self.input_ended = Some(Instant::now()),
            Event::Line(Ok(Some(line))) => self.on_line(&line),
            Event::Line(Ok(None)) => self.on_link_end("closed"),
            Event::Line(Err(error)) => self.on_link_end(&error.to_string()),
            Event::LinkFlushed(Err(_)) => self.write_broken = true,
            Event::LinkFlushed(Ok(()))
            | Event::OutputFlushed(_)
            | Event::Found(_)
            | Event::Tick => {}
        }
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
                Event::Line(Ok(Some(line))) => self.on_line(&line),
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
        self.set_alarm();
        let sends = self.sends();
        let (mut reader, mut writer) = match &mut self.link {
            Some(link) => (Some(&mut link.reader), Some(&mut link.writer)),
            None => (None, None),
        };
        let flush_link = sends && writer.as_ref().is_some_and(|writer| writer.wants_flush());
        // A client that does not read is still heard, so that its end is; what it asks waits in the ledger.
        let read_input = self.input_ended.is_none() && self.ledger.bytes() < WAITING_BYTES;
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
            () = self.alarm.as_mut(), if self.armed => {
                self.armed = false;
                Event::Tick
            }
        }
    }

    /// Whether the client has sent nothing yet: one that only discovered is not silent, it has what it came for.
    fn is_silent(&self) -> bool {
        self.ledger.is_untouched()
    }

    fn set_alarm(&mut self) {
        if let Some(due) = self.deadline()
            && (!self.armed || due < self.alarm.deadline())
        {
            self.alarm.as_mut().reset(due);
            self.armed = true;
        }
    }

    /// When to look again if nothing else happens; `None` while nothing waits for a moment.
    fn deadline(&self) -> Option<Instant> {
        let mut deadline: Option<Instant> = None;
        let mut until = |due: Instant| deadline = Some(deadline.map_or(due, |set| set.min(due)));
        if let Some(ended) = self.input_ended {
            let now = Instant::now();
            // Each is a moment at which `settle` has something to do.
            let next = [
                DRAIN,
                DRAIN + LAST_WORDS,
                DRAIN + CALL_WITHOUT_OWNER,
                DRAIN + CALL_WITHOUT_OWNER + LAST_WORDS,
            ]
            .into_iter()
            .map(|patience| ended + patience)
            .find(|due| *due > now);
            next.into_iter().for_each(&mut until);
        }
        match &self.link {
            None => {
                if !self.stands && self.is_silent() {
                    until(self.started + SILENT_CLIENT);
                }
                let opening = self.waiting_since.map(|since| since + PATIENCE);
                opening
                    .filter(|due| *due > Instant::now())
                    .into_iter()
                    .for_each(&mut until);
            }
            Some(link) => {
                if matches!(link.far, Far::Owner(_)) && self.ledger.is_waiting() {
                    until(self.watch.due());
                }
            }
        }
        deadline
    }
}
