//! What was written and is not published yet: the one durable step of a write.
//!
//! *Write*: one file of the team's tree and what its commit will say. A write that is kept here survives a kill and a power
//! cut ([`Schema::durable`]); nothing else has to happen for it to be safe. It stays until it is published, so that a
//! repository that is lost can be made again from here.
//!
//! *Key*: who resends a write gives the key that it had the first time, and gets the first one back.

mod drafts;
mod held;
mod taken;
mod write;

pub use write::{Kept, Key, State, Write};

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior, params};
use uuid::Uuid;

use crate::floor::database::{self, Condition, Database, DatabaseError, Fault, Place, Schema};

/// Somebody's words are in every damaged file, so each is kept.
const SCHEMA: Schema = Schema {
    whose: "notes",
    steps: &["
CREATE TABLE write (seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE, digest TEXT NOT NULL, note TEXT NOT NULL,
    path TEXT NOT NULL, bytes BLOB, subject TEXT NOT NULL, author TEXT NOT NULL, address TEXT NOT NULL,
    client TEXT NOT NULL, peer TEXT NOT NULL, at INTEGER NOT NULL, state INTEGER NOT NULL, sha TEXT);
CREATE INDEX unpublished ON write (seq) WHERE state < 2;
", "
ALTER TABLE write ADD COLUMN base BLOB;
DROP INDEX unpublished;
CREATE INDEX kept ON write (state, seq) WHERE state < 2;
", "
ALTER TABLE write ADD COLUMN vouched TEXT NOT NULL DEFAULT '';
"],
    durable: true,
    damaged_kept: usize::MAX,
};

/// The columns of a [`Kept`].
const COLUMNS: &str = "seq, note, path, bytes, subject, author, address, client, peer, at, state, sha, key, base, vouched";
/// What is on its way to the team.
const UNPUBLISHED: &str = "state IN (0, 1)";

/// Why a write was not kept.
#[derive(Debug, thiserror::Error)]
pub enum OutboxError {
    /// The file cannot be used.
    #[error("cannot keep what was written")]
    Database(#[from] DatabaseError),
    /// The key was another request's.
    #[error("this key was used for another request")]
    OtherKey,
    /// What was purged is in the file's log as long as another program reads it.
    #[error(
        "another program reads the file of the notes, whose log has what was purged until it ends: purge it once more then"
    )]
    Read,
}

impl From<rusqlite::Error> for OutboxError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error.into())
    }
}

impl Fault for OutboxError {
    fn sqlite(&self) -> Option<&rusqlite::Error> {
        match self {
            Self::Database(error) => error.sqlite(),
            Self::OtherKey | Self::Read => None,
        }
    }
}

/// The file. Several processes may have it open.
#[derive(Debug)]
pub struct Outbox(Database);

impl Outbox {
    /// Describes an outbox; nothing is opened or made.
    #[must_use]
    pub fn at(place: Place) -> Self {
        Self(Database::new(place, SCHEMA))
    }

    /// Runs a job on the file, and once more where the file turns out to be damaged: it is kept aside by then, and whatever is
    /// asked for is done in the one that took its place.
    fn run<T>(
        &mut self,
        job: impl Fn(&mut Connection) -> Result<T, OutboxError>,
    ) -> Result<T, OutboxError> {
        let done = self.0.with(&job);
        let failed = done.as_ref().err().and_then(Fault::sqlite);
        if failed.is_some_and(database::is_damaged) {
            return self.0.with(&job);
        }
        done
    }

    /// Looks at the file of an outbox, and changes nothing.
    #[must_use]
    pub fn examine(path: &Path) -> Condition {
        database::examine(path, &SCHEMA)
    }

    /// Keeps a write in a state: one that waits, or a draft. What a key was used for already is given back, and nothing new is
    /// kept: a client that sends its request again gets the note that the first one made.
    ///
    /// # Errors
    /// Where the file cannot be written, and [`OutboxError::OtherKey`].
    pub fn keep(
        &mut self,
        write: &Write,
        key: Option<&Key>,
        state: State,
    ) -> Result<Kept, OutboxError> {
        self.run(|connection| {
            let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Some(key) = key
                && let Some(first) = by_key(&tx, key)?
            {
                return Ok(first);
            }
            tx.prepare_cached(
                "INSERT INTO write (key, digest, note, path, bytes, subject, author, address, client, peer, at, state, base)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            )?
            .execute(params![
                key.map(|key| &key.name),
                key.map_or("", |key| &key.digest),
                write.note.to_string(),
                write.path,
                write.bytes,
                write.subject,
                write.author.0,
                write.author.1,
                write.client,
                write.peer,
                write.at,
                state as i64,
                write.base
            ])?;
            let seq = tx.last_insert_rowid();
            tx.commit()?;
            Ok(Kept {
                seq,
                write: write.clone(),
                state,
                sha: None,
                key: key.map(|key| key.name.clone()).unwrap_or_default(),
                vouched: String::new(),
            })
        })
    }

    /// What was kept under a key.
    ///
    /// # Errors
    /// Where the file cannot be read, and [`OutboxError::OtherKey`].
    pub fn first(&mut self, key: &Key) -> Result<Option<Kept>, OutboxError> {
        self.run(|connection| by_key(connection, key))
    }

    /// Everything that is not published, in its order.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn unpublished(&mut self) -> Result<Vec<Kept>, OutboxError> {
        self.select("state IN (0, 1) ORDER BY seq", None)
    }

    /// How many writes are not published.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn count(&mut self) -> Result<usize, OutboxError> {
        // To read makes nothing.
        if self.is_absent() {
            return Ok(0);
        }
        self.run(|connection| {
            let count = format!("SELECT count(*) FROM write WHERE {UNPUBLISHED}");
            Ok(connection
                .prepare_cached(&count)?
                .query_row([], |row| row.get(0))?)
        })
    }

    /// Everything that is in no commit, in its order.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn waiting(&mut self) -> Result<Vec<Kept>, OutboxError> {
        self.select("state = 0 ORDER BY seq", None)
    }

    /// The last write of a note, if it is not published.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn last_of(&mut self, note: Uuid) -> Result<Option<Kept>, OutboxError> {
        let condition = "state IN (0, 1) AND note = ?1 ORDER BY seq DESC LIMIT 1";
        Ok(self.select(condition, Some(note))?.pop())
    }

    /// Every write of a note that is still here, the last one first.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn all_of(&mut self, note: Uuid) -> Result<Vec<Kept>, OutboxError> {
        self.select("note = ?1 ORDER BY seq DESC", Some(note))
    }

    /// Whether a write is in no commit.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn is_waiting(&mut self, seq: i64) -> Result<bool, OutboxError> {
        self.0.with(|connection| {
            let waits = connection
                .prepare_cached("SELECT 1 FROM write WHERE seq = ?1 AND state = 0")?
                .exists([seq])?;
            Ok(waits)
        })
    }

    /// Its file; an empty path where it has none.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self.0.place() {
            Place::File(path) => path,
            Place::Memory => Path::new(""),
        }
    }

    fn is_absent(&self) -> bool {
        matches!(self.0.place(), Place::File(path) if !path.exists())
    }

    /// What a process leaves that is killed before it marks what it committed.
    ///
    /// # Panics
    ///
    /// Where there is no such write: it is a test's.
    #[cfg(test)]
    pub fn unmark(&mut self, seq: i64) {
        let undone = self.0.with(|connection| {
            Ok::<_, OutboxError>(
                connection.execute("UPDATE write SET state = 0 WHERE seq = ?1", [seq])?,
            )
        });
        assert_eq!(undone.unwrap(), 1);
    }

    fn select(
        &mut self,
        condition: &'static str,
        note: Option<Uuid>,
    ) -> Result<Vec<Kept>, OutboxError> {
        // To read makes nothing.
        if self.is_absent() {
            return Ok(Vec::new());
        }
        self.run(|connection| {
            let all = connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM write WHERE {condition}"))?
                .query_map(
                    rusqlite::params_from_iter(note.map(|note| note.to_string())),
                    kept,
                )?
                .collect::<rusqlite::Result<_>>()?;
            Ok(all)
        })
    }

    /// Says in which commit writes are and how far they have come; none goes back.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn advance(&mut self, seqs: &[(i64, &str)], state: State) -> Result<(), OutboxError> {
        if seqs.is_empty() {
            return Ok(());
        }
        self.0.with(|connection| {
            // Where this is lost the same is found out again, so nobody waits for the disk.
            connection.execute_batch("PRAGMA synchronous=NORMAL")?;
            let advanced = advance(connection, seqs, state);
            connection.execute_batch("PRAGMA synchronous=FULL")?;
            advanced
        })
    }

    /// Says that the commits of this machine are lost: what was in one waits again.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn begin_again(&mut self) -> Result<(), OutboxError> {
        // To find that nothing was lost makes nothing.
        if self.is_absent() {
            return Ok(());
        }
        self.0.with(|connection| {
            connection.execute("UPDATE write SET state = 0 WHERE state = 1", [])?;
            Ok(())
        })
    }

    /// Forgets what was published and is older than `before`, in milliseconds: nobody sends it again.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn forget(&mut self, before: u64) -> Result<usize, OutboxError> {
        self.0.with(|connection| {
            Ok(connection.execute("DELETE FROM write WHERE state = 2 AND at < ?1", [before])?)
        })
    }
}

fn advance(
    connection: &mut Connection,
    seqs: &[(i64, &str)],
    state: State,
) -> Result<(), OutboxError> {
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let mut change = tx.prepare_cached(
            "UPDATE write SET state = ?2, sha = ?3 WHERE seq = ?1 AND state BETWEEN 0 AND ?2",
        )?;
        for (seq, sha) in seqs {
            change.execute(params![seq, state as i64, sha])?;
        }
    }
    tx.commit()?;
    Ok(())
}

fn by_key(connection: &Connection, key: &Key) -> Result<Option<Kept>, OutboxError> {
    let found = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS}, digest FROM write WHERE key = ?1"
        ))?
        .query_row([&key.name], |row| {
            Ok((kept(row)?, row.get::<_, String>("digest")?))
        })
        .optional()?;
    match found {
        Some((_, digest)) if digest != key.digest => Err(OutboxError::OtherKey),
        found => Ok(found.map(|(kept, _)| kept)),
    }
}

fn kept(row: &Row<'_>) -> rusqlite::Result<Kept> {
    let note: String = row.get(1)?;
    let state: i64 = row.get(10)?;
    Ok(Kept {
        seq: row.get(0)?,
        write: Write {
            note: Uuid::try_parse(&note).map_err(|error| {
                rusqlite::Error::FromSqlConversionFailure(
                    1,
                    rusqlite::types::Type::Text,
                    Box::new(error),
                )
            })?,
            path: row.get(2)?,
            base: row.get(13)?,
            bytes: row.get(3)?,
            subject: row.get(4)?,
            author: (row.get(5)?, row.get(6)?),
            client: row.get(7)?,
            peer: row.get(8)?,
            at: row.get(9)?,
        },
        state: State::of(state),
        sha: row.get(11)?,
        key: row.get::<_, Option<String>>(12)?.unwrap_or_default(),
        vouched: row.get(14)?,
    })
}

#[cfg(test)]
mod tests;
