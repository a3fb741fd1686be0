//! The system calls of the lease, for real: [`Os`] over one checkout's files and the kernel's locks.
//!
//! One [`Kernel`] is one candidate and, if it is elected, one ownership. It is shared between the host, the bridge and the
//! watchdog, so it takes `&self`, and holds no mutex over a system call: a host that hangs on a disk never keeps the watchdog
//! from letting go.
//! The lock is `flock(2)` by [`File::try_lock`]: it belongs to the open file, so the kernel drops it when the process dies of
//! whatever, and a child never holds it (`O_CLOEXEC`). It is dropped by an explicit unlock, because another thread may be
//! looking at the file right then.

mod beside;
mod held;
mod lock_file;
mod print;
mod trouble;

pub(super) use trouble::Trouble;

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use super::document::{Document, Fault, Reading, SCHEMA, State};
use super::election::{Compared, Locked, Named, Opened, Os, Sight, Writer, Written};
use super::elsewhere::Elsewhere;
use super::name::{Name, NameError, Purpose};
use crate::floor::clock;
use crate::floor::fs::{FileError, replace, sweep};
use crate::floor::hex;
use crate::floor::paths::{Files, Site, SiteError};
use held::Held;
use lock_file::Missing;
use print::{Fingerprint, is_one_file};

/// One candidate's, later one owner's, hands.
#[derive(Debug)]
pub(super) struct Kernel {
    site: Site,
    instance: String,
    started_at: String,
    /// Where it stands.
    files: Mutex<Files>,
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

#[derive(Debug, Default, Clone)]
struct Draft {
    url: Option<String>,
    link: Option<SocketAddr>,
    unknown: Map<String, Value>,
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
            files: Mutex::new(Files::Common),
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

    /// Returns the files where it stands.
    pub(super) fn files(&self) -> Files {
        *guard(&self.files)
    }

    fn document_path(&self) -> PathBuf {
        self.site.document(self.files())
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

    /// Removes the documents that owners beside left, as far as an owner at the common files can know that nobody serves there.
    pub(super) fn clear_beside(&self) {
        if self.files() == Files::Common {
            beside::clear_ours(&self.site);
            if !self.is_locked_elsewhere() && !self.site.hides_other_scopes() {
                beside::sweep_others(&self.site);
            }
        }
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
        let now = fs::symlink_metadata(self.document_path());
        matches!((known, now), (Some(known), Ok(now)) if known == Fingerprint::of(&now))
    }

    fn writer(&self, document: &Document) -> Writer {
        if document.root_id != self.site.root_id() {
            Writer::OtherCheckout
        } else if document.instance == self.instance {
            Writer::Me
        } else if document.scope != self.site.scope() {
            if self.site.hides_other_scopes() || guard(&self.held).elsewhere.is_some() {
                Writer::OutOfSight
            } else {
                Writer::OtherScope
            }
        } else {
            Writer::Neighbour
        }
    }

    fn open(&self) -> Result<File, FileError> {
        lock_file::open(&self.site, &self.site.lock(self.files()), Missing::Made)
    }

    fn lock(&self) -> Option<Arc<File>> {
        guard(&self.held).lock.as_ref().map(Arc::clone)
    }

    fn taken(&self, file: &File, files: Files) -> Locked {
        let (locked, error) = lock_file::take(file);
        if let Some(error) = error {
            *guard(&self.trouble) = Some(Trouble::Lock(files, error));
        }
        locked
    }

    fn look(&self) -> Sight {
        let (reading, metadata) = Reading::with_metadata(&self.document_path());
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
        let path = self.site.place(&self.document_path())?;
        if state == State::Starting {
            sweep(&path);
        }
        let written = replace(&path, &document.render())?;
        *guard(&self.known) = Some(Fingerprint::of(&written));
        Ok(())
    }
}

impl Os for &Kernel {
    fn read(&mut self, files: Files) -> Sight {
        *guard(&self.files) = files;
        self.look()
    }

    fn read_again(&mut self) -> Sight {
        self.look()
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
                *guard(&self.trouble) = Some(Trouble::Lock(self.files(), error));
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
        self.taken(&file, self.files())
    }

    fn test_lock(&mut self) -> Locked {
        let (Some(ours), Ok(second)) = (self.lock(), self.open()) else {
            return Locked::Ours;
        };
        let one_file = match (ours.metadata(), second.metadata()) {
            (Ok(ours), Ok(second)) => is_one_file(&ours, &second),
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

    fn lock_scope(&mut self) -> Locked {
        let held = guard(&self.held);
        if held.elsewhere.is_some() || self.files() == Files::Scope {
            // That lock is our scope's already.
            return Locked::Ours;
        }
        let missing = match held.name {
            Some(_) => Missing::Left,
            None => Missing::Made,
        };
        drop(held);
        let file = match lock_file::open(&self.site, &self.site.lock(Files::Scope), missing) {
            Ok(file) => Arc::new(file),
            Err(FileError::Absent) if missing == Missing::Left => return Locked::Ours,
            Err(error) => {
                *guard(&self.trouble) = Some(Trouble::Lock(Files::Scope, error));
                return Locked::Unusable;
            }
        };
        let locked = self.taken(&file, Files::Scope);
        if locked == Locked::Ours {
            guard(&self.held).scope = Some(file);
        }
        locked
    }

    fn compare(&mut self) -> Compared {
        if guard(&self.held).elsewhere.is_some() {
            // Nothing at the path can take this lock's place; a folder that was removed shows by its document.
            return Compared::Same;
        }
        let files = guard(&self.held).files();
        if files.stand(&self.site, self.files()) {
            Compared::Same
        } else {
            Compared::Replaced
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
        let place = self.site.place(&self.document_path());
        if let Err(error) = place.and_then(fs::remove_file) {
            tracing::debug!(%error, "the lease document stays");
        }
    }

    fn let_go(&mut self) {
        std::mem::take(&mut *guard(&self.held)).release();
    }
}

/// What a mutex of ours guards is whole even after a panic: every change is one assignment.
fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
