//! The team's remote: one ref, fetched and pushed by `git`, blocking, for a thread of its own.
//!
//! The network is git's, with the user's credentials, proxies and ssh; everything else of the user's configuration stays
//! out ([`settings`]). One process of a repository uses the network at a time, under a lock of the kernel ([`lock`]). Each
//! git runs in a process group that ends with the call, at its deadline, or with this process ([`child`]). What went wrong
//! is told apart by git's words, in one place ([`verdict`]).
//!
//! [`TRACKING`] is where the remote's ref stood when it was last seen. It moves by a fetch and by a push that arrived, and
//! nobody else moves it.
//!
//! Absent: when to publish, what to do with somebody else's commits, and consent: those are the caller's.

mod lock;
mod openness;
mod tidy;

pub use crate::floor::remote::{Deadline, RemoteError};
pub use openness::{Openness, openness};
pub use tidy::{TIDY, tidy};

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use gix_hash::{Kind, ObjectId};
use gix_object::bstr::ByteSlice as _;
use gix_ref::FullName;

use super::library::{Library, LibraryError};
use super::team::REF;
use crate::floor::error::Chain;
use crate::floor::remote::child::Ran;
use crate::floor::remote::settings::Settings;
use crate::floor::remote::{REMOTE, address, child, settings, verdict};
use lock::SyncLock;

/// Where the remote's ref stood when it was last seen.
pub const TRACKING: &str = "refs/remotes/team/memory";
/// The longest that git may say nothing: it tells its progress each second that there is some.
const SILENCE: Duration = Duration::from_secs(20);

/// How much of the history a fetch brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The newest commit alone, where the remote can do that. For a repository that has seen nothing of the remote yet.
    Newest,
    /// What is new since the last one.
    New,
    /// What is new, and all that earlier ones left out.
    Whole,
}

/// A remote and the ref on it.
#[derive(Clone)]
pub struct Remote {
    folder: PathBuf,
    checkout: PathBuf,
    url: String,
    reference: String,
    protocols: &'static str,
    silence: Duration,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address may hold a password.
        f.debug_struct("Remote")
            .field("folder", &self.folder)
            .field("reference", &self.reference)
            .finish_non_exhaustive()
    }
}

impl Remote {
    /// The ref `reference` of the remote at `url`, for the repository in the folder `library`, reached as the checkout
    /// reaches its own remotes. With `local_allowed`, `file://`, a path, and `http://` on loopback are addresses too.
    ///
    /// # Errors
    /// `Url` and `Name`.
    pub fn new(
        library: &Path,
        checkout: &Path,
        url: &str,
        reference: &str,
        local_allowed: bool,
    ) -> Result<Self, RemoteError> {
        address::hold(url, local_allowed)?;
        let is_name = reference.starts_with("refs/") && FullName::try_from(reference).is_ok();
        // A pattern's star passes for no name; what git's own names would shadow is not ours to move.
        if !is_name || reference.contains(['*', ':']) {
            return Err(RemoteError::Name(reference.to_owned()));
        }
        Ok(Self {
            folder: library.to_path_buf(),
            checkout: checkout.to_path_buf(),
            url: url.to_owned(),
            reference: reference.to_owned(),
            protocols: if local_allowed {
                "https:ssh:file:http"
            } else {
                "https:ssh"
            },
            silence: SILENCE,
        })
    }

    /// Fetches the remote's ref into [`TRACKING`] and returns where it stands; `None` where the remote has no such ref, and
    /// [`TRACKING`] then stays as it was. A ref that was rewritten is fetched too: whether that is accepted is the caller's.
    ///
    /// # Errors
    /// Any [`RemoteError`] but `Stale` and `Rejected`. A ref that names no commit is `Damaged`, and not tracked.
    pub fn fetch(&self, reach: Reach, until: &Deadline) -> Result<Option<ObjectId>, RemoteError> {
        let is_cut = self.folder.join("shallow").exists();
        match reach {
            Reach::Newest => match self.fetch_with(&["--depth=1"], until) {
                // Who serves plain files, or is very old, has all of it or nothing.
                Err(RemoteError::Other(_)) => self.fetch_with(&[], until),
                done => done,
            },
            Reach::Whole if is_cut => self.fetch_with(&["--unshallow"], until),
            Reach::New | Reach::Whole => self.fetch_with(&[], until),
        }
    }

    fn fetch_with(
        &self,
        depth: &[&str],
        until: &Deadline,
    ) -> Result<Option<ObjectId>, RemoteError> {
        let lock = self.begin(until)?;
        let library = self.library()?;
        let before = library.tip(TRACKING).map_err(|error| ours(&error))?;
        let refspec = format!("+{}:{TRACKING}", self.reference);
        let ran = self.run(&lock, until, |git| {
            git.args(["fetch", "--progress", "--no-tags", "--no-write-fetch-head"])
                .args(["--no-recurse-submodules", "--no-auto-maintenance"])
                .args(depth)
                .args(["--no-prune", "--refmap=", "--", REMOTE, &refspec]);
        })?;
        if ran.status.success() {
            return commit_or_back(&library, before).map_err(|error| ours(&error))?;
        }
        if !verdict::is_missing(&ran) {
            return Err(self.whose(verdict::of_fetch(&ran)));
        }
        if self.url.starts_with("http") {
            self.hear_nothing(&lock, until)?;
        }
        Ok(None)
    }

    /// Holds that a git answers over HTTP, and has no such ref. An empty answer, as of a proxy or a connection that breaks
    /// early, passes for a folder of plain files without any ref; that nothing is there has to have been said.
    fn hear_nothing(&self, lock: &SyncLock, until: &Deadline) -> Result<(), RemoteError> {
        let ran = self.run(lock, until, |git| {
            // No option tells how the remote spoke; a trace of the packets does.
            git.env("GIT_TRACE_PACKET", "2")
                .args(["ls-remote", "--", REMOTE, &self.reference]);
        })?;
        if !ran.status.success() {
            return Err(verdict::of_fetch(&ran));
        }
        let has_spoken = ran.stderr.find(b"packet:").is_some();
        if has_spoken && ran.stdout.is_empty() {
            return Ok(());
        }
        Err(RemoteError::Offline)
    }

    /// Moves the remote's ref from `expected` (`None`: it is not there) to `tip`, and [`TRACKING`] with it.
    ///
    /// # Errors
    /// Any [`RemoteError`]; `Stale` where the remote's ref stands elsewhere. After `TimedOut` it may have moved all the same.
    pub fn push(
        &self,
        tip: ObjectId,
        expected: Option<ObjectId>,
        until: &Deadline,
    ) -> Result<(), RemoteError> {
        let lock = self.begin(until)?;
        let reference = &self.reference;
        let expected = expected.map(|id| id.to_string()).unwrap_or_default();
        let ran = self.run(&lock, until, |git| {
            git.args(["push", "--porcelain", "--progress", "--no-verify"])
                .args(["--no-follow-tags", "--no-signed", "--no-recurse-submodules"])
                .arg(format!("--force-with-lease={reference}:{expected}"))
                .args(["--", REMOTE, &format!("{tip}:{reference}")]);
        })?;
        if !ran.status.success() {
            return Err(self.whose(verdict::of_push(&ran)));
        }
        // The remote has it, whether or not that can be written down here: the next fetch tells it again.
        if let Err(error) = self.track(tip) {
            tracing::warn!(%error, "what the team's remote took is not noted");
        }
        Ok(())
    }

    /// Says whose repository it is that does not hold together: git's words are the same for both.
    fn whose(&self, error: RemoteError) -> RemoteError {
        match error {
            RemoteError::Broken(what) => {
                let ours = self.library();
                if ours.is_ok_and(|ours| ours.is_whole(&[TRACKING, REF])) {
                    RemoteError::Damaged(what)
                } else {
                    RemoteError::Broken(what)
                }
            }
            other => other,
        }
    }

    /// Notes where the remote's ref stands now; under the lock nobody else does.
    fn track(&self, tip: ObjectId) -> Result<(), RemoteError> {
        let library = self.library()?;
        let before = library.tip(TRACKING).map_err(|error| ours(&error))?;
        library
            .advance(TRACKING, before, tip)
            .map_err(|error| ours(&error))?;
        Ok(())
    }

    /// Takes the lock and removes what a killed one left.
    fn begin(&self, until: &Deadline) -> Result<SyncLock, RemoteError> {
        let lock = SyncLock::take(&self.folder, until)?;
        settings::hold(&self.folder)?;
        lock::sweep(&self.folder);
        Ok(lock)
    }

    fn run(
        &self,
        lock: &SyncLock,
        until: &Deadline,
        arguments: impl FnOnce(&mut Command),
    ) -> Result<Ran, RemoteError> {
        let settings = Settings::read(&self.checkout, until, self.silence)?;
        let mut git = settings.command(&self.folder, &self.url, self.protocols);
        arguments(&mut git);
        let input = lock
            .share()
            .map_err(|error| RemoteError::Other(error.to_string()))?;
        child::run(git.stdin(input), until, self.silence)
    }

    fn library(&self) -> Result<Library, RemoteError> {
        Library::open(&self.folder, Kind::Sha1).map_err(|error| ours(&error))
    }
}

/// The commit that was fetched. Git takes a tag, a tree or a blob too; nothing is built on one, so the ref goes back to
/// `before`, where a remote that is put right again leads on from.
fn commit_or_back(
    library: &Library,
    before: Option<ObjectId>,
) -> Result<Result<Option<ObjectId>, RemoteError>, LibraryError> {
    let Some(tip) = library.tip(TRACKING)? else {
        return Ok(Ok(None));
    };
    if library.is_commit(tip)? {
        return Ok(Ok(Some(tip)));
    }
    match before {
        Some(before) if before != tip => library.advance(TRACKING, Some(tip), before)?,
        _ => library.remove(TRACKING, tip)?,
    };
    let what = format!("its ref of the notes names {tip}, which is no commit");
    Ok(Err(RemoteError::Damaged(what)))
}

/// What our own repository refused.
fn ours(error: &LibraryError) -> RemoteError {
    verdict::of_ours(Chain(error).to_string())
}

#[cfg(test)]
mod tests;
