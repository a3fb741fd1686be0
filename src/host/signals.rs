//! Signals that end the process, as events; no handler touches a file (I4).

use std::io;
use std::thread;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getpgrp, getpid, setpgid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::watch;

use crate::floor::limits::RELEASE;

/// Files that a server with every seat taken has open, and some more.
const FILES: u64 = 16_384;

/// The signals that were seen.
#[derive(Debug, Clone)]
pub(super) struct Ends(watch::Receiver<Option<i32>>);

impl Ends {
    /// Listens for SIGTERM, SIGINT and SIGHUP. A second one ends the process once the release that the first one began has
    /// had its time: some clients send both together, and it is there for a process that hangs.
    ///
    /// # Errors
    /// The system's own.
    pub(super) fn listen() -> io::Result<Self> {
        let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
        let (sender, receiver) = watch::channel(None);
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for signal in signals.forever() {
                    if sender.borrow().is_some() {
                        tracing::info!(signal = name(signal), "told to end again");
                        thread::park_timeout(RELEASE * 2);
                        die_of(signal);
                    }
                    sender.send_replace(Some(signal));
                }
            })?;
        Ok(Self(receiver))
    }

    /// Waits for the first signal. Cancel safe.
    pub(super) async fn first(&mut self) -> i32 {
        loop {
            if let Some(signal) = *self.0.borrow_and_update() {
                return signal;
            }
            if self.0.changed().await.is_err() {
                // The thread is gone, so no signal will ever be seen.
                std::future::pending::<()>().await;
            }
        }
    }
}

/// The name of a signal, for the log.
pub(super) fn name(signal: i32) -> &'static str {
    Signal::try_from(signal).map_or("unknown", Signal::as_str)
}

/// Ends the process the way the signal does by default, so that its parent sees what ended it.
pub(super) fn die_of(signal: i32) {
    if let Err(error) = signal_hook::low_level::emulate_default_handler(signal) {
        tracing::error!(%error, signal, "cannot die of the signal");
    }
}

/// Raises the number of files this process may open to what it is allowed: each client is one, and the usual soft
/// limit is low.
pub(super) fn raise_file_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let wanted = hard.min(FILES);
        if soft < wanted {
            let _refused = setrlimit(Resource::RLIMIT_NOFILE, wanted, hard);
        }
    }
}

/// Leaves the client's process group, first of all: a client that stops its group on Ctrl-Z must not stop the server
/// of all the others (I5b).
pub(super) fn leave_process_group() {
    if getpgrp() != getpid() {
        let own = Pid::from_raw(0);
        // A session leader cannot, and need not: it has a group of its own.
        let _leader = setpgid(own, own);
    }
}
