//! Why a store cannot be merged.

use std::io;
use std::path::PathBuf;

use rusqlite::Error as SqliteError;

/// Why a store cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// mnemon would not take the name.
    #[error("`{0}` is no name of a store")]
    Name(String),
    /// Nobody enabled it on this machine.
    #[error("the store `{0}` is not enabled on this machine")]
    Off(String),
    /// Another process is at it.
    #[error("the store `{0}` is being merged by another process")]
    Busy(String),
    /// There is neither a store nor anything to make one of.
    #[error("there is no store `{0}`")]
    Absent(String),
    /// Nothing that can be taken back was written to it.
    #[error("there is no such run of the store `{0}` that can be taken back")]
    NoRun(String),
    /// No other machine is called so, or more than one is.
    #[error("`{0}` is not the name or id of exactly one other machine")]
    NoPeer(String),
    /// Somebody removed it here.
    #[error("the store `{0}` was removed on this machine")]
    Removed(String),
    /// What is sent out may not lie with what is private.
    #[error("the folder {} is, contains or lies in the folder of the stores", .0.display())]
    Folder(PathBuf),
    /// No remote may have this address.
    #[error(transparent)]
    Url(crate::floor::remote::RemoteError),
    /// Two tools would merge one store.
    #[error("the hooks of mnemon-sync are installed in {}", .0.display())]
    ForeignHooks(PathBuf),
    /// The file is not one that mnemon made.
    #[error("{} {why}", path.display())]
    Strange {
        /// The file.
        path: PathBuf,
        /// What is strange about it.
        why: String,
    },
    /// The system refused.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// SQLite failed.
    #[error("the {whose} failed in SQLite")]
    Sqlite {
        /// Whose file it was.
        whose: &'static str,
        /// What it said.
        source: SqliteError,
    },
    /// The shadow is no database, or another build's.
    #[error("what is known of the store is damaged, or was written by another build")]
    Shadow,
    /// A register of the shadow cannot be read.
    #[error("the shadow of the store is damaged")]
    Damaged(#[from] serde_json::Error),
}

impl StoreError {
    /// An error of the system on a file, for `map_err`.
    pub fn io(path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// An error of SQLite on the store.
    #[must_use]
    pub fn live(source: SqliteError) -> Self {
        let whose = "store";
        Self::Sqlite { whose, source }
    }

    /// An error of SQLite on the shadow.
    #[must_use]
    pub fn shadow(source: SqliteError) -> Self {
        let whose = "shadow";
        Self::Sqlite { whose, source }
    }
}
