//! The board of one owner: the room in memory, the file behind it.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

use super::greeting;
use super::peer::{Hold, Now, Peer, millis};
use super::room::{Entered, Over, Room};
use super::store::{Owner, Place, Store, StoreError};
use super::tables::{self, PeerRow};
use super::view::{PeersView, Where};
use crate::floor::clock;
use crate::floor::error::Chain;
use crate::floor::limits::{ONCE_KEY, SETTLE};
use crate::registry::{Caller, Changes, PeerId, Presence, Transport};

/// The resource that changes when someone joins, leaves or announces.
pub const PEERS_URI: &str = "majordomus://peers";

/// How old what the file knows of an HTTP peer's last call may be.
const TOUCH_MS: u64 = 60_000;

/// What a board needs to know.
#[derive(Clone)]
pub struct Config {
    /// Where its file is; [`Place::Memory`] for a process that serves alone.
    pub place: Place,
    /// Whose rows are its own.
    pub owner: Owner,
    /// The name of the checkout's folder.
    pub checkout: String,
    /// Reads the branch that is checked out now.
    pub branch: Arc<dyn Fn() -> Option<String> + Send + Sync>,
    /// What the greeting tells a newcomer to do, under 150 bytes.
    pub advice: &'static str,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// Everyone on this checkout's server.
///
/// Cheap to make: no file is touched before [`Board::epoch`] or the first durable write.
#[derive(Debug)]
pub struct Board {
    pub(super) config: Config,
    pub(super) store: Arc<Store>,
    pub(super) changes: Changes,
    room: Mutex<Room>,
    arrived: Notify,
    /// Held while a peer without a link or session comes into the room, which waits for the file.
    pub(super) arriving: tokio::sync::Mutex<()>,
    /// The last number given to an announcement that came without one.
    last_seq: AtomicU64,
    /// The owner's own client.
    own: Mutex<Option<PeerId>>,
    /// Keys that may be in the file.
    keys: Mutex<HashSet<(String, u64)>>,
}

impl Board {
    /// Makes an empty board.
    #[must_use]
    pub fn open(config: Config, changes: Changes) -> Arc<Self> {
        Arc::new(Self {
            store: Store::new(config.place.clone(), config.owner.clone()),
            config,
            changes,
            room: Mutex::default(),
            arrived: Notify::new(),
            arriving: tokio::sync::Mutex::default(),
            last_seq: AtomicU64::new(0),
            own: Mutex::default(),
            keys: Mutex::default(),
        })
    }

    /// Opens the file, takes an epoch for this owner and reads who was here: called once, before the server's address is
    /// published. Returns the epoch: above every earlier one of this root and at least `at_least`.
    ///
    /// A file that cannot be used is logged; the board then lives in memory, and durable writes say `unavailable`.
    pub async fn epoch(&self, at_least: u64) -> u64 {
        let epoch = match self.store.take_epoch(at_least).await {
            Ok(epoch) => epoch,
            Err(error) => {
                tracing::warn!(error = %Chain(&error), "the board's file cannot be used: peers are kept in memory");
                return at_least;
            }
        };
        if let Err(error) = self.load().await {
            tracing::warn!(error = %Chain(&error), "the peers last known cannot be read");
        }
        epoch
    }

    /// Says which peer is the client of the owner's own process: the next owner does not wait for it.
    pub fn own(&self, peer: PeerId) {
        *lock(&self.own) = Some(peer);
        let row = self.room().get(peer).map(|peer| row(peer, true));
        if let Some(row) = row {
            self.store.mirror("own peer", move |tx, owner| {
                Ok(tables::put_peer(tx, owner, &row)?)
            });
        }
    }

    /// Waits until the peers last known are back, at most [`SETTLE`]; whether they all are.
    pub async fn settled(&self) -> bool {
        let all = async {
            loop {
                let arrived = self.arrived.notified();
                if self.room().is_complete() {
                    return;
                }
                arrived.await;
            }
        };
        // Past the bound the answer says that it is not complete.
        drop(tokio::time::timeout(SETTLE, all).await);
        self.sweep();
        self.room().is_complete()
    }

    /// Shows everyone; `you` is the asking peer.
    #[must_use]
    pub fn peers(&self, you: Option<PeerId>) -> PeersView {
        self.sweep();
        super::view::peers(&self.room(), you, &self.place(), now())
    }

    /// How many peers are attached now.
    #[must_use]
    pub fn attached(&self) -> usize {
        let now = now();
        self.room()
            .peers()
            .filter(|peer| peer.is_attached(now))
            .count()
    }

    pub(super) fn room(&self) -> MutexGuard<'_, Room> {
        lock(&self.room)
    }

    pub(super) fn keys(&self) -> MutexGuard<'_, HashSet<(String, u64)>> {
        lock(&self.keys)
    }

    pub(super) fn place(&self) -> Where {
        Where {
            checkout: self.config.checkout.clone(),
            branch: (self.config.branch)(),
        }
    }

    /// A number above every earlier one of this process, and above those of earlier owners as far as clocks agree.
    pub(super) fn next_seq(&self) -> u64 {
        let now = clock::now_ms();
        let before = self
            .last_seq
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |last| {
                Some(now.max(last + 1))
            });
        before.map_or(now, |last| now.max(last + 1))
    }

    pub(super) fn news(&self) {
        self.changes.changed(PEERS_URI);
    }

    /// Shows out whoever is gone.
    pub(super) fn sweep(&self) {
        let over = self.room().sweep(now());
        if over.is_empty() {
            return;
        }
        self.forget(over);
        self.arrived.notify_waiters();
        self.news();
    }

    pub(super) fn forget(&self, over: Over) {
        self.store.mirror("what is over", move |tx, owner| {
            for id in over.peers {
                tables::remove_peer(tx, owner, &id.to_string())?;
            }
            for (id, label) in over.announcements {
                tables::remove_announcement(tx, owner, &id.to_string(), &label)?;
            }
            Ok(())
        });
    }

    pub(super) fn left(&self, peer: PeerId) {
        self.forget(Over {
            peers: vec![peer],
            ..Over::default()
        });
    }

    /// Reads who was here, and forgets what has expired.
    async fn load(&self) -> Result<(), StoreError> {
        let now = now();
        let keys_before = now.ms.saturating_sub(millis(ONCE_KEY));
        let (peers, announcements, keys) = self
            .store
            .write(move |tx, owner| {
                tables::forget(tx, owner, keys_before, now.ms)?;
                Ok((
                    tables::peers(tx, owner)?,
                    tables::announcements(tx, owner)?,
                    tables::keys(tx, owner)?,
                ))
            })
            .await?;
        self.keys().extend(keys);
        let mut room = self.room();
        let links = peers
            .iter()
            .filter(|row| row.transport == Transport::Stdio.as_str());
        room.expect(links.filter_map(|row| id(&row.id)), now);
        for each in &announcements {
            if let Some(peer) = id(&each.peer) {
                room.stood(peer, &each.label, each.seq, each.since);
            }
        }
        for row in peers {
            if let Some(peer) = super::revive::peer(row, &announcements) {
                if room.get(peer.id).is_none() {
                    room.put(peer);
                }
            }
        }
        drop(room);
        self.sweep();
        Ok(())
    }
}

impl Board {
    /// Keeps a peer that entered for the next owner, and tells whoever looks.
    fn entered(&self, caller: &Caller, enter: impl FnOnce(&mut Room, Now) -> Entered) {
        let Some(id) = caller.peer else { return };
        let (entered, row) = {
            let mut room = self.room();
            let entered = enter(&mut room, now());
            let own = *lock(&self.own) == Some(id);
            (entered, room.get(id).map(|peer| row(peer, own)))
        };
        if entered == Entered::Known {
            return;
        }
        if let Some(row) = row {
            self.store.mirror("peer", move |tx, owner| {
                Ok(tables::put_peer(tx, owner, &row)?)
            });
        }
        self.arrived.notify_waiters();
        self.news();
    }
}

impl Presence for Board {
    fn enter(&self, caller: &Caller) {
        self.entered(caller, |room, now| room.enter(caller, now));
    }

    fn returning(&self, caller: &Caller) {
        self.entered(caller, |room, now| room.returning(caller, now));
    }

    fn returned(&self, peer: PeerId) {
        if self.room().returned(peer) {
            self.arrived.notify_waiters();
        }
    }

    fn seen(&self, peer: PeerId) {
        let now = now();
        let mut room = self.room();
        let Some(known) = room.get_mut(peer) else {
            return;
        };
        known.seen = now.ms;
        let healed = match &mut known.hold {
            Hold::Link { broken } => broken.take().is_some(),
            _ => false,
        };
        let durable =
            known.transport != Transport::Stdio && now.ms.saturating_sub(known.kept) > TOUCH_MS;
        if durable {
            known.kept = now.ms;
        }
        drop(room);
        if durable {
            self.store.mirror("last call", move |tx, owner| {
                Ok(tables::touch_peer(tx, owner, &peer.to_string(), now.ms)?)
            });
        }
        if healed {
            self.news();
        }
    }

    fn leave(&self, peer: PeerId) {
        if self.room().leave(peer) {
            self.left(peer);
            self.arrived.notify_waiters();
            self.news();
        }
    }

    fn detach(&self, peer: PeerId) {
        if self.room().detach(peer, now()) {
            self.news();
        }
    }

    fn greeting(&self, caller: &Caller, url: Option<&str>) -> String {
        self.sweep();
        greeting::text(&self.room(), caller, url, self.config.advice, now())
    }
}

pub(super) fn now() -> Now {
    Now {
        at: Instant::now(),
        ms: clock::now_ms(),
    }
}

pub(super) fn id(text: &str) -> Option<PeerId> {
    uuid::Uuid::try_parse(text).ok().map(PeerId)
}

pub(super) fn row(peer: &Peer, own: bool) -> PeerRow {
    PeerRow {
        id: peer.id.to_string(),
        transport: peer.transport.as_str().to_owned(),
        name: peer.name.clone(),
        version: peer.version.clone(),
        own,
        joined: peer.joined,
        seen: peer.seen,
        handle: match &peer.hold {
            Hold::Handle { digest } => Some(digest.clone()),
            _ => None,
        },
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic left behind is whole: every holder changes it in one step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
