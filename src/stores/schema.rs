//! mnemon's file as it is found: any era of its tables, read defensively and written only in [`super::apply`].
//!
//! The tables are `insights(id, content, …)`, `edges(source_id, target_id, edge_type, weight, metadata, created_at)` and
//! `oplog`; columns came and went. `user_version` 0 means that embeddings are float64, which are read as float32.

mod reading;

pub use reading::{LogEnd, Reading};

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::error::StoreError;
use super::observe::{LOCAL, Row};
use super::registers::Value;
use crate::floor::fs::Kind;

/// The newest tables that every mnemon opens.
const NEW: &str = "PRAGMA journal_mode=WAL; PRAGMA user_version=1;
CREATE TABLE insights(id TEXT PRIMARY KEY, content TEXT NOT NULL, category TEXT DEFAULT 'general',
  importance INTEGER DEFAULT 3, tags TEXT DEFAULT '[]', entities TEXT DEFAULT '[]', source TEXT DEFAULT 'user',
  access_count INTEGER DEFAULT 0, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, deleted_at TEXT,
  last_accessed_at TEXT, embedding BLOB, effective_importance REAL DEFAULT 0.5);
CREATE TABLE edges(source_id TEXT NOT NULL, target_id TEXT NOT NULL,
  edge_type TEXT NOT NULL CHECK(edge_type IN ('temporal','semantic','causal','entity','supersedes')),
  weight REAL DEFAULT 1.0, metadata TEXT DEFAULT '{}', created_at TEXT NOT NULL,
  PRIMARY KEY(source_id,target_id,edge_type),
  FOREIGN KEY(source_id) REFERENCES insights(id) ON DELETE CASCADE,
  FOREIGN KEY(target_id) REFERENCES insights(id) ON DELETE CASCADE);
CREATE TABLE oplog(id INTEGER PRIMARY KEY AUTOINCREMENT, operation TEXT NOT NULL, insight_id TEXT,
  detail TEXT DEFAULT '', created_at TEXT NOT NULL);";

/// A store that is open.
#[derive(Debug)]
pub struct Live {
    /// The connection.
    pub(super) connection: Connection,
    /// The columns of insights.
    pub columns: BTreeSet<String>,
    /// Whether embeddings are float64.
    pub(super) is_double: bool,
    /// Whether it was made in this session.
    pub(super) is_new: bool,
}

/// Makes an empty store, whole or not at all.
///
/// # Errors
/// What the system or SQLite said.
pub fn create(path: &Path) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
    let aside = tempfile::TempDir::with_prefix_in(".majordomus-", folder);
    let aside = aside.map_err(StoreError::io(folder))?;
    let made = aside.path().join("mnemon.db");
    let connection = Connection::open(&made).map_err(StoreError::live)?;
    connection.execute_batch(NEW).map_err(StoreError::live)?;
    connection
        .close()
        .map_err(|(_, error)| StoreError::live(error))?;
    // Never over a store that mnemon made meanwhile.
    std::fs::hard_link(&made, path).map_err(StoreError::io(path))
}

impl Live {
    /// Opens a plain file, and looks at its tables.
    ///
    /// # Errors
    /// Where it is none, or has other tables.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let strange = |why: String| StoreError::Strange {
            path: path.to_owned(),
            why,
        };
        let found = std::fs::symlink_metadata(path).map_err(StoreError::io(path))?;
        if let Some(kind) = Kind::of(found.file_type()) {
            return Err(strange(format!("is {kind}")));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NOFOLLOW
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || -> rusqlite::Result<(Connection, BTreeSet<String>, bool)> {
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(std::time::Duration::from_secs(2))?;
            // An ordinary close would fold the log in and remove it under mnemon's hands.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            connection.execute_batch(
                "PRAGMA foreign_keys=ON; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0;",
            )?;
            let mut statement = connection.prepare(
                "SELECT name FROM pragma_table_info('insights')
                 WHERE (SELECT count(*) FROM sqlite_schema WHERE type='table' AND name IN ('insights','edges')) = 2",
            )?;
            let names = statement.query_map([], |row| row.get::<_, String>(0))?;
            let columns = names.collect::<Result<BTreeSet<_>, _>>()?;
            drop(statement);
            let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            Ok((connection, columns, version == 0))
        };
        let (connection, mut columns, is_double) = open().map_err(StoreError::live)?;
        let needed = ["id", "content", "updated_at", "deleted_at", "access_count"];
        if needed.iter().any(|column| !columns.contains(*column)) {
            return Err(strange("has not the tables of mnemon".to_owned()));
        }
        columns.retain(|column| is_column(column));
        Ok(Self {
            connection,
            columns,
            is_double,
            is_new: false,
        })
    }
}

/// Whether a column's name may stand in a statement and in a segment.
#[must_use]
pub fn is_column(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Reads one row by the names of its columns; `None` where it has bytes that are no text.
pub(super) fn read_row(
    row: &rusqlite::Row<'_>,
    names: &[&String],
    is_double: bool,
) -> rusqlite::Result<Option<(String, Row)>> {
    let (mut id, mut found) = (None, Row::new());
    for (at, name) in names.iter().enumerate() {
        let Some(mut value) = value(row.get_ref(at)?) else {
            return Ok(None);
        };
        if name.as_str() == "id" {
            id = value.text().map(str::to_owned);
            continue;
        }
        if is_double && name.as_str() == "embedding" {
            value = narrowed(value);
        }
        if !LOCAL.contains(&name.as_str()) {
            found.insert((*name).clone(), value);
        }
    }
    Ok(id.map(|id| (id, found)))
}

/// A value of SQLite; `None` where a text is not UTF-8.
pub(super) fn value(found: ValueRef<'_>) -> Option<Value> {
    Some(match found {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Real(number.to_bits()),
        ValueRef::Text(bytes) => Value::Text(std::str::from_utf8(bytes).ok()?.to_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    })
}

/// Float64 as float32.
#[expect(clippy::cast_possible_truncation, reason = "that is what narrowing is")]
fn narrowed(value: Value) -> Value {
    match value {
        Value::Blob(bytes) if bytes.len() % 8 == 0 => {
            let (eights, _) = bytes.as_chunks::<8>();
            let narrow = eights
                .iter()
                .flat_map(|eight| (f64::from_le_bytes(*eight) as f32).to_le_bytes());
            Value::Blob(narrow.collect())
        }
        other => other,
    }
}

/// Float32 as float64.
pub(super) fn widened(bytes: &[u8]) -> Vec<u8> {
    let (fours, _) = bytes.as_chunks::<4>();
    let wide = fours
        .iter()
        .flat_map(|four| f64::from(f32::from_le_bytes(*four)).to_le_bytes());
    wide.collect()
}
