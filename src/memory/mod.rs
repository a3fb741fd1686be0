//! The team's memory: notes, one fact a file.
//!
//! *Note*: Markdown with YAML front matter ([`note`]), at a path that its id fixes once ([`place`]), committed to a bare
//! repository of the team's own ([`library`]). A write is kept in the outbox first ([`outbox`]) and committed then
//! ([`team`]), which also brings it and the team's ref together; [`index`] finds it again. The team's repository is met by
//! one ref of one remote ([`remote`]), which the user has agreed to ([`consent`]).
//!
//! Files come from other people's editors and from hostile branches, so reading is total: whatever the bytes are, they are a
//! note, and what could not be understood is named and kept.

pub mod author;
pub mod consent;
pub mod front;
pub mod index;
pub mod left;
pub mod library;
pub mod note;
pub mod outbox;
pub mod outcome;
pub mod place;
pub mod remote;
pub mod secrets;
pub mod service;
pub mod siblings;
pub mod sync;
pub mod team;
pub mod version;
mod watch;
