//! What the routes share: the registry, the secrets, and what the host tells them about itself.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::endpoint::ledger::SessionLedger;
use super::endpoint::sessions::Sessions;
use super::limits::Limits;
use super::secrets::Secrets;
use super::sign_in::SignIn;
use super::stream::LinkStream;
use super::work::Work;
use crate::mcp::Engine;
use crate::registry::Registry;

/// Whether a token is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// Every route but the liveness probe and static files wants the bearer token.
    Bearer,
    /// None is wanted, for tools that cannot send a header. The guards still hold.
    Off,
}

/// The owner, as HTTP tells of it: who it is, and whether it still is.
pub trait Owner: Send + Sync {
    /// Returns this owner's instance, 32 hex digits.
    fn instance(&self) -> &str;

    /// Returns the checkout's root id.
    fn root_id(&self) -> &str;

    /// Returns the epoch now.
    fn epoch(&self) -> u64;

    /// Says whether this process still admits sessions and commands (I1); a few microseconds.
    fn admits(&self) -> bool;
}

/// Takes over a connection that was upgraded to a link. Called on the runtime; returns at once.
pub type LinkDoor = Arc<dyn Fn(LinkStream) + Send + Sync>;

/// What a server is made of.
#[derive(Clone)]
pub struct Parts {
    /// MCP, and behind it the registry from which routes and `OpenAPI` follow.
    pub engine: Arc<Engine>,
    /// Where sessions are kept for the next owner.
    pub ledger: Arc<dyn SessionLedger>,
    /// The version that `OpenAPI` names.
    pub version: &'static str,
    /// The owner.
    pub owner: Arc<dyn Owner>,
    /// Whether a token is asked for.
    pub auth: Auth,
    /// What is derived from the token.
    pub secrets: Arc<Secrets>,
    /// Where pages sign in.
    pub sign_in: Arc<SignIn>,
    /// Who takes links.
    pub link: LinkDoor,
    /// The bounds.
    pub limits: Limits,
    /// A folder whose `web/` replaces the embedded pages.
    pub share: Option<PathBuf>,
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("auth", &self.auth)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// The server's state, shared by every route and by the host.
#[derive(Debug)]
pub struct Http {
    parts: Parts,
    requests: Arc<Semaphore>,
    sessions: Sessions,
    work: Work,
    running: AtomicUsize,
    last: Mutex<Option<Instant>>,
}

impl Http {
    /// Makes the state of one server.
    #[must_use]
    pub fn new(parts: Parts) -> Arc<Self> {
        Arc::new(Self {
            requests: Arc::new(Semaphore::new(parts.limits.requests)),
            sessions: Sessions::new(
                Arc::clone(&parts.ledger),
                parts.limits.sessions,
                parts.limits.session_expiry,
            ),
            parts,
            work: Work::default(),
            running: AtomicUsize::new(0),
            last: Mutex::default(),
        })
    }

    /// Says whether HTTP peers or pages give this server life: a running call, or one within `window` (I11).
    #[must_use]
    pub fn alive(&self, window: Duration) -> bool {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        self.running.load(Ordering::Relaxed) > 0 || last.is_some_and(|last| last.elapsed() < window)
    }

    /// Returns the calls that go on without their connection; the host ends them before it releases the lease.
    #[must_use]
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// Returns what this server was made of.
    #[must_use]
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Returns the capabilities.
    pub(crate) fn registry(&self) -> &Arc<Registry> {
        self.parts.engine.registry()
    }

    /// Returns the legacy MCP sessions.
    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Says whether this process still admits sessions and commands.
    pub(crate) fn serving(&self) -> bool {
        self.parts.owner.admits()
    }

    /// Takes one of the places for running requests; `None` when all are taken.
    pub(crate) fn permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.requests).try_acquire_owned().ok()
    }

    /// Returns how many requests could still start.
    #[cfg(test)]
    pub(crate) fn available(&self) -> usize {
        self.requests.available_permits()
    }

    /// Counts as life until the guard is dropped, and for a while after.
    pub(crate) fn live(self: &Arc<Self>) -> Living {
        self.running.fetch_add(1, Ordering::Relaxed);
        Living(Arc::clone(self))
    }
}

/// A call of an HTTP peer or a page.
#[derive(Debug)]
pub(crate) struct Living(Arc<Http>);

impl Drop for Living {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
        let mut last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(Instant::now());
    }
}
