//! Who meets whom.
//!
//! Announcements of different peers, or of different labels of one peer (its subagents), are compared entry by entry.
//! Only entries of which one begins as the other does can meet, so those of a crowd are sorted by their beginnings and
//! most pairs are never looked at. The number named, their size and the effort are bounded; how many more there are is
//! said, and past the effort whatever could meet counts.

use super::peer::{Announcement, Peer};
use super::scope::{Effort, Entry};
use crate::floor::limits::{COLLISIONS, COLLISIONS_BYTES, COMPARISONS};

/// One announcement with whose it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim<'a> {
    pub(super) peer: &'a Peer,
    pub(super) label: &'a str,
    pub(super) announcement: &'a Announcement,
}

impl Claim<'_> {
    fn is(&self, other: &Self) -> bool {
        self.peer.id == other.peer.id && self.label == other.label
    }
}

/// Two entries that meet: whose, and which.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meeting<'a> {
    pub(super) one: Claim<'a>,
    pub(super) other: Claim<'a>,
    pub(super) entries: (&'a str, &'a str),
}

/// What was found, and how many more there are.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    pub(super) meetings: Vec<Meeting<'a>>,
    pub(super) omitted: usize,
}

pub(super) fn claims<'a>(peers: impl Iterator<Item = &'a Peer>) -> Vec<Claim<'a>> {
    peers
        .flat_map(|peer| {
            peer.standing().map(move |(label, announcement)| Claim {
                peer,
                label,
                announcement,
            })
        })
        .collect()
}

impl<'a> Found<'a> {
    /// Where `one` meets any of the others.
    pub(super) fn with(one: Claim<'a>, others: &[Claim<'a>]) -> Self {
        let mut search = Search::default();
        for other in others.iter().filter(|other| !one.is(other)) {
            for mine in &one.announcement.scope {
                for theirs in &other.announcement.scope {
                    search.compare((one, mine), (*other, theirs));
                }
            }
        }
        search.found
    }

    /// Where any two meet, each pair once, by their paths.
    pub(super) fn among(claims: &[Claim<'a>]) -> Self {
        let mut search = Search::default();
        let entries = claims.iter().enumerate().flat_map(|(index, claim)| {
            let scope = claim.announcement.scope.iter();
            scope.map(move |entry| (entry.beginning(), index, entry))
        });
        let mut entries: Vec<(&str, usize, &Entry)> = entries.collect();
        entries.sort_by_key(|(beginning, index, _)| (*beginning, *index));
        // Those that the current one begins with, and how many of them each claim has.
        let mut above: Vec<(&str, usize, &Entry)> = Vec::new();
        let mut own = vec![0; claims.len()];
        for (beginning, index, entry) in entries {
            while let Some((shorter, gone, _)) = above.last()
                && !beginning.starts_with(shorter)
            {
                own[*gone] -= 1;
                above.pop();
            }
            if search.comparisons >= above.len() {
                for (_, theirs, other) in above.iter().filter(|(_, theirs, _)| *theirs != index) {
                    let (earlier, later) = if *theirs < index {
                        ((claims[*theirs], *other), (claims[index], entry))
                    } else {
                        ((claims[index], entry), (claims[*theirs], *other))
                    };
                    search.compare(earlier, later);
                }
            } else {
                search.found.omitted += above.len() - own[index];
            }
            above.push((beginning, index, entry));
            own[index] += 1;
        }
        search.found
    }
}

/// One answer's search: what it found, and what it may still cost.
struct Search<'a> {
    found: Found<'a>,
    effort: Effort,
    comparisons: usize,
    bytes: usize,
}

impl Default for Search<'_> {
    fn default() -> Self {
        Self {
            found: Found::default(),
            effort: Effort::default(),
            comparisons: COMPARISONS,
            bytes: COLLISIONS_BYTES,
        }
    }
}

impl<'a> Search<'a> {
    fn compare(&mut self, one: (Claim<'a>, &'a Entry), other: (Claim<'a>, &'a Entry)) {
        let ((one, mine), (other, theirs)) = (one, other);
        match self.comparisons.checked_sub(1) {
            Some(left) => {
                self.comparisons = left;
                if !mine.meets_within(theirs, &mut self.effort) {
                    return;
                }
            }
            None if !mine.could_meet(theirs) => return,
            None => {}
        }
        let entries = (mine.as_str(), theirs.as_str());
        let bytes = entries.0.len() + entries.1.len() + other.announcement.intent.len();
        match self.bytes.checked_sub(bytes) {
            Some(left) if self.found.meetings.len() < COLLISIONS => {
                self.bytes = left;
                self.found.meetings.push(Meeting {
                    one,
                    other,
                    entries,
                });
            }
            _ => self.found.omitted += 1,
        }
    }
}

#[cfg(test)]
mod tests;
