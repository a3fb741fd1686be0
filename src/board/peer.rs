//! A peer and what it announced, as the board holds them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::scope::Entry;
use crate::floor::limits::{COME_BACK, HTTP_LIFE, SESSION_EXPIRY};
use crate::registry::{Caller, PeerId, Transport};

/// This moment on both clocks: one that never jumps for what decides, the wall's for what is shown or outlives the
/// process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now {
    pub(super) at: Instant,
    pub(super) ms: u64,
}

/// One announcement.
#[derive(Debug, Clone)]
pub(super) struct Announcement {
    /// Empty: withdrawn; only `seq` still counts.
    pub(super) intent: String,
    pub(super) scope: Vec<Entry>,
    /// What wrote it; an older one never overwrites it.
    pub(super) seq: u64,
    pub(super) since: u64,
    /// An end that was asked for, such as `announce --for`; else it ends with its peer.
    pub(super) until: Option<u64>,
}

impl Announcement {
    /// Whether the end that was asked for has come.
    fn is_over(&self, now: Now) -> bool {
        self.until.is_some_and(|until| now.ms >= until)
    }

    /// About how much of the board it takes.
    pub(super) fn bytes(&self) -> usize {
        self.intent.len()
            + self
                .scope
                .iter()
                .map(|entry| entry.as_str().len() + 32)
                .sum::<usize>()
    }
}

/// What keeps a peer here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hold {
    /// A link: until it ends, or breaks for longer than [`COME_BACK`].
    Link {
        /// When it broke.
        broken: Option<Instant>,
    },
    /// A legacy HTTP session: until it ends or expires.
    Session,
    /// A secret handle, here only as its digest: until some time after its last call.
    Handle {
        /// SHA-256 of the handle, hex.
        digest: String,
    },
    /// A plain HTTP caller that is known by its name, such as a user's terminal.
    Named,
}

/// One peer.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    pub(super) id: PeerId,
    pub(super) transport: Transport,
    pub(super) name: Option<String>,
    pub(super) version: Option<String>,
    pub(super) hold: Hold,
    pub(super) joined: u64,
    pub(super) seen: u64,
    /// When the file was last told of `seen`.
    pub(super) kept: u64,
    /// By label.
    pub(super) announcements: BTreeMap<String, Announcement>,
}

impl Peer {
    pub(super) fn new(id: PeerId, caller: &Caller, hold: Hold, now: Now) -> Self {
        Self {
            id,
            transport: caller.transport,
            name: caller.name.clone(),
            version: caller.version.clone(),
            hold,
            joined: born(id).filter(|ms| *ms <= now.ms).unwrap_or(now.ms),
            seen: now.ms,
            kept: now.ms,
            announcements: BTreeMap::new(),
        }
    }

    /// About how much of the board its announcements take.
    pub(super) fn bytes(&self) -> usize {
        self.announcements.values().map(Announcement::bytes).sum()
    }

    /// What stands, by label: withdrawn ones left out.
    pub(super) fn standing(&self) -> impl Iterator<Item = (&str, &Announcement)> {
        self.announcements
            .iter()
            .filter(|(_, each)| !each.intent.is_empty())
            .map(|(label, each)| (label.as_str(), each))
    }

    /// Whether the peer's link, stream or last call says that it is there.
    pub(super) fn is_attached(&self, now: Now) -> bool {
        match self.hold {
            Hold::Link { broken } => broken.is_none(),
            Hold::Session | Hold::Handle { .. } | Hold::Named => {
                now.ms.saturating_sub(self.seen) < millis(HTTP_LIFE)
            }
        }
    }

    /// Whether nothing holds the peer any more.
    pub(super) fn is_gone(&self, now: Now) -> bool {
        match self.hold {
            Hold::Link { broken } => {
                broken.is_some_and(|since| now.at.saturating_duration_since(since) >= COME_BACK)
            }
            Hold::Session => now.ms.saturating_sub(self.seen) >= millis(SESSION_EXPIRY),
            // Whoever said how long its words stay is here for as long as the last of them.
            Hold::Handle { .. } | Hold::Named => {
                let silent = self.seen.saturating_add(millis(HTTP_LIFE));
                let ends = |each: &Announcement| each.until.unwrap_or(silent);
                let asked = self.announcements.values().any(|each| each.until.is_some());
                let last = self.announcements.values().map(ends).max();
                now.ms >= last.filter(|_| asked).unwrap_or(silent)
            }
        }
    }

    /// Takes what is over off the board, and returns its labels.
    pub(super) fn end(&mut self, now: Now) -> Vec<String> {
        let over = self
            .announcements
            .extract_if(.., |_, each| each.is_over(now));
        over.map(|(label, _)| label).collect()
    }
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// When an id was minted: a bridge mints it when its client starts, so it says when the peer joined even after a
/// change of owner.
fn born(id: PeerId) -> Option<u64> {
    let (seconds, nanos) = id.0.get_timestamp()?.to_unix();
    Some(
        seconds
            .saturating_mul(1000)
            .saturating_add(u64::from(nanos) / 1_000_000),
    )
}
