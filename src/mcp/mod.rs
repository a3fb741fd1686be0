//! MCP messages to registry calls, for both eras, on every transport.
//!
//! *Era*: legacy (`initialize`, revisions through 2025-11-25) or modern (2026-07-28: no `initialize`, `_meta` on each
//! request). It is a property of a frame, never of a process: a client may send `server/discover` and then
//! `initialize` on the same pipe. *Session*: one client's conversation, whatever carries it.
//!
//! The story: whoever carries frames (`host` for links, `http` for POSTs) makes one [`Engine`] for the server and one
//! [`Session`] for each conversation, parses frames, and awaits [`Engine::handle`] for each; what the server says by
//! itself leaves through the session's [`Outbound`]. Handling is cancelled by [`Session::cancel`].
//!
//! Nothing here names a capability, and nothing here does I/O.

mod asking;
pub mod batch;
mod blocks;
mod engine;
mod error_code;
pub mod failure;
mod icons;
mod kept;
mod lists;
mod logging;
mod opening;
mod outbound;
mod prompts;
mod reply;
mod revision;
mod session;
mod state;
mod subscriptions;
mod tools;

pub use engine::{About, Admission, Engine, Request, Standing};
pub use error_code::ErrorCode;
pub use outbound::{Message, Outbound};
pub use reply::{Keep, Reply};
pub use revision::Revision;
pub use session::{Running, Session};
pub use state::Seal;
