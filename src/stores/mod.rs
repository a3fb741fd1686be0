//! The stores of mnemon, an agent's memory, merged across machines with nothing lost (ADR 0023).
//!
//! *Store*: one SQLite file that mnemon writes and that we never alter. *Row*: one insight as it stands there. *Register*:
//! a value with the stamp of who set it when. *Shadow*: what we last saw of a store, and its registers, in a file of our
//! own. *Segment*: an immutable file of registers, which something else carries to the other machines.
//!
//! The story of one [`session`]: [`schema`] reads the store, [`observe`] finds what differs from what [`shadow`] has seen
//! of it, and stamps it by [`clock`]; the registers of other machines, read from [`segments`], are joined by [`merge`] in
//! whatever order they come; [`observe::materialise`] says what each row should be, and [`apply`] writes it in short
//! batches. What is new here becomes a segment, and now and then a base takes the place of many. The merge is pure, and a
//! simulation runs it. A server meets the stores of its clients through [`service`], and [`last`] keeps what came of it.
//!
//! What carries the segments is a folder, or a remote of git ([`git`]); what mnemon-sync left there is read by [`snapshot`].
//!
//! What is absent: a timer, and a store that nobody enabled ([`place`]).

pub mod apply;
pub mod clock;
pub mod error;
mod folder;
mod git;
pub mod instant;
pub mod last;
pub mod merge;
pub mod observe;
pub mod place;
pub mod progress;
pub mod registers;
pub mod schema;
pub mod segments;
pub mod service;
pub mod session;
pub mod shadow;
mod snapshot;
pub mod status;
pub mod witness;
