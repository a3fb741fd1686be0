//! Why the store did not do it, and what a client is told of that.

use std::io;

use rusqlite::ErrorCode;

use crate::floor::database::{DatabaseError, Fault};
use crate::floor::fs::Kind;
use crate::registry::refusal::{self, Reason, Refusal};

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

impl From<DatabaseError> for StoreError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Open(cause) => Self::Open(cause),
            DatabaseError::NotAFile { name, kind } => Self::NotAFile { name, kind },
            DatabaseError::Sqlite(cause) => Self::Sqlite(cause),
            DatabaseError::Newer { found, known } => Self::Newer { found, known },
        }
    }
}

impl Fault for StoreError {
    fn sqlite(&self) -> Option<&rusqlite::Error> {
        match self {
            Self::Sqlite(error) => Some(error),
            _ => None,
        }
    }
}

impl StoreError {
    /// What the client is told: the cause without any path, and what helps.
    #[must_use]
    pub fn refusal(self) -> Refusal {
        let reason = match &self {
            Self::Refused(refusal) => return refusal.clone(),
            Self::Superseded { .. } => refusal::SUPERSEDED,
            Self::Newer { .. } => refusal::NEWER_BOARD,
            Self::NoThread(_) => refusal::NO_THREAD,
            Self::Gone => refusal::CLOSED_BOARD,
            Self::NotAFile { .. } => refusal::NO_FILE,
            Self::Open(cause) => return refusal::UNOPENED_BOARD.fill(&[&cause.kind()]),
            Self::Sqlite(cause) => return reason(cause).fill(&[]),
        };
        reason.told(&self)
    }
}

fn reason(cause: &rusqlite::Error) -> Reason {
    match cause.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => refusal::FULL_DISK,
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            refusal::UNWRITABLE_BOARD
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => refusal::BUSY_BOARD,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => refusal::DAMAGED_BOARD,
        _ => refusal::FAILED_BOARD,
    }
}
