//! Who is here: the board's memory, with no I/O and time given from outside.
//!
//! Bridges replay what their clients announced, so this is rebuilt within milliseconds of a change of owner; HTTP peers
//! come from the file. *Expected*: a link peer last known of this root that has not come back yet. What ends without a
//! word (a broken link, an expired session) leaves at the next look: nothing here ticks (I12).

use std::collections::BTreeMap;
use std::time::Instant;

use super::peer::{Announcement, Hold, Now, Peer};
use crate::floor::limits::{BOARD_BYTES, COME_BACK, LABELS, SESSIONS};
use crate::registry::{Caller, PeerId, Refusal, Transport, refusal};

/// Everyone who is here, and everyone who is expected back.
#[derive(Debug, Default)]
pub(super) struct Room {
    peers: BTreeMap<PeerId, Peer>,
    /// Whoever is not back yet, or has not said everything again, and since when that is waited for.
    expected: BTreeMap<PeerId, Instant>,
    /// Since when announcements of the expected stood, by label, with the number that wrote each.
    stood: BTreeMap<(PeerId, String), (u64, u64)>,
}

/// What a look at the room found to be over.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Over {
    /// Peers that nothing holds any more, and those that were expected for too long.
    pub(super) peers: Vec<PeerId>,
    /// Announcements of peers that stay, by label.
    pub(super) announcements: Vec<(PeerId, String)>,
}

impl Over {
    pub(super) fn is_empty(&self) -> bool {
        self.peers.is_empty() && self.announcements.is_empty()
    }
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
        let away = peers.into_iter().filter(|id| !here.contains_key(id));
        self.expected.extend(away.map(|id| (id, now.at)));
    }

    /// Takes in a peer whose kept frames have yet to be replayed.
    pub(super) fn returning(&mut self, caller: &Caller, now: Now) -> Entered {
        if let Some(id) = caller.peer {
            self.expected.insert(id, now.at);
        }
        self.enter(caller, now)
    }

    /// Everything that was kept for a peer has been replayed; whether somebody waited for that.
    pub(super) fn returned(&mut self, id: PeerId) -> bool {
        self.expected.remove(&id).is_some()
    }

    /// Remembers since when an announcement stood, for when its bridge replays it.
    pub(super) fn stood(&mut self, id: PeerId, label: &str, seq: u64, since: u64) {
        self.stood.insert((id, label.to_owned()), (seq, since));
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
        Err(refusal::FULL_ROOM.fill(&[&count]))
    }

    pub(super) fn put(&mut self, peer: Peer) {
        self.peers.insert(peer.id, peer);
    }

    pub(super) fn enter(&mut self, caller: &Caller, now: Now) -> Entered {
        let Some(id) = caller.peer else {
            return Entered::Known;
        };
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
        let expected = self.returned(id);
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

    /// Shows out whoever nothing holds any more, gives up those that were expected for too long, and takes down the
    /// announcements whose time is over.
    pub(super) fn sweep(&mut self, now: Now) -> Over {
        let mut gone: Vec<_> = self
            .peers
            .values()
            .filter(|peer| peer.is_gone(now))
            .map(|peer| peer.id)
            .collect();
        for id in &gone {
            self.peers.remove(id);
        }
        let given_up = self
            .expected
            .extract_if(.., |_, since| {
                now.at.saturating_duration_since(*since) >= COME_BACK
            })
            .map(|(id, _)| id);
        // One that came and never said everything is here all the same.
        gone.extend(given_up.filter(|id| !self.peers.contains_key(id)));
        if self.expected.is_empty() {
            self.stood.clear();
        }
        let mut announcements = Vec::new();
        for peer in self.peers.values_mut() {
            let ended = peer.end(now).into_iter();
            announcements.extend(ended.map(|label| (peer.id, label)));
        }
        Over {
            peers: gone,
            announcements,
        }
    }

    /// Whether an announcement has a place: under its label, and on the board as a whole.
    ///
    /// # Errors
    /// `invalid_input` for a label too many, `unavailable` for a board that is full.
    pub(super) fn admits(
        &self,
        id: PeerId,
        label: &str,
        announcement: &Announcement,
    ) -> Result<(), Refusal> {
        let peer = self.peers.get(&id);
        let labels = peer.map(|peer| &peer.announcements);
        let full = labels.is_some_and(|labels| {
            let withdrawn = labels.values().any(|each| each.intent.is_empty());
            labels.len() >= LABELS && !withdrawn && !labels.contains_key(label)
        });
        if full {
            return Err(refusal::MANY_LABELS.fill(&[&LABELS]));
        }
        let replaced = labels.and_then(|labels| labels.get(label));
        let others: usize = self.peers.values().map(Peer::bytes).sum();
        let bytes = others + announcement.bytes();
        if bytes.saturating_sub(replaced.map_or(0, Announcement::bytes)) > BOARD_BYTES {
            return Err(refusal::FULL_BOARD.fill(&[]));
        }
        Ok(())
    }

    /// Writes what a peer announces under a label; an older `seq` than the one that stands changes nothing.
    ///
    /// Announced again in the same words, or replayed to a new owner, it keeps the time since when it stands.
    ///
    /// # Errors
    /// Those of [`Room::admits`], and `not_found` for a peer that has left.
    pub(super) fn announce(
        &mut self,
        id: PeerId,
        label: &str,
        mut announcement: Announcement,
    ) -> Result<bool, Refusal> {
        self.admits(id, label, &announcement)?;
        let Some(peer) = self.peers.get_mut(&id) else {
            return Err(refusal::HAS_LEFT.fill(&[]));
        };
        if let Some(known) = peer.announcements.get(label) {
            if known.seq > announcement.seq {
                return Ok(false);
            }
            if known.intent == announcement.intent && known.scope == announcement.scope {
                announcement.since = known.since;
            }
        } else {
            make_place(peer);
        }
        let stood = self.stood.remove(&(id, label.to_owned()));
        if let Some((_, since)) = stood.filter(|(seq, _)| *seq == announcement.seq) {
            announcement.since = since;
        }
        peer.announcements.insert(label.to_owned(), announcement);
        Ok(true)
    }
}

/// Makes place for one more label: the oldest withdrawn one is forgotten.
fn make_place(peer: &mut Peer) {
    if peer.announcements.len() < LABELS {
        return;
    }
    let oldest = peer
        .announcements
        .iter()
        .filter(|(_, each)| each.intent.is_empty())
        .min_by_key(|(_, each)| each.seq)
        .map(|(label, _)| label.clone());
    if let Some(label) = oldest {
        peer.announcements.remove(&label);
    }
}

#[cfg(test)]
mod tests;
