//! The other machines of a store: what one of them and this one do not have of each other, and one that is gone for good.

use std::collections::BTreeSet;
use std::fs;

use rusqlite::params;
use serde::Serialize;

use super::{Plan, Report, Session};
use crate::stores::clock::Device;
use crate::stores::error::StoreError;
use crate::stores::folder;
use crate::stores::merge;
use crate::stores::observe::Row;
use crate::stores::registers::{Edge, Ends, Insight, Payload};
use crate::stores::segments::Line;

/// At most so many things are named on each side.
const NAMED: usize = 1000;

/// What two machines do not have of each other.
#[derive(Debug, Clone, Serialize)]
pub struct Diff {
    /// The store's name.
    pub store: String,
    /// The other machine's id.
    pub peer: String,
    /// What its people call it.
    pub label: String,
    /// What it wrote that was not read here: ids of insights, and edges as `source -kind-> target`.
    pub theirs: Vec<String>,
    /// What this machine has that the other one has not said to have read, likewise.
    pub ours: Vec<String>,
    /// The number of this machine's last segment that the other one said to have read; 0 where it never did.
    pub acknowledged: u64,
    /// Segments of it that cannot be read.
    pub troubles: Vec<String>,
}

impl Session {
    /// The device that a word names: an id, the beginning of one, or a label. Only one may fit.
    fn peer(&self, word: &str) -> Result<(Device, String), StoreError> {
        let own = self.device();
        let all = folder::devices(&self.place.folder()?);
        let named = self.shadow.numbers_read()?.into_keys();
        let all: BTreeSet<Device> = all
            .into_iter()
            .chain(named)
            .filter(|device| *device != own)
            .collect();
        let mut fitting = Vec::new();
        for device in all {
            let label = self
                .shadow
                .meta(&format!("label {device}"))?
                .unwrap_or_default();
            if label == word || (word.len() >= 4 && device.to_string().starts_with(word)) {
                fitting.push((device, label));
            }
        }
        let unknown = || StoreError::NoPeer(word.to_owned());
        match fitting.len() {
            1 => fitting.pop().ok_or_else(unknown),
            _ => Err(unknown()),
        }
    }

    /// Says what this machine and another one do not have of each other, as far as the folder tells.
    ///
    /// # Errors
    /// Where no machine or more than one is called so, or a file cannot be used.
    pub fn diff(&self, peer: &str) -> Result<Diff, StoreError> {
        let (device, label) = self.peer(peer)?;
        let theirs = self.place.folder()?.join(device.to_string());
        let read_before = folder::recorded(self, device)?;
        let mut diff = Diff {
            store: self.place.name.clone(),
            peer: device.to_string(),
            label,
            theirs: Vec::new(),
            ours: Vec::new(),
            acknowledged: self.shadow.number(&format!("ack {device}"))?,
            troubles: Vec::new(),
        };
        let mut named = BTreeSet::new();
        for name in folder::names(&theirs).0.difference(&read_before) {
            match folder::read(&theirs.join(name), &self.place.name, device) {
                Ok((head, lines)) => {
                    let ack = head.read.get(&self.device()).copied().unwrap_or(0);
                    diff.acknowledged = diff.acknowledged.max(ack);
                    for line in &lines {
                        if self.is_news(line)? {
                            named.insert(title(line));
                        }
                    }
                }
                Err(None) => {}
                Err(Some(why)) => diff.troubles.push(format!("the segment {name} {why}")),
            }
        }
        diff.theirs = named.into_iter().take(NAMED).collect();
        diff.ours = self.sent_after(diff.acknowledged)?;
        Ok(diff)
    }

    fn is_news(&self, line: &Line) -> Result<bool, StoreError> {
        Ok(match line {
            Line::Insight(id, theirs) => {
                let ours = self.shadow.insight::<Insight, Row>(id)?;
                let mut ours = ours.map(|entry| entry.known).unwrap_or_default();
                merge::insight(&mut ours, theirs)
            }
            Line::Edge(ends, theirs) => {
                let ours = self.shadow.edge::<Edge, Payload>(ends)?;
                merge::edge(&mut ours.map(|entry| entry.known), theirs)
            }
        })
    }

    fn sent_after(&self, number: u64) -> Result<Vec<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.shadow.db.prepare(
                "SELECT id FROM insight WHERE number>?1 OR unsent AND NOT (local AND number=0)
                 UNION ALL SELECT source || ' -' || kind || '-> ' || target FROM edge WHERE number>?1 OR unsent
                 LIMIT ?2",
            )?;
            let found = statement.query_map(params![number, NAMED], |row| row.get(0))?;
            found.collect()
        };
        read().map_err(StoreError::shadow)
    }

    /// Takes in what a machine wrote that does not come back, sends it on under this one's name, and removes its segments.
    /// Should it come back after all, it finds itself retired and goes on under a new id, so nothing of it is lost.
    ///
    /// # Errors
    /// Where no machine or more than one is called so, a segment of it cannot be read, or a file cannot be used.
    pub fn retire(mut self, peer: &str, plan: Plan) -> Result<Report, StoreError> {
        let (device, _) = self.peer(peer)?;
        let folder = self.place.folder()?;
        let theirs = folder.join(device.to_string());
        self.shadow.run("BEGIN IMMEDIATE")?;
        let done = self.take_over(device, plan);
        if plan.dry_run || done.is_err() || !self.report.troubles.is_empty() {
            self.shadow.run("ROLLBACK")?;
            return done.map(|()| self.report);
        }
        self.shadow.run("COMMIT")?;
        self.write(plan.now_ms)?;
        folder::send(&mut self, &folder, plan.now_ms)?;
        for name in folder::names(&theirs).0 {
            let path = theirs.join(name);
            fs::remove_file(&path).map_err(StoreError::io(&path))?;
        }
        // Only where nothing else lies in it.
        fs::remove_dir(&theirs).ok();
        self.keep_run(plan.now_ms)?;
        Ok(self.report)
    }

    fn take_over(&mut self, device: Device, plan: Plan) -> Result<(), StoreError> {
        self.look(plan.now_ms, true)?;
        folder::take_in(self, &self.place.folder()?)?;
        let mut retired = self.shadow.retired()?;
        retired.insert(device);
        self.shadow
            .set("retired", serde_json::to_string(&retired)?)?;
        for table in ["insight", "edge"] {
            let send = format!("UPDATE {table} SET unsent=1 WHERE instr(known, ?)");
            let marked = self.shadow.db.execute(&send, [device.to_string()]);
            marked.map_err(StoreError::shadow)?;
        }
        self.shadow.keep_clock(&self.clock)
    }
}

/// What a line is about, in a word.
fn title(line: &Line) -> String {
    match line {
        Line::Insight(id, _) => id.clone(),
        Line::Edge(
            Ends {
                source,
                target,
                kind,
            },
            _,
        ) => format!("{source} -{kind}-> {target}"),
    }
}
