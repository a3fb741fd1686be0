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

mod history;
mod look;
mod peers;
mod write;

pub use history::Run;
pub use peers::Diff;

use std::fs::File;
use std::path::Path;

use super::clock::{Clock, Device};
use super::error::StoreError;
use super::folder;
use super::git;
use super::merge;
use super::observe::Row;
use super::place::Place;
use super::registers::{Edge, Ends, Insight, Payload};
use super::schema::Live;
use super::segments::Line;
use super::shadow::{Entry, Mark, Shadow};
use super::snapshot;
use super::witness::Witness;

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

impl Plan {
    /// Whether every row is looked at. Whoever only sends looks at what mnemon's log names; what the log does not name, such
    /// as the counts of a search, is found by the next import.
    const fn thorough(self) -> bool {
        self.import || !self.export
    }
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
    /// Whether the store was found to be as it was, without being read.
    pub unchanged: bool,
    /// The number of the run that was taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone: Option<u64>,
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
    /// Whether nothing was found that was not there the last time.
    is_still: bool,
    lock: File,
}

impl Session {
    /// Takes the lock and opens the shadow.
    ///
    /// # Errors
    /// Where the store is not enabled, somebody else has the lock, or a file cannot be used.
    pub fn open(place: &Place) -> Result<Self, StoreError> {
        place.folder()?;
        let lock = place.lock()?;
        let (shadow, damaged) = Shadow::open_or_begin(&place.state)?;
        let clock = shadow.clock()?;
        let report = Report {
            store: place.name.clone(),
            device: clock.device.to_string(),
            troubles: damaged
                .map(|kept| {
                    let kept = kept.display();
                    format!("what was known of the store cannot be used, and is kept as {kept}: the store is looked at as for the first time")
                })
                .into_iter()
                .collect(),
            ..Report::default()
        };
        Ok(Self {
            place: place.clone(),
            shadow,
            clock,
            report,
            is_still: false,
            lock,
        })
    }

    /// Does what is planned.
    ///
    /// # Errors
    /// Where a file cannot be used. What is merely in the way of one row or one segment is in the report.
    pub fn run(mut self, plan: Plan) -> Result<Report, StoreError> {
        let folder = self.place.folder()?;
        // The network is met before anything is held open.
        let meeting = if plan.import || (plan.export && !plan.dry_run) {
            git::Meeting::begin(&mut self, plan.dry_run)?
        } else {
            None
        };
        let witness = Witness::of(&self.place.live);
        self.shadow.run("BEGIN IMMEDIATE")?;
        let done = self.meet(&folder, plan, witness.as_ref());
        if plan.dry_run || done.is_err() {
            // SQLite does so itself where the disk is full, which is then what is to be told.
            if !self.shadow.db.is_autocommit() {
                self.shadow.run("ROLLBACK")?;
            }
            return done.map(|()| self.report);
        }
        self.shadow.run("COMMIT")?;
        if plan.import && !self.is_still {
            self.write(plan.now_ms)?;
        }
        if plan.export {
            folder::send(&mut self, &folder, plan.now_ms)?;
            if let Some(meeting) = meeting {
                meeting.send(&mut self, plan.now_ms)?;
            }
        }
        if let Some(witness) = witness.filter(|_| !self.is_still) {
            self.bear_witness(&witness, plan)?;
        }
        self.keep_run(plan.now_ms)?;
        self.report.waiting = self.shadow.count("insight WHERE pending")?
            + self.shadow.count("edge WHERE pending")?;
        Ok(self.report)
    }

    /// Looks and takes in, in the shadow's transaction.
    fn meet(
        &mut self,
        folder: &Path,
        plan: Plan,
        witness: Option<&Witness>,
    ) -> Result<(), StoreError> {
        if self.shadow.number("looked")? == 0 && self.is_reborn()? {
            // What the lost shadow had counted is in the segments and in the store: taken in first, it is counted once.
            self.take_in(folder)?;
        }
        if self.place.live.symlink_metadata().is_ok() {
            let thorough = plan.thorough();
            if self.is_as_witnessed(witness, thorough)? {
                self.is_still = true;
                self.report.unchanged = true;
            } else {
                self.look(plan.now_ms, thorough)?;
            }
        } else if self.shadow.number("looked")? > 0 {
            // Somebody removed it here: it does not come back by itself.
            return Err(StoreError::Removed(self.place.name.clone()));
        } else if !plan.import {
            return Err(StoreError::Absent(self.place.name.clone()));
        }
        if plan.import {
            self.take_in(folder)?;
        }
        if plan.dry_run {
            self.report.sent = self.shadow.count("insight WHERE unsent")?
                + self.shadow.count("edge WHERE unsent")?;
            self.report.written = self.shadow.count("insight WHERE pending")?
                + self.shadow.count("edge WHERE pending")?;
        }
        self.is_still &= self.report.segments_read == 0;
        if self.is_still {
            return Ok(());
        }
        self.shadow.keep_clock(&self.clock)
    }

    /// Whether a shadow that is gone knew this store: there was one here, or its batches are in the store.
    fn is_reborn(&self) -> Result<bool, StoreError> {
        if self.shadow.number("reborn")? > 0 {
            return Ok(true);
        }
        if self.place.live.symlink_metadata().is_err() {
            return Ok(false);
        }
        let live = Live::open(&self.place.live)?;
        Ok(live.reading(self.device())?.has_batches)
    }

    /// Joins everything that was carried here and not read yet.
    fn take_in(&mut self, folder: &Path) -> Result<(), StoreError> {
        folder::take_in(self, folder)?;
        snapshot::take_in(self, folder);
        for peers in git::folders(&self.place) {
            folder::take_in(self, &peers)?;
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
                    self.shadow.keep_insight(id, &ours, seen.as_deref(), mark)?;
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
                    self.shadow.keep_edge(ends, &ours, seen.as_deref(), mark)?;
                }
                Ok(news)
            }
        }
    }

    /// Has a store that was removed on this machine made again by the next import, of what is known.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn make_again(&self) -> Result<(), StoreError> {
        if self.place.live.symlink_metadata().is_ok() || self.shadow.number("looked")? == 0 {
            return Ok(());
        }
        self.shadow.run(
            "BEGIN IMMEDIATE;
             UPDATE insight SET seen=NULL, next=NULL, pending=1;
             UPDATE edge SET seen=NULL, next=NULL, pending=1;
             DELETE FROM meta WHERE key IN ('looked', 'batch', 'intent', 'log end', 'witness', 'witness of the log');
             COMMIT;",
        )
    }

    /// Goes on as another device, to which everything is unsent.
    pub(super) fn take_new_id(&mut self) -> Result<(), StoreError> {
        self.shadow.begin_again()?;
        self.clock.device = self.shadow.clock()?.device;
        self.report.device = self.device().to_string();
        Ok(())
    }

    /// The store's lock, for whoever works for this session and may outlive this process.
    pub(super) fn share_lock(&self) -> Result<File, StoreError> {
        let shared = self.lock.try_clone();
        shared.map_err(StoreError::io(&self.place.state))
    }

    /// This device in this store.
    pub(super) fn device(&self) -> Device {
        self.clock.device
    }
}
