//! A running host, as the process that started it holds it: to order, to wait for.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::life::{self, Shared};
use super::links::Links;
use super::watchdog::Watchdog;
use super::{HostError, Settings};
use crate::bridge::attach::{Far, Link};
use crate::bridge::identity::Identity;
use crate::bridge::wire;
use crate::floor::limits::{DRAIN, HTTP_LIFE, RELEASE, STORES_LAST};
use crate::floor::log;
use crate::http::{Connections, Http, Limits};
use crate::lease::{self, Leave, Ownership};
use crate::registry::PeerId;
use crate::stores::service::Stores;

/// Why a host is told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// A signal: 50 ms in all (I4).
    Signal,
    /// Its own client is gone.
    ClientGone,
    /// Somebody asked it to hand over, or its lease is lost; its own client lives on.
    Demote,
    /// Everybody is to end.
    All,
}

impl Stop {
    /// How long the whole end may take.
    pub(super) fn patience(self) -> Duration {
        match self {
            Self::Signal => RELEASE,
            Self::ClientGone | Self::Demote | Self::All => DRAIN + RELEASE,
        }
    }
}

/// A running host, as the process that started it holds it.
#[derive(Debug)]
pub(super) struct Hosting {
    ownership: Arc<Ownership>,
    stop: watch::Sender<Option<Stop>>,
    ended: CancellationToken,
    severed: CancellationToken,
    links: Arc<Links>,
    http: Arc<Http>,
    stores: Stores,
    own: Option<PeerId>,
    _watchdog: Watchdog,
}

impl Hosting {
    /// Starts the host of `ownership` and waits until it serves; with `client`, also opens that bridge's link in memory.
    ///
    /// # Errors
    /// Whatever keeps it from serving; the lock is released then.
    pub(super) async fn start(
        ownership: Arc<Ownership>,
        settings: &Settings,
        client: Option<Identity>,
    ) -> Result<(Self, Option<Link>), HostError> {
        let limits = Limits::default();
        let (stop, stops) = watch::channel(None);
        let shared = Shared {
            ownership: Arc::clone(&ownership),
            connections: Connections::new(limits.connections, limits.overflow),
            severed: CancellationToken::new(),
            stop: stop.clone(),
        };
        let severed = shared.severed.clone();
        let own = client.as_ref().map(|client| PeerId(client.peer));
        let ended = CancellationToken::new();
        let guard = ended.clone().drop_guard();
        let (started, start) = oneshot::channel();
        let settings = settings.clone();
        let host = move || {
            let _guard = guard;
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            match runtime {
                Ok(runtime) => {
                    runtime.block_on(life::live(shared, settings, own, stops, started));
                    // Blocking work that hangs must not hold up the process.
                    runtime.shutdown_background();
                }
                Err(error) => {
                    shared.ownership.release(Leave::Nothing);
                    drop(started.send(Err(HostError::Runtime(error))));
                }
            }
        };
        if let Err(error) = thread::Builder::new().name("host".to_owned()).spawn(host) {
            ownership.release(Leave::Nothing);
            return Err(HostError::Runtime(error));
        }
        let gone = || HostError::Runtime(io::Error::other("the host's thread ended"));
        match start.await.unwrap_or_else(|_| Err(gone())) {
            Ok(running) => {
                let link = client.map(|client| converse_here(&running.links, &client));
                let hosting = Self {
                    ownership,
                    stop,
                    ended,
                    severed,
                    links: running.links,
                    http: running.http,
                    stores: running.stores,
                    own,
                    _watchdog: running.watchdog,
                };
                Ok((hosting, link))
            }
            Err(error) => {
                ownership.release(Leave::Nothing);
                log::detach(ownership.instance());
                Err(error)
            }
        }
    }

    /// Orders the host to stop.
    pub(super) fn order(&self, why: Stop) {
        self.stop.send_replace(Some(why));
    }

    /// Orders the host to stop and waits for it as [`Hosting::released`] does.
    pub(super) async fn stop(&self, why: Stop) {
        self.order(why);
        self.released(why).await;
    }

    /// Waits until the lock is released, at most as long as the reason allows, and leaves no document that nobody needs.
    pub(super) async fn released(&self, why: Stop) {
        let ended = timeout(why.patience(), self.ended.cancelled()).await;
        if ended.is_ok() {
            lease::clear_up(&self.ownership).await;
        } else {
            tracing::warn!(
                "the host does not end in time; the process ends, and the kernel frees the lock"
            );
        }
    }

    /// Has what is new in the stores of clients that left sent, the process's own among them, and waits for it for a bounded
    /// time. The lock is released by then; whatever is not sent is sent next time.
    pub(super) async fn send_last(&self) {
        if let Some(own) = self.own {
            self.stores.left(own.0);
        }
        let _late = timeout(STORES_LAST, self.stores.settled()).await;
    }

    /// Waits until the host has ended by itself or was stopped. Cancel safe.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Whether anybody ordered it to stop; else it ended because its lease was lost.
    pub(super) fn was_ordered(&self) -> bool {
        self.stop.borrow().is_some()
    }

    /// Waits until the watchdog has taken everything from a wedged host. Cancel safe.
    pub(super) async fn severed(&self) {
        self.severed.cancelled().await;
    }

    /// Waits until nobody needs this host any more, its own client being gone: another bridge can take over, or the
    /// last HTTP peer has been silent for long enough (I11).
    pub(super) async fn unneeded(&self) {
        while self.links.others(self.own) == 0 && self.http.alive(HTTP_LIFE) {
            tokio::select! {
                () = sleep(Duration::from_secs(1)) => {}
                () = self.ended() => return,
            }
        }
    }
}

/// Opens the link of the process's own bridge. Its conversation runs on that bridge's thread, so that a call which is
/// answered at once crosses none, and one that blocks holds up nobody else (ADR-0009).
fn converse_here(links: &Arc<Links>, client: &Identity) -> Link {
    let ((reader, writer), far) = wire::memory();
    let far_end = Arc::clone(links);
    let auth = client.auth(String::new());
    tokio::spawn(async move { far_end.converse(&auth, far.0, far.1).await });
    Link {
        reader,
        writer,
        far: Far::Own,
        digest: links.digest().clone(),
    }
}
