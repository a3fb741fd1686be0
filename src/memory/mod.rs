//! The team's memory: notes, one fact a file.
//!
//! *Note*: Markdown with YAML front matter ([`note`]), at a path that its id fixes once ([`place`]), committed to a bare
//! repository of the team's own ([`library`]). A write is kept in the outbox first ([`outbox`]) and committed then ([`team`]);
//! [`index`] finds it again. Files come from other people's editors and from hostile branches, so
//! reading is total: whatever the bytes are, they are a note, and what could not be understood is named and kept.
//!
//! Absent until it is built: how notes are published.
//! repository of the team's own ([`library`]), which meets the team's remote by one ref ([`remote`]). Files come from other people's editors and from hostile branches, so
//! reading is total: whatever the bytes are, they are a note, and what could not be understood is named and kept.
//!
//! Absent until it is built: when notes are published, and how they are found again.

pub mod author;
//! Where they may go is what the user has agreed to ([`consent`]).
//!
//! Absent until it is built: how notes are published, and how they are found again.

pub mod consent;
pub mod front;
pub mod index;
pub mod library;
pub mod note;
pub mod outbox;
pub mod outcome;
pub mod place;
pub mod service;
pub mod team;
pub mod remote;
