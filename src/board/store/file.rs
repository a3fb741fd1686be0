//! The board's file as it is found: made, opened, brought to the schema, moved aside.

use std::ffi::OsString;
use std::fs::{Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _};

use super::{Place, StoreError};
use crate::board::tables;
use crate::floor::clock;
use crate::floor::error::Chain;
use crate::floor::fs::{FileError, open_plain};

/// How long one statement waits for another owner's write.
const BUSY: Duration = Duration::from_millis(500);
/// How many damaged files are kept. A disk that damages each new one would fill up with them.
const DAMAGED_KEPT: usize = 3;
/// What the name of the log ends with.
const LOG: &str = "-wal";
/// What a damaged file is called from then on; a time follows.
const DAMAGED: &str = ".damaged-";

/// A connection, and which files it writes: the board and its log. Somebody may remove or replace them, another owner may
/// move them aside; what is then written to them is lost to everyone else.
pub(super) struct Opened {
    pub(super) connection: Connection,
    files: [Option<Identity>; 2],
    /// Whether the last job waited in vain for another's write.
    busy: bool,
}

/// A file's device and number.
type Identity = (u64, u64);

impl Opened {
    /// Says what the last job came to. Who waited in vain waited for all those that stand behind it: as long as another
    /// program holds the file they are told at once, or a hundred of them would stand there for a minute.
    pub(super) fn ended<T>(&mut self, outcome: &Result<T, StoreError>) {
        let busy = matches!(outcome, Err(StoreError::Sqlite(error)) if is_busy(error));
        let wait = if busy { Duration::ZERO } else { BUSY };
        if busy != self.busy && self.connection.busy_timeout(wait).is_ok() {
            self.busy = busy;
        }
    }

    /// Whether what it writes is what the next owner will read.
    pub(super) fn still_stands(&self, place: &Place) -> bool {
        match place {
            Place::Memory => true,
            Place::File(path) => {
                self.files == [stands_at(path), stands_at(&with_suffix(path, LOG))]
            }
        }
    }
}

fn identity(file: &Metadata) -> Identity {
    (file.dev(), file.ino())
}

fn stands_at(path: &Path) -> Option<Identity> {
    std::fs::symlink_metadata(path).ok().as_ref().map(identity)
}

/// Opens the database of a place, at this program's schema; a damaged file is moved aside and a new one made.
pub(super) fn open(place: &Place) -> Result<Opened, StoreError> {
    let Place::File(path) = place else {
        return Ok(Opened {
            connection: prepare(Connection::open_in_memory()?)?,
            files: [None; 2],
            busy: false,
        });
    };
    match open_file(path) {
        Err(StoreError::Sqlite(error)) if is_damaged(&error) => {
            move_aside(place, &error);
            open_file(path)
        }
        outcome => outcome,
    }
}

fn open_file(path: &Path) -> Result<Opened, StoreError> {
    // SQLite would make it readable for all, and follow a link.
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = open_plain(path, &mut options).map_err(|fault| match fault {
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
    // Before SQLite opens it: one that is replaced meanwhile is told apart by the next use.
    let board = file.metadata().ok().as_ref().map(identity);
    // Before SQLite locks it: to close a file gives up all locks that its process has on it.
    drop(file);
    let connection = prepare(Connection::open(path)?)?;
    Ok(Opened {
        connection,
        files: [board, stands_at(&with_suffix(path, LOG))],
        busy: false,
    })
}

/// Keeps a damaged file under another name, with all its bytes.
pub(super) fn move_aside(place: &Place, error: &rusqlite::Error) {
    let Place::File(path) = place else {
        return;
    };
    let suffix = format!("{DAMAGED}{:013}", clock::now_ms());
    for part in ["", LOG, "-shm"] {
        let from = with_suffix(path, part);
        let to = with_suffix(&from, &suffix);
        if let Err(error) = std::fs::rename(&from, &to)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(error = %Chain(&error), "a damaged file of the board cannot be moved aside");
        }
    }
    forget_oldest(path);
    let kept = with_suffix(path, &suffix);
    let name = kept.file_name().unwrap_or_default().to_string_lossy();
    tracing::warn!(kept = %name, error = %Chain(error), "the board's file was damaged and is kept aside");
}

/// Removes all but the last of the files that were moved aside, each with its companions.
fn forget_oldest(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return;
    };
    let name = name.to_string_lossy();
    let mut found: Vec<(String, PathBuf)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let file = entry.file_name().to_string_lossy().into_owned();
            let (_, time) = file.strip_prefix(&*name)?.split_once(DAMAGED)?;
            Some((time.to_owned(), entry.path()))
        })
        .collect();
    found.sort_unstable();
    let mut times: Vec<&str> = found.iter().map(|(time, _)| time.as_str()).collect();
    times.dedup();
    let Some(first_kept) = times.iter().rev().nth(DAMAGED_KEPT - 1) else {
        return;
    };
    for (time, path) in &found {
        if time.as_str() < *first_kept {
            // What cannot be removed is left, and found again.
            let _left = std::fs::remove_file(path);
        }
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

/// Whether another's write was waited for in vain.
fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Whether the file itself is to blame.
pub(super) fn is_damaged(error: &rusqlite::Error) -> bool {
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
