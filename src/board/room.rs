//! Who is here: the board's memory, with no I/O and time given from outside.
//!
//! Bridges replay what their clients announced, so this is rebuilt within milliseconds of a change of owner; HTTP peers
//! come from the file. *Expected*: a link peer last known of this root that has not come back yet. What ends without a
//! word (a broken link, an expired session) leaves at the next look: nothing here ticks (I12).

use std::collections::{BTreeMap, BTreeSet};

use super::peer::{Announcement, Hold, Now, Peer};
use crate::floor::limits::{BOARD_BYTES, COME_BACK, LABELS, SESSIONS};
use crate::registry::{Caller, PeerId, Refusal, RefusalCode, Transport};

/// Everyone who is here, and everyone who is expected back.
#[derive(Debug, Default)]
pub(super) struct Room {
    peers: BTreeMap<PeerId, Peer>,
    expected: BTreeSet<PeerId>,
    /// When waiting for the expected began.
    since: Option<std::time::Instant>,
}

/// What [`Room::enter`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entered {
    /// A new peer, or one with a new name.
    Changed,
    /// Nothing that others would see.
    Known,
}

impl Room {
    pub(super) fn expect(&mut self, peers: impl IntoIterator<Item = PeerId>, now: Now) {
        let here = &self.peers;
        self.expected
            .extend(peers.into_iter().filter(|id| !here.contains_key(id)));
        self.since = Some(now.at);
    }

    /// Whether everyone who was last known is back or given up.
    pub(super) fn is_complete(&self) -> bool {
        self.expected.is_empty()
    }

    pub(super) fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.peers.values()
    }

    pub(super) fn get(&self, id: PeerId) -> Option<&Peer> {
        self.peers.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: PeerId) -> Option<&mut Peer> {
        self.peers.get_mut(&id)
    }

    pub(super) fn find(&self, wanted: impl Fn(&Peer) -> bool) -> Option<PeerId> {
        self.peers
            .values()
            .find(|peer| wanted(peer))
            .map(|peer| peer.id)
    }

    /// Whether another HTTP peer may come.
    pub(super) fn has_place(&self) -> Result<(), Refusal> {
        let count = self
            .peers
            .values()
            .filter(|peer| peer.transport != Transport::Stdio)
            .count();
        if count < SESSIONS {
            return Ok(());
        }
        Err(Refusal::new(
            RefusalCode::Unavailable,
            format!("{count} peers without a link are here, and no more are taken"),
        )
        .hint("call again later"))
    }

    pub(super) fn put(&mut self, peer: Peer) {
        self.peers.insert(peer.id, peer);
    }

    pub(super) fn enter(&mut self, caller: &Caller, now: Now) -> Entered {
        let Some(id) = caller.peer else {
            return Entered::Known;
        };
        self.expected.remove(&id);
        let Some(peer) = self.peers.get_mut(&id) else {
            let hold = match caller.transport {
                Transport::Stdio => Hold::Link { broken: None },
                Transport::Http => Hold::Session,
                Transport::Api => Hold::Named,
            };
            self.put(Peer::new(id, caller, hold, now));
            return Entered::Changed;
        };
        peer.seen = now.ms;
        let mut changed = false;
        if let Hold::Link { broken } = &mut peer.hold {
            changed |= broken.take().is_some();
        }
        for (known, given) in [
            (&mut peer.name, &caller.name),
            (&mut peer.version, &caller.version),
        ] {
            if given.is_some() && known != given {
                known.clone_from(given);
                changed = true;
            }
        }
        if changed {
            Entered::Changed
        } else {
            Entered::Known
        }
    }

    pub(super) fn leave(&mut self, id: PeerId) -> bool {
        let expected = self.expected.remove(&id);
        self.peers.remove(&id).is_some() || expected
    }

    pub(super) fn detach(&mut self, id: PeerId, now: Now) -> bool {
        let Some(Peer {
            hold: Hold::Link { broken },
            ..
        }) = self.peers.get_mut(&id)
        else {
            return false;
        };
        let news = broken.is_none();
        broken.get_or_insert(now.at);
        news
    }

    /// Shows out whoever nothing holds any more, and returns them; also those that were expected for too long.
    pub(super) fn sweep(&mut self, now: Now) -> Vec<PeerId> {
        let mut gone: Vec<_> = self
            .peers
            .values()
            .filter(|peer| peer.is_gone(now))
            .map(|peer| peer.id)
            .collect();
        for id in &gone {
            self.peers.remove(id);
        }
        if self
            .since
            .is_some_and(|since| now.at.saturating_duration_since(since) >= COME_BACK)
        {
            gone.extend(std::mem::take(&mut self.expected));
        }
        gone
    }

    /// Writes what a peer announces under a label; an older `seq` than the one that stands changes nothing.
    ///
    /// Announced again in the same words, it keeps the time since when it stands.
    pub(super) fn announce(
        &mut self,
        id: PeerId,
        label: &str,
        mut announcement: Announcement,
    ) -> Result<bool, Refusal> {
        let bytes: usize = self.peers.values().map(Peer::bytes).sum();
        let Some(peer) = self.peers.get_mut(&id) else {
            return Err(Refusal::new(RefusalCode::NotFound, "this peer has left"));
        };
        if let Some(known) = peer.announcements.get(label) {
            if known.seq > announcement.seq {
                return Ok(false);
            }
            if known.intent == announcement.intent && known.scope == announcement.scope {
                announcement.since = known.since;
            }
        } else {
            make_place(peer)?;
        }
        if bytes + announcement.bytes() > BOARD_BYTES {
            return Err(Refusal::new(
                RefusalCode::Unavailable,
                "everyone's announcements together are too large for the board",
            )
            .hint("announce fewer paths, or globs in their place"));
        }
        peer.announcements.insert(label.to_owned(), announcement);
        Ok(true)
    }
}

/// Makes place for one more label: the oldest withdrawn one is forgotten.
fn make_place(peer: &mut Peer) -> Result<(), Refusal> {
    if peer.announcements.len() < LABELS {
        return Ok(());
    }
    let oldest = peer
        .announcements
        .iter()
        .filter(|(_, each)| each.intent.is_empty())
        .min_by_key(|(_, each)| each.seq)
        .map(|(label, _)| label.clone());
    match oldest {
        Some(label) => drop(peer.announcements.remove(&label)),
        None => {
            return Err(Refusal::new(
                RefusalCode::InvalidInput,
                format!(
                    "argument `label` is the {}th of this peer: expected at most {LABELS} labels",
                    LABELS + 1
                ),
            )
            .hint("withdraw one by announcing an empty intent under its label"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
