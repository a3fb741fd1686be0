//! Who meets whom.
//!
//! Every pair of announcements of different peers, or of different labels of one peer (its subagents), is compared
//! entry by entry. The number named and the effort are bounded; how many more there are is said.

use super::peer::{Announcement, Peer};
use super::scope::Effort;
use crate::floor::limits::{COLLISIONS, COMPARISONS};

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
            search.compare(one, *other);
        }
        search.found
    }

    /// Where any two meet, each pair once.
    pub(super) fn among(claims: &[Claim<'a>]) -> Self {
        let mut search = Search::default();
        for (index, one) in claims.iter().enumerate() {
            for other in claims.iter().skip(index + 1) {
                search.compare(*one, *other);
            }
        }
        search.found
    }
}

/// One answer's search: what it found, and what it may still cost.
struct Search<'a> {
    found: Found<'a>,
    effort: Effort,
    comparisons: usize,
}

impl Default for Search<'_> {
    fn default() -> Self {
        Self {
            found: Found::default(),
            effort: Effort::default(),
            comparisons: COMPARISONS,
        }
    }
}

impl<'a> Search<'a> {
    fn compare(&mut self, one: Claim<'a>, other: Claim<'a>) {
        for mine in &one.announcement.scope {
            for theirs in &other.announcement.scope {
                let Some(left) = self.comparisons.checked_sub(1) else {
                    // Whatever was not compared counts as one more at least.
                    self.found.omitted = self.found.omitted.max(1);
                    return;
                };
                self.comparisons = left;
                if !mine.meets_within(theirs, &mut self.effort) {
                    continue;
                }
                if self.found.meetings.len() < COLLISIONS {
                    let entries = (mine.as_str(), theirs.as_str());
                    self.found.meetings.push(Meeting {
                        one,
                        other,
                        entries,
                    });
                } else {
                    self.found.omitted += 1;
                }
            }
        }
    }
}
