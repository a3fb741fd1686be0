//! Announcing: who asks, what they wrote before, what stands now, and whom it meets.
//!
//! | who asks | which peer | where it is kept |
//! |---|---|---|
//! | a link | the link's, whatever the arguments say | in memory; the bridge replays it, the file knows since when |
//! | a legacy HTTP session | the session's | in the file, until the session ends or expires |
//! | modern HTTP with a handle | the handle's | in the file, until [`HTTP_LIFE`] after its last call |
//! | modern HTTP without | a new one, whose handle the answer gives once | the same |
//! | plain HTTP with a name | the one of that name | in the file, for as long as was asked |
//!
//! A handle is 256 random bits and is kept only as a digest; the public id says nothing of it (I14).
//!
//! With an `Idempotency-Key`, sending it again converges: the file keeps under the key who wrote it first, when and as
//! what number, so a later announcement stands against a late copy; the handle is made of the key, so that whoever
//! lost the first answer gets the same one. The answer says what stands now.

use std::time::Duration;

use super::live::{Board, now, row};
use super::peer::{Announcement, Hold, Peer, millis};
use super::tables::AnnouncementRow;
use super::view::CollisionView;
use super::{once, revive, scope, tables};
use crate::floor::clock;
use crate::floor::error::Chain;
use crate::floor::hex;
use crate::floor::limits::HTTP_LIFE;
use crate::floor::text::is_hidden;
use crate::registry::{Caller, OnceKey, PeerId, Presence as _, Refusal, Transport, refusal};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// What is announced.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// One line; empty withdraws what stands under the label.
    pub intent: String,
    /// Paths and globs.
    pub scope: Vec<String>,
    /// Which of the peer's announcements this replaces.
    pub label: String,
    /// The secret handle of a modern HTTP peer.
    pub handle: Option<String>,
    /// How long a plain HTTP caller's announcement stays.
    pub lasts: Option<Duration>,
    /// What wrote it, where it can be replayed; a newer one than that stands against it.
    pub seq: Option<u64>,
    /// A client's own key: under it this is written once.
    pub key: Option<OnceKey>,
}

/// What stands now.
#[derive(Debug, Clone)]
pub struct Announced {
    /// The public id.
    pub id: PeerId,
    /// The new handle, told once.
    pub handle: Option<String>,
    /// The normalised scope that stands.
    pub scope: Vec<String>,
    /// What it meets.
    pub collisions: Vec<CollisionView>,
    /// How many more it meets.
    pub omitted: usize,
}

/// Who asks, found or made.
struct Asker {
    peer: Peer,
    /// It was made for this request.
    new: bool,
    handle: Option<String>,
    durable: bool,
}

/// The number of an announcement, since when it stands and until when.
type Times = (u64, u64, Option<u64>);

impl Board {
    /// Writes an announcement and says whom it meets.
    ///
    /// Cancel safety: once begun, the durable part finishes; dropping the future only loses the answer.
    ///
    /// # Errors
    /// `invalid_input` for a scope that names no paths, `not_found` for an unknown handle, `unavailable` where an HTTP
    /// peer's announcement cannot be kept.
    pub async fn announce(&self, caller: &Caller, draft: Draft) -> Result<Announced, Refusal> {
        let scope = scope::parse(&draft.scope).map_err(|fault| fault.reason().told(&fault))?;
        if draft
            .intent
            .chars()
            .chain(draft.label.chars())
            .any(is_hidden)
        {
            return Err(refusal::HIDDEN.fill(&[]));
        }
        self.sweep();
        // Whoever has no peer of its own is looked up and put into the room as one step: a copy of the same request that
        // is on its way beside it then finds the peer, and does not become another one.
        let _arriving = match caller.peer {
            Some(_) => None,
            None => Some(self.arriving.lock().await),
        };
        let Asker {
            mut peer,
            new,
            handle,
            durable,
        } = self.asker(caller, &draft)?;
        let mut announcement = Announcement {
            intent: draft.intent.trim().to_owned(),
            scope,
            seq: draft.seq.unwrap_or_else(|| self.next_seq()),
            since: now().ms,
            // Where there is nothing to say, there is nothing to end either.
            until: draft
                .lasts
                .filter(|_| !draft.intent.trim().is_empty())
                .map(|lasts| now().ms.saturating_add(millis(lasts))),
        };
        self.room().admits(peer.id, &draft.label, &announcement)?;
        if durable {
            let first = self
                .keep(&peer, new, &draft.label, &announcement, draft.key)
                .await?;
            peer.id = first.0;
            (announcement.seq, announcement.since, announcement.until) = first.1;
        }
        let place = self.place();
        let (id, label) = (peer.id, draft.label);
        let mut room = self.room();
        match room.get_mut(id) {
            Some(known) => known.seen = peer.seen,
            None if caller.peer.is_some() => {
                // Its session ended while the file was written.
                drop(room);
                self.left(id);
                return Err(refusal::HAS_LEFT.fill(&[]));
            }
            None => room.put(peer),
        }
        let written = room.announce(id, &label, announcement)?;
        let standing = room.get(id).and_then(|peer| peer.announcements.get(&label));
        let scope = standing
            .into_iter()
            .flat_map(|each| &each.scope)
            .map(|entry| entry.as_str().to_owned())
            .collect();
        let (collisions, omitted) = super::view::collisions(&room, id, &label, &place);
        let stands = room
            .get(id)
            .and_then(|peer| peer.announcements.get(&label))
            .filter(|_| written && !durable)
            .map(|each| revive::row(&id.to_string(), &label, each));
        drop(room);
        if let Some(row) = stands {
            // The bridge brings the words back; only since when they stand would be lost with this owner.
            self.store.mirror("since when", move |tx, owner| {
                Ok(tables::put_announcement(tx, owner, &row)?)
            });
        }
        if written {
            self.news();
        }
        Ok(Announced {
            id,
            handle,
            scope,
            collisions,
            omitted,
        })
    }

    /// Keeps what no bridge replays, before it is answered; returns whose it is, and its number, since when it stands and
    /// until when, which are those of the first time where `key` was used before. A peer that was made for this request
    /// gives way to the one of the first time: that one may be in the file without having come into the room.
    async fn keep(
        &self,
        peer: &Peer,
        new: bool,
        label: &str,
        announcement: &Announcement,
        key: Option<OnceKey>,
    ) -> Result<(PeerId, Times), Refusal> {
        let mut id = peer.id;
        let mut peer_row = row(peer, false);
        let mut announced = revive::row(&peer_row.id, label, announcement);
        let kept = self.store.write(move |tx, owner| {
            let times = |row: &AnnouncementRow| -> Times { (row.seq, row.since, row.until) };
            if let Some(key) = &key {
                if let Some((digest, result)) = tables::once(tx, owner, key)? {
                    let first = once::first(key, &digest, &result)?;
                    let number = |name| first.get(name).and_then(Value::as_u64);
                    announced.seq = number("seq").unwrap_or(announced.seq);
                    announced.since = number("since").unwrap_or(announced.since);
                    announced.until = number("until");
                    let peer = first.get("peer").and_then(Value::as_str);
                    if let Some(first) = peer.and_then(super::live::id).filter(|_| new) {
                        id = first;
                        peer_row.id = id.to_string();
                        announced.peer.clone_from(&peer_row.id);
                    }
                } else {
                    let (seq, since, until) = times(&announced);
                    let result =
                        json!({"peer": peer_row.id, "seq": seq, "since": since, "until": until});
                    tables::put_once(tx, owner, key, &result.to_string(), clock::now_ms())?;
                }
            }
            tables::put_peer(tx, owner, &peer_row)?;
            tables::put_announcement(tx, owner, &announced)?;
            Ok((id, times(&announced)))
        });
        kept.await.map_err(|error| {
            tracing::warn!(error = %Chain(&error), "an announcement was not kept");
            error.refusal()
        })
    }

    /// Finds the peer behind a handle and counts this as its call.
    ///
    /// # Errors
    /// `not_found` for a handle that nobody has.
    pub fn by_handle(&self, handle: &str) -> Result<PeerId, Refusal> {
        self.sweep();
        let Some(id) = self.of_handle(handle) else {
            let minutes = HTTP_LIFE.as_secs() / 60;
            return Err(refusal::NO_HANDLE.fill(&[&minutes]));
        };
        self.seen(id);
        Ok(id)
    }

    fn of_handle(&self, handle: &str) -> Option<PeerId> {
        let wanted = digest(handle);
        self.room()
            .find(|peer| matches!(&peer.hold, Hold::Handle { digest } if *digest == wanted))
    }

    fn asker(&self, caller: &Caller, draft: &Draft) -> Result<Asker, Refusal> {
        let now = now();
        if let Some(id) = caller.peer {
            self.enter(caller);
            let peer = self.room().get(id).cloned();
            let peer = peer.ok_or_else(|| refusal::HAS_LEFT.fill(&[]))?;
            let durable = peer.transport != Transport::Stdio;
            return Ok(Asker {
                peer,
                new: false,
                handle: None,
                durable,
            });
        }
        let named = caller.transport == Transport::Api && caller.name.is_some();
        // What is sent again without a name or a handle is known by its key.
        let keyed = draft
            .key
            .as_ref()
            .filter(|_| draft.handle.is_none() && !named);
        let made = keyed.map(|key| digest(&format!("handle {}", key.scope)));
        let known = match (&draft.handle, caller.transport, &caller.name) {
            (Some(handle), _, _) => Some(self.by_handle(handle)?),
            _ if made.is_some() => made.as_ref().and_then(|handle| self.of_handle(handle)),
            (None, Transport::Api, Some(name)) => self
                .room()
                .find(|peer| peer.hold == Hold::Named && peer.name.as_ref() == Some(name)),
            _ => None,
        };
        if let Some(mut peer) = known.and_then(|id| self.room().get(id).cloned()) {
            peer.seen = now.ms;
            return Ok(Asker {
                peer,
                new: false,
                handle: made,
                durable: true,
            });
        }
        self.room().has_place()?;
        let (hold, handle) = if named {
            (Hold::Named, None)
        } else {
            let handle = made.map_or_else(new_handle, Ok)?;
            let digest = digest(&handle);
            (Hold::Handle { digest }, Some(handle))
        };
        Ok(Asker {
            peer: Peer::new(PeerId::mint(), caller, hold, now),
            new: true,
            handle,
            durable: true,
        })
    }
}

fn new_handle() -> Result<String, Refusal> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|_| refusal::NO_RANDOM.fill(&[]))?;
    Ok(hex::encode(&bytes))
}

fn digest(handle: &str) -> String {
    hex::encode(&Sha256::digest(handle.as_bytes()))
}
