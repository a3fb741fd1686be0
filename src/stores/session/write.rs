//! What a session writes to the store: what is pending, batch after batch, each meant before it is written.

use std::collections::BTreeSet;

use super::Session;
use crate::stores::apply::{Change, FIRST, Written};
use crate::stores::error::StoreError;
use crate::stores::observe::{self, Row, is_alive};
use crate::stores::progress;
use crate::stores::registers::{Edge, Ends, Insight, Payload};
use crate::stores::schema::{self, Live};
use crate::stores::shadow::Entry;

/// How often a store that changes under our hands is looked at again.
const LOOKS: usize = 8;

/// What may have to be written.
struct Queue {
    rows: Vec<String>,
    /// Read once the rows stand there, as a row that dies takes edges with it.
    edges: Option<Vec<Ends>>,
}

impl Session {
    /// Writes what is pending, rows before the edges between them.
    pub(super) fn write(&mut self, now_ms: u64) -> Result<(), StoreError> {
        let pending = self.shadow.count("insight WHERE pending")?
            + self.shadow.count("edge WHERE pending")?;
        if pending == 0 {
            return Ok(());
        }
        let is_new = self.place.live.symlink_metadata().is_err();
        if is_new {
            schema::create(&self.place.live)?;
            // What is in it was written by this machine, so nothing in it is seen for the first time.
            self.shadow.set("looked", 1)?;
        }
        let mut live = Live::open(&self.place.live)?;
        live.is_new = is_new;
        let (mut refused, mut looks, mut size) = (BTreeSet::new(), 0, FIRST);
        let mut queue = self.queue(&refused)?;
        loop {
            let changes = self.next_batch(&live, &mut queue, &refused, size)?;
            if changes.is_empty() {
                return Ok(());
            }
            let batch = self.shadow.number("batch")? + 1;
            self.intend(batch, &changes)?;
            match live.write(self.clock.device, batch, &changes)? {
                Written::Done { next_size, new } => {
                    self.shadow.run("BEGIN IMMEDIATE")?;
                    self.keep_before(&changes)?;
                    self.look_at_edges_of(&changes)?;
                    self.shadow.settle(batch)?;
                    for (id, row) in new {
                        let values = [serde_json::to_string(&row)?, id];
                        let seen = "UPDATE insight SET seen=? WHERE id=?";
                        let kept = self.shadow.db.execute(seen, values);
                        kept.map_err(StoreError::shadow)?;
                    }
                    self.shadow.run("COMMIT")?;
                    for _ in &changes {
                        self.report.written += 1;
                        progress::step(&self.place.name, "written", self.report.written);
                    }
                    size = next_size;
                }
                Written::Changed => {
                    looks += 1;
                    if looks == LOOKS {
                        self.report.troubles.push(
                            "the store changes all the time; what is left is written next time"
                                .to_owned(),
                        );
                        return Ok(());
                    }
                    self.shadow.run("BEGIN IMMEDIATE")?;
                    self.look(now_ms, true)?;
                    self.shadow.keep_clock(&self.clock)?;
                    self.shadow.run("COMMIT")?;
                    queue = self.queue(&refused)?;
                }
                Written::Refused(index, why) => {
                    self.refuse(changes.get(index), &why)?;
                    refused.extend(changes.get(index).map(key));
                    queue = self.queue(&refused)?;
                }
            }
        }
    }

    /// The next changes to write, rows before the edges between them; what stands there already is struck off.
    fn next_batch(
        &self,
        live: &Live,
        queue: &mut Queue,
        refused: &BTreeSet<Ends>,
        size: usize,
    ) -> Result<Vec<Change>, StoreError> {
        let mut changes = Vec::new();
        while changes.len() < size
            && let Some(id) = queue.rows.pop()
        {
            let Some(Entry { known, seen }) = self.shadow.insight::<Insight, Row>(&id)? else {
                continue;
            };
            let next = observe::materialise(&known, seen.as_ref(), &live.columns);
            if seen.as_ref() == Some(&next) {
                let done = "UPDATE insight SET pending=0, trouble=NULL WHERE id=?";
                let struck = self.shadow.db.execute(done, [&id]);
                struck.map_err(StoreError::shadow)?;
            } else {
                let before = seen;
                changes.push(Change::Row { id, before, next });
            }
        }
        if !changes.is_empty() {
            return Ok(changes);
        }
        let edges = match &mut queue.edges {
            Some(edges) => edges,
            none => {
                let pending = "SELECT source, target, kind FROM edge WHERE pending";
                none.insert(self.missing(pending, |ends| !refused.contains(ends))?)
            }
        };
        while changes.len() < size
            && let Some(ends) = edges.pop()
        {
            let Some(Entry { known, seen }) = self.shadow.edge::<Edge, Payload>(&ends)? else {
                continue;
            };
            let is_whole = self.is_alive(&ends.source)? && self.is_alive(&ends.target)?;
            let next = known.payload.clone().filter(|_| is_whole);
            if seen != next {
                let before = seen;
                changes.push(Change::Edge { ends, before, next });
            } else if next == known.payload {
                let done = "UPDATE edge SET pending=0, trouble=NULL WHERE source=? AND target=? AND kind=?";
                let struck = self
                    .shadow
                    .db
                    .execute(done, [&ends.source, &ends.target, &ends.kind]);
                struck.map_err(StoreError::shadow)?;
            }
        }
        Ok(changes)
    }

    /// What may have to be written, as of now.
    fn queue(&self, refused: &BTreeSet<Ends>) -> Result<Queue, StoreError> {
        let is_open = |ends: &Ends| !refused.contains(ends);
        let rows = self.missing("SELECT id, '', '' FROM insight WHERE pending", is_open)?;
        Ok(Queue {
            rows: rows.into_iter().map(|ends| ends.source).collect(),
            edges: None,
        })
    }

    /// Has the edges looked at whose ends came to life or died with what was written.
    fn look_at_edges_of(&self, changes: &[Change]) -> Result<(), StoreError> {
        for change in changes {
            if let Change::Row {
                id,
                before: Some(before),
                next,
            } = change
                && is_alive(before) != is_alive(next)
            {
                self.shadow.touch_edges(id)?;
            }
        }
        Ok(())
    }

    fn is_alive(&self, id: &str) -> Result<bool, StoreError> {
        let entry = self.shadow.insight::<serde::de::IgnoredAny, Row>(id)?;
        Ok(entry
            .and_then(|entry| entry.seen)
            .is_some_and(|row| is_alive(&row)))
    }

    /// Keeps what is about to be written.
    fn intend(&self, batch: u64, changes: &[Change]) -> Result<(), StoreError> {
        let void = "UPDATE insight SET next=NULL WHERE next IS NOT NULL; UPDATE edge SET next=NULL WHERE next IS NOT NULL;";
        self.shadow.run("BEGIN IMMEDIATE")?;
        self.shadow.run(void)?;
        self.shadow.set("intent", batch)?;
        for change in changes {
            let kept = match change {
                Change::Row { id, next, .. } => {
                    let values = [&serde_json::to_string(next)?, id];
                    self.shadow
                        .db
                        .execute("UPDATE insight SET next=? WHERE id=?", values)
                }
                Change::Edge { ends, next, .. } => {
                    let next = next
                        .as_ref()
                        .map(serde_json::to_string)
                        .transpose()?
                        .unwrap_or_default();
                    let values = [&next, &ends.source, &ends.target, &ends.kind];
                    self.shadow.db.execute(
                        "UPDATE edge SET next=? WHERE source=? AND target=? AND kind=?",
                        values,
                    )
                }
            };
            kept.map_err(StoreError::shadow)?;
        }
        self.shadow.run("COMMIT")
    }

    /// Keeps why the store does not take something, and says it.
    fn refuse(&mut self, change: Option<&Change>, why: &str) -> Result<(), StoreError> {
        let Some(change) = change else { return Ok(()) };
        let Ends {
            source,
            target,
            kind,
        } = key(change);
        let kept = match change {
            Change::Row { .. } => self
                .shadow
                .db
                .execute("UPDATE insight SET trouble=? WHERE id=?", [why, &source]),
            Change::Edge { .. } => {
                let update = "UPDATE edge SET trouble=? WHERE source=? AND target=? AND kind=?";
                self.shadow
                    .db
                    .execute(update, [why, &source, &target, &kind])
            }
        };
        kept.map_err(StoreError::shadow)?;
        self.report.troubles.push(match change {
            Change::Row { .. } => format!("the store does not take the insight `{source}`: {why}"),
            Change::Edge { .. } => format!(
                "the store does not take the {kind} edge from `{source}` to `{target}`: {why}"
            ),
        });
        Ok(())
    }
}

/// A change's key: an insight's id stands for its source.
fn key(change: &Change) -> Ends {
    match change {
        Change::Row { id, .. } => Ends {
            source: id.clone(),
            target: String::new(),
            kind: String::new(),
        },
        Change::Edge { ends, .. } => ends.clone(),
    }
}
