//! One moment of a store, read row by row: all of it, or what mnemon's log names.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension as _, Row as SqlRow, Transaction, params};

use super::{Live, read_row, value};
use crate::stores::clock::Device;
use crate::stores::error::StoreError;
use crate::stores::observe::Row;
use crate::stores::registers::{Ends, Payload};

const EDGES: &str =
    "SELECT source_id, target_id, edge_type, weight, metadata, created_at FROM edges";

/// A store as of one moment.
#[derive(Debug)]
pub struct Reading<'live> {
    tx: Transaction<'live>,
    names: Vec<String>,
    is_double: bool,
    /// The last batch that this device wrote.
    pub batch: u64,
    /// Whether any device wrote a batch.
    pub has_batches: bool,
    /// Where mnemon's log ends.
    pub log: LogEnd,
}

/// Where mnemon's log ends: the highest number that was ever given, which falls only where a backup is put back, and
/// what stands under it.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LogEnd {
    number: i64,
    what: String,
}

impl Live {
    /// Begins to read.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn reading(&self, device: Device) -> Result<Reading<'_>, StoreError> {
        let begin = || -> rusqlite::Result<Reading<'_>> {
            let tx = self.connection.unchecked_transaction()?;
            let (batch, log) = (applied(&tx, device)?, log_end(&tx)?);
            let has_batches = has_table(&tx, "majordomus_applied")?
                && tx.query_row("SELECT count(*) FROM majordomus_applied", [], |row| {
                    Ok(row.get::<_, u64>(0)? > 0)
                })?;
            let names = self.columns.iter().cloned().collect();
            Ok(Reading {
                tx,
                names,
                is_double: self.is_double,
                batch,
                has_batches,
                log,
            })
        };
        begin().map_err(StoreError::live)
    }
}

impl Reading<'_> {
    /// What mnemon's log names since it ended there; `None` where it cannot be told, as the log is another one or was
    /// shortened meanwhile.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn named_since(&self, end: &LogEnd) -> Result<Option<BTreeSet<String>>, StoreError> {
        let read = || -> rusqlite::Result<Option<BTreeSet<String>>> {
            if end.number == 0
                || self.log.number < end.number
                || at(&self.tx, end.number)? != end.what
            {
                return Ok(None);
            }
            let mut statement = self.tx.prepare(
                "SELECT DISTINCT insight_id FROM oplog WHERE id > ? AND insight_id IS NOT NULL",
            )?;
            let found = statement.query_map([end.number], |row| row.get(0))?;
            found.collect::<Result<_, _>>().map(Some)
        };
        read().map_err(StoreError::live)
    }

    /// Hands over each row, or those of these ids; says how many have something that is no text where text belongs.
    ///
    /// # Errors
    /// What SQLite said, and what the receiver says.
    pub fn rows(
        &self,
        only: Option<&BTreeSet<String>>,
        mut each: impl FnMut(String, Row) -> Result<(), StoreError>,
    ) -> Result<u64, StoreError> {
        let list: Vec<String> = self
            .names
            .iter()
            .map(|name| format!("\"{name}\""))
            .collect();
        let names: Vec<&String> = self.names.iter().collect();
        let select = format!("SELECT {} FROM insights", list.join(","));
        let mut unreadable = 0;
        let mut one = |row: &SqlRow<'_>| match read_row(row, &names, self.is_double) {
            Ok(Some((id, row))) => each(id, row),
            Ok(None) => {
                unreadable += 1;
                Ok(())
            }
            Err(error) => Err(StoreError::live(error)),
        };
        match only {
            None => for_each(&self.tx, &select, [], &mut one)?,
            Some(ids) => {
                let select = select + " WHERE id=?";
                for id in ids {
                    for_each(&self.tx, &select, [id], &mut one)?;
                }
            }
        }
        Ok(unreadable)
    }

    /// Hands over each edge, or those of these insights; says how many cannot be read.
    ///
    /// # Errors
    /// What SQLite said, and what the receiver says.
    pub fn edges(
        &self,
        only: Option<&BTreeSet<String>>,
        mut each: impl FnMut(Ends, Payload) -> Result<(), StoreError>,
    ) -> Result<u64, StoreError> {
        let mut unreadable = 0;
        let mut one = |row: &SqlRow<'_>| {
            if let Some((ends, payload)) = read_edge(row) {
                each(ends, payload)
            } else {
                unreadable += 1;
                Ok(())
            }
        };
        match only {
            None => for_each(&self.tx, EDGES, [], &mut one)?,
            Some(ids) => {
                let select = format!("{EDGES} WHERE source_id=?1 OR target_id=?1");
                for id in ids {
                    for_each(&self.tx, &select, [id], &mut one)?;
                }
            }
        }
        Ok(unreadable)
    }

    /// Whether an insight stands there and is alive.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn is_alive(&self, id: &str) -> Result<bool, StoreError> {
        let read = || -> rusqlite::Result<bool> {
            let select = "SELECT deleted_at IS NULL FROM insights WHERE id=?";
            let mut statement = self.tx.prepare_cached(select)?;
            let found = statement.query_row([id], |row| row.get(0)).optional()?;
            Ok(found.unwrap_or(false))
        };
        read().map_err(StoreError::live)
    }

    /// What mnemon's own clean-up took away: by what its log says of each last.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn pruned(&self) -> Result<BTreeSet<String>, StoreError> {
        let mut pruned = BTreeSet::new();
        let read = || -> rusqlite::Result<()> {
            if !has_table(&self.tx, "oplog")? {
                return Ok(());
            }
            let mut statement = self.tx.prepare(
                "SELECT insight_id, operation FROM oplog
                 WHERE operation IN ('prune','forget') AND insight_id IS NOT NULL ORDER BY id",
            )?;
            let mut found = statement.query([])?;
            while let Some(row) = found.next()? {
                let (Ok(id), Ok(operation)) = (row.get::<_, String>(0), row.get::<_, String>(1))
                else {
                    continue;
                };
                if operation == "prune" {
                    pruned.insert(id);
                } else {
                    pruned.remove(&id);
                }
            }
            Ok(())
        };
        let mut read = read;
        read().map_err(StoreError::live)?;
        Ok(pruned)
    }
}

fn for_each(
    tx: &Connection,
    select: &str,
    values: impl rusqlite::Params,
    one: &mut impl FnMut(&SqlRow<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut statement = tx.prepare_cached(select).map_err(StoreError::live)?;
    let mut found = statement.query(values).map_err(StoreError::live)?;
    while let Some(row) = found.next().map_err(StoreError::live)? {
        one(row)?;
    }
    Ok(())
}

fn read_edge(row: &SqlRow<'_>) -> Option<(Ends, Payload)> {
    let text = |at: usize| row.get::<_, String>(at).ok();
    let value = |at: usize| value(row.get_ref(at).ok()?);
    let ends = Ends {
        source: text(0)?,
        target: text(1)?,
        kind: text(2)?,
    };
    let payload = Payload {
        weight: value(3)?,
        metadata: value(4)?,
        created_at: text(5)?,
    };
    Some((ends, payload))
}

fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let count = "SELECT count(*) FROM sqlite_schema WHERE type='table' AND name=?";
    connection.query_row(count, [name], |row| Ok(row.get::<_, i64>(0)? > 0))
}

/// The number of the last batch that a device wrote here.
fn applied(connection: &Connection, device: Device) -> rusqlite::Result<u64> {
    if !has_table(connection, "majordomus_applied")? {
        return Ok(0);
    }
    let batch = "SELECT batch FROM majordomus_applied WHERE device=?";
    let batch = connection.query_row(batch, [device.to_string()], |row| row.get(0));
    Ok(batch.optional()?.unwrap_or(0))
}

fn log_end(connection: &Connection) -> rusqlite::Result<LogEnd> {
    if !has_table(connection, "oplog")? || !has_table(connection, "sqlite_sequence")? {
        return Ok(LogEnd::default());
    }
    let select = "SELECT seq FROM sqlite_sequence WHERE name='oplog'";
    let number = connection
        .query_row(select, [], |row| row.get(0))
        .optional()?;
    let number = number.unwrap_or(0);
    Ok(LogEnd {
        number,
        what: at(connection, number)?,
    })
}

/// What stands in mnemon's log under a number; nothing where it is gone.
fn at(connection: &Connection, number: i64) -> rusqlite::Result<String> {
    let select = "SELECT operation || ' ' || ifnull(insight_id, '') || ' ' || created_at FROM oplog WHERE id=?";
    let found = connection.query_row(select, params![number], |row| row.get(0));
    Ok(found.optional()?.unwrap_or_default())
}
