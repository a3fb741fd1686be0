//! What a transport tells the room about who comes and goes, without knowing what the room is.

use super::caller::{Caller, PeerId};

/// Kept by whoever keeps the list of peers; told by `mcp`, `http` and `host`.
///
/// Every call returns at once: what has to reach a disk gets there behind it.
pub trait Presence: Send + Sync {
    /// A peer is here, or its name became known. Called again with the same peer, it updates.
    fn enter(&self, caller: &Caller);

    /// A peer that an earlier owner knew is here, and what was kept for it has yet to be replayed: until
    /// [`Presence::returned`] nobody knows all that it announced.
    fn returning(&self, caller: &Caller);

    /// Everything that was kept for the peer has been replayed.
    fn returned(&self, peer: PeerId);

    /// The peer sent a request.
    fn seen(&self, peer: PeerId);

    /// The peer's link or session ended in order, or its process did.
    fn leave(&self, peer: PeerId);

    /// The peer's link broke; its bridge may come back, so its announcements stay for a moment.
    fn detach(&self, peer: PeerId);

    /// What `initialize` and `server/discover` tell this caller, under 200 tokens: the server's URL, its own peer id,
    /// at most five others with their announcements quoted as data, then a count.
    fn greeting(&self, caller: &Caller, url: Option<&str>) -> String;
}
