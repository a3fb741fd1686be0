//! Who meets whom.
//!
//! Every pair of announcements of different peers, or of different labels of one peer (its subagents), is compared
//! entry by entry. The number named is bounded; how many more there are is said.

use super::peer::{Announcement, Peer};

/// Pairs of entries that one answer names.
pub(super) const NAMED: usize = 100;

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
        let mut found = Self::default();
        for other in others.iter().filter(|other| !one.is(other)) {
            found.compare(one, *other);
        }
        found
    }

    /// Where any two meet, each pair once.
    pub(super) fn among(claims: &[Claim<'a>]) -> Self {
        let mut found = Self::default();
        for (index, one) in claims.iter().enumerate() {
            for other in claims.iter().skip(index + 1) {
                found.compare(*one, *other);
            }
        }
        found
    }

    fn compare(&mut self, one: Claim<'a>, other: Claim<'a>) {
        for mine in &one.announcement.scope {
            for theirs in &other.announcement.scope {
                if !mine.meets(theirs) {
                    continue;
                }
                if self.meetings.len() < NAMED {
                    let entries = (mine.as_str(), theirs.as_str());
                    self.meetings.push(Meeting {
                        one,
                        other,
                        entries,
                    });
                } else {
                    self.omitted += 1;
                }
            }
        }
    }
}
