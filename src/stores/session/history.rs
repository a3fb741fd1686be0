//! What was done with a store, and how it is taken back: a log of runs, and what stood where each of them wrote.
//!
//! To undo a run is to edit: what stood there before is set again, now, on this machine, and travels as any edit does.
//! Counts of accesses are not taken back, nor is what somebody changed since.

use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::{Plan, Report, Session};
use crate::floor::clock::rfc3339;
use crate::stores::apply::Change;
use crate::stores::clock::Stamp;
use crate::stores::error::StoreError;
use crate::stores::instant;
use crate::stores::observe::{Row, is_alive, travels};
use crate::stores::registers::{Edge, Ends, Insight, Payload, Register, Value};
use crate::stores::shadow::Mark;

/// Runs that are remembered.
const RUNS: u64 = 200;
/// Runs that can be taken back.
const UNDOABLE: u64 = 20;

/// One run, as it is remembered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Run {
    /// Its number.
    pub number: u64,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What it did: a [`Report`].
    pub report: serde_json::Value,
    /// Whether it wrote something to the store that can still be taken back.
    pub can_undo: bool,
}

/// What stood in the store before a run wrote there.
struct Before {
    ends: Ends,
    seen: Option<String>,
}

impl Session {
    /// The runs that are remembered, the newest first.
    ///
    /// # Errors
    /// What SQLite said, or an entry that cannot be read.
    pub fn log(&self) -> Result<Vec<Run>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(u64, u64, String, bool)>> {
            let mut statement = self.shadow.db.prepare(
                "SELECT number, at_ms, told, EXISTS(SELECT 1 FROM before WHERE log=number) FROM log
                 ORDER BY number DESC",
            )?;
            let found = statement.query_map([], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?;
            found.collect()
        };
        let runs = read().map_err(StoreError::shadow)?.into_iter();
        let runs = runs.map(|(number, at_ms, told, can_undo)| {
            Ok(Run {
                number,
                at_ms,
                report: serde_json::from_str(&told)?,
                can_undo,
            })
        });
        runs.collect()
    }

    /// The number of the run that goes on.
    pub(super) fn run_number(&self) -> Result<u64, StoreError> {
        Ok(self.shadow.number("run")? + 1)
    }

    /// Keeps what stood where a batch was written, in the transaction that settles it.
    pub(super) fn keep_before(&self, changes: &[Change]) -> Result<(), StoreError> {
        let run = self.run_number()?;
        let keep = "INSERT OR IGNORE INTO before VALUES(?,?,?,?,?)";
        let mut statement = self
            .shadow
            .db
            .prepare_cached(keep)
            .map_err(StoreError::shadow)?;
        for change in changes {
            let kept = match change {
                Change::Row { id, before, .. } => {
                    let seen = before.as_ref().map(serde_json::to_string).transpose()?;
                    statement.execute(params![run, id, "", "", seen])
                }
                Change::Edge { ends, before, .. } => {
                    let seen = before.as_ref().map(serde_json::to_string).transpose()?;
                    statement.execute(params![run, ends.source, ends.target, ends.kind, seen])
                }
            };
            kept.map_err(StoreError::shadow)?;
        }
        Ok(())
    }

    /// Ends a run: remembers it, where it did anything, and forgets the oldest ones.
    pub(super) fn keep_run(&self, now_ms: u64) -> Result<(), StoreError> {
        let report = &self.report;
        let did = report.changed_here + report.taken_in + report.written + report.sent > 0;
        if !did && report.troubles.is_empty() && report.undone.is_none() {
            return Ok(());
        }
        let run = self.run_number()?;
        self.shadow.run("BEGIN IMMEDIATE")?;
        let values = params![run, now_ms, serde_json::to_string(report)?];
        let kept = self
            .shadow
            .db
            .execute("INSERT OR REPLACE INTO log VALUES(?,?,?)", values);
        kept.map_err(StoreError::shadow)?;
        self.shadow.set("run", run)?;
        self.shadow.run(&format!(
            "DELETE FROM log WHERE number<={}; DELETE FROM before WHERE log<={};",
            run.saturating_sub(RUNS),
            run.saturating_sub(UNDOABLE)
        ))?;
        self.shadow.run("COMMIT")
    }

    /// Takes back what a run wrote to the store; the last one that wrote anything, without a number.
    ///
    /// # Errors
    /// Where there is no such run, or a file cannot be used.
    pub fn undo(mut self, number: Option<u64>, plan: Plan) -> Result<Report, StoreError> {
        let last = self.log()?.into_iter().find(|run| run.can_undo);
        let number = number.or(last.map(|run| run.number));
        let number = number.ok_or_else(|| StoreError::NoRun(self.place.name.clone()))?;
        let found = self.before(number)?;
        if found.is_empty() {
            return Err(StoreError::NoRun(self.place.name.clone()));
        }
        self.shadow.run("BEGIN IMMEDIATE")?;
        let done = self.take_back(&found, plan.now_ms);
        if plan.dry_run || done.is_err() {
            self.shadow.run("ROLLBACK")?;
            self.report.undone = Some(number);
            return done.map(|()| self.report);
        }
        self.report.undone = Some(number);
        self.shadow.run("COMMIT")?;
        self.write(plan.now_ms)?;
        self.keep_run(plan.now_ms)?;
        Ok(self.report)
    }

    fn before(&self, run: u64) -> Result<Vec<Before>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Before>> {
            let select = "SELECT source, target, kind, seen FROM before WHERE log=?";
            let mut statement = self.shadow.db.prepare(select)?;
            let found = statement.query_map([run], |row| {
                let ends = Ends {
                    source: row.get(0)?,
                    target: row.get(1)?,
                    kind: row.get(2)?,
                };
                let seen = row.get(3)?;
                Ok(Before { ends, seen })
            })?;
            found.collect()
        };
        read().map_err(StoreError::shadow)
    }

    /// Sets the registers to what stood there, as edits of now.
    fn take_back(&mut self, found: &[Before], now_ms: u64) -> Result<(), StoreError> {
        self.look(now_ms, true)?;
        let stamp = self.clock.tick(now_ms);
        for Before { ends, seen } in found {
            let changed = if ends.kind.is_empty() {
                let before: Option<Row> = seen.as_deref().map(serde_json::from_str).transpose()?;
                self.take_back_row(&ends.source, before.as_ref(), stamp)?
            } else {
                let before: Option<Payload> =
                    seen.as_deref().map(serde_json::from_str).transpose()?;
                self.take_back_edge(ends, before.as_ref(), stamp)?
            };
            self.report.changed_here += u64::from(changed);
        }
        self.shadow.keep_clock(&self.clock)
    }

    fn take_back_row(
        &self,
        id: &str,
        before: Option<&Row>,
        stamp: Stamp,
    ) -> Result<bool, StoreError> {
        let Some(entry) = self.shadow.insight::<Insight, Row>(id)? else {
            return Ok(false);
        };
        let (mut known, now) = (entry.known, entry.seen.unwrap_or_default());
        let was = known.clone();
        for (column, value) in before.into_iter().flatten() {
            if travels(column) && now.get(column) != Some(value) {
                let value = value.clone();
                known
                    .columns
                    .insert(column.clone(), Register { stamp, value });
            }
        }
        match before.is_some_and(is_alive) {
            true if known.is_forgotten() => known.restored = Some(stamp),
            false if is_alive(&now) => {
                // mnemon writes whole seconds.
                let at = rfc3339(stamp.ms / 1000 * 1000).replace(".000Z", "Z");
                let value = Value::Text(instant::normal(&at));
                known.forgotten = Some(Register { stamp, value });
            }
            _ => {}
        }
        let changed = known != was;
        if changed {
            let seen = serde_json::to_string(&now)?;
            self.shadow.keep_insight(id, &known, Some(&seen), CHANGED)?;
        }
        Ok(changed)
    }

    fn take_back_edge(
        &self,
        ends: &Ends,
        before: Option<&Payload>,
        stamp: Stamp,
    ) -> Result<bool, StoreError> {
        let Some(entry) = self.shadow.edge::<Edge, Payload>(ends)? else {
            return Ok(false);
        };
        let payload = before.cloned();
        if entry.known.payload == payload {
            return Ok(false);
        }
        let seen = entry.seen.as_ref().map(serde_json::to_string).transpose()?;
        let edge = Edge { stamp, payload };
        self.shadow
            .keep_edge(ends, &edge, seen.as_deref(), CHANGED)?;
        Ok(true)
    }
}

/// What is edited here is written here and sent.
const CHANGED: Mark = Mark {
    pending: true,
    unsent: true,
};
