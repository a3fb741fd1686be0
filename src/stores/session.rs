//! One merge of one store: look at it, take in what the folder has, write what differs, send what is new.
//!
//! | step | dies here | what the next one finds |
//! |---|---|---|
//! | look, take in | before the shadow's commit | nothing happened |
//! | write: intent, batch, settle | before the batch | the store's number is the old one: the intent is void |
//! | | after the batch | the store's number is the intent's: what was meant stands there |
//! | send | before the rename | the same is sent again |
//!
//! The store's lock on this machine is held throughout.

mod write;

use std::fs::File;

use super::clock::{Clock, Device};
use super::error::StoreError;
use super::folder;
use super::merge;
use super::observe::{self, Look, Row, is_alive};
use super::place::Place;
use super::registers::{Edge, Ends, Insight, Payload};
use super::schema::{Contents, Live};
use super::segments::Line;
use super::shadow::{Entry, Mark, Shadow};

/// What is to be done.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Take in what the folder has.
    pub import: bool,
    /// Send what is new here.
    pub export: bool,
    /// Only say what would be done.
    pub dry_run: bool,
    /// This machine's time, in milliseconds since 1970.
    pub now_ms: u64,
}

/// What was done, or would be.
#[derive(Debug, Default, Clone, serde::Serialize, utoipa::ToSchema)]
#[schema(as = StoreReport)]
pub struct Report {
    /// The store's name.
    pub store: String,
    /// This machine's id in it.
    pub device: String,
    /// Insights and edges in which something was changed here since the last look.
    pub changed_here: u64,
    /// Segments that were read.
    pub segments_read: u64,
    /// Insights and edges of which they say something new.
    pub taken_in: u64,
    /// Insights and edges that were written to the store.
    pub written: u64,
    /// Segments that were written.
    pub segments_written: u64,
    /// Insights and edges in them.
    pub sent: u64,
    /// What the store does not take, and edges whose ends are not alive.
    pub waiting: u64,
    /// Whether a backup was found in the store's place.
    pub restored: bool,
    /// What is in the way, for people.
    pub troubles: Vec<String>,
}

/// A store that nobody else on this machine merges now.
#[derive(Debug)]
pub struct Session {
    pub(super) place: Place,
    pub(super) shadow: Shadow,
    pub(super) clock: Clock,
    pub(super) report: Report,
    _lock: File,
}

impl Session {
    /// Takes the lock and opens the shadow.
    ///
    /// # Errors
    /// Where the store is not enabled, somebody else has the lock, or a file cannot be used.
    pub fn open(place: &Place) -> Result<Self, StoreError> {
        place.folder()?;
        let lock = place.lock()?;
        let shadow = Shadow::open(&place.state)?;
        let clock = shadow.clock()?;
        let report = Report {
            store: place.name.clone(),
            device: clock.device.to_string(),
            ..Report::default()
        };
        Ok(Self {
            place: place.clone(),
            shadow,
            clock,
            report,
            _lock: lock,
        })
    }

    /// Does what is planned.
    ///
    /// # Errors
    /// Where a file cannot be used. What is merely in the way of one row or one segment is in the report.
    pub fn run(mut self, plan: Plan) -> Result<Report, StoreError> {
        let folder = self.place.folder()?;
        self.shadow.run("BEGIN IMMEDIATE")?;
        let done = self.meet(&folder, plan);
        if plan.dry_run || done.is_err() {
            self.shadow.run("ROLLBACK")?;
            return done.map(|()| self.report);
        }
        self.shadow.run("COMMIT")?;
        if plan.import {
            self.write(plan.now_ms)?;
        }
        if plan.export {
            folder::send(&mut self, &folder, plan.now_ms)?;
        }
        self.report.waiting = self.shadow.count("insight WHERE pending")?
            + self.shadow.count("edge WHERE pending")?;
        Ok(self.report)
    }

    /// Looks and takes in, in the shadow's transaction.
    fn meet(&mut self, folder: &std::path::Path, plan: Plan) -> Result<(), StoreError> {
        if self.place.live.symlink_metadata().is_ok() {
            self.look(plan.now_ms)?;
        } else if !plan.import {
            return Err(StoreError::Absent(self.place.name.clone()));
        }
        if plan.import {
            folder::take_in(self, folder)?;
        }
        if plan.dry_run {
            self.report.sent = self.shadow.count("insight WHERE unsent")?
                + self.shadow.count("edge WHERE unsent")?;
            self.report.written = self.shadow.count("insight WHERE pending")?
                + self.shadow.count("edge WHERE pending")?;
        }
        self.shadow.keep_clock(&self.clock)
    }

    /// Reads the store and stamps what differs from what was last seen.
    pub(super) fn look(&mut self, now_ms: u64) -> Result<(), StoreError> {
        let mut live = Live::open(&self.place.live)?;
        let contents = live.read(self.clock.device)?;
        self.shadow.settle(contents.batch)?;
        let restored = contents.batch < self.shadow.number("batch")?;
        self.report.restored |= restored;
        if restored {
            self.shadow.set("batch", contents.batch)?;
            self.shadow
                .run("UPDATE insight SET pending=1; UPDATE edge SET pending=1;")?;
        }
        if contents.unreadable > 0 {
            let what = format!(
                "{} rows of the store cannot be read and stay here",
                contents.unreadable
            );
            self.report.troubles.push(what);
        }
        let look = Look {
            stamp: self.clock.tick(now_ms),
            is_first: restored || self.shadow.number("looked")? == 0,
        };
        self.shadow.set("looked", 1)?;
        self.look_at_rows(&contents, &look)?;
        self.look_at_edges(&contents, &look)
    }

    fn look_at_rows(&mut self, contents: &Contents, look: &Look) -> Result<(), StoreError> {
        for (id, now) in &contents.rows {
            let found = self.shadow.insight::<Insight, Row>(id)?;
            let seen = found.as_ref().and_then(|entry| entry.seen.as_ref());
            if seen == Some(now) && !look.is_first {
                continue;
            }
            let mut known = found
                .as_ref()
                .map(|entry| entry.known.clone())
                .unwrap_or_default();
            let unsent = observe::row(&mut known, seen, now, contents.pruned.contains(id), look);
            self.report.changed_here += u64::from(unsent);
            // What was known before it was seen, or differs in what does not travel, is compared with the store.
            let mark = Mark {
                pending: found.is_some(),
                unsent,
            };
            self.shadow.keep_insight(
                id,
                &serde_json::to_string(&known)?,
                Some(&serde_json::to_string(now)?),
                mark,
            )?;
        }
        for id in self.missing(
            "SELECT id, '', '' FROM insight WHERE seen IS NOT NULL",
            |ends| !contents.rows.contains_key(&ends.source),
        )? {
            let clear = "UPDATE insight SET seen=NULL, pending=1 WHERE id=?";
            self.shadow
                .db
                .execute(clear, [&id.source])
                .map_err(StoreError::shadow)?;
        }
        Ok(())
    }

    fn look_at_edges(&mut self, contents: &Contents, look: &Look) -> Result<(), StoreError> {
        let alive = |id: &String| contents.rows.get(id).is_some_and(is_alive);
        let gone = self.missing(
            "SELECT source, target, kind FROM edge WHERE seen IS NOT NULL",
            |ends| !contents.edges.contains_key(ends),
        )?;
        for ends in contents.edges.keys().chain(&gone) {
            let now = contents.edges.get(ends);
            let found = self.shadow.edge::<Edge, Payload>(ends)?;
            let seen = found.as_ref().and_then(|entry| entry.seen.as_ref());
            if seen == now && !look.is_first {
                continue;
            }
            let known = found.as_ref().map(|entry| &entry.known);
            let is_edit = alive(&ends.source) && alive(&ends.target);
            let changed = observe::edge(known, seen, now, is_edit, look);
            self.report.changed_here += u64::from(changed.is_some());
            let mark = Mark {
                pending: found.is_some(),
                unsent: changed.is_some(),
            };
            let Some(edge) = changed.as_ref().or(known) else {
                continue;
            };
            let text = now.map(serde_json::to_string).transpose()?;
            self.shadow
                .keep_edge(ends, &serde_json::to_string(edge)?, text.as_deref(), mark)?;
        }
        Ok(())
    }

    /// The keys of a query that a test picks.
    fn missing(
        &self,
        query: &str,
        is_missing: impl Fn(&Ends) -> bool,
    ) -> Result<Vec<Ends>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Ends>> {
            let mut statement = self.shadow.db.prepare(query)?;
            let found = statement.query_map([], |row| {
                Ok(Ends {
                    source: row.get(0)?,
                    target: row.get(1)?,
                    kind: row.get(2)?,
                })
            })?;
            found.collect()
        };
        let mut found = read().map_err(StoreError::shadow)?;
        found.retain(is_missing);
        Ok(found)
    }

    /// Joins one line of a segment; says whether it was news.
    pub(super) fn join(&mut self, line: &Line) -> Result<bool, StoreError> {
        let mark = Mark {
            pending: true,
            unsent: false,
        };
        match line {
            Line::Insight(id, theirs) => {
                theirs.stamps().for_each(|stamp| self.clock.see(stamp));
                let found: Option<Entry<Insight, Row>> = self.shadow.insight(id)?;
                let (mut ours, seen) = found
                    .map(|entry| (entry.known, entry.seen))
                    .unwrap_or_default();
                let news = merge::insight(&mut ours, theirs);
                if news {
                    let seen = seen.map(|seen| serde_json::to_string(&seen)).transpose()?;
                    self.shadow.keep_insight(
                        id,
                        &serde_json::to_string(&ours)?,
                        seen.as_deref(),
                        mark,
                    )?;
                }
                Ok(news)
            }
            Line::Edge(ends, theirs) => {
                self.clock.see(&theirs.stamp);
                let found: Option<Entry<Edge, Payload>> = self.shadow.edge(ends)?;
                let (mut ours, seen) = found
                    .map(|entry| (Some(entry.known), entry.seen))
                    .unwrap_or_default();
                let news = merge::edge(&mut ours, theirs);
                if news && let Some(ours) = ours {
                    let seen = seen.map(|seen| serde_json::to_string(&seen)).transpose()?;
                    self.shadow.keep_edge(
                        ends,
                        &serde_json::to_string(&ours)?,
                        seen.as_deref(),
                        mark,
                    )?;
                }
                Ok(news)
            }
        }
    }

    /// This device in this store.
    pub(super) fn device(&self) -> Device {
        self.clock.device
    }
}
