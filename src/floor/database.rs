//! A SQLite file as it is found: made, opened, brought to a schema, moved aside when it is damaged, opened anew when another
//! one stands in its place.
//!
//! | what is found | what happens |
//! |---|---|
//! | no file | made, 0600 |
//! | another file or log than was opened, or none any more | what is there is opened: whoever comes later reads that |
//! | a file that is no database, or a damaged one | moved aside with all its bytes, named in the log, a new one made |
//! | a newer schema | left alone: [`DatabaseError::Newer`] |
//! | busy for half a second | the job fails; the next one waits only once the file was free |

mod aside;
mod examine;

pub use aside::kept_aside;
use aside::move_aside;
pub use examine::{Condition, examine};

use std::ffi::OsString;
use std::fs::{Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::unistd::{AccessFlags, access};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, TransactionBehavior};

use super::fs::{FileError, Kind, open_plain};

/// How long one statement waits for another process's write.
const BUSY: Duration = Duration::from_millis(500);
/// What the name of the log ends with.
const LOG: &str = "-wal";

/// Where a database keeps its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Nowhere: it ends with this process.
    Memory,
    /// In this file.
    File(PathBuf),
}

/// What a file must be.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// Whose file it is, for the log.
    pub whose: &'static str,
    /// The steps that lead to it, in their order; `user_version` says how many were taken.
    pub steps: &'static [&'static str],
    /// Whether a commit is on the disk when it returns; else a power cut may take the last ones, and only them.
    pub durable: bool,
    /// How many damaged files are kept. A disk that damages each new one would fill up with them.
    pub damaged_kept: usize,
}

impl Schema {
    /// Its version.
    #[must_use]
    pub fn version(&self) -> i64 {
        i64::try_from(self.steps.len()).unwrap_or(i64::MAX)
    }
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// It cannot be made or opened.
    #[error("cannot open the file")]
    Open(#[source] io::Error),
    /// What is there is no plain file.
    #[error("`{name}` is {kind}")]
    NotAFile {
        /// Its name.
        name: String,
        /// What is there.
        kind: Kind,
    },
    /// SQLite failed.
    #[error("the file cannot be used")]
    Sqlite(#[from] rusqlite::Error),
    /// A newer program wrote it.
    #[error("the file has version {found}, this program knows {known}")]
    Newer {
        /// Of the file.
        found: i64,
        /// Of this program.
        known: i64,
    },
}

/// What a job on a database fails with.
pub trait Fault: From<DatabaseError> {
    /// What SQLite said, where it was SQLite.
    fn sqlite(&self) -> Option<&rusqlite::Error>;
}

impl Fault for DatabaseError {
    fn sqlite(&self) -> Option<&rusqlite::Error> {
        match self {
            Self::Sqlite(error) => Some(error),
            _ => None,
        }
    }
}

/// A database that is opened by its first job, and again whenever another file stands in its place.
#[derive(Debug)]
pub struct Database {
    place: Place,
    schema: Schema,
    opened: Option<Opened>,
}

impl Database {
    /// Describes a database; no file is touched.
    #[must_use]
    pub fn new(place: Place, schema: Schema) -> Self {
        Self {
            place,
            schema,
            opened: None,
        }
    }

    /// Where its file is.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Whether no job has opened it.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.opened.is_none()
    }

    /// Runs a job on the open file; a damaged file is moved aside, and the job answers its error.
    ///
    /// # Errors
    /// Whatever opening it and the job fail with.
    pub fn with<T, E: Fault>(
        &mut self,
        job: impl FnOnce(&mut Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        let standing = self
            .opened
            .take()
            .filter(|opened| opened.still_stands(&self.place));
        // One that does not count any more is closed first: SQLite shares the index of the log within a process.
        let mut opened = match standing {
            Some(opened) => opened,
            None => Opened::open(&self.place, &self.schema)?,
        };
        let outcome = job(&mut opened.connection);
        let failed = outcome.as_ref().err().and_then(Fault::sqlite);
        match failed {
            Some(error) if is_damaged(error) => {
                opened.close();
                move_aside(&self.place, &self.schema, error);
            }
            failed => {
                opened.ended(failed.is_some_and(is_busy));
                self.opened = Some(opened);
            }
        }
        outcome
    }
}

/// A connection, and which files it writes: the file and its log. Somebody may remove or replace them, another process may
/// move them aside; what is then written to them is lost to everyone else.
#[derive(Debug)]
struct Opened {
    connection: Connection,
    files: [Option<Identity>; 2],
    /// Whether the last job waited in vain for another's write.
    busy: bool,
}

/// A file's device and number.
type Identity = (u64, u64);

impl Opened {
    /// Opens what stands at a place, at the schema; a damaged file is moved aside and a new one made.
    fn open(place: &Place, schema: &Schema) -> Result<Self, DatabaseError> {
        let Place::File(path) = place else {
            return Ok(Self {
                connection: prepare(Connection::open_in_memory()?, schema)?,
                files: [None; 2],
                busy: false,
            });
        };
        match Self::open_file(path, schema) {
            Err(DatabaseError::Sqlite(error)) if is_damaged(&error) => {
                move_aside(place, schema, &error);
                Self::open_file(path, schema)
            }
            outcome => outcome,
        }
    }

    fn open_file(path: &Path, schema: &Schema) -> Result<Self, DatabaseError> {
        // SQLite would make it readable for all, and follow a link.
        made_or_found(path)?;
        // Before SQLite opens it: one that is replaced meanwhile is told apart by the next use.
        let found = stands_at(path);
        let connection = prepare(Connection::open(path)?, schema)?;
        Ok(Self {
            connection,
            files: [found, stands_at(&with_suffix(path, LOG))],
            busy: false,
        })
    }

    /// Closes it, before its files get other names.
    fn close(self) {
        drop(self);
    }

    /// Says whether the last job waited in vain. Who did waited for all those that stand behind it: as long as another
    /// program holds the file they are told at once, or a hundred of them would stand there for a minute.
    fn ended(&mut self, busy: bool) {
        let wait = if busy { Duration::ZERO } else { BUSY };
        if busy != self.busy && self.connection.busy_timeout(wait).is_ok() {
            self.busy = busy;
        }
    }

    /// Whether what it writes is what the next one will read.
    fn still_stands(&self, place: &Place) -> bool {
        match place {
            Place::Memory => true,
            Place::File(path) => {
                self.files == [stands_at(path), stands_at(&with_suffix(path, LOG))]
            }
        }
    }
}

/// Makes a file, or holds that a plain one is there which may be written. That one is not opened: to close a file gives up
/// all locks that its process has on it, and another connection of this process may have some.
fn made_or_found(path: &Path) -> Result<(), DatabaseError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    let found = match open_plain(path, &mut options) {
        Ok(_made) => return Ok(()),
        Err(FileError::Io(error)) if error.kind() == io::ErrorKind::AlreadyExists => {
            access(path, AccessFlags::R_OK | AccessFlags::W_OK).map_err(io::Error::from)
        }
        Err(FileError::NotAFile(kind)) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = name.into_owned();
            return Err(DatabaseError::NotAFile { name, kind });
        }
        Err(FileError::Io(error)) => Err(error),
        Err(FileError::Absent | FileError::TooLong { .. }) => Err(io::ErrorKind::NotFound.into()),
    };
    found.map_err(DatabaseError::Open)
}

fn identity(file: &Metadata) -> Identity {
    (file.dev(), file.ino())
}

fn stands_at(path: &Path) -> Option<Identity> {
    std::fs::symlink_metadata(path).ok().as_ref().map(identity)
}

/// Sets the connection up and brings the file to the schema.
fn prepare(mut connection: Connection, schema: &Schema) -> Result<Connection, DatabaseError> {
    connection.busy_timeout(BUSY)?;
    // A release has 50 ms: the log is folded in by a later write, never by closing.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    if !schema.durable {
        // Making a file costs two waits for the disk, on the way to the first answer; a power cut in just that moment
        // leaves a damaged file, which is moved aside like any other.
        connection.execute_batch("PRAGMA synchronous=OFF;")?;
    }
    // The mode that is in force comes back; a file system without shared memory keeps another one, and works.
    let mode = set_log(&connection)?;
    tracing::trace!(whose = schema.whose, mode, "a file is open");
    // The next owner reads what is in the log before it serves, so the log is folded in early.
    connection.execute_batch(if schema.durable {
        "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=100;"
    } else {
        "PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=100;"
    })?;
    migrate(&mut connection, schema)?;
    Ok(connection)
}

/// Has a file keep a log. SQLite waits for nobody there: of two that open a new file at once, one is refused at once.
fn set_log(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let until = Instant::now() + BUSY;
    loop {
        let mode = connection.query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0));
        match mode.optional() {
            Err(error) if is_busy(&error) && Instant::now() < until => {
                std::thread::park_timeout(BUSY / 100);
            }
            mode => return mode,
        }
    }
}

/// Brings the file to the schema.
fn migrate(connection: &mut Connection, schema: &Schema) -> Result<(), DatabaseError> {
    let known = schema.version();
    let version = |connection: &Connection| -> rusqlite::Result<i64> {
        connection.query_row("PRAGMA user_version", [], |row| row.get(0))
    };
    if version(connection)? == known {
        return Ok(());
    }
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it while we waited.
    let found = version(&tx)?;
    if found > known {
        return Err(DatabaseError::Newer { found, known });
    }
    for step in schema
        .steps
        .iter()
        .skip(usize::try_from(found).unwrap_or(0))
    {
        tx.execute_batch(step)?;
    }
    tx.pragma_update(None, "user_version", known)?;
    tx.commit()?;
    Ok(())
}

/// Whether another's write was waited for in vain.
#[must_use]
pub fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Whether the file itself is to blame.
#[must_use]
pub fn is_damaged(error: &rusqlite::Error) -> bool {
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
