//! A host's life, on a thread of its own: from the elected lease to the released one.
//!
//! | a host is | it | it leaves this state |
//! |---|---|---|
//! | starting | has the lock; opens the board, binds, publishes | when it is ready, or cannot be and releases |
//! | ready | admits links, sessions and commands | when it is stopped, demoted, wedged, or finds its lock file replaced |
//! | draining | takes nothing new, ends its links in order | when the lock is released |

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::hosting::Stop;
use super::links::{Ending, Introduction, Links};
use super::watchdog::Watchdog;
use super::wiring::{Mode, Wiring};
use super::{HostError, Settings, door, port};
use crate::floor::clock;
use crate::floor::error::Chain;
use crate::floor::limits::{DRAIN, RELEASE, RELEASE_TASKS};
use crate::floor::log;
use crate::floor::paths::{Site, SiteError};
use crate::http::{self, Connections, Http};
use crate::lease::{Leave, Ownership, Token};
use crate::mcp::Admission;
use crate::memory::sync::Meetings;
use crate::registry::PeerId;
use crate::stores::service::Stores;

/// What a started host hands to the thread that started it.
pub(super) struct Running {
    pub(super) links: Arc<Links>,
    pub(super) http: Arc<Http>,
    pub(super) watchdog: Watchdog,
    pub(super) stores: Stores,
}

/// What the two threads share from before the start.
pub(super) struct Shared {
    pub(super) ownership: Arc<Ownership>,
    pub(super) connections: Connections,
    pub(super) severed: CancellationToken,
    pub(super) stop: watch::Sender<Option<Stop>>,
}

/// The host's whole life.
pub(super) async fn live(
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
        stores: host.stores.clone(),
    };
    drop(started.send(Ok(running)));
    if let Some(notes) = host.notes.as_ref().filter(|_| !settings.hooked) {
        notes.beside();
    }
    if let Some(notes) = &host.notes {
        notes.tidy();
    }
    host.stores.started();

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
    /// Meets the team's notes.
    notes: Option<Meetings>,
    /// The stores of the clients.
    stores: Stores,
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
        if site.has_foreign_board() {
            tracing::warn!(
                hint = "let every client of this checkout write git's folder",
                "git's folder cannot be written from here: this server has a board of its own, and neither announcements over \
                 HTTP nor idempotency keys of earlier owners are known to it"
            );
        }
        let token = Arc::new(Token::read_or_create(&site).map_err(HostError::Token)?);
        let preferred = settings.port.unwrap_or_else(|| port::preferred(&site));
        let listener = port::listen(preferred).await.map_err(HostError::Bind)?;
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
        let links = Links::new(
            Arc::clone(&wiring.engine),
            lost,
            wiring.stores.clone(),
            acknowledge,
        );
        wiring.count_links(&links);
        let intro = Introduction {
            instance: shared.ownership.instance().to_owned(),
            root_id: site.root_id().to_owned(),
            epoch: shared.ownership.epoch(),
            token: Arc::clone(&token),
        };
        let http = wiring.http(settings, &token, Arc::clone(&links), intro);
        // A page that `open` made for an earlier server: its code is of no use any more, and nobody else removes it.
        if let Err(error) = site.place(&site.redirect()).and_then(std::fs::remove_file)
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
                notes: wiring.notes(),
                stores: wiring.stores.clone(),
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

    /// Moves the published URL to the preferred port, should it become free.
    async fn move_home(
        self,
        ownership: Arc<Ownership>,
        connections: Connections,
        closing: CancellationToken,
    ) {
        let Some(listener) = port::freed(self.preferred, &closing).await else {
            return;
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
