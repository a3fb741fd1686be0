//! Which paths an announcement is about, and whether two of them meet.
//!
//! *Entry*: a path or a glob, relative to the repository's root. It stands for what it matches and for everything
//! below that. *Meet*: two entries meet where some path belongs to both. Two plain paths therefore meet when they are
//! equal or one contains the other by component; globs are intersected by walking both at once ([`glob`]). Where that
//! walk would grow too large, two entries meet when the literal beginning of one starts with that of the other: a
//! collision too many costs a glance, one too few costs work.
//!
//! A bracket or brace also stands for itself, since `app/[id]/page.tsx` is a path that people have.
//!
//! Nothing here does I/O. Rejected: expanding globs against the work tree (it misses files that are about to be made,
//! and reads the disk at each announcement).

mod entry;
mod glob;

pub use entry::{BadEntry, Effort, Entry, parse};
