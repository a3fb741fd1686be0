//! A look at a database that changes nothing, for `doctor`.

use std::fs::OpenOptions;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::{Schema, is_damaged};
use crate::floor::error::Chain;
use crate::floor::fs::{FileError, open_plain};

/// What stands at the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    Absent,
    /// A database of ours.
    Sound,
    /// A damaged database, or none: the next owner keeps it aside.
    Damaged(String),
    /// The next owner can use neither it nor its place.
    Unusable(String),
}

/// Looks at a file that should be of this schema.
#[must_use]
pub fn examine(path: &Path, schema: &Schema) -> Condition {
    match open_plain(path, OpenOptions::new().read(true)) {
        Err(FileError::Absent) => return Condition::Absent,
        // The caller says already that it cannot be used.
        Err(FileError::Io(error)) => return Condition::Unusable(error.to_string()),
        Err(error) => return Condition::Unusable(error.to_string()),
        Ok(_) => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let asked = || -> rusqlite::Result<(String, i64)> {
        let connection = Connection::open_with_flags(path, flags)?;
        let first = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        let version = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        Ok((first, version))
    };
    match asked() {
        Ok((_, version)) if version > schema.version() => {
            Condition::Unusable("a later version of majordomus made it".to_owned())
        }
        Ok((first, _)) if first == "ok" => Condition::Sound,
        Ok((first, _)) => Condition::Damaged(first.lines().next().unwrap_or_default().to_owned()),
        Err(error) if is_damaged(&error) => Condition::Damaged(Chain(&error).to_string()),
        Err(error) => Condition::Unusable(Chain(&error).to_string()),
    }
}
