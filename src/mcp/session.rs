//! One client's conversation: who it is, what it subscribed to, and what of it is running.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio_util::sync::CancellationToken;

use super::revision::Revision;
use super::subscriptions::Listen;
use crate::registry::caller::Caller;

/// A message from the server to the client.
#[derive(Debug, Clone)]
pub struct Message {
    /// The number of the request that it is about; 0 for none.
    pub about: u64,
    /// What it says that a later message with the same key makes obsolete, such as a resource's URI. Under pressure a
    /// carrier may keep only the newest of a key.
    pub coalesce: Option<String>,
    /// The JSON-RPC notification.
    pub json: Bytes,
}

/// Where a session's messages leave. The carrier's function returns at once and bounds what waits.
#[derive(Clone)]
pub struct Outbound(Arc<dyn Fn(Message) + Send + Sync>);

impl Outbound {
    /// Sends through `f`.
    pub fn to(f: impl Fn(Message) + Send + Sync + 'static) -> Self {
        Self(Arc::new(f))
    }

    /// Drops every message: for carriers without a way back.
    #[must_use]
    pub fn none() -> Self {
        Self(Arc::new(drop))
    }

    pub(super) fn send(&self, message: Message) {
        (self.0)(message);
    }
}

impl fmt::Debug for Outbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outbound")
    }
}

/// One client's conversation.
#[derive(Debug)]
pub struct Session {
    pub(super) outbound: Outbound,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) caller: Caller,
    /// What `initialize` negotiated.
    pub(super) revision: Option<Revision>,
    /// The peer is on the board.
    pub(super) entered: bool,
    /// URIs of `resources/subscribe`.
    pub(super) subscriptions: BTreeSet<String>,
    /// Open `subscriptions/listen` requests by their number.
    pub(super) listens: BTreeMap<u64, Listen>,
    /// The client knows another registry's lists; a listen that is opened anew is told so.
    pub(super) lists_stale: bool,
    running: BTreeMap<u64, CancellationToken>,
}

impl Session {
    /// Opens a conversation with `caller`, whose name may become known later.
    #[must_use]
    pub fn new(caller: Caller, outbound: Outbound) -> Arc<Self> {
        Arc::new(Self {
            outbound,
            state: Mutex::new(State {
                caller,
                revision: None,
                entered: false,
                subscriptions: BTreeSet::new(),
                listens: BTreeMap::new(),
                lists_stale: false,
                running: BTreeMap::new(),
            }),
        })
    }

    /// Resumes a conversation that another owner began, as its session id tells.
    #[must_use]
    pub fn resumed(caller: Caller, revision: Revision, outbound: Outbound) -> Arc<Self> {
        let session = Self::new(caller, outbound);
        session.state().revision = Some(revision);
        session
    }

    /// Who talks, as far as it is known now.
    #[must_use]
    pub fn caller(&self) -> Caller {
        self.state().caller.clone()
    }

    /// What `initialize` negotiated, if it did.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.state().revision
    }

    /// Cancels the request with this number; its handling then ends without an answer.
    pub fn cancel(&self, number: u64) {
        let mut state = self.state();
        state.listens.remove(&number);
        if let Some(token) = state.running.get(&number) {
            token.cancel();
        }
    }

    /// Ends every open listen without an answer: the owner leaves, and the client's bridge opens it at the next one.
    pub fn close_listens(&self) {
        let mut state = self.state();
        for number in std::mem::take(&mut state.listens).into_keys() {
            if let Some(token) = state.running.get(&number) {
                token.cancel();
            }
        }
    }

    /// How many requests are running, open listens among them.
    #[must_use]
    pub fn running(&self) -> usize {
        self.state().running.len()
    }

    /// Makes the request with this number known, so that it can be cancelled before its handling has begun.
    pub fn begin(&self, number: u64) -> CancellationToken {
        self.state().running.entry(number).or_default().clone()
    }

    /// Takes up a conversation whose client another owner knows already: its name, and that it is on the board.
    pub fn reintroduce(&self, name: Option<String>, version: Option<String>) {
        let mut state = self.state();
        state.caller.name = name;
        state.caller.version = version;
        state.entered = true;
    }

    /// How many listens are open.
    #[must_use]
    pub fn open_listens(&self) -> usize {
        self.state().listens.len()
    }

    pub(super) fn finish(&self, number: u64) {
        self.state().running.remove(&number);
    }

    /// A panic of another request does not poison this one: every change of the state is whole.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
