//! Finding notes again: a full-text index of the team's tree, derived, and rebuilt from any state.
//!
//! It stands at a commit, and is brought to another one by reading what differs between the two ([`Index::catch_up`]); so
//! a note costs what a note costs, however many there are. Words are made in [`words`]; SQLite's FTS5 holds them and ranks
//! with BM25, a title counting most. It holds no text: what is shown is read from the repository.
//!
//! *Budget*: an `OR` of common words reads a large part of the index and says little. So only the rarest words of a
//! question find notes, as many as together stand in a bounded number of them; a few of the others say which come first
//! ([`search`]).

mod about;
mod likeness;
mod search;
mod typos;
mod words;

use std::collections::HashSet;
use std::path::Path;

use gix_hash::ObjectId;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use uuid::Uuid;

use likeness::Likeness;

use super::library::{Difference, Library, LibraryError};
use super::note::{Kind, Note, Status};
use super::place;
use crate::floor::database::{Database, DatabaseError, Fault, Place, Schema};
use crate::floor::error::Chain;

/// The version is in the file's name too, so that no program finds another one's.
const SCHEMA: Schema = Schema {
    whose: "index",
    steps: &["
CREATE TABLE at (tip TEXT NOT NULL);
CREATE TABLE note (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, path TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
    status TEXT NOT NULL, title TEXT NOT NULL);
CREATE TABLE likeness (note INTEGER PRIMARY KEY, strict INTEGER NOT NULL, said BLOB NOT NULL);
CREATE TABLE supersedes (older TEXT, newer INTEGER, PRIMARY KEY (older, newer)) WITHOUT ROWID;
CREATE TABLE about (place TEXT, note INTEGER, PRIMARY KEY (place, note)) WITHOUT ROWID;
CREATE INDEX newest ON note (id);
CREATE INDEX by_newer ON supersedes (newer);
CREATE INDEX by_note ON about (note);
CREATE VIRTUAL TABLE words USING fts5 (title, tags, paths, body, content='', contentless_delete=1,
    tokenize='unicode61 remove_diacritics 2');
CREATE TABLE spelling (word TEXT PRIMARY KEY) WITHOUT ROWID;
"],
    durable: false,
    damaged_kept: 1,
};

/// The name of the file.
pub const FILE: &str = "index.2.db";

/// What the names of the files of earlier versions begin with.
const EARLIER: [&str; 1] = ["index.1.db"];

/// Why nothing was found.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The file cannot be used.
    #[error("the index of the notes cannot be used")]
    Database(#[from] DatabaseError),
    /// The repository cannot be read.
    #[error(transparent)]
    Library(#[from] LibraryError),
}

impl From<rusqlite::Error> for IndexError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error.into())
    }
}

impl Fault for IndexError {
    fn sqlite(&self) -> Option<&rusqlite::Error> {
        match self {
            Self::Database(error) => error.sqlite(),
            Self::Library(_) => None,
        }
    }
}

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Any text: it is words, and no syntax.
    pub text: &'a str,
    /// Paths of the repository: notes about them come first.
    pub paths: &'a [String],
    /// Only notes of this kind.
    pub kind: Option<Kind>,
    /// How many at most.
    pub limit: usize,
}

/// A note that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Its id.
    pub id: Uuid,
    /// Its path in the team's tree.
    pub path: String,
    /// Whether another note says that it takes its place, or it says so itself.
    pub superseded: bool,
    /// The note that says so.
    pub newer: Option<Uuid>,
}

/// The index. Several processes may have it open.
#[derive(Debug)]
pub struct Index(Database);

impl Index {
    /// Describes the index in a folder; nothing is opened or made.
    #[must_use]
    pub fn at(folder: &Path) -> Self {
        Self(Database::new(Place::File(folder.join(FILE)), SCHEMA))
    }

    /// Describes one that ends with this process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self(Database::new(Place::Memory, SCHEMA))
    }

    /// Removes the index in a folder, with every word of what was purged; the next question makes it again.
    pub fn remove(folder: &Path) {
        for end in ["", "-wal", "-shm"] {
            // What is not there is removed already.
            let _removed = std::fs::remove_file(folder.join(format!("{FILE}{end}")));
        }
    }

    /// Brings the index to a commit: what differs from the one at which it stands is read. Answers how many notes those
    /// were.
    ///
    /// # Errors
    /// Where the repository cannot be read or the index not be written; it then stands where it stood.
    pub fn catch_up(&mut self, library: &Library, tip: ObjectId) -> Result<usize, IndexError> {
        if self.0.is_untouched() {
            self.sweep();
        }
        self.0.with(|connection| {
            // Most questions find it where it should be, and write nothing.
            if stands_at(connection)? == Some(tip) {
                return Ok(0);
            }
            let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let before = stands_at(&tx)?;
            let mut changed = match library.differences(before, tip) {
                Ok(differences) => differences.notes,
                // The commit is not there any more: another repository took the place of the one that it was of.
                Err(_) if before.is_some() => {
                    clear(&tx)?;
                    library.differences(None, tip)?.notes
                }
                Err(error) => return Err(error.into()),
            };
            // Ids grow with time, and a later number is a newer note, as far as they come together.
            changed.sort_by_key(|difference| place::parse(&difference.path).map(|(_, id)| id));
            let mut spelled = HashSet::new();
            for difference in &changed {
                take(&tx, library, difference, &mut spelled)?;
            }
            tx.execute("DELETE FROM at", [])?;
            tx.execute("INSERT INTO at (tip) VALUES (?1)", [tip.to_string()])?;
            tx.commit()?;
            Ok(changed.len())
        })
    }

    /// Removes what an earlier version left: nobody reads it any more, and who still runs that version makes it again.
    fn sweep(&self) {
        let Place::File(file) = self.0.place() else {
            return;
        };
        let entries = file.parent().map(std::fs::read_dir);
        for entry in entries.into_iter().flatten().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if EARLIER.iter().any(|earlier| name.starts_with(earlier)) {
                // What cannot be removed is left, and found again.
                let _left = std::fs::remove_file(entry.path());
            }
        }
    }

    /// The notes that fit a question, the best first: those about its paths, then by words; superseded ones last; the newer
    /// one where two fit as well. A word that stands nowhere is taken for the beginning of another one, or for one that is
    /// mistyped by a letter. A note that has little of a question, and nothing rare, does not fit.
    ///
    /// # Errors
    /// Where the index cannot be read.
    pub fn search(&mut self, question: &Question<'_>) -> Result<Vec<Hit>, IndexError> {
        self.0
            .with(|connection| search::ranked(connection, question))
    }

    /// The notes of the same kind that say nearly the same as this one and are not superseded, the most alike first, three at
    /// most. It need not be in the index itself, and is never among them; nor is a note whose place it takes.
    ///
    /// # Errors
    /// Where the index cannot be read.
    pub fn twins(&mut self, note: &Note) -> Result<Vec<Hit>, IndexError> {
        self.0
            .with(|connection| Ok(likeness::twins(connection, note)?))
    }

    /// The note with this id.
    ///
    /// # Errors
    /// Where the index cannot be read.
    pub fn one(&mut self, id: Uuid) -> Result<Vec<Hit>, IndexError> {
        self.0.with(|connection| {
            let hits = connection
                .prepare_cached(&format!("SELECT {HIT} FROM note WHERE id = ?1"))?
                .query_map([id.to_string()], hit)?
                .collect::<rusqlite::Result<_>>()?;
            Ok(hits)
        })
    }

    /// The newest notes.
    ///
    /// # Errors
    /// Where the index cannot be read.
    pub fn newest(&mut self, kind: Option<Kind>, limit: usize) -> Result<Vec<Hit>, IndexError> {
        self.0.with(|connection| {
            let hits = connection
                .prepare_cached(&format!(
                    "SELECT {HIT} FROM note WHERE ?1 IS NULL OR kind = ?1 ORDER BY id DESC LIMIT ?2"
                ))?
                .query_map(params![kind.map(Kind::as_str), limit], hit)?
                .collect::<rusqlite::Result<_>>()?;
            Ok(hits)
        })
    }
}

/// The columns of a [`Hit`].
const HIT: &str = "id, path, status = 'superseded' OR EXISTS (SELECT 1 FROM supersedes WHERE older = note.id) AS old,
    (SELECT other.id FROM supersedes JOIN note AS other ON other.number = newer
     WHERE older = note.id AND other.id <> note.id ORDER BY other.id DESC LIMIT 1) AS newer";

fn hit(row: &rusqlite::Row<'_>) -> rusqlite::Result<Hit> {
    let id: String = row.get(0)?;
    Ok(Hit {
        id: Uuid::try_parse(&id).unwrap_or_default(),
        path: row.get(1)?,
        superseded: row.get(2)?,
        newer: row
            .get::<_, Option<String>>(3)?
            .and_then(|id| Uuid::try_parse(&id).ok()),
    })
}

fn stands_at(connection: &Connection) -> rusqlite::Result<Option<ObjectId>> {
    let tip: Option<String> = connection
        .prepare_cached("SELECT tip FROM at")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(tip.and_then(|tip| ObjectId::from_hex(tip.as_bytes()).ok()))
}

fn clear(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute_batch(
        "DELETE FROM note; DELETE FROM supersedes; DELETE FROM about; DELETE FROM likeness; DELETE FROM at;
         DELETE FROM spelling;
         INSERT INTO words (words) VALUES ('delete-all');",
    )
}

/// Takes in what became of one note.
fn take(
    tx: &Transaction<'_>,
    library: &Library,
    difference: &Difference,
    spelled: &mut HashSet<String>,
) -> Result<(), IndexError> {
    let Some((kind, id)) = place::parse(&difference.path) else {
        return Ok(());
    };
    // A note that moved to another path is the same note: whichever is read last stands.
    let known: Option<(i64, String)> = tx
        .prepare_cached("SELECT number, path FROM note WHERE id = ?1")?
        .query_row([id.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((number, path)) = known {
        if difference.blob.is_none() && path != difference.path {
            return Ok(());
        }
        forget(tx, number)?;
    }
    let bytes = match difference.blob.map(|blob| library.blob(blob)) {
        None => None,
        Some(Ok(bytes)) => bytes,
        // One note that cannot be read must not hide all the others.
        Some(Err(error)) => {
            tracing::warn!(path = difference.path, error = %Chain(&error), "a note cannot be read");
            None
        }
    };
    if let Some(bytes) = bytes {
        let (note, _) = Note::parse(kind, id, &bytes);
        put(tx, &note, &difference.path, spelled)?;
    }
    Ok(())
}

fn forget(tx: &Transaction<'_>, number: i64) -> rusqlite::Result<()> {
    for statement in [
        "DELETE FROM words WHERE rowid = ?1",
        "DELETE FROM supersedes WHERE newer = ?1",
        "DELETE FROM about WHERE note = ?1",
        "DELETE FROM likeness WHERE note = ?1",
        "DELETE FROM note WHERE number = ?1",
    ] {
        tx.prepare_cached(statement)?.execute([number])?;
    }
    Ok(())
}

fn put(
    tx: &Transaction<'_>,
    note: &Note,
    path: &str,
    spelled: &mut HashSet<String>,
) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT INTO note (id, path, kind, status, title) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![
        note.id.to_string(),
        path,
        note.kind.as_str(),
        note.status().as_str(),
        note.title
    ])?;
    let number = tx.last_insert_rowid();
    let likeness = Likeness::of(note);
    tx.prepare_cached("INSERT INTO likeness (note, strict, said) VALUES (?1, ?2, ?3)")?
        .execute(params![number, likeness.strict, likeness.bytes()])?;
    let texts = [
        &note.title,
        &note.tags.join(" "),
        &note.paths.join(" "),
        &note.body,
    ]
    .map(|text| words::of(text));
    let [title, tags, paths, body] = texts.each_ref().map(|words| words.join(" "));
    tx.prepare_cached(
        "INSERT INTO words (rowid, title, tags, paths, body) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![number, title, tags, paths, body])?;
    typos::keep(tx, texts.iter().flatten(), spelled)?;
    for older in &note.supersedes {
        tx.prepare_cached("INSERT OR IGNORE INTO supersedes (older, newer) VALUES (?1, ?2)")?
            .execute(params![older.to_string(), number])?;
    }
    if note.status() == Status::Superseded || note.superseded_by.is_some() {
        tx.prepare_cached("INSERT OR IGNORE INTO supersedes (older, newer) VALUES (?1, ?2)")?
            .execute(params![note.id.to_string(), number])?;
    }
    for path in &note.paths {
        tx.prepare_cached("INSERT OR IGNORE INTO about (place, note) VALUES (?1, ?2)")?
            .execute(params![about::place(path), number])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
