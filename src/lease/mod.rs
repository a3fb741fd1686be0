//! The lease: who serves this checkout.
//!
//! Among all processes of one checkout and one *scope* (one kernel, one network namespace) at most one *owner* admits sessions
//! and commands (I1). A process that wants a server calls [`attach_or_own`]: it comes back *attached* to the owner, or
//! *elected*, or *alone* with a reason, within a bounded time and whatever it found (I2, I3).
//!
//! The kernel's lock on `server.lock` is the truth, the document `server.json` is the sign on the door. Whoever holds the lock
//! owns; a death of any kind frees it; nothing else is ever taken for a death. The lock file is never removed or renamed.
//! An owner that meets the held lock of another scope, which it cannot reach, serves *beside* it, from files of its scope's name
//! (ADR 0012).
//!
//! | part | what it is |
//! |---|---|
//! | [`document`] | the sign: read without failing, written whole |
//! | [`election`] | the pure step function, and the trait of system calls |
//! | [`attach`] | the driver: candidates |
//! | [`ownership`] | the driver: owners |
//! | `kernel`, `name`, `elsewhere` | the system calls, for real |
//! | [`sign`] | which document speaks to this scope |
//! | [`secret`] | the token that proves an owner to a bridge |
//! | [`trial`] | whether the locks work here, for `doctor` |
//! | [`failpoint`] | pauses between system calls, for tests |
//!
//! Absent on purpose: a daemon, heartbeats, pid files, breaking another's lock, an election by the document itself (two owners
//! in 14 steps). ADR 0002 argues each; `tests/model/main.rs` shows the last.

pub mod attach;
pub mod document;
pub mod election;
mod elsewhere;
pub mod failpoint;
mod kernel;
mod name;
pub mod ownership;
pub mod secret;
pub mod sign;
pub mod trial;

pub use attach::{AloneReason, Outcome, ProbeFailure, attach_or_own, clear_up};
pub use document::{Document, Reading};
pub use election::Leave;
pub use ownership::{LeaseError, Ownership};
pub use secret::{SecretError, Token};

#[cfg(test)]
mod tests;
