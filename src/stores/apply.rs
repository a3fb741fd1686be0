//! What is written to a store: batches, each a transaction of its own that is short, checked, and taken back whole.
//!
//! mnemon waits for no lock, so a batch may hold it for [`HOLD`] at most, and rests [`REST`] times as long as it held it. A
//! batch writes its number with its rows: whoever dies after it knows by that number what the store has.

use std::time::{Duration, Instant};

use rusqlite::types::Value as Sql;
use rusqlite::{
    OptionalExtension as _, Transaction, TransactionBehavior, params, params_from_iter,
};

use super::clock::Device;
use super::error::StoreError;
use super::instant;
use super::observe::Row;
use super::registers::{Ends, Payload, Value};
use super::schema::{Live, read_row, value, widened};

/// How long a batch is meant to hold the write lock.
pub const HOLD: Duration = Duration::from_millis(3);
/// How many times as long as it was held the lock is left alone afterwards.
const REST: u32 = 24;
/// The same in a store that was just made, which nobody uses yet.
const REST_OF_NEW: u32 = 1;
/// Rows of the first batch, before it is known how long they take.
pub const FIRST: usize = 8;
/// Rows of a batch at most.
const MOST: usize = 512;

/// One change: what is to stand there, where what stands there is still what was seen.
#[derive(Debug, Clone)]
pub enum Change {
    /// A row.
    Row {
        /// Its id.
        id: String,
        /// What was seen.
        before: Option<Row>,
        /// What is to stand there.
        next: Row,
    },
    /// An edge.
    Edge {
        /// Which.
        ends: Ends,
        /// What was seen.
        before: Option<Payload>,
        /// What is to stand there.
        next: Option<Payload>,
    },
}

/// What became of a batch. Only [`Written::Done`] changed anything.
#[derive(Debug)]
#[must_use]
pub enum Written {
    /// All of it stands there.
    Done {
        /// How many rows the next batch should have.
        next_size: usize,
        /// The rows that are new there, with what the store itself put into them.
        new: Vec<(String, Row)>,
    },
    /// Something else stands there than was seen.
    Changed,
    /// The store does not take the change of this index.
    Refused(usize, String),
}

enum One {
    Done,
    Changed,
    Refused(String),
}

impl Live {
    /// Writes a batch under its number.
    ///
    /// # Errors
    /// What SQLite said, also where mnemon held the lock for two seconds.
    pub fn write(
        &mut self,
        device: Device,
        batch: u64,
        changes: &[Change],
    ) -> Result<Written, StoreError> {
        let names: Vec<String> = self.columns.iter().cloned().collect();
        let is_double = self.is_double;
        let rest = if self.is_new { REST_OF_NEW } else { REST };
        let mut write = || -> rusqlite::Result<Written> {
            let behavior = TransactionBehavior::Immediate;
            let tx = Transaction::new(&mut self.connection, behavior)?;
            let start = Instant::now();
            tx.execute_batch(
                "CREATE TABLE IF NOT EXISTS majordomus_applied(device TEXT PRIMARY KEY, batch INTEGER NOT NULL)",
            )?;
            for (index, change) in changes.iter().enumerate() {
                match one(&tx, change, &names, is_double)? {
                    One::Done => {}
                    One::Changed => return Ok(Written::Changed),
                    One::Refused(why) => return Ok(Written::Refused(index, why)),
                }
            }
            tx.execute(
                "INSERT OR REPLACE INTO majordomus_applied VALUES(?,?)",
                params![device.to_string(), batch],
            )?;
            let added = changes.iter().filter_map(|change| match change {
                Change::Row {
                    id, before: None, ..
                } => Some(id),
                _ => None,
            });
            let new = added.map(|id| stands(&tx, id, &names, is_double));
            let new = new.collect::<rusqlite::Result<Vec<_>>>()?;
            tx.commit()?;
            let took = start.elapsed();
            std::thread::park_timeout(took * rest);
            let next_size = match changes.len() {
                len if took > HOLD => len / 2,
                // Twice as many would take twice as long.
                len if took * 2 < HOLD => len * 2,
                len => len,
            };
            Ok(Written::Done {
                next_size: next_size.clamp(1, MOST),
                new: new.into_iter().flatten().collect(),
            })
        };
        write().map_err(StoreError::live)
    }
}

fn one(
    tx: &Transaction<'_>,
    change: &Change,
    names: &[String],
    is_double: bool,
) -> rusqlite::Result<One> {
    let done = match change {
        Change::Row { id, before, next } => {
            if let Some(why) = ["created_at", "updated_at"]
                .iter()
                .find_map(|column| bad_date(next, column))
            {
                return Ok(One::Refused(why));
            }
            let found = stands(tx, id, names, is_double)?;
            if found.map(|(_, row)| row) != *before {
                return Ok(One::Changed);
            }
            write_row(tx, id, before.as_ref(), next, is_double)
        }
        Change::Edge { ends, before, next } => {
            let found = tx
                .prepare_cached(
                    "SELECT weight, metadata, created_at FROM edges
                     WHERE source_id=? AND target_id=? AND edge_type=?",
                )?
                .query_row(params![ends.source, ends.target, ends.kind], |row| {
                    Ok(Payload {
                        weight: value(row.get_ref(0)?).unwrap_or(Value::Null),
                        metadata: value(row.get_ref(1)?).unwrap_or(Value::Null),
                        created_at: row.get(2)?,
                    })
                })
                .optional()?;
            if found != *before {
                return Ok(One::Changed);
            }
            match next {
                Some(next) => tx.execute(
                    "INSERT OR REPLACE INTO edges(source_id, target_id, edge_type, weight, metadata, created_at)
                     VALUES(?,?,?,?,?,?)",
                    params![ends.source, ends.target, ends.kind, sql(&next.weight), sql(&next.metadata), next.created_at],
                ),
                None => tx.execute(
                    "DELETE FROM edges WHERE source_id=? AND target_id=? AND edge_type=?",
                    params![ends.source, ends.target, ends.kind],
                ),
            }
        }
    };
    match done {
        Ok(_) => Ok(One::Done),
        Err(error)
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) =>
        {
            Ok(One::Refused(error.to_string()))
        }
        Err(error) => Err(error),
    }
}

/// What stands in a row.
fn stands(
    tx: &Transaction<'_>,
    id: &str,
    names: &[String],
    is_double: bool,
) -> rusqlite::Result<Option<(String, Row)>> {
    let names: Vec<&String> = names.iter().collect();
    let list: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let select = format!("SELECT {} FROM insights WHERE id=?", list.join(","));
    let found = tx
        .prepare_cached(&select)?
        .query_row([id], |row| read_row(row, &names, is_double));
    Ok(found.optional()?.flatten())
}

/// mnemon fails a whole list for one date that it cannot read.
fn bad_date(row: &Row, column: &str) -> Option<String> {
    let text = row.get(column)?.text();
    let is_fine = text.is_some_and(instant::is_strict);
    (!is_fine).then(|| format!("`{column}` is no date"))
}

fn write_row(
    tx: &Transaction<'_>,
    id: &str,
    before: Option<&Row>,
    next: &Row,
    is_double: bool,
) -> rusqlite::Result<usize> {
    let is_new =
        |column: &str, value: &Value| before.is_none_or(|before| before.get(column) != Some(value));
    let changed: Vec<_> = next
        .iter()
        .filter(|(column, value)| is_new(column, value))
        .collect();
    let values = changed.iter().map(|(column, value)| match value {
        Value::Blob(bytes) if is_double && column.as_str() == "embedding" => {
            Sql::Blob(widened(bytes))
        }
        value => sql(value),
    });
    let values = values.chain([Sql::Text(id.to_owned())]);
    let statement = if before.is_some() {
        let list: Vec<_> = changed
            .iter()
            .map(|(column, _)| format!("\"{column}\"=?"))
            .collect();
        if list.is_empty() {
            return Ok(0);
        }
        format!("UPDATE insights SET {} WHERE id=?", list.join(","))
    } else {
        let mut list: Vec<_> = changed
            .iter()
            .map(|(column, _)| format!("\"{column}\""))
            .collect();
        list.push("id".to_owned());
        format!(
            "INSERT INTO insights({}) VALUES({}?)",
            list.join(","),
            "?,".repeat(changed.len())
        )
    };
    tx.prepare_cached(&statement)?
        .execute(params_from_iter(values))
}

fn sql(value: &Value) -> Sql {
    match value {
        Value::Null => Sql::Null,
        Value::Int(number) => Sql::Integer(*number),
        Value::Real(bits) => Sql::Real(f64::from_bits(*bits)),
        Value::Text(text) => Sql::Text(text.clone()),
        Value::Blob(bytes) => Sql::Blob(bytes.clone()),
    }
}
