//! The team's memory: notes, one fact a file.
//!
//! *Note*: Markdown with YAML front matter ([`note`]), at a path that its id fixes once ([`place`]), committed to a bare
//! repository of the team's own ([`library`]). Files come from other people's editors and from hostile branches, so
//! reading is total: whatever the bytes are, they are a note, and what could not be understood is named and kept.
//!
//! Absent until it is built: how notes are published, and how they are found again.

pub mod front;
pub mod library;
pub mod note;
pub mod outbox;
pub mod place;
pub mod team;
