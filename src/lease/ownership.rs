//! The proof that this process holds the lock, and what an owner does with it.
//!
//! The host publishes, drains and releases; the bridge of the same process and every session ask [`Ownership::admits`]; the
//! watchdog may release at any moment. Each of these is a [`Duty`] of the pure step function, performed here call by call.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::document::{Document, MAX_EPOCH, State};
use super::election::{Call, Course, Duty, Leave, Tenure, perform};
use super::failpoint;
use super::kernel::{Kernel, Trouble};
use crate::floor::paths::{Files, Site};

/// The lease of one owner, from its election to [`Ownership::release`]. Shared by `Arc`; dropping the last one releases it.
#[derive(Debug)]
pub struct Ownership {
    kernel: Kernel,
    epoch: AtomicU64,
    released: AtomicBool,
    found: String,
}

/// Why an owner's document was not written.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Somebody replaced the lock file or the document, or the lease was released: stop admitting, and go on as a bridge.
    #[error("the lease of this checkout was taken away")]
    Lost,
    /// The system refused.
    #[error("cannot write .ai/local/state/mcp/server.json")]
    Write(#[source] io::Error),
    /// Whether the document is still ours cannot be seen.
    #[error("this process may open no more files (`ulimit -n`)")]
    Files,
}

impl Ownership {
    /// `found` is what the election found in the document's place.
    pub(super) fn new(kernel: Kernel, epoch: u64, found: String) -> Self {
        Self {
            kernel,
            epoch: AtomicU64::new(epoch),
            released: AtomicBool::new(false),
            found,
        }
    }

    /// Returns the epoch: higher than that of any earlier owner that the document or the board knew.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Returns 32 hexadecimal digits, random for each ownership.
    pub fn instance(&self) -> &str {
        self.kernel.instance()
    }

    /// Returns the files that it serves from.
    pub fn files(&self) -> Files {
        self.kernel.files()
    }

    pub(super) fn site(&self) -> &Site {
        self.kernel.site()
    }

    /// Returns what stood in the document's place before, for people: `no document`, `a document of pid 4711 (ready)`.
    pub fn found(&self) -> &str {
        &self.found
    }

    /// Returns the document as it was last read: whoever published it.
    pub fn document(&self) -> Option<Document> {
        self.kernel.document()
    }

    /// Tells whether a session or command may be admitted now: the lock is held, on the file at its path, and the document
    /// is ours. Costs three `stat`s. `false` is final: drain, release, and go on as a bridge.
    pub fn admits(&self) -> bool {
        if self.released.load(Ordering::Acquire) {
            return false;
        }
        self.perform(Duty::Admit) == Course::Fulfilled && !self.released.load(Ordering::Acquire)
    }

    /// Raises the epoch to at least this. Before [`Ownership::publish`]: the board may know of later owners than the document.
    pub fn raise_epoch(&self, at_least: u64) {
        self.epoch
            .fetch_max(at_least.min(MAX_EPOCH), Ordering::AcqRel);
    }

    /// Writes `ready`: bridges find us at `link`, people at `url`. May be called again when the url moves.
    ///
    /// # Errors
    /// Every variant of [`LeaseError`].
    pub fn publish(&self, url: Option<&str>, link: SocketAddr) -> Result<(), LeaseError> {
        self.kernel.set_addresses(url, link);
        self.say(State::Ready)
    }

    /// Writes `draining`: newcomers do not try us any more.
    ///
    /// # Errors
    /// Every variant of [`LeaseError`].
    pub fn drain(&self) -> Result<(), LeaseError> {
        self.say(State::Draining)
    }

    /// Gives the lease up: leaves the document as told, if it is still ours, and then lets go of name and lock.
    ///
    /// The host has closed its listener and links before. Idempotent, and callable from any thread; only the first call acts.
    pub fn release(&self, leave: Leave) {
        if self.released.swap(true, Ordering::AcqRel) {
            return;
        }
        self.perform(Duty::Release(leave, self.epoch()));
    }

    fn say(&self, state: State) -> Result<(), LeaseError> {
        if self.released.load(Ordering::Acquire) {
            return Err(LeaseError::Lost);
        }
        // What an earlier call ran into says nothing of this one.
        drop(self.kernel.take_trouble());
        match (
            self.perform(Duty::Say(state, self.epoch())),
            self.kernel.take_trouble(),
        ) {
            (Course::Fulfilled, _) => Ok(()),
            (_, Some(Trouble::Files)) => Err(LeaseError::Files),
            (Course::Refused, Some(Trouble::Write(error))) => Err(LeaseError::Write(error)),
            _ => Err(LeaseError::Lost),
        }
    }

    fn perform(&self, duty: Duty) -> Course {
        let mut os = &self.kernel;
        let (mut tenure, mut course) = Tenure::begin(duty);
        while let Course::Call(call) = course {
            failpoint::before(call);
            if call == Call::ReadAgain && duty == Duty::Admit && os.document_untouched() {
                return Course::Fulfilled;
            }
            let Some(answer) = perform(&mut os, call) else {
                return Course::Lost;
            };
            (tenure, course) = tenure.step(answer);
        }
        course
    }
}

impl Drop for Ownership {
    fn drop(&mut self) {
        self.release(Leave::Nothing);
    }
}
