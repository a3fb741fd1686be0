//! The legacy sessions of this server.
//!
//! | state | on | next |
//! |---|---|---|
//! | unknown | `initialize` | live |
//! | sealed elsewhere: an id that an earlier owner made | any request | live with what it told that owner, and its peer enters again |
//! | live | DELETE, or a day without a request or a call that does more than wait for its client | ended, for the next owner too |
//! | ended | any request | stays ended: 404 |
//! | sealed elsewhere, and what is kept of it cannot be read | any request | as it was: 503 |
//!
//! Expiry is looked at when a request comes, and when a new session needs room: no timer runs (I12). It goes by the
//! monotonic clock, so neither a jump of the wall clock nor a suspended machine ends a session. An id made elsewhere is
//! taken over for seven days after it was made; how long it was idle before nobody knows.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::kept::Keeper;
use super::ledger::{Earlier, SessionLedger};
use super::live::{Live, until_ms};
use super::outbound::Routes;
use super::session_id::SessionId;
use crate::floor::clock;
use crate::mcp::Session;
use crate::registry::{Presence, Refusal};

/// The sessions of one server.
pub(crate) struct Sessions {
    table: Mutex<Table>,
    ledger: Arc<dyn SessionLedger>,
    kept: Keeper,
    most: usize,
    expiry: Duration,
}

#[derive(Default)]
struct Table {
    live: HashMap<String, Arc<Live>>,
    ended: HashMap<String, u64>,
}

/// What a session id leads to.
#[derive(Debug)]
pub(crate) enum Found {
    /// A session.
    Live(Arc<Live>),
    /// None: forged, unknown, ended or too old.
    Unknown,
    /// One that may have ended: what is kept of it cannot be read.
    Unsure(Refusal),
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
            self.expire(&text, presence);
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
            self.expire(text, presence);
            return Found::Unknown;
        }
        let Some(id) = read(text) else {
            return Found::Unknown;
        };
        if clock::now_ms() > until_ms(&id) {
            return Found::Unknown;
        }
        let peer = id.peer.to_string();
        let told = match self.ledger.recall(&peer, id.created_ms).await {
            Ok(Earlier::Unknown) => None,
            Ok(Earlier::Ended) => return Found::Unknown,
            Ok(Earlier::Told(told)) => Some(told),
            Err(refusal) => return Found::Unsure(refusal),
        };
        // While the ledger was asked, another request may have taken it over or ended it.
        let (ended, live) = {
            let table = self.table();
            let live = table.live.get(text).map(Arc::clone);
            (table.ended.contains_key(&peer), live)
        };
        if ended {
            return Found::Unknown;
        }
        if let Some(live) = live {
            return Found::Live(live);
        }
        if !admits() {
            return Found::NotServing;
        }
        if !self.has_room(presence) {
            return Found::Full;
        }
        presence.enter(&id.caller);
        let routes = self.routes();
        let caller = id.caller.clone();
        let session = Session::resumed(caller, id.revision, told.as_deref(), routes.outbound());
        let live = self.add(text, &id, session, routes);
        live.taken_over();
        Found::Live(live)
    }

    /// Ends a session for good, as soon as every later owner knows of it. Runs to its end once it has begun: a half of it
    /// would be an end that only the next owner knows.
    pub(crate) async fn end(
        &self,
        text: &str,
        live: &Live,
        presence: &dyn Presence,
    ) -> Result<(), Refusal> {
        let peer = live.peer.to_string();
        self.ledger.end(&peer, live.until_ms).await?;
        self.forget(text, presence);
        Ok(())
    }

    /// Ends a session that was not used for long. A later owner that cannot be told of it knows it for another while.
    fn expire(&self, text: &str, presence: &dyn Presence) {
        if let Some(live) = self.forget(text, presence) {
            drop(self.ledger.end(&live.peer.to_string(), live.until_ms));
        }
    }

    fn forget(&self, text: &str, presence: &dyn Presence) -> Option<Arc<Live>> {
        let live = {
            let mut table = self.table();
            let live = table.live.remove(text)?;
            let now = clock::now_ms();
            table.ended.retain(|_, until| *until > now);
            table.ended.insert(live.peer.to_string(), live.until_ms);
            live
        };
        live.cancel_all();
        presence.leave(live.peer);
        Some(live)
    }

    /// Keeps what a session tells now; resolves when the next owner knows it.
    pub(crate) async fn keep(&self, live: &Live) {
        let peer = live.peer.to_string();
        self.ledger.keep(&peer, live.session.kept(), live.until_ms);
        self.ledger.kept().await;
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
