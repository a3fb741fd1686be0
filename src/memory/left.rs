//! What other scopes wrote down and did not send: where another kernel may use the file system, each boot has a file of its
//! own ([`Site::writes`](crate::floor::paths::Site::writes)), and what stands in that of an earlier one is seen by nobody.
//!
//! Whether the kernel that wrote a file is no more cannot be told from here: file systems of this kind need not show its
//! locks. So a file is named, and taken over when somebody says so. What a process of this kernel has open is not left.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gix_hash::ObjectId;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use uuid::Uuid;

use super::library::Library;
use super::outbox::{Outbox, OutboxError};
use super::team::{Team, TeamError};
use crate::floor::database::{self, DatabaseError, Place, is_busy};
use crate::floor::error::Chain;

/// What the name of a file ends with while it is taken over: it has left its scope.
const TAKEN: &str = ".left.db";
/// How long a process that just looks into a file is waited for.
const BUSY: Duration = Duration::from_millis(500);

/// A file of writes that is another scope's.
#[derive(Debug)]
pub struct Left {
    /// The file.
    pub path: PathBuf,
    /// How many writes stand in it that the notes here do not have, or why that cannot be told.
    pub writes: Result<usize, String>,
    /// Whether it is one of this scope, that was damaged and is kept aside.
    pub aside: bool,
}

impl Left {
    /// The command that helps; `shown` is how people see the file.
    #[must_use]
    pub fn hint(&self, shown: &str) -> String {
        match (self.aside, &self.writes) {
            (true, _) => format!("sqlite3 {shown} .recover, to see what can be read of it"),
            (false, Ok(_)) => "majordomus notes recover".to_owned(),
            (false, Err(_)) => format!("ls -l {shown}"),
        }
    }

    /// What is left, with the command that helps.
    #[must_use]
    pub fn told(&self, shown: &str) -> String {
        format!("{self}: {}", self.hint(shown))
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        if self.aside {
            return write!(
                f,
                "a damaged file of what was written is kept aside as {name}; earlier drafts, and what was in no commit, are in it alone"
            );
        }
        match &self.writes {
            Ok(1) => write!(f, "1 write of another boot or machine is in {name} alone"),
            Ok(count) => write!(
                f,
                "{count} writes of another boot or machine are in {name} alone"
            ),
            Err(why) => write!(
                f,
                "what another boot or machine wrote in {name} cannot be read: {why}"
            ),
        }
    }
}

/// Why a file was not taken over.
#[derive(Debug, thiserror::Error)]
pub enum LeftError {
    /// A process has it open.
    #[error("a process has it open")]
    InUse,
    /// It cannot be read, moved or written down here.
    #[error(transparent)]
    Team(#[from] TeamError),
}

impl From<rusqlite::Error> for LeftError {
    fn from(error: rusqlite::Error) -> Self {
        if is_busy(&error) {
            Self::InUse
        } else {
            Self::Team(OutboxError::from(error).into())
        }
    }
}

impl From<std::io::Error> for LeftError {
    fn from(error: std::io::Error) -> Self {
        Self::Team(OutboxError::from(DatabaseError::Open(error)).into())
    }
}

impl Team {
    /// The files in which something stands that is nowhere else: those of other scopes, and damaged ones. They are not changed.
    #[must_use]
    pub fn left(&self) -> Vec<Left> {
        let others = others(self.writes());
        let aside = database::kept_aside(self.writes()).into_iter();
        let mut all: Vec<Left> = aside
            .map(|name| Left {
                path: self.writes().with_file_name(name),
                writes: Err("it is damaged".to_owned()),
                aside: true,
            })
            .collect();
        if others.is_empty() {
            return all;
        }
        let here = self.look().ok().flatten();
        for path in others {
            let writes = match count(&path, here.as_ref()) {
                Ok(0) => continue,
                // It is some server's, and nothing of it is lost.
                Err(error) if is_busy(&error) => continue,
                Ok(count) => Ok(count),
                Err(error) => Err(Chain(&error).to_string()),
            };
            all.push(Left {
                path,
                writes,
                aside: false,
            });
        }
        all
    }

    /// The files of other scopes, whatever stands in them.
    #[must_use]
    pub fn others(&self) -> Vec<PathBuf> {
        others(self.writes())
    }

    /// The file of another scope that has a note, or that cannot be looked into.
    pub(super) fn left_with(&self, note: Uuid) -> Option<PathBuf> {
        let note = note.to_string();
        let mut all = self.others().into_iter();
        all.find(|path| has(path, &note).unwrap_or(true))
    }

    /// Takes over what stands in the file of another scope, which is removed; answers how many writes that were. Whoever is
    /// killed in between leaves a file that is found again, and of which nothing is taken twice.
    ///
    /// # Errors
    /// Where a process has it open, or it cannot be read or written: what stands in it then stays there.
    pub fn take_over(&mut self, path: &Path) -> Result<usize, LeftError> {
        let connection = hold(path, BUSY)?;
        // Its log is folded in, so that it is one file that moves.
        let mode: String =
            connection.query_row("PRAGMA journal_mode=DELETE", [], |row| row.get(0))?;
        if mode != "delete" {
            return Err(LeftError::InUse);
        }
        let taken = taken(path);
        if taken != path {
            // Under the lock: who comes later finds no file, and makes its own.
            std::fs::rename(path, &taken)?;
        }
        drop(connection);
        let mut theirs = Outbox::at(Place::File(taken.clone()));
        let here = self.look().map_err(TeamError::from)?;
        let mut rows = theirs.unsent().map_err(TeamError::from)?;
        rows.retain(|(kept, _)| !is_in(here.as_ref(), kept.sha.as_deref()));
        let count = self.take_in(&rows)?;
        drop(theirs);
        for end in ["", "-wal", "-shm"] {
            let mut name = taken.clone().into_os_string();
            name.push(end);
            // What cannot be removed is found again, and nothing of it is taken twice.
            let _left = std::fs::remove_file(name);
        }
        Ok(count)
    }
}

/// The files of writes that are not `own`, in an order.
fn others(own: &Path) -> Vec<PathBuf> {
    let listed = own.parent().map(std::fs::read_dir);
    let entries = listed.into_iter().flatten().flatten().flatten();
    let mut all: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter(|entry| entry.file_name().to_str().is_some_and(is_writes))
        .map(|entry| entry.path())
        .filter(|path| path != own)
        .collect();
    all.sort();
    all
}

/// Whether a file is called as one of writes: `writes.db`, that of a scope, or one that is being taken over.
fn is_writes(name: &str) -> bool {
    let Some(middle) = name
        .strip_prefix("writes")
        .and_then(|rest| rest.strip_suffix(".db"))
    else {
        return false;
    };
    let is_scope = |part: &str| part.len() == 16 && part.bytes().all(|b| b.is_ascii_hexdigit());
    let mut parts = middle.split('.');
    parts.next() == Some("") && parts.all(|part| part == "left" || is_scope(part))
}

/// What a file is called while it is taken over; no file has that name yet.
fn taken(path: &Path) -> PathBuf {
    let name = path.to_string_lossy();
    if name.ends_with(TAKEN) {
        return path.to_path_buf();
    }
    let mut stem = name.strip_suffix(".db").unwrap_or(&name).to_owned();
    loop {
        let taken = PathBuf::from(format!("{stem}{TAKEN}"));
        if !taken.exists() {
            return taken;
        }
        stem.push_str(".left");
    }
}

/// Opens a file that no other process has open, without the memory that kernels cannot share.
fn hold(path: &Path, wait: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(wait)?;
    // To look changes nothing.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;")?;
    Ok(connection)
}

fn has(path: &Path, note: &str) -> rusqlite::Result<bool> {
    let connection = hold(path, BUSY)?;
    if !is_made(&connection)? {
        return Ok(false);
    }
    let mut found = connection.prepare("SELECT 1 FROM write WHERE note = ?1")?;
    found.exists([note])
}

/// Whether it has its table: nobody wrote anything into a file that has none yet.
fn is_made(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .prepare("SELECT 1 FROM sqlite_schema WHERE name = 'write'")?
        .exists([])
}

fn count(path: &Path, here: Option<&(Library, ObjectId)>) -> rusqlite::Result<usize> {
    let connection = hold(path, Duration::ZERO)?;
    if !is_made(&connection)? {
        return Ok(0);
    }
    let mut rows = connection.prepare("SELECT sha FROM write WHERE state < 2")?;
    let shas = rows.query_map([], |row| row.get::<_, Option<String>>(0))?;
    let mut count = 0;
    for sha in shas {
        count += usize::from(!is_in(here, sha?.as_deref()));
    }
    Ok(count)
}

/// Whether the notes here have a commit: whatever is in it is sent with them.
fn is_in(here: Option<&(Library, ObjectId)>, sha: Option<&str>) -> bool {
    let commit = sha.and_then(|sha| ObjectId::from_hex(sha.as_bytes()).ok());
    match (here, commit) {
        (Some((library, tip)), Some(commit)) => library.leads_to(commit, *tip).unwrap_or(false),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_writes;

    #[test]
    fn files_of_writes_are_told_by_their_names() {
        let scope = "0123456789abcdef";
        for name in [
            "writes.db".to_owned(),
            "writes.left.db".to_owned(),
            format!("writes.{scope}.db"),
            format!("writes.{scope}.left.left.db"),
        ] {
            assert!(is_writes(&name), "{name}");
        }
        for name in [
            "writesx.db".to_owned(),
            "writes.db-wal".to_owned(),
            "writes.db.damaged-0001".to_owned(),
            format!("writes.{scope}0.db"),
            format!("writes{scope}.db"),
            format!("board.{scope}.db"),
        ] {
            assert!(!is_writes(&name), "{name}");
        }
    }
}
