//! What a session finds in the store: all of it, or what mnemon's log names since the last look.
//!
//! A look at everything is for whoever imports, and for `verify`; a store that its [`Witness`] proves unchanged is not read
//! at all.

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher as _, RandomState};

use super::{Plan, Session};
use crate::stores::error::StoreError;
use crate::stores::observe::{self, Look, Row, is_alive};
use crate::stores::progress;
use crate::stores::registers::{Edge, Ends, Insight, Payload};
use crate::stores::schema::{Live, LogEnd, Reading};
use crate::stores::shadow::Mark;
use crate::stores::witness::Witness;

/// The witness of a look at everything, and of one at what the log named.
const WITNESSES: [&str; 2] = ["witness", "witness of the log"];

impl Session {
    /// Whether the store is as it was when it was last looked at so thoroughly.
    pub(super) fn is_as_witnessed(
        &self,
        witness: Option<&Witness>,
        thorough: bool,
    ) -> Result<bool, StoreError> {
        let Some(witness) = witness else {
            return Ok(false);
        };
        for key in WITNESSES.iter().take(if thorough { 1 } else { 2 }) {
            if self.shadow.meta(key)?.as_ref() == Some(&witness.told) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Keeps what the store looked like before it was looked at, once all is done that there was to do.
    pub(super) fn bear_witness(&self, witness: &Witness, plan: Plan) -> Result<(), StoreError> {
        if !witness.is_settled(plan.now_ms) || self.report.written > 0 {
            return Ok(());
        }
        let [all, named] = WITNESSES;
        let key = if plan.import { all } else { named };
        self.shadow.set(key, &witness.told)
    }

    /// Reads the store and stamps what differs from what was last seen.
    pub(super) fn look(&mut self, now_ms: u64, thorough: bool) -> Result<(), StoreError> {
        let live = Live::open(&self.place.live)?;
        let reading = live.reading(self.clock.device)?;
        self.shadow.settle(reading.batch)?;
        let restored = reading.batch < self.shadow.number("batch")?;
        self.report.restored |= restored;
        if restored {
            self.shadow.set("batch", reading.batch)?;
            self.shadow
                .run("UPDATE insight SET pending=1; UPDATE edge SET pending=1;")?;
        }
        let look = Look {
            stamp: self.clock.tick(now_ms),
            is_first: restored || self.shadow.number("looked")? == 0,
        };
        self.shadow.set("looked", 1)?;
        let only = if thorough || look.is_first {
            None
        } else {
            let seen = self.shadow.meta("log end")?;
            let seen: Option<LogEnd> = seen.and_then(|text| serde_json::from_str(&text).ok());
            match seen {
                // A change that the log says nothing of is somebody else's than mnemon's.
                Some(seen) => reading
                    .named_since(&seen)?
                    .filter(|named| !named.is_empty()),
                None => None,
            }
        };
        let unreadable = self.look_at_rows(&reading, only.as_ref(), &look)?
            + self.look_at_edges(&reading, only.as_ref(), &look)?;
        if unreadable > 0 {
            let what = format!("{unreadable} rows of the store cannot be read and stay here");
            self.report.troubles.push(what);
        }
        self.shadow
            .set("log end", serde_json::to_string(&reading.log)?)
    }

    fn look_at_rows(
        &mut self,
        reading: &Reading<'_>,
        only: Option<&BTreeSet<String>>,
        look: &Look,
    ) -> Result<u64, StoreError> {
        let pruned = reading.pruned()?;
        let mut found = HashSet::new();
        let unreadable = reading.rows(only, |id, now| {
            self.look_at_row(&id, &now, pruned.contains(&id), look)?;
            found.insert(id);
            progress::step(&self.place.name, "insights read", found.len() as u64);
            Ok(())
        })?;
        let gone = self.missing(
            "SELECT id, '', '' FROM insight WHERE seen IS NOT NULL",
            |ends| {
                !found.contains(&ends.source) && only.is_none_or(|only| only.contains(&ends.source))
            },
        )?;
        for id in gone {
            let clear = "UPDATE insight SET seen=NULL, pending=1 WHERE id=?";
            self.shadow
                .db
                .execute(clear, [&id.source])
                .map_err(StoreError::shadow)?;
            self.shadow.touch_edges(&id.source)?;
        }
        Ok(unreadable)
    }

    fn look_at_row(
        &mut self,
        id: &str,
        now: &Row,
        pruned: bool,
        look: &Look,
    ) -> Result<(), StoreError> {
        let found = self.shadow.insight::<Insight, Row>(id)?;
        let seen = found.as_ref().and_then(|entry| entry.seen.as_ref());
        if seen == Some(now) {
            return Ok(());
        }
        let mut known = found
            .as_ref()
            .map(|entry| entry.known.clone())
            .unwrap_or_default();
        let unsent = observe::row(&mut known, seen, now, pruned, look);
        if seen.is_some_and(is_alive) != is_alive(now) {
            self.shadow.touch_edges(id)?;
        }
        self.report.changed_here += u64::from(unsent);
        // What was known before it was seen, or differs in what does not travel, is compared with the store.
        let mark = Mark {
            pending: found.is_some(),
            unsent,
        };
        let seen = serde_json::to_string(now)?;
        self.shadow.keep_insight(id, &known, Some(&seen), mark)
    }

    fn look_at_edges(
        &mut self,
        reading: &Reading<'_>,
        only: Option<&BTreeSet<String>>,
        look: &Look,
    ) -> Result<u64, StoreError> {
        // Hashes stand for the edges that were found: there can be many, and whoever is not among them is looked for.
        let (hasher, mut found) = (RandomState::new(), HashSet::new());
        let unreadable = reading.edges(only, |ends, now| {
            if found.insert(hasher.hash_one(&ends)) {
                self.look_at_edge(reading, &ends, Some(&now), look)?;
            }
            Ok(())
        })?;
        let gone = self.missing(
            "SELECT source, target, kind FROM edge WHERE seen IS NOT NULL",
            |ends| {
                let is_meant = |only: &BTreeSet<String>| {
                    only.contains(&ends.source) || only.contains(&ends.target)
                };
                !found.contains(&hasher.hash_one(ends)) && only.is_none_or(is_meant)
            },
        )?;
        for ends in gone {
            self.look_at_edge(reading, &ends, None, look)?;
        }
        Ok(unreadable)
    }

    fn look_at_edge(
        &mut self,
        reading: &Reading<'_>,
        ends: &Ends,
        now: Option<&Payload>,
        look: &Look,
    ) -> Result<(), StoreError> {
        let found = self.shadow.edge::<Edge, Payload>(ends)?;
        let seen = found.as_ref().and_then(|entry| entry.seen.as_ref());
        if seen == now {
            return Ok(());
        }
        let known = found.as_ref().map(|entry| &entry.known);
        let is_edit = reading.is_alive(&ends.source)? && reading.is_alive(&ends.target)?;
        let changed = observe::edge(known, seen, now, is_edit, look);
        self.report.changed_here += u64::from(changed.is_some());
        // Whoever linked what is dead may have read it while it was alive: such an edge stands in no store.
        let mark = Mark {
            pending: found.is_some() || !is_edit,
            unsent: changed.is_some(),
        };
        let Some(edge) = changed.as_ref().or(known) else {
            return Ok(());
        };
        let text = now.map(serde_json::to_string).transpose()?;
        self.shadow.keep_edge(ends, edge, text.as_deref(), mark)
    }
}
