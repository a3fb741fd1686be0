//! The durable half of the board: one SQLite file, opened late, written behind or waited for.
//!
//! *Job*: one piece of work on the connection. Jobs run one after another in the order they were given, on a thread
//! that exists only while there are any; where the system gives no thread, they are told so. *Behind*: nobody waits for the job, and its failure is logged.
//! *Fence*: each writing transaction first compares the epoch in the file with the one that this owner took; an owner
//! that was superseded writes nothing and says so (I5).
//!
//! | what is found | what happens |
//! |---|---|
//! | no file | made, 0600 |
//! | a file that is no database, or a damaged one | moved aside with all its bytes, named in the log, a new one made |
//! | a newer schema | left alone; this server keeps its board in memory |
//! | full, read-only, unreadable, busy too long | the write answers `unavailable`; the next one tries again |
//!
//! The file is shared by the owners of several checkouts, so every row carries the root's id. WAL with
//! `synchronous=NORMAL`: a kill loses nothing, a power cut at most the last moments, never consistency.
//!
//! Absent: any read or write on the start path but the epoch.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use super::tables;
use crate::floor::clock;
use crate::floor::error::Chain;
use crate::floor::fs::{FileError, Kind, open_plain};
use crate::registry::{Refusal, RefusalCode};

/// How long one statement waits for another owner's write.
const BUSY: Duration = Duration::from_millis(500);

/// Why the store did not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be made or opened.
    #[error("cannot open the board's file")]
    Open(#[source] io::Error),
    /// What is there is no plain file.
    #[error("the board's file `{name}` is {kind}")]
    NotAFile {
        /// Its name.
        name: String,
        /// What is there.
        kind: Kind,
    },
    /// SQLite failed.
    #[error("the board's file cannot be used")]
    Sqlite(#[from] rusqlite::Error),
    /// A newer program wrote the file.
    #[error("the board's file has version {found}, this program knows {known}")]
    Newer {
        /// Of the file.
        found: i64,
        /// Of this program.
        known: i64,
    },
    /// Another owner took over.
    #[error("this server (epoch {mine}) was superseded by epoch {theirs}: nothing was written")]
    Superseded {
        /// The epoch of this owner.
        mine: u64,
        /// The epoch in the file.
        theirs: u64,
    },
    /// The effect itself was refused; nothing was written.
    #[error("{0}")]
    Refused(Refusal),
    /// The system gives no thread to do it on: the process is at a limit of memory or of processes.
    #[error("the system gives no thread to write the board on: {0}")]
    NoThread(io::ErrorKind),
    /// The job panicked or the process is ending.
    #[error("the board's file is not written any more")]
    Gone,
}

impl StoreError {
    /// What the client is told: the cause without any path, and what helps.
    #[must_use]
    pub fn refusal(self) -> Refusal {
        let code = RefusalCode::Unavailable;
        match self {
            Self::Refused(refusal) => refusal,
            Self::Superseded { .. } => {
                Refusal::new(code, self.to_string()).hint("call again: the next server answers")
            }
            Self::Newer { .. } => {
                Refusal::new(code, self.to_string()).hint("update majordomus in this checkout")
            }
            Self::NoThread(_) => Refusal::new(code, self.to_string())
                .hint("raise `ulimit -u` and `ulimit -v`, or end other processes, then call again"),
            Self::Gone => Refusal::new(RefusalCode::Internal, self.to_string()),
            Self::NotAFile { .. } => Refusal::new(code, self.to_string())
                .hint("move it out of the repository's `majordomus` folder, then call again"),
            Self::Open(ref cause) => Refusal::new(
                code,
                format!("the board cannot be written: {}", cause.kind()),
            )
            .hint("make the repository's git folder writable, then call again"),
            Self::Sqlite(ref cause) => {
                let (why, hint) = reason(cause);
                Refusal::new(code, format!("the board cannot be written: {why}")).hint(hint)
            }
        }
    }
}

fn reason(cause: &rusqlite::Error) -> (&'static str, &'static str) {
    match cause.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => ("the disk is full", "free some space, then call again"),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => (
            "its file or folder cannot be written",
            "make the repository's git folder writable, then call again",
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            ("another server is writing", "call again")
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => (
            "its file was damaged and has been moved aside",
            "call again",
        ),
        _ => (
            "its disk failed",
            "look into `.ai/local/state/mcp/server.log`",
        ),
    }
}

/// Where a store keeps its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Nowhere: it ends with this process.
    Memory,
    /// In this file.
    File(PathBuf),
}

/// Whose rows these are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The root's id.
    pub root: String,
    /// The kernel and namespaces.
    pub kernel: String,
}

/// Is told why where it cannot be done.
type Job = Box<dyn FnOnce(Result<&Store, StoreError>) + Send>;

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    running: bool,
}

/// One file, or the memory in its place.
pub struct Store {
    place: Place,
    owner: Owner,
    epoch: AtomicU64,
    connection: Mutex<Option<Connection>>,
    queue: Mutex<Queue>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl Store {
    pub(super) fn new(place: Place, owner: Owner) -> Arc<Self> {
        Arc::new(Self {
            place,
            owner,
            epoch: AtomicU64::new(0),
            connection: Mutex::new(None),
            queue: Mutex::default(),
        })
    }

    /// Takes an epoch for this owner: one more than the file's, and at least `at_least`.
    pub(super) async fn take_epoch(self: &Arc<Self>, at_least: u64) -> Result<u64, StoreError> {
        let owner = self.owner.clone();
        // Should the file only work later, this is the epoch that its writes stand for.
        self.epoch.store(at_least, Ordering::Release);
        let epoch = self
            .run(move |store| {
                store.with(|connection| {
                    let tx =
                        connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                    let epoch = (tables::epoch(&tx, &owner)?.unwrap_or(0) + 1).max(at_least);
                    tables::set_epoch(&tx, &owner, epoch)?;
                    tx.commit()?;
                    Ok(epoch)
                })
            })
            .await?;
        self.epoch.store(epoch, Ordering::Release);
        Ok(epoch)
    }

    /// Runs `f` in one writing transaction behind the fence; what `f` refuses is rolled back.
    ///
    /// Cancel safety: dropping the future does not stop a transaction that has begun.
    pub(super) async fn write<T, F>(self: &Arc<Self>, f: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>, &Owner) -> Result<T, StoreError> + Send + 'static,
    {
        self.run(move |store| store.transact(f)).await
    }

    /// Reads without a transaction of its own.
    pub(super) async fn read<T, F>(self: &Arc<Self>, f: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection, &Owner) -> rusqlite::Result<T> + Send + 'static,
    {
        self.run(move |store| store.with(|connection| Ok(f(connection, &store.owner)?)))
            .await
    }

    /// Like [`Store::write`], but nobody waits; a failure is logged under `what`.
    pub(super) fn behind<F>(self: &Arc<Self>, what: &'static str, f: F)
    where
        F: FnOnce(&Transaction<'_>, &Owner) -> Result<(), StoreError> + Send + 'static,
    {
        self.submit(Box::new(move |store| {
            if let Err(error) = store.and_then(|store| store.transact(f)) {
                tracing::debug!(what, error = %Chain(&error), "the board was not written");
            }
        }));
    }

    fn transact<T>(
        &self,
        f: impl FnOnce(&Transaction<'_>, &Owner) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.with(|connection| {
            let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mine = self.epoch.load(Ordering::Acquire);
            let theirs = tables::epoch(&tx, &self.owner)?.unwrap_or(0);
            if theirs > mine {
                return Err(StoreError::Superseded { mine, theirs });
            }
            if theirs < mine {
                // A file that was not there, or could not be used, when this owner took its epoch.
                tables::set_epoch(&tx, &self.owner, mine)?;
            }
            let done = f(&tx, &self.owner)?;
            tx.commit()?;
            Ok(done)
        })
    }

    async fn run<T, F>(self: &Arc<Self>, f: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    {
        let (tell, told) = oneshot::channel();
        self.submit(Box::new(move |store| {
            // Nobody waits any more: the work is done all the same.
            drop(tell.send(store.and_then(f)));
        }));
        told.await.unwrap_or(Err(StoreError::Gone))
    }

    fn submit(self: &Arc<Self>, job: Job) {
        let mut queue = lock(&self.queue);
        queue.jobs.push_back(job);
        if queue.running {
            return;
        }
        queue.running = true;
        drop(queue);
        let store = Arc::clone(self);
        // Not the runtime's pool: that panics where the system gives no thread, and keeps the job for ever.
        let thread = thread::Builder::new().name("board".to_owned());
        if let Err(error) = thread.spawn(move || store.drain()) {
            self.give_up(error.kind());
        }
    }

    /// Tells every job that there is no thread for it; the next one asks for a thread again.
    fn give_up(&self, why: io::ErrorKind) {
        tracing::warn!(%why, "the system gives no thread to write the board on");
        let mut queue = lock(&self.queue);
        queue.running = false;
        let jobs = std::mem::take(&mut queue.jobs);
        drop(queue);
        for job in jobs {
            job(Err(StoreError::NoThread(why)));
        }
    }

    fn drain(&self) {
        loop {
            let mut queue = lock(&self.queue);
            let Some(job) = queue.jobs.pop_front() else {
                queue.running = false;
                return;
            };
            drop(queue);
            if catch_unwind(AssertUnwindSafe(|| job(Ok(self)))).is_err() {
                tracing::error!("a job of the board panicked");
            }
        }
    }

    /// Runs `f` on the open connection; a damaged file is moved aside and `f` answers its error.
    fn with<T>(
        &self,
        f: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut held = lock(&self.connection);
        let mut connection = match held.take() {
            Some(connection) if self.still_there() => connection,
            _ => self.open()?,
        };
        match f(&mut connection) {
            Err(StoreError::Sqlite(error)) if is_damaged(&error) => {
                drop(connection);
                self.move_aside(&error);
                Err(error.into())
            }
            outcome => {
                *held = Some(connection);
                outcome
            }
        }
    }

    /// Whether the file still stands where it was opened: someone may have removed the folder.
    fn still_there(&self) -> bool {
        match &self.place {
            Place::Memory => true,
            Place::File(path) => path.exists(),
        }
    }

    fn open(&self) -> Result<Connection, StoreError> {
        let Place::File(path) = &self.place else {
            let connection = Connection::open_in_memory()?;
            return prepare(connection);
        };
        match Self::open_file(path) {
            Err(StoreError::Sqlite(error)) if is_damaged(&error) => {
                self.move_aside(&error);
                Self::open_file(path)
            }
            outcome => outcome,
        }
    }

    fn open_file(path: &Path) -> Result<Connection, StoreError> {
        // SQLite would make it readable for all, and follow a link.
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        open_plain(path, &mut options).map_err(|fault| match fault {
            FileError::NotAFile(kind) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let name = name.into_owned();
                StoreError::NotAFile { name, kind }
            }
            FileError::Io(error) => StoreError::Open(error),
            FileError::Absent | FileError::TooLong { .. } => {
                StoreError::Open(io::ErrorKind::NotFound.into())
            }
        })?;
        prepare(Connection::open(path)?)
    }

    fn move_aside(&self, error: &rusqlite::Error) {
        let Place::File(path) = &self.place else {
            return;
        };
        let suffix = format!(".damaged-{}", clock::now_ms());
        for part in ["", "-wal", "-shm"] {
            let from = with_suffix(path, part);
            let to = with_suffix(&from, &suffix);
            if let Err(error) = std::fs::rename(&from, &to)
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(error = %Chain(&error), "a damaged file of the board cannot be moved aside");
            }
        }
        let kept = with_suffix(path, &suffix);
        let name = kept.file_name().unwrap_or_default().to_string_lossy();
        tracing::warn!(kept = %name, error = %Chain(error), "the board's file was damaged and is kept aside");
    }
}

/// Sets the connection up and brings the file to this program's schema.
fn prepare(mut connection: Connection) -> Result<Connection, StoreError> {
    connection.busy_timeout(BUSY)?;
    // A release has 50 ms: the log is folded in by a later write, never by closing.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Making a file costs two waits for the disk, on the way to the first answer; a power cut in just that moment
    // leaves a damaged file, which is moved aside like any other.
    connection.execute_batch("PRAGMA synchronous=OFF;")?;
    // The mode that is in force comes back; a file system without shared memory keeps another one, and works.
    let mode: Option<String> = connection
        .query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0))
        .optional()?;
    tracing::trace!(mode, "the board's file is open");
    // The next owner reads what is in the log before it serves, so the log is folded in early.
    connection.execute_batch("PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=100;")?;
    tables::migrate(&mut connection)?;
    Ok(connection)
}

fn is_damaged(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic left behind is whole: every holder changes it in one step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
