//! The board: who is in this checkout, what each is about to do, and what was already done under which key.
//!
//! *Peer*: a client, under a public id that its bridge, session or handle proves. *Announcement*: one line of intent and
//! a scope, under a label, replaced by the next with the same label and gone with its peer. *Collision*: two entries of
//! different announcements that share a path; it is named, never refused. *Expected*: a peer last known that has not
//! come back after a change of owner. *Once-key*: see [`once`].
//!
//! Memory comes first: the room is rebuilt from what bridges replay, within milliseconds of a change of owner. The file
//! behind it (`board.db`) holds what no bridge can replay: the announcements of HTTP peers, once-keys, the epoch, HTTP
//! sessions, and who was last known. A file that fails costs durable writes and nothing else: link peers are served from
//! memory (ADR-0004).
//!
//! | state of a link peer | on | next |
//! |---|---|---|
//! | expected | enters | here |
//! | expected | five seconds | gone |
//! | here | its link breaks | detached |
//! | detached | its link or a request comes | here |
//! | detached | five seconds, at the next look | gone |
//! | here, detached | its bridge says goodbye | gone |
//!
//! Invariants: an older announcement never overwrites a newer one, in whatever order they are replayed; a superseded
//! owner writes nothing (I5); a secret handle is in no file and no answer but the one that gives it (I14); every list is
//! bounded (I15); nothing here ticks (I12).

pub mod announce;
mod collision;
mod greeting;
pub mod live;
pub mod once;
mod peer;
mod quote;
mod revive;
mod room;
pub mod scope;
pub mod sessions;
pub mod store;
mod tables;
pub mod view;

pub use announce::{Announced, Draft};
pub use live::{Board, Config, PEERS_URI};
pub use once::Effect;
pub use sessions::KeptSession;
pub use store::{Owner, Place, Store, StoreError};
