//! The system calls of the lease, for real: [`Os`] over one checkout's files and the kernel's locks.
//!
//! One [`Kernel`] is one candidate and, if it is elected, one ownership. It is shared between the host, the bridge and the
//! watchdog, so it takes `&self`, and holds no mutex over a system call: a host that hangs on a disk never keeps the watchdog
//! from letting go.
//! The lock is `flock(2)` by [`File::try_lock`]: it belongs to the open file, so the kernel drops it when the process dies of
//! whatever, and a child never holds it (`O_CLOEXEC`). It is dropped by an explicit unlock, because another thread may be
//! looking at the file right then.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use super::document::{Document, Fault, Reading, SCHEMA, State};
use super::election::{Compared, Locked, Named, Opened, Os, Sight, Writer, Written};
use super::elsewhere::Elsewhere;
use super::name::{Name, NameError, Purpose};
use crate::floor::clock;
use crate::floor::fs::{FileError, Kind, open_plain, replace, sweep};
use crate::floor::hex;
use crate::floor::paths::{Site, SiteError};

/// One candidate's, later one owner's, hands.
#[derive(Debug)]
pub(super) struct Kernel {
    site: Site,
    instance: String,
    started_at: String,
    held: Mutex<Held>,
    /// What the document says besides.
    draft: Mutex<Draft>,
    /// The document as we left it, so that looking again costs one `stat`.
    known: Mutex<Option<Fingerprint>>,
    /// What the last refused call ran into, for people.
    trouble: Mutex<Option<Trouble>>,
    /// The last reading.
    found: Mutex<Reading>,
}

#[derive(Debug, Default)]
struct Held {
    name: Option<Name>,
    lock: Option<Arc<File>>,
    /// In place of the file's lock, where the file system has none.
    elsewhere: Option<Elsewhere>,
}

#[derive(Debug, Default, Clone)]
struct Draft {
    url: Option<String>,
    link: Option<SocketAddr>,
    unknown: Map<String, Value>,
}

/// What a call ran into.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The folders cannot be made.
    Folder(SiteError),
    /// The lock file cannot be opened.
    Lock(FileError),
    /// The document cannot be written.
    Write(io::Error),
    /// The document cannot be read, because no file can be opened.
    Files,
}

/// A file at one moment. Two equal ones mean: nobody replaced or wrote it in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fingerprint([i128; 5]);

impl Fingerprint {
    fn of(file: &Metadata) -> Self {
        let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) << 32 | i128::from(rest);
        Self([
            i128::from(file.dev()),
            i128::from(file.ino()),
            i128::from(file.size()),
            nanoseconds(file.mtime(), file.mtime_nsec()),
            nanoseconds(file.ctime(), file.ctime_nsec()),
        ])
    }
}

impl Kernel {
    /// Prepares a candidate, with an instance of its own; touches no file.
    pub(super) fn new(site: &Site) -> io::Result<Self> {
        let mut instance = [0; 16];
        getrandom::fill(&mut instance).map_err(io::Error::other)?;
        Ok(Self {
            site: site.clone(),
            instance: hex::encode(&instance),
            started_at: clock::rfc3339(clock::now_ms()),
            held: Mutex::default(),
            draft: Mutex::default(),
            known: Mutex::default(),
            trouble: Mutex::default(),
            found: Mutex::new(Reading::Absent),
        })
    }

    pub(super) fn site(&self) -> &Site {
        &self.site
    }

    pub(super) fn instance(&self) -> &str {
        &self.instance
    }

    /// Returns the document that was read last, if what was read was one.
    pub(super) fn document(&self) -> Option<Document> {
        guard(&self.found).document().cloned()
    }

    /// Returns what was read last.
    pub(super) fn found(&self) -> Reading {
        guard(&self.found).clone()
    }

    /// Whether the lease is held by a lock outside the checkout's file system.
    pub(super) fn is_locked_elsewhere(&self) -> bool {
        guard(&self.held).elsewhere.is_some()
    }

    /// Takes what the last refused call ran into.
    pub(super) fn take_trouble(&self) -> Option<Trouble> {
        guard(&self.trouble).take()
    }

    /// Sets what the next document says besides.
    pub(super) fn set_addresses(&self, url: Option<&str>, link: SocketAddr) {
        let mut draft = guard(&self.draft);
        draft.url = url.map(str::to_owned);
        draft.link = Some(link);
    }

    /// Tells whether the document is known to be as we left it, at the price of one `stat`.
    pub(super) fn document_untouched(&self) -> bool {
        let known = *guard(&self.known);
        let now = fs::symlink_metadata(self.site.lease_document());
        matches!((known, now), (Some(known), Ok(now)) if known == Fingerprint::of(&now))
    }

    fn writer(&self, document: &Document) -> Writer {
        if document.root_id != self.site.root_id() {
            Writer::OtherCheckout
        } else if document.instance == self.instance {
            Writer::Me
        } else if document.scope != self.site.scope() {
            Writer::OtherScope
        } else {
            Writer::Neighbour
        }
    }

    fn open(&self) -> Result<File, FileError> {
        open_plain(
            &self.site.lease_lock(),
            OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false),
        )
    }

    fn lock(&self) -> Option<Arc<File>> {
        guard(&self.held).lock.as_ref().map(Arc::clone)
    }

    fn replace_document(&self, state: State, epoch: u64) -> io::Result<()> {
        // What a later version wrote besides is kept: in our own document, and from owner to owner.
        let keeps = |document: &Document| {
            document.instance == self.instance
                || (state == State::Starting && document.root_id == self.site.root_id())
        };
        let draft = {
            let before = self.document().filter(keeps);
            let mut draft = guard(&self.draft);
            if let Some(before) = before {
                draft.unknown = before.unknown;
            }
            draft.clone()
        };
        let document = Document {
            schema: SCHEMA.to_owned(),
            state,
            url: draft.url,
            link: draft.link,
            instance: self.instance.clone(),
            epoch,
            root_id: self.site.root_id().to_owned(),
            scope: self.site.scope().to_owned(),
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: self.started_at.clone(),
            unknown: draft.unknown,
        };
        let path = self.site.lease_document();
        if state == State::Starting {
            sweep(&path);
        }
        let written = replace(&path, &document.render())?;
        *guard(&self.known) = Some(Fingerprint::of(&written));
        Ok(())
    }
}

impl Os for &Kernel {
    fn read(&mut self) -> Sight {
        let (reading, metadata) = Reading::with_metadata(&self.site.lease_document());
        let sight = match &reading {
            Reading::Document(document) => Sight::Sign {
                state: document.state,
                writer: self.writer(document),
                epoch: document.epoch,
            },
            Reading::Absent | Reading::Empty | Reading::Corrupt(_) => Sight::Nothing,
        };
        let is_mine = matches!(
            sight,
            Sight::Sign {
                writer: Writer::Me,
                ..
            }
        );
        if reading == Reading::Corrupt(Fault::Exhausted) {
            *guard(&self.trouble) = Some(Trouble::Files);
        }
        *guard(&self.known) = metadata
            .filter(|_| is_mine)
            .map(|found| Fingerprint::of(&found));
        *guard(&self.found) = reading;
        sight
    }

    fn open_lock(&mut self) -> Opened {
        if let Err(error) = self.site.prepare() {
            let vanished = matches!(
                &error,
                SiteError::Make { path: _, source } if source.kind() == ErrorKind::NotFound
            );
            *guard(&self.trouble) = Some(Trouble::Folder(error));
            return if vanished {
                Opened::Vanished
            } else {
                Opened::Refused
            };
        }
        match self.open() {
            Ok(file) => {
                guard(&self.held).lock = Some(Arc::new(file));
                Opened::Open
            }
            Err(error) => {
                let vanished = matches!(error, FileError::Absent);
                *guard(&self.trouble) = Some(Trouble::Lock(error));
                if vanished {
                    Opened::Vanished
                } else {
                    Opened::Refused
                }
            }
        }
    }

    fn try_lock(&mut self) -> Locked {
        let Some(file) = self.lock() else {
            return Locked::Unusable;
        };
        match file.try_lock() {
            Ok(()) => Locked::Ours,
            Err(TryLockError::WouldBlock) => Locked::Held,
            Err(TryLockError::Error(error)) => {
                *guard(&self.trouble) = Some(Trouble::Lock(FileError::Io(error)));
                Locked::Unusable
            }
        }
    }

    fn test_lock(&mut self) -> Locked {
        let (Some(ours), Ok(second)) = (self.lock(), self.open()) else {
            return Locked::Ours;
        };
        let one_file = match (ours.metadata(), second.metadata()) {
            (Ok(ours), Ok(second)) => same_inode(&ours, &second),
            _ => false,
        };
        // Of two files, the path's was replaced: no test, and the comparison that follows will say so.
        if one_file && second.try_lock().is_ok() {
            Locked::Unusable
        } else {
            Locked::Ours
        }
    }

    fn take_name(&mut self) -> Named {
        match Name::take(&self.site, Purpose::Second) {
            Ok(name) => {
                guard(&self.held).name = Some(name);
                Named::Taken
            }
            Err(NameError::Busy) => Named::Busy,
            Err(NameError::Unusable) => Named::Unusable,
        }
    }

    fn lock_elsewhere(&mut self) -> Locked {
        match Elsewhere::take(&self.site) {
            Ok(lock) => {
                guard(&self.held).elsewhere = Some(lock);
                Locked::Ours
            }
            Err(locked) => locked,
        }
    }

    fn compare(&mut self) -> Compared {
        if guard(&self.held).elsewhere.is_some() {
            // Nothing at the path can take this lock's place; a folder that was removed shows by its document.
            return Compared::Same;
        }
        let Some(file) = self.lock() else {
            return Compared::Replaced;
        };
        match (
            file.metadata(),
            fs::symlink_metadata(self.site.lease_lock()),
        ) {
            (Ok(ours), Ok(path)) if same_inode(&ours, &path) && ours.nlink() > 0 => Compared::Same,
            _ => Compared::Replaced,
        }
    }

    fn write(&mut self, state: State, epoch: u64) -> Written {
        match self.replace_document(state, epoch) {
            Ok(()) => Written::Done,
            Err(error) => {
                let vanished = error.kind() == ErrorKind::NotFound;
                *guard(&self.trouble) = Some(Trouble::Write(error));
                if vanished {
                    Written::Vanished
                } else {
                    Written::Refused
                }
            }
        }
    }

    fn remove(&mut self) {
        if let Err(error) = fs::remove_file(self.site.lease_document()) {
            tracing::debug!(%error, "the lease document stays");
        }
    }

    fn let_go(&mut self) {
        let Held {
            name,
            lock,
            elsewhere,
        } = std::mem::take(&mut *guard(&self.held));
        // The name goes first: whoever then gets the lock finds it free.
        drop(name);
        drop(elsewhere);
        if let Some(Err(error)) = lock.as_deref().map(File::unlock) {
            tracing::debug!(%error, "the lock goes with its file");
        }
    }
}

impl Trouble {
    /// The lock file that is no plain file stays where it is: nothing of ours ever replaces it.
    pub(super) fn blocked_by(&self) -> Option<Kind> {
        match self {
            Self::Lock(FileError::NotAFile(kind)) => Some(*kind),
            Self::Lock(_) | Self::Folder(_) | Self::Write(_) | Self::Files => None,
        }
    }
}

fn same_inode(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// What a mutex of ours guards is whole even after a panic: every change is one assignment.
fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
