//! Why the store did not do it, and what a client is told of that.

use std::io;

use rusqlite::ErrorCode;

use crate::floor::fs::Kind;
use crate::registry::{Refusal, RefusalCode};

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
            Self::Open(ref cause) => {
                Refusal::new(code, format!("the board cannot be used: {}", cause.kind()))
                    .hint("make the repository's git folder writable, then call again")
            }
            Self::Sqlite(ref cause) => {
                let (why, hint) = reason(cause);
                Refusal::new(code, format!("the board cannot be used: {why}")).hint(hint)
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
