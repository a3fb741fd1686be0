//! The shadow of a store: its registers, what was last seen of it, and what is still to be written and sent.
//!
//! | column | what it holds |
//! |---|---|
//! | `known` | the register, as JSON |
//! | `seen` | what was last seen of it in the store, or written to it; NULL where nothing stands there |
//! | `next` | what the batch that is being written makes of it; empty text where it takes it away |
//! | `pending` | whether the store may not have what the registers say |
//! | `unsent` | whether the folder may not have it |
//! | `trouble` | why the store did not take it |
//! | `local` | whether its tags keep it on this machine, as long as it was not sent |
//! | `number` | the number of the last segment that it was sent in; 0 where it never was |
//! | `bucket` | which part of a base it belongs to: 16 bits of a hash of its id, an edge's of its source's |
//!
//! `log` has what each run did, and `before` what stood in the store in place of what it wrote.

mod others;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};
use serde::de::DeserializeOwned;
use sha2::Digest as _;

use super::clock::{Clock, Device};
use super::error::StoreError;
use super::registers::{Edge, Ends, Insight};
use crate::floor::hex;

/// What a shadow of these tables says in `user_version`.
const VERSION: u32 = 2;
const SCHEMA: &str = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS insight(id TEXT PRIMARY KEY, known TEXT NOT NULL, seen TEXT, next TEXT,
  pending INTEGER NOT NULL, unsent INTEGER NOT NULL, trouble TEXT,
  local INTEGER NOT NULL, number INTEGER NOT NULL DEFAULT 0, bucket INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS edge(source TEXT, target TEXT, kind TEXT, known TEXT NOT NULL, seen TEXT, next TEXT,
  pending INTEGER NOT NULL, unsent INTEGER NOT NULL, trouble TEXT,
  number INTEGER NOT NULL DEFAULT 0, bucket INTEGER NOT NULL, PRIMARY KEY(source, target, kind));
CREATE INDEX IF NOT EXISTS edge_target ON edge(target);
CREATE INDEX IF NOT EXISTS insight_pending ON insight(pending) WHERE pending;
CREATE INDEX IF NOT EXISTS insight_unsent ON insight(unsent) WHERE unsent;
CREATE INDEX IF NOT EXISTS edge_pending ON edge(pending) WHERE pending;
CREATE INDEX IF NOT EXISTS edge_unsent ON edge(unsent) WHERE unsent;
CREATE INDEX IF NOT EXISTS insight_next ON insight(id) WHERE next IS NOT NULL;
CREATE INDEX IF NOT EXISTS edge_next ON edge(source) WHERE next IS NOT NULL;
CREATE INDEX IF NOT EXISTS insight_bucket ON insight(bucket);
CREATE INDEX IF NOT EXISTS edge_bucket ON edge(bucket);
CREATE TABLE IF NOT EXISTS log(number INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, told TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS before(log INTEGER, source TEXT, target TEXT, kind TEXT, seen TEXT,
  PRIMARY KEY(log, source, target, kind)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS segment(device TEXT, name TEXT, PRIMARY KEY(device, name)) WITHOUT ROWID;";

/// What is known of one thing, and what was seen of it.
#[derive(Debug)]
pub struct Entry<K, S> {
    /// The register.
    pub known: K,
    /// What was last seen or written.
    pub seen: Option<S>,
}

/// The shadow, open.
#[derive(Debug)]
pub struct Shadow {
    pub(super) db: Connection,
}

/// `n` random bytes in hexadecimal.
fn random<const N: usize>() -> Result<String, StoreError> {
    let mut bytes = [0; N];
    let filled = getrandom::fill(&mut bytes).map_err(std::io::Error::other);
    filled.map_err(StoreError::io(Path::new("the system's random numbers")))?;
    Ok(hex::encode(&bytes))
}

impl Shadow {
    /// Opens it, or makes it, with a device id of its own.
    ///
    /// # Errors
    /// What SQLite said, and where it is damaged or another build's.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join("shadow.db");
        let open = || -> rusqlite::Result<Option<Connection>> {
            let db = Connection::open(&path)?;
            db.busy_timeout(std::time::Duration::from_secs(2))?;
            let tables: u32 =
                db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
            let version: u32 = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            if tables > 0 && version != VERSION {
                return Ok(None);
            }
            db.execute_batch(&format!("PRAGMA user_version={VERSION}; {SCHEMA}"))?;
            Ok(Some(db))
        };
        let opened = open().map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreError::Shadow,
            _ => StoreError::shadow(error),
        });
        let shadow = Self {
            db: opened?.ok_or(StoreError::Shadow)?,
        };
        // What another store's shadow knows would be written here, and sent.
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        match shadow.meta("store")? {
            None => shadow.set("store", &name)?,
            Some(store) if store == name => {}
            Some(store) => {
                return Err(StoreError::Strange {
                    path,
                    why: format!("is the shadow of the store `{store}`"),
                });
            }
        }
        if shadow.meta("device")?.is_none() {
            shadow.begin_again()?;
            // A shadow that is made where there was one before knows less than the store has.
            let mark = folder.join("shadow.was-here");
            if mark.symlink_metadata().is_ok() {
                shadow.set("reborn", 1)?;
            }
            std::fs::write(&mark, []).map_err(StoreError::io(&mark))?;
        }
        Ok(shadow)
    }

    /// The same; one that cannot be used is kept aside, and its new name is said. Only for who has the store's lock.
    ///
    /// # Errors
    /// What SQLite or the system said.
    pub fn open_or_begin(folder: &Path) -> Result<(Self, Option<PathBuf>), StoreError> {
        match Self::open(folder) {
            Err(StoreError::Shadow) => {}
            opened => return opened.map(|shadow| (shadow, None)),
        }
        let kept = (1..1000)
            .map(|number| folder.join(format!("shadow.db.damaged-{number}")))
            .find(|path| path.symlink_metadata().is_err())
            .ok_or(StoreError::Shadow)?;
        let path = folder.join("shadow.db");
        std::fs::rename(&path, &kept).map_err(StoreError::io(&path))?;
        for beside in ["shadow.db-wal", "shadow.db-shm"] {
            let path = folder.join(beside);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(StoreError::io(&path)(error));
                }
                _ => {}
            }
        }
        Ok((Self::open(folder)?, Some(kept)))
    }

    /// Becomes another device: a copy of a machine may not go on under its id.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn begin_again(&self) -> Result<(), StoreError> {
        self.set("incarnation", &random::<8>()?)?;
        self.set("device", &random::<16>()?)?;
        self.set("number", "0")?;
        // The numbers of batches are a device's.
        self.set("batch", "0")?;
        self.set("superseded", "[]")?;
        self.run("UPDATE insight SET number=0; UPDATE edge SET number=0;")?;
        self.all_unsent()
    }

    /// Marks everything as not sent yet.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn all_unsent(&self) -> Result<(), StoreError> {
        self.run("UPDATE insight SET unsent=1; UPDATE edge SET unsent=1;")
    }

    /// Runs statements without values.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn run(&self, statements: &str) -> Result<(), StoreError> {
        self.db
            .execute_batch(statements)
            .map_err(StoreError::shadow)
    }

    /// A word by its key.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let found = self
            .db
            .query_row("SELECT value FROM meta WHERE key=?", [key], |row| {
                row.get(0)
            });
        found.optional().map_err(StoreError::shadow)
    }

    /// The same, as a number; 0 where there is none.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn number(&self, key: &str) -> Result<u64, StoreError> {
        Ok(self
            .meta(key)?
            .and_then(|text| text.parse().ok())
            .unwrap_or(0))
    }

    /// Sets a word.
    ///
    /// # Errors
    /// What SQLite said.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "words and numbers are given as they come"
    )]
    pub fn set(&self, key: &str, value: impl ToString) -> Result<(), StoreError> {
        let set = self.db.execute(
            "INSERT INTO meta VALUES(?,?) ON CONFLICT(key) DO UPDATE SET value=excluded.value
             WHERE value<>excluded.value",
            params![key, value.to_string()],
        );
        set.map(drop).map_err(StoreError::shadow)
    }

    /// This shadow's clock.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn clock(&self) -> Result<Clock, StoreError> {
        let device = self.meta("device")?.and_then(|text| Device::parse(&text));
        Ok(Clock {
            device: device.unwrap_or(Device([0; 16])),
            ms: self.number("clock_ms")?,
            count: u32::try_from(self.number("clock_count")?).unwrap_or(u32::MAX),
        })
    }

    /// Keeps the clock.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn keep_clock(&self, clock: &Clock) -> Result<(), StoreError> {
        self.set("clock_ms", clock.ms)?;
        self.set("clock_count", clock.count)
    }

    /// How many bytes the registers have that these conditions find.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn bytes_of(&self, insights: &str, edges: &str) -> Result<u64, StoreError> {
        let select = format!(
            "SELECT (SELECT ifnull(sum(octet_length(known)),0) FROM insight WHERE {insights})
            + (SELECT ifnull(sum(octet_length(known)),0) FROM edge WHERE {edges})"
        );
        let sum = self.db.query_row(&select, [], |row| row.get(0));
        sum.map_err(StoreError::shadow)
    }

    /// How many rows a condition on `table` finds.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn count(&self, table_and_condition: &str) -> Result<u64, StoreError> {
        let count = format!("SELECT count(*) FROM {table_and_condition}");
        self.db
            .query_row(&count, [], |row| row.get(0))
            .map_err(StoreError::shadow)
    }

    /// What is known and seen of an insight.
    ///
    /// # Errors
    /// What SQLite said, or a register that cannot be read.
    pub fn insight<K: DeserializeOwned, S: DeserializeOwned>(
        &self,
        id: &str,
    ) -> Result<Option<Entry<K, S>>, StoreError> {
        let mut statement = self
            .db
            .prepare_cached("SELECT known, seen FROM insight WHERE id=?")
            .map_err(StoreError::shadow)?;
        let found = statement
            .query_row([id], two)
            .optional()
            .map_err(StoreError::shadow)?;
        found.map(entry).transpose()
    }

    /// What is known and seen of an edge.
    ///
    /// # Errors
    /// What SQLite said, or a register that cannot be read.
    pub fn edge<K: DeserializeOwned, S: DeserializeOwned>(
        &self,
        ends: &Ends,
    ) -> Result<Option<Entry<K, S>>, StoreError> {
        let select = "SELECT known, seen FROM edge WHERE source=? AND target=? AND kind=?";
        let mut statement = self.db.prepare_cached(select).map_err(StoreError::shadow)?;
        let found = statement.query_row(params![ends.source, ends.target, ends.kind], two);
        found
            .optional()
            .map_err(StoreError::shadow)?
            .map(entry)
            .transpose()
    }

    /// Keeps what is known and seen of an insight; a change of its register is to be sent.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn keep_insight(
        &self,
        id: &str,
        known: &Insight,
        seen: Option<&str>,
        mark: Mark,
    ) -> Result<(), StoreError> {
        let keep = "INSERT INTO insight(id, known, seen, pending, unsent, local, bucket) VALUES(?1,?2,?3,?4,?5,?6,?7)
            ON CONFLICT(id) DO UPDATE SET known=?2, seen=?3, pending=pending OR ?4, unsent=unsent OR ?5, local=?6";
        let mut statement = self.db.prepare_cached(keep).map_err(StoreError::shadow)?;
        let text = serde_json::to_string(known)?;
        let kept = statement.execute(params![
            id,
            text,
            seen,
            mark.pending,
            mark.unsent,
            known.is_local(),
            bucket(id)
        ]);
        kept.map_err(StoreError::shadow)?;
        if mark.pending {
            let touch = "UPDATE edge SET pending=1 WHERE source=?1 OR target=?1";
            let mut statement = self.db.prepare_cached(touch).map_err(StoreError::shadow)?;
            statement.execute([id]).map_err(StoreError::shadow)?;
        }
        Ok(())
    }

    /// Keeps what is known and seen of an edge.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn keep_edge(
        &self,
        ends: &Ends,
        known: &Edge,
        seen: Option<&str>,
        mark: Mark,
    ) -> Result<(), StoreError> {
        let keep = "INSERT INTO edge(source, target, kind, known, seen, pending, unsent, bucket) VALUES(?1,?2,?3,?4,?5,?6,?7,?8)
            ON CONFLICT(source, target, kind) DO UPDATE SET known=?4, seen=?5, pending=pending OR ?6, unsent=unsent OR ?7";
        let mut statement = self.db.prepare_cached(keep).map_err(StoreError::shadow)?;
        let values = params![
            ends.source,
            ends.target,
            ends.kind,
            serde_json::to_string(known)?,
            seen,
            mark.pending,
            mark.unsent,
            bucket(&ends.source)
        ];
        statement
            .execute(values)
            .map(drop)
            .map_err(StoreError::shadow)
    }

    /// Has the edges of an insight compared with the store, because it came to life there or died.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn touch_edges(&self, id: &str) -> Result<(), StoreError> {
        let touch = "UPDATE edge SET pending=1 WHERE source=?1 OR target=?1";
        let statement = self.db.prepare_cached(touch);
        let touched = statement.and_then(|mut statement| statement.execute([id]));
        touched.map(drop).map_err(StoreError::shadow)
    }

    /// Says what became of a batch that was about to be written when somebody died, by the number that the store has.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn settle(&self, batch_of_store: u64) -> Result<(), StoreError> {
        if self.number("intent")? == 0 {
            return Ok(());
        }
        let is_written = self.number("intent")? == batch_of_store;
        for table in ["insight", "edge"] {
            if is_written {
                self.run(&format!(
                    "UPDATE {table} SET seen=nullif(next,''), pending=0, trouble=NULL WHERE next IS NOT NULL"
                ))?;
            }
            self.run(&format!(
                "UPDATE {table} SET next=NULL WHERE next IS NOT NULL"
            ))?;
        }
        if is_written {
            self.set("batch", batch_of_store)?;
        }
        self.set("intent", 0)
    }
}

/// What is still to be done with something.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    /// The store may not have it.
    pub pending: bool,
    /// The folder may not have it.
    pub unsent: bool,
}

/// The part of a base that an insight belongs to: 16 bits that say nothing of when or where it was made.
fn bucket(id: &str) -> u16 {
    let digest = sha2::Sha256::digest(id.as_bytes());
    digest
        .first_chunk()
        .map_or(0, |bytes| u16::from_be_bytes(*bytes))
}

fn two(row: &rusqlite::Row<'_>) -> rusqlite::Result<(String, Option<String>)> {
    Ok((row.get(0)?, row.get(1)?))
}

fn entry<K: DeserializeOwned, S: DeserializeOwned>(
    found: (String, Option<String>),
) -> Result<Entry<K, S>, StoreError> {
    Ok(Entry {
        known: serde_json::from_str(&found.0)?,
        seen: found
            .1
            .map(|seen| serde_json::from_str(&seen))
            .transpose()?,
    })
}
