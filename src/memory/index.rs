//! Finding notes again: a full-text index of the team's tree, derived, and rebuilt from any state.
//!
//! It stands at a commit, and is brought to another one by reading what differs between the two ([`Index::catch_up`]); so
//! a note costs what a note costs, however many there are. Words are made in [`words`]; SQLite's FTS5 holds them and ranks
//! with BM25, a title counting most. It holds no text: what is shown is read from the repository.
//!
//! *Budget*: an `OR` of common words reads a large part of the index and says little. So only the rarest words of a
//! question are looked for, as many as together stand in at most [`BUDGET`] notes.

mod about;
mod words;

use std::path::Path;

use gix_hash::ObjectId;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use uuid::Uuid;

use super::library::{Difference, Library, LibraryError};
use super::note::{Kind, Note, Status};
use super::place;
use crate::floor::database::{Database, DatabaseError, Fault, Place, Schema};

/// Notes in which the words of one question may stand together.
const BUDGET: usize = 1500;
/// Fewer hits than this are thin: words that only begin like those of the question count too.
const THIN: usize = 3;
/// The shortest word that another one may begin with, in characters.
const BEGINNING: usize = 4;
/// What a word counts in title, tags, paths and body.
const WEIGHTS: &str = "10.0, 6.0, 4.0, 1.0";

/// The version is in the file's name too, so that no program finds another one's.
const SCHEMA: Schema = Schema {
    whose: "index",
    steps: &["
CREATE TABLE at (tip TEXT NOT NULL);
CREATE TABLE note (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, path TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
    status TEXT NOT NULL, title TEXT NOT NULL);
CREATE TABLE supersedes (older TEXT, newer INTEGER, PRIMARY KEY (older, newer)) WITHOUT ROWID;
CREATE TABLE about (place TEXT, note INTEGER, PRIMARY KEY (place, note)) WITHOUT ROWID;
CREATE INDEX newest ON note (id);
CREATE INDEX by_newer ON supersedes (newer);
CREATE INDEX by_note ON about (note);
CREATE VIRTUAL TABLE words USING fts5 (title, tags, paths, body, content='', contentless_delete=1,
    tokenize='unicode61 remove_diacritics 2');
"],
    durable: false,
    damaged_kept: 1,
};

/// The name of the file.
pub const FILE: &str = "index.1.db";

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
    /// Whether another note says that it takes its place.
    pub superseded: bool,
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

    /// Brings the index to a commit: what differs from the one at which it stands is read. Answers how many notes those
    /// were.
    ///
    /// # Errors
    /// Where the repository cannot be read or the index not be written; it then stands where it stood.
    pub fn catch_up(&mut self, library: &Library, tip: ObjectId) -> Result<usize, IndexError> {
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
            for difference in &changed {
                take(&tx, library, difference)?;
            }
            tx.execute("DELETE FROM at", [])?;
            tx.execute("INSERT INTO at (tip) VALUES (?1)", [tip.to_string()])?;
            tx.commit()?;
            Ok(changed.len())
        })
    }

    /// The notes that fit a question, the best first: those about its paths, then by words; superseded ones last; the newer
    /// one where two fit as well.
    ///
    /// # Errors
    /// Where the index cannot be read.
    pub fn search(&mut self, question: &Question<'_>) -> Result<Vec<Hit>, IndexError> {
        self.0.with(|connection| search(connection, question))
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
const HIT: &str = "id, path, status = 'superseded' OR EXISTS (SELECT 1 FROM supersedes WHERE older = note.id) AS old";

fn hit(row: &rusqlite::Row<'_>) -> rusqlite::Result<Hit> {
    let id: String = row.get(0)?;
    Ok(Hit {
        id: Uuid::try_parse(&id).unwrap_or_default(),
        path: row.get(1)?,
        superseded: row.get(2)?,
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
        "DELETE FROM note; DELETE FROM supersedes; DELETE FROM about; DELETE FROM at;
         INSERT INTO words (words) VALUES ('delete-all');",
    )
}

/// Takes in what became of one note.
fn take(
    tx: &Transaction<'_>,
    library: &Library,
    difference: &Difference,
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
    let bytes = match difference.blob {
        Some(blob) => library.blob(blob)?,
        None => None,
    };
    if let Some(bytes) = bytes {
        let (note, _) = Note::parse(kind, id, &bytes);
        put(tx, &note, &difference.path)?;
    }
    Ok(())
}

fn forget(tx: &Transaction<'_>, number: i64) -> rusqlite::Result<()> {
    for statement in [
        "DELETE FROM words WHERE rowid = ?1",
        "DELETE FROM supersedes WHERE newer = ?1",
        "DELETE FROM about WHERE note = ?1",
        "DELETE FROM note WHERE number = ?1",
    ] {
        tx.prepare_cached(statement)?.execute([number])?;
    }
    Ok(())
}

fn put(tx: &Transaction<'_>, note: &Note, path: &str) -> rusqlite::Result<()> {
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
    tx.prepare_cached(
        "INSERT INTO words (rowid, title, tags, paths, body) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![
        number,
        words::of(&note.title).join(" "),
        words::of(&note.tags.join(" ")).join(" "),
        words::of(&note.paths.join(" ")).join(" "),
        words::of(&note.body).join(" "),
    ])?;
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

fn search(connection: &Connection, question: &Question<'_>) -> Result<Vec<Hit>, IndexError> {
    about::remember(connection, question.paths)?;
    let terms = words::of(question.text);
    let (chosen, from) = rarest(connection, &terms)?;
    let mut hits = ranked(connection, &chosen.join(" OR "), from, question)?;
    if hits.len() < THIN.min(question.limit) {
        let beginnings: Vec<String> = terms
            .iter()
            .filter(|term| term.chars().count() >= BEGINNING)
            .map(|term| format!("\"{term}\"*"))
            .collect();
        let more = ranked(connection, &beginnings.join(" OR "), 0, question)?;
        hits.extend(
            more.into_iter()
                .filter(|more| !hits.contains(more))
                .collect::<Vec<_>>(),
        );
        hits.truncate(question.limit);
    }
    Ok(hits)
}

/// The rarest words, in quotes, as many as stand in [`BUDGET`] notes together, and one at least; and the number of the note
/// from which on they are looked for, where that one stands in more: its newest notes count.
fn rarest(connection: &Connection, terms: &[String]) -> rusqlite::Result<(Vec<String>, i64)> {
    let mut counted = Vec::with_capacity(terms.len());
    let mut count = connection.prepare_cached(
        "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 LIMIT ?2)",
    )?;
    for term in terms {
        let quoted = format!("\"{term}\"");
        let notes: usize = count.query_row(params![quoted, BUDGET], |row| row.get(0))?;
        if notes > 0 {
            counted.push((notes, quoted));
        }
    }
    counted.sort();
    let mut from = 0;
    if let Some((BUDGET, quoted)) = counted.first() {
        let newest = "SELECT min(rowid) FROM
            (SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rowid DESC LIMIT ?2)";
        from = connection
            .prepare_cached(newest)?
            .query_row(params![quoted, BUDGET], |row| row.get(0))?;
    }
    let mut left = BUDGET;
    let mut chosen = Vec::new();
    for (notes, quoted) in counted {
        if !chosen.is_empty() && notes > left {
            break;
        }
        left = left.saturating_sub(notes);
        chosen.push(quoted);
    }
    Ok((chosen, from))
}

/// The notes that match, in their order. Nothing matches no words, but paths do.
fn ranked(
    connection: &Connection,
    matching: &str,
    from: i64,
    question: &Question<'_>,
) -> rusqlite::Result<Vec<Hit>> {
    let found = if matching.is_empty() {
        "SELECT number, 0.0 AS score FROM note WHERE ?1 <> '' OR (number IN (SELECT note FROM temp.asked) AND number >= ?4)".to_owned()
    } else {
        format!(
            "SELECT rowid AS number, bm25(words, {WEIGHTS}) AS score FROM words WHERE words MATCH ?1 AND rowid >= ?4"
        )
    };
    connection
        .prepare_cached(&format!(
            "SELECT {HIT} FROM ({found}) AS found JOIN note USING (number)
             WHERE ?2 IS NULL OR kind = ?2
             ORDER BY old, number IN (SELECT note FROM temp.asked) DESC, score, id DESC LIMIT ?3"
        ))?
        .query_map(
            params![
                matching,
                question.kind.map(Kind::as_str),
                question.limit,
                from
            ],
            hit,
        )?
        .collect()
}

#[cfg(test)]
mod tests;
