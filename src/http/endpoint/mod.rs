//! `/mcp`: Streamable HTTP in both eras, and the door of links.
//!
//! *Modern* (2026-07-28): the frame's `_meta` names its revision; every POST stands for itself, repeats parts of its
//! body in headers that must match, and is cancelled when its connection drops. *Legacy* (through 2025-11-25):
//! `initialize` opens a *session* whose id every later request carries; a dropped connection cancels nothing.
//!
//! A session id says who the peer is, which revision was negotiated and when, under a MAC ([`session_id`]): the next
//! owner reads it and goes on, since no client recovers from a 404. What a session told once (what it can be asked for,
//! its log level, its subscriptions), and that it ended, is kept for it in a [`ledger`].
//!
//! An answer is one JSON body in one write. One that takes longer than a second becomes a stream ([`events`]), which
//! carries the progress of its request; `subscriptions/listen` is a stream from the start. A legacy session has one of
//! its own, for news. A legacy stream that broke, or whose call let its client go, is kept for a while, and goes on where
//! its client says ([`kept`]).
//! *Source:* MCP 2025-11-25 `basic/transports`, 2026-07-28 `basic/transports/streamable-http`.

pub(crate) mod answer;
pub(crate) mod entry;
pub(crate) mod events;
pub(crate) mod headers;
pub(crate) mod kept;
pub mod ledger;
pub(crate) mod legacy;
mod legacy_calls;
pub(crate) mod legacy_streams;
pub(crate) mod live;
pub(crate) mod modern;
pub(crate) mod outbound;
pub(crate) mod parameters;
pub(crate) mod session_id;
pub(crate) mod sessions;
