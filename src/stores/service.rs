//! The stores of a server's clients. What is asked for is done on a thread that exists only while there is something to
//! do, and so is what an edge sets off.
//!
//! *Edge*: a server starts, a client with stores of its own arrives, a client leaves. At the first two what the folder has
//! is taken in, at the third what is new here is sent; nobody waits for that, and where somebody else merges the store
//! already it is left to them. Each client has its own environment, and so its own stores.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use uuid::Uuid;

use super::error::StoreError;
use super::last::{self, Way};
use super::place::{Place, Surroundings};
use super::session::{Plan, Report, Session};
use crate::floor::clock::now_ms;
use crate::floor::error::Chain;
use crate::floor::worker::Worker;
use crate::link::handshake;

/// Why a job was not done.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// It failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system gives no thread to do it on.
    #[error("the system gives no thread to work on: {0}")]
    NoThread(io::ErrorKind),
    /// The job panicked, or the process is ending.
    #[error("the stores are not worked on any more")]
    Gone,
}

/// Which stores somebody means.
type Whose = (PathBuf, PathBuf);

#[derive(Default)]
struct Peers {
    /// Where the stores of each client are.
    of: HashMap<Uuid, Surroundings>,
    /// Whose stores this server has taken something into.
    met: HashSet<Whose>,
    /// What waits for its turn: the same is not done twice in a row.
    queued: HashSet<(Whose, Way)>,
}

struct Inner {
    /// Where the stores of the process's own client are.
    own: Option<Surroundings>,
    /// Whether edges set something off: at an owner's, and nowhere else.
    acts: bool,
    peers: Mutex<Peers>,
}

/// The stores of one server's clients. Cheap to clone; nothing is opened before the first job.
#[derive(Clone)]
pub struct Stores {
    inner: Arc<Inner>,
    worker: Worker,
}

impl std::fmt::Debug for Stores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stores").finish_non_exhaustive()
    }
}

impl From<&handshake::Stores> for Surroundings {
    fn from(told: &handshake::Stores) -> Self {
        Self {
            mnemon: PathBuf::from(&told.data),
            state: PathBuf::from(&told.state),
            folder: PathBuf::from(&told.folder),
            label: told.host.clone(),
            most: told.most,
            // Only who agrees to a store looks there, and nobody does so over a link.
            claude_settings: PathBuf::new(),
        }
    }
}

fn whose(around: &Surroundings) -> Whose {
    (around.mnemon.clone(), around.state.clone())
}

impl Stores {
    /// Describes the stores of a server that does what it is asked for, and nothing by itself.
    #[must_use]
    pub fn of(own: Option<Surroundings>) -> Self {
        Self::with(own, false)
    }

    /// Describes the stores of an owner, which edges set something off for.
    #[must_use]
    pub fn of_owner(own: Option<Surroundings>) -> Self {
        Self::with(own, true)
    }

    fn with(own: Option<Surroundings>, acts: bool) -> Self {
        let inner = Inner {
            own,
            acts,
            peers: Mutex::default(),
        };
        Self {
            inner: Arc::new(inner),
            worker: Worker::new("stores"),
        }
    }

    /// Whether the process's own client has a store that is enabled.
    #[must_use]
    pub fn is_any_enabled(&self) -> bool {
        let own = self.inner.own.as_ref();
        own.is_some_and(|own| !own.enabled().is_empty())
    }

    /// Where a caller's stores are: a client's own, else those of the process's.
    #[must_use]
    pub fn around(&self, peer: Option<Uuid>) -> Option<Surroundings> {
        let peers = self.peers();
        let theirs = peer.and_then(|peer| peers.of.get(&peer).cloned());
        theirs.or_else(|| self.inner.own.clone())
    }

    /// The server has started.
    pub fn started(&self) {
        if let Some(own) = &self.inner.own {
            self.meet(own);
        }
    }

    /// A client is here, with stores of its own.
    pub fn arrived(&self, peer: Uuid, told: Option<&handshake::Stores>) {
        let Some(told) = told else { return };
        let around = Surroundings::from(told);
        self.peers().of.insert(peer, around.clone());
        self.meet(&around);
    }

    /// A client is gone for good.
    pub fn left(&self, peer: Uuid) {
        let around = self.peers().of.remove(&peer);
        if let Some(around) = around {
            self.beside(&around, Way::Export);
        }
    }

    /// Takes in what the folder has, once in a server's life.
    fn meet(&self, around: &Surroundings) {
        if self.peers().met.insert(whose(around)) {
            self.beside(around, Way::Import);
        }
    }

    /// Meets the stores of somebody beside everything else, and leaves alone what another process is at.
    fn beside(&self, around: &Surroundings, way: Way) {
        let key = (whose(around), way);
        if !self.inner.acts || !self.peers().queued.insert(key.clone()) {
            return;
        }
        let (stores, around) = (self.clone(), around.clone());
        self.worker.submit(Box::new(move |thread| {
            stores.peers().queued.remove(&key);
            if thread.is_err() {
                return;
            }
            for place in around.enabled() {
                match run(&place, way, false) {
                    Ok(_) => tracing::debug!(store = place.name, ?way, "met a store"),
                    Err(StoreError::Busy(_)) => {
                        tracing::debug!(store = place.name, "another process is at a store");
                    }
                    Err(error) => {
                        tracing::warn!(store = place.name, ?way, error = %Chain(&error), "a store is not met");
                    }
                }
            }
        }));
    }

    /// Waits until nothing is left to do.
    pub async fn settled(&self) {
        if self.worker.is_idle() {
            return;
        }
        let (tell, told) = oneshot::channel();
        self.worker.submit(Box::new(move |_| {
            let _gone = tell.send(());
        }));
        // Either way nothing is left.
        let _settled = told.await;
    }

    /// Does a job on the stores, and waits for it.
    ///
    /// Cancel safety: dropping the future does not stop the job.
    ///
    /// # Errors
    /// Where the job cannot be begun, and whatever it fails with.
    pub async fn ask<T, F>(&self, job: F) -> Result<T, ServiceError>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, StoreError> + Send + 'static,
    {
        let (tell, told) = oneshot::channel();
        self.worker.submit(Box::new(move |thread| {
            let done = thread
                .map_err(ServiceError::NoThread)
                .and_then(|()| Ok(job()?));
            // Nobody waits any more: the work is done all the same.
            drop(tell.send(done));
        }));
        told.await.unwrap_or(Err(ServiceError::Gone))
    }

    fn peers(&self) -> MutexGuard<'_, Peers> {
        // What a panic left behind is whole: every holder changes it in one step.
        let peers = self.inner.peers.lock();
        peers.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Meets one store, and keeps what came of it.
///
/// # Errors
/// Where it is not enabled, somebody else is at it, or a file cannot be used.
pub fn run(place: &Place, way: Way, dry_run: bool) -> Result<Report, StoreError> {
    let plan = Plan {
        import: way.imports(),
        export: way.exports(),
        dry_run,
        now_ms: now_ms(),
    };
    let went = Session::open(place).and_then(|session| session.run(plan));
    if !dry_run {
        last::keep(place, way, &went, now_ms());
    }
    went
}

/// Meets several stores; one that cannot be met keeps none of the others from it, and is in trouble.
#[must_use]
pub fn run_all(places: &[Place], way: Way, dry_run: bool) -> Vec<Report> {
    let one = |place: &Place| {
        run(place, way, dry_run).unwrap_or_else(|error| Report {
            store: place.name.clone(),
            troubles: vec![Chain(&error).to_string()],
            ..Report::default()
        })
    };
    places.iter().map(one).collect()
}
