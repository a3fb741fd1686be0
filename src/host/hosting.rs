//! A host from election to release, on a thread of its own.
//!
//! | a host is | it | it leaves this state |
//! |---|---|---|
//! | starting | has the lock; opens the board, binds, publishes | when it is ready, or cannot be and releases |
//! | ready | admits links, sessions and commands | when it is stopped, demoted, wedged, or finds its lock file replaced |
//! | draining | takes nothing new, ends its links in order | when the lock is released |

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::links::{Ending, Introduction, Links};
use super::watchdog::Watchdog;
use super::wiring::{Mode, Wiring};
use super::{HostError, Settings, door, port};
use crate::bridge::attach::{Far, Link};
use crate::bridge::identity::Identity;
use crate::bridge::wire;
use crate::floor::clock;
use crate::floor::error::Chain;
use crate::floor::limits::{DRAIN, HTTP_LIFE, PORT_RETRY, RELEASE, RELEASE_TASKS};
use crate::floor::log;
use crate::floor::paths::{Site, SiteError};
use crate::http::{self, Connections, Http, Limits};
use crate::lease::{Leave, Ownership, Token};
use crate::mcp::Admission;
use crate::registry::PeerId;

/// How often the preferred port is tried again.
const PORT_PAUSE: Duration = Duration::from_millis(500);

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
    stop: watch::Sender<Option<Stop>>,
    ended: CancellationToken,
    severed: CancellationToken,
    links: Arc<Links>,
    http: Arc<Http>,
    own: Option<PeerId>,
    _watchdog: Watchdog,
}

/// What a started host hands to the thread that started it.
struct Running {
    links: Arc<Links>,
    http: Arc<Http>,
    watchdog: Watchdog,
}

/// What the two threads share from before the start.
struct Shared {
    ownership: Arc<Ownership>,
    connections: Connections,
    severed: CancellationToken,
    stop: watch::Sender<Option<Stop>>,
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
                    runtime.block_on(live(shared, settings, own, stops, started));
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
                    stop,
                    ended,
                    severed,
                    links: running.links,
                    http: running.http,
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

    /// Waits until the lock is released, at most as long as the reason allows.
    pub(super) async fn released(&self, why: Stop) {
        if timeout(why.patience(), self.ended.cancelled())
            .await
            .is_err()
        {
            tracing::warn!(
                "the host does not end in time; the process ends, and the kernel frees the lock"
            );
        }
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

/// The host's whole life.
async fn live(
    shared: Shared,
    settings: Settings,
    own: Option<PeerId>,
    mut stops: watch::Receiver<Option<Stop>>,
    started: oneshot::Sender<Result<Running, HostError>>,
) {
    let lost = CancellationToken::new();
    let (host, listener) = match Host::open(&shared, &settings, own, lost.clone()).await {
        Ok(opened) => opened,
        Err(error) => {
            shared.ownership.release(Leave::Nothing);
            drop(started.send(Err(error)));
            return;
        }
    };
    let watchdog = {
        let (connections, ownership) = (shared.connections.clone(), Arc::clone(&shared.ownership));
        let (severed, lost) = (shared.severed.clone(), lost.clone());
        Watchdog::watch(tokio::runtime::Handle::current(), move || {
            tracing::error!("the host is wedged; its links, listener and lock are taken from it");
            connections.close_all();
            ownership.release(Leave::Draining);
            severed.cancel();
            lost.cancel();
        })
    };
    let door = door::watch(host.site.clone(), host.admission.clone(), lost.clone());
    let closing = CancellationToken::new();
    let mut tasks = JoinSet::new();
    tasks.spawn(
        host.clone()
            .serve(listener, shared.connections.clone(), closing.clone()),
    );
    if host.preferred != host.address.port() && settings.port.is_none() {
        let (ownership, connections) = (Arc::clone(&shared.ownership), shared.connections.clone());
        tasks.spawn(
            host.clone()
                .move_home(ownership, connections, closing.clone()),
        );
    }
    let running = Running {
        links: Arc::clone(&host.links),
        http: Arc::clone(&host.http),
        watchdog,
    };
    drop(started.send(Ok(running)));

    let why = tokio::select! {
        stop = stops.wait_for(Option::is_some) => stop.ok().and_then(|stop| *stop),
        () = door => None,
        () = lost.cancelled() => None,
    };
    if why.is_none() && host.site.is_gone() {
        let (what, hint) = (SiteError::Gone, SiteError::Gone.hint());
        tracing::warn!(hint, "{what}");
    } else if why.is_none() {
        tracing::warn!("the lease is lost: its lock file, its document or the token was replaced");
    }
    host.leave(why.unwrap_or(Stop::Demote), &shared, closing, tasks)
        .await;
    log::detach(shared.ownership.instance());
}

/// A host that serves.
#[derive(Clone)]
struct Host {
    site: Site,
    links: Arc<Links>,
    http: Arc<Http>,
    url: watch::Sender<Option<String>>,
    admission: Admission,
    address: SocketAddr,
    preferred: u16,
    /// The client of this process, if it has one.
    own: Option<PeerId>,
}

impl Host {
    async fn open(
        shared: &Shared,
        settings: &Settings,
        own: Option<PeerId>,
        lost: CancellationToken,
    ) -> Result<(Self, TcpListener), HostError> {
        let site = settings.site.clone().ok_or(HostError::NoCheckout)?;
        if clock::now_ms() == 0 {
            // Every connection of such a server would panic; each client is served alone instead (I3).
            return Err(HostError::Clock);
        }
        let token = Arc::new(Token::read_or_create(&site).map_err(HostError::Token)?);
        let preferred = settings.port.unwrap_or_else(|| port::preferred(&site));
        let listener = match port::bind(preferred).await {
            Ok(listener) => listener,
            Err(error) => {
                tracing::warn!(port = preferred, %error, "the port is taken, a free one is used");
                port::bind(0).await.map_err(HostError::Bind)?
            }
        };
        let address = listener.local_addr().map_err(HostError::Bind)?;
        let url = watch::Sender::new(Some(format!("http://{address}")));
        let mode = Mode::Owner {
            ownership: Arc::clone(&shared.ownership),
            token: Arc::clone(&token),
            lost: lost.clone(),
            stop: shared.stop.clone(),
        };
        let wiring = Wiring::new(settings, &mode, url.subscribe())?;
        wiring.agree_on_epoch(&shared.ownership).await;
        if let Some(peer) = own {
            wiring.own(peer);
        }
        let acknowledge = wiring.acknowledge();
        let links = Links::new(Arc::clone(&wiring.engine), lost, acknowledge);
        wiring.count_links(&links);
        let intro = Introduction {
            instance: shared.ownership.instance().to_owned(),
            root_id: site.root_id().to_owned(),
            epoch: shared.ownership.epoch(),
            token: Arc::clone(&token),
        };
        let http = wiring.http(settings, &token, Arc::clone(&links), intro);
        // A page that `open` made for an earlier server: its code is of no use any more, and nobody else removes it.
        if let Err(error) = std::fs::remove_file(site.redirect())
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::debug!(%error, "an old redirect stays");
        }
        shared
            .ownership
            .publish(url.borrow().as_deref(), address)
            .map_err(HostError::Publish)?;
        tracing::info!(
            url = url.borrow().as_deref(),
            epoch = shared.ownership.epoch(),
            "serving; docs: http://{address}/docs/"
        );
        if settings.auth == http::Auth::Off {
            tracing::warn!("authentication is off: anybody on this machine can call everything");
        }
        if log::has_terminal()
            && let Ok(code) = http.parts().sign_in.mint_code()
        {
            // For the person at the terminal alone: no log may hold it (I14).
            log::say(&format!("sign in: http://{address}/docs/#code={code}\n"));
        }
        Ok((
            Self {
                site,
                links,
                http,
                own,
                admission: wiring.engine.admission().clone(),
                url,
                address,
                preferred,
            },
            listener,
        ))
    }

    async fn serve(
        self,
        listener: TcpListener,
        connections: Connections,
        closing: CancellationToken,
    ) {
        let router = match http::router(&self.http) {
            Ok(router) => router,
            Err(error) => return tracing::error!(error = %Chain(&error), "no routes"),
        };
        let limits = self.http.parts().limits;
        let served = http::serve(listener, router, limits, connections, closing.cancelled());
        if let Err(error) = served.await {
            tracing::error!(error = %Chain(&error), "HTTP ended");
        }
    }

    /// Tries the preferred port again beside the work, and moves the published URL there when it is free.
    async fn move_home(
        self,
        ownership: Arc<Ownership>,
        connections: Connections,
        closing: CancellationToken,
    ) {
        let until = Instant::now() + PORT_RETRY;
        while Instant::now() < until {
            tokio::select! {
                () = sleep(PORT_PAUSE) => {}
                () = closing.cancelled() => return,
            }
            let Ok(listener) = port::bind(self.preferred).await else {
                continue;
            };
            let Ok(address) = listener.local_addr() else {
                return;
            };
            let url = format!("http://{address}");
            match ownership.publish(Some(&url), address) {
                Ok(()) => {
                    tracing::info!(
                        url,
                        "the preferred port is free now, and the server moved there"
                    );
                    self.url.send_replace(Some(url));
                    self.serve(listener, connections, closing).await;
                }
                Err(error) => tracing::warn!(error = %Chain(&error), "the server cannot move"),
            }
            return;
        }
        tracing::warn!(port = self.preferred, "the preferred port stays taken");
    }

    /// Leaves in the order of I4.
    async fn leave(
        &self,
        why: Stop,
        shared: &Shared,
        closing: CancellationToken,
        mut tasks: JoinSet<()>,
    ) {
        let (calls, rest) = match why {
            Stop::Signal => (RELEASE_TASKS, RELEASE.saturating_sub(RELEASE_TASKS)),
            Stop::ClientGone | Stop::Demote | Stop::All => (DRAIN, RELEASE),
        };
        if let Err(error) = shared.ownership.drain() {
            tracing::warn!(error = %Chain(&error), "the document does not say that this server drains");
        }
        closing.cancel();
        self.links.end(if why == Stop::All {
            Ending::EndAll
        } else {
            Ending::Drain(calls)
        });
        let ended = async {
            while tasks.join_next().await.is_some() {}
            self.links.closed().await;
        };
        if timeout(calls + rest / 2, ended).await.is_err() {
            tracing::info!("requests were left to the ledger");
        }
        shared.connections.close_all();
        // Calls that outlived their connection end here: none outlives the release.
        self.http.work().abort();
        // Whoever goes on when this process is gone needs the epoch and the port (I4).
        let leaving = self
            .own
            .filter(|_| matches!(why, Stop::Signal | Stop::ClientGone));
        let leave = if why != Stop::All && self.links.left_behind(leaving) > 0 {
            Leave::Draining
        } else {
            Leave::Nothing
        };
        shared.ownership.release(leave);
        tracing::info!(site = self.site.name(), ?why, "released");
    }
}
