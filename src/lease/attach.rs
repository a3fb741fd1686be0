//! The driver: performs the election's calls on the real kernel, and waits where it waits.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::document::{Document, Reading};
use super::election::{Answer, Call, Election, Leave, Next, Time, Why, perform};
use super::failpoint;
use super::kernel::{Kernel, Trouble};
use super::ownership::Ownership;
use crate::floor::error::Chain;
use crate::floor::fs::FileError;
use crate::floor::limits::LINK_HANDSHAKE;
use crate::floor::log;
use crate::floor::paths::{Files, Site};

/// How long whoever goes on from an owner that left gets, before a document is cleared up.
const GOES_ON: Duration = Duration::from_millis(100);

/// How an election ended for this process.
#[derive(Debug)]
#[must_use]
pub enum Outcome<L> {
    /// There is an owner, and this is the link to it.
    Attached(L),
    /// We are the owner; the document says `starting`. Bind, then [`Ownership::publish`].
    Elected(Arc<Ownership>),
    /// Neither: serve our own client, say why, and try again.
    Alone(AloneReason),
}

/// Why a handshake did not lead to a link. It proves nothing about the owner's life.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProbeFailure {
    /// No answer within 100 ms.
    #[error("it does not answer")]
    Timeout,
    /// Nobody listens, or the connection broke.
    #[error("it cannot be reached ({0})")]
    Unreachable(io::ErrorKind),
    /// Whoever listens did not prove to be this checkout's server.
    #[error("what listens there is not this checkout's server")]
    Unproven,
    /// Both builds speak the link, and no version of it in common.
    #[error(
        "it is majordomus {theirs}, which has no version of the link in common with this majordomus {}",
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// The build that the document names.
        theirs: String,
    },
    /// It is this checkout's server, and does not take us.
    #[error("it refused: {0}")]
    Refused(String),
}

/// Why this process serves its own client alone. Displays as one line.
#[derive(Debug)]
pub enum AloneReason {
    /// Somebody holds the lock, and no handshake succeeded in time.
    Held {
        /// The holder's process, as its document says.
        pid: Option<u32>,
        /// What the last handshake ran into, if there was one.
        failure: Option<ProbeFailure>,
    },
    /// The folders, the lock file or the document cannot be made or used, or there are no locks here.
    Refused {
        /// What was tried, and what the system said, in one line.
        what: String,
        /// The command to try next.
        hint: String,
    },
}

impl fmt::Display for AloneReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let holder = |pid: &Option<u32>| match pid {
            Some(pid) => format!("process {pid}"),
            None => "another process".to_owned(),
        };
        match self {
            Self::Held { pid, failure: None } => {
                write!(
                    f,
                    "{} holds this checkout and is not ready yet",
                    holder(pid)
                )
            }
            Self::Held {
                pid,
                failure: Some(failure),
            } => write!(f, "{} holds this checkout, but {failure}", holder(pid)),
            Self::Refused { what, hint: _ } => f.write_str(what),
        }
    }
}

impl AloneReason {
    /// Returns the command to try next.
    #[must_use]
    pub fn hint(&self) -> &str {
        match self {
            Self::Held { .. } => "majordomus status",
            Self::Refused { what: _, hint } => hint,
        }
    }
}

/// Finds this checkout's owner and attaches to it, or becomes the owner, or says why neither.
///
/// `probe` shakes hands with the owner that a document names. It gets 100 ms, and twice as long each time that this was too
/// short, within `deadline`: on a busy machine an owner may be slow for everybody, and a handshake that is broken off and
/// begun again never ends. Past `deadline` the candidate stops waiting; the whole takes at most that and two handshakes (one
/// more where an owner beside was looked for). Files are read and locked on the calling thread, in microseconds.
///
/// Cancel safe: dropping the future gives up whatever was taken.
pub async fn attach_or_own<L, P, F>(site: &Site, deadline: Duration, probe: P) -> Outcome<L>
where
    P: Fn(Document) -> F,
    F: Future<Output = Result<L, ProbeFailure>>,
{
    let kernel = match Kernel::new(site) {
        Ok(kernel) => kernel,
        Err(error) => {
            return Outcome::Alone(AloneReason::Refused {
                what: format!("the system has no randomness: {error}"),
                hint: "majordomus status".to_owned(),
            });
        }
    };
    let start = Instant::now();
    let (mut link, mut failure) = (None, None);
    let mut found = Reading::Absent;
    let mut patience = LINK_HANDSHAKE;
    let (mut election, mut next) = Election::begin();
    loop {
        let call = match (next, link) {
            (Next::Call(call), _) => call,
            (Next::Attached, Some(link)) => return Outcome::Attached(link),
            (Next::Elected { epoch }, _) => {
                kernel.clear_beside();
                let site = kernel.site();
                if let Err(error) = log::attach(&site.log(), site.root(), kernel.instance()) {
                    tracing::warn!(%error, "no log file is written");
                }
                if kernel.is_locked_elsewhere() {
                    tracing::warn!(
                        "file locks exclude nobody here; a lock outside this file system does"
                    );
                }
                if kernel.files() == Files::Scope {
                    tracing::warn!(
                        "the server of another container or machine cannot be reached; this one stands beside it"
                    );
                }
                let found = describe(&found, &kernel);
                tracing::info!(epoch, instance = kernel.instance(), found, "elected");
                return Outcome::Elected(Arc::new(Ownership::new(kernel, epoch, found)));
            }
            (Next::Alone(why), _) => return Outcome::Alone(reason(why, &kernel, failure)),
            // The step function says so only after a proof, and a proof comes with a link.
            (Next::Attached, None) => return Outcome::Alone(reason(Why::Held, &kernel, failure)),
        };
        link = None;
        failpoint::before(call);
        let answer = match (call, perform(&mut &kernel, call)) {
            (_, Some(answer)) => {
                if call == Call::ReadAgain {
                    found = kernel.found();
                }
                answer
            }
            (Call::Probe, None) => {
                let shaken = match kernel.document() {
                    Some(document) => timeout(patience, probe(document))
                        .await
                        .unwrap_or(Err(ProbeFailure::Timeout)),
                    None => Err(ProbeFailure::Unproven),
                };
                match shaken {
                    Ok(attached) => {
                        link = Some(attached);
                        Answer::Proven
                    }
                    Err(error) => {
                        tracing::debug!(%error, "no link to the owner that the document names");
                        if error == ProbeFailure::Timeout {
                            let left = deadline.saturating_sub(start.elapsed());
                            patience = (patience * 2).min(left).max(LINK_HANDSHAKE);
                        }
                        failure = Some(error);
                        Answer::Unproven
                    }
                }
            }
            (_, None) => {
                sleep(jitter()).await;
                Answer::Done
            }
        };
        let time = if start.elapsed() < deadline {
            Time::Left
        } else {
            Time::Over
        };
        (election, next) = election.step(answer, time);
    }
}

/// Removes the document that a released owner left for its successor if nobody goes on from it: those whom it counted on
/// were leaving too. Whoever does gets 100 ms to be elected. Cancel safe.
pub async fn clear_up(released: &Ownership) {
    let (site, instance) = (released.site(), released.instance());
    let begun = Instant::now();
    loop {
        let reading = Reading::at(&site.document(released.files()));
        let ours = |document: &Document| document.instance == instance;
        if !reading.document().is_some_and(ours) {
            return;
        }
        if begun.elapsed() >= GOES_ON {
            break;
        }
        sleep(jitter()).await;
    }
    // It says `draining`, so nobody is probed.
    let probe = |_| async { Err::<(), _>(ProbeFailure::Unproven) };
    if let Outcome::Elected(ownership) = attach_or_own(site, Duration::ZERO, probe).await {
        tracing::info!("nobody goes on from the server that left");
        ownership.release(Leave::Nothing);
        log::detach(ownership.instance());
    }
}

/// Between 2 and 10 ms: less than anybody notices, and spread so that many candidates do not move in step.
fn jitter() -> Duration {
    let mut random = [0; 2];
    // Without randomness all wait the same, which is slower and just as safe.
    let _same = getrandom::fill(&mut random);
    Duration::from_micros(2000 + u64::from(u16::from_le_bytes(random)) * 8000 / 65_535)
}

/// Names what stood in the document's place, for the log.
fn describe(found: &Reading, kernel: &Kernel) -> String {
    match found {
        Reading::Absent => "no document".to_owned(),
        Reading::Empty => "an empty document".to_owned(),
        Reading::Corrupt(fault) => {
            tracing::warn!(%fault, "replaced a lease document");
            format!("a document that {fault}")
        }
        Reading::Document(document) => {
            let site = kernel.site();
            let whence = if document.root_id != site.root_id() {
                ", of another checkout"
            } else if document.scope != site.scope() {
                ", of another boot or container"
            } else {
                ""
            };
            let state = format!("{:?}", document.state).to_lowercase();
            format!("a document of process {} ({state}{whence})", document.pid)
        }
    }
}

fn reason(why: Why, kernel: &Kernel, failure: Option<ProbeFailure>) -> AloneReason {
    let site = kernel.site();
    let pid = kernel.document().map(|document| document.pid);
    let lock = site.shown(&site.lock(kernel.files()));
    let (what, hint) = match (why, kernel.take_trouble()) {
        (Why::Held, _) => return AloneReason::Held { pid, failure },
        (_, Some(Trouble::Folder(error))) => (Chain(&error).to_string(), error.hint()),
        (_, Some(Trouble::Lock(files, error))) => {
            let lock = site.shown(&site.lock(files));
            match error {
                // What is no plain file stays where it is: nothing of ours ever replaces it.
                FileError::NotAFile(kind) => (format!("{lock} is {kind}"), format!("rm -r {lock}")),
                error => (
                    format!("cannot lock {lock}: {}", Chain(&error)),
                    format!("ls -l {lock}"),
                ),
            }
        }
        (_, Some(Trouble::Write(error))) => {
            let document = site.shown(&site.document(kernel.files()));
            let folder = site.shown(&site.state_dir());
            (
                format!("cannot write {document}: {error}"),
                format!("df -h {folder}"),
            )
        }
        (_, Some(Trouble::Files)) => (
            "this process may open no more files".to_owned(),
            "ulimit -n".to_owned(),
        ),
        (Why::Vanishing, None) => (
            format!("{lock} is removed as often as it is made"),
            "majordomus status".to_owned(),
        ),
        (Why::LockRefused | Why::NoLock | Why::WriteRefused, None) => (
            format!(
                "file locks exclude nobody at {lock}, and there is no lock outside its file system"
            ),
            "majordomus status".to_owned(),
        ),
    };
    AloneReason::Refused { what, hint }
}
