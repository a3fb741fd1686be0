//! `majordomus mcp`: one client's bridge, and the host when it is elected.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::LocalOptions;
use tokio::time::timeout;

use super::alone::AloneServer;
use super::hosting::{Hosting, Stop};
use super::parent::Parent;
use super::signals::{self, Ends};
use super::wiring::Wiring;
use super::{End, HostError, Settings};
use crate::bridge::alone::Alone;
use crate::bridge::attach::Link;
use crate::bridge::identity::Living;
use crate::bridge::{Bridge, Turn};
use crate::floor::error::Chain;
use crate::floor::limits::RELEASE;

/// Serves one client on standard input and output until it is gone.
///
/// # Errors
/// What keeps a process from serving even its own client: no runtime, no standard input.
pub fn run(settings: &Settings) -> Result<End, HostError> {
    if !io::IsTerminal::is_terminal(&io::stdin()) {
        signals::leave_process_group();
    }
    signals::raise_file_limit();
    let ends = Ends::listen().map_err(HostError::Runtime)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(LocalOptions::default())
        .map_err(HostError::Runtime)?;
    // A task, and not the future that the runtime blocks on: whenever a task wakes that one, the system is asked for
    // news before it runs, and the conversation of an owner's own client wakes it with each answer.
    let life = runtime.spawn_local(Process::live(Arc::new(settings.clone()), ends));
    let end = runtime.block_on(life);
    // The fallback for a stdin that is no pipe reads in a thread that nothing can wake.
    runtime.shutdown_background();
    end.unwrap_or_else(|fate| match fate.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(fate) => Err(HostError::Runtime(fate.into())),
    })
}

/// What the start of a host comes to.
type Started = Result<(Hosting, Option<Link>), HostError>;

/// A host that is being started.
type Starting = Pin<Box<dyn Future<Output = Started>>>;

struct Process {
    settings: Arc<Settings>,
    bridge: Bridge,
    starting: Option<Starting>,
    hosting: Option<Hosting>,
    alone: Option<AloneServer>,
}

impl Process {
    async fn live(settings: Arc<Settings>, mut ends: Ends) -> Result<End, HostError> {
        let shared = if settings.shares() {
            settings.site.clone()
        } else {
            None
        };
        let compiled = {
            let settings = Arc::clone(&settings);
            Box::new(move || Wiring::compiled(&settings))
        };
        let identity = Living::mint(settings.hooked, settings.stores.clone());
        let bridge = Bridge::open(shared, identity, compiled).map_err(HostError::Stdio)?;
        let mut process = Self {
            settings,
            bridge,
            starting: None,
            hosting: None,
            alone: None,
        };
        let signal = process.carry(&mut ends).await;
        process.finish(signal, &mut ends).await
    }

    /// Runs the bridge until its client is gone or a signal comes.
    async fn carry(&mut self, ends: &mut Ends) -> Option<i32> {
        let parent_gone = Parent::now().gone();
        tokio::pin!(parent_gone);
        loop {
            let turn = tokio::select! {
                biased;
                signal = ends.first() => return Some(signal),
                () = &mut parent_gone => {
                    tracing::info!("the process that started this one is gone");
                    return None;
                }
                () = severed(self.hosting.as_ref()) => {
                    self.hosting = None;
                    self.bridge.cut("this process's own host was wedged");
                    continue;
                }
                () = ended(self.hosting.as_ref()) => {
                    // Its board and its threads go with it; the bridge reads the link to its end by itself.
                    self.hosting = None;
                    continue;
                }
                started = pending(&mut self.starting) => {
                    self.starting = None;
                    self.hosted(started);
                    continue;
                }
                turn = self.bridge.run() => turn,
            };
            match turn {
                Turn::Gone => return None,
                Turn::Alone(reason) => self.serve_alone(reason),
                // The bridge goes on meanwhile: opening the board may wait for another checkout's owner.
                Turn::Elected(ownership) => {
                    let client = self.bridge.identity();
                    let settings = Arc::clone(&self.settings);
                    self.starting = Some(Box::pin(async move {
                        Hosting::start(ownership, &settings, Some(client)).await
                    }));
                }
            }
        }
    }

    /// Takes what the start of a host came to. The bridge has its link before anything else is waited for: a host may end
    /// at once, and its bridge is to hear of that.
    fn hosted(&mut self, started: Started) {
        match started {
            Ok((hosting, link)) => {
                self.hosting = Some(hosting);
                self.alone = None;
                if let Some(link) = link {
                    self.bridge.take(link);
                }
            }
            Err(error) => self.serve_alone(Alone::Host(Chain(&error).to_string())),
        }
    }

    fn serve_alone(&mut self, reason: Alone) {
        let reason = if self.settings.standalone {
            Alone::Asked
        } else {
            reason
        };
        if matches!(reason, Alone::Asked) {
            tracing::info!("{reason}");
        } else {
            tracing::warn!(%reason, hint = reason.hint(), "this client is served alone");
        }
        match AloneServer::start(&self.settings, &reason, &self.bridge.identity()) {
            Ok((server, link)) => {
                self.alone = Some(server);
                self.bridge.take(link);
            }
            Err(error) => {
                tracing::error!(error = %Chain(&error), "not even this client can be served");
            }
        }
    }

    /// Ends in order: the host releases, the client gets what is ready, and who lives on is told where to go.
    async fn finish(mut self, signal: Option<i32>, ends: &mut Ends) -> Result<End, HostError> {
        if let Some(start) = self.starting.take() {
            // It is about to publish itself: what was begun is ended in order, as far as there is time.
            let patience = signal.map_or(Duration::MAX, |_| RELEASE);
            let started = timeout(patience, start).await.ok();
            self.hosting = started.and_then(Result::ok).map(|(hosting, _)| hosting);
        }
        let Some(hosting) = self.hosting.take() else {
            return Ok(signal.map_or(End::Done, End::Signal));
        };
        let mut signal = signal;
        if signal.is_none() {
            // The client is gone and its peer leaves the board at once, even if somebody else still needs this host.
            self.bridge.hang_up();
            tokio::select! {
                () = hosting.unneeded() => {}
                // What a wedged host held is free already, and nothing of it can be waited for.
                () = hosting.severed() => return Ok(End::Done),
                late = ends.first() => signal = Some(late),
            }
        }
        let why = match signal {
            Some(signal) => {
                // While there is a log to say it in; clients differ in how they end their servers.
                tracing::info!(signal = signals::name(signal), "told to end");
                Stop::Signal
            }
            None => Stop::ClientGone,
        };
        // The order is given before anything is waited for: a client that is gone takes no last words.
        hosting.order(why);
        let words = async {
            // A client that left by itself has had its time to read before this.
            if why == Stop::Signal {
                let _unread = timeout(why.patience(), self.bridge.last_words()).await;
            }
        };
        // Past its time, what the client has not read it does not get; the process ends.
        tokio::join!(words, hosting.released(why));
        // What its client remembered last; nobody waits for this process any more but who started it.
        hosting.send_last().await;
        Ok(signal.map_or(End::Done, End::Signal))
    }
}

async fn pending(starting: &mut Option<Starting>) -> Started {
    match starting {
        Some(start) => start.await,
        None => std::future::pending().await,
    }
}

async fn ended(hosting: Option<&Hosting>) {
    match hosting {
        Some(hosting) => hosting.ended().await,
        None => std::future::pending().await,
    }
}

async fn severed(hosting: Option<&Hosting>) {
    match hosting {
        Some(hosting) => hosting.severed().await,
        None => std::future::pending().await,
    }
}
