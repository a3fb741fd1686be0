//! The registry: one typed declaration per capability, and nothing about transports (I9).
//!
//! *Capability*: something the server can do, under one id `namespace.local`. *Kind*: query, resource, prompt or command; it
//! decides the HTTP method and the MCP annotations, so no projection decides them again. *Exposure*: under which
//! names a capability appears (tool, resource, route, CLI words). *Retry class*: what a resend after the owner's
//! death may do (I6). *Projection*: what `mcp`, `http`, `cli` and the reference make of the declarations.
//!
//! A registry is built once at start, checked, and immutable from then on. A mistake in it stops the process at start
//! with a message naming both sides. What a build's schemas say is the same in each of its processes, so they are made
//! when somebody looks, and a test and `validate` hold them to their word.

pub mod call;
pub mod caller;
pub mod capability;
pub mod catalog;
pub mod changes;
pub mod checks;
pub mod client;
pub mod content;
pub mod digest;
mod guard;
pub mod mirror;
pub mod openapi;
pub mod presence;
pub mod query;
pub mod refusal;
pub mod schema;
pub mod tools;
pub mod validate;
pub mod words;

pub use call::{Answer, Call, Delivery, OnceKey, Progress, RefusalCode, takes_key};
pub use caller::{Caller, PeerId, Transport};
pub use capability::{Capability, Example, Exposure, Form, Handler, Kind, Member, Members, Retry};
pub use catalog::{Read, Registry};
pub use changes::{Changes, List, Listener, News};
pub use checks::RegistryError;
pub use client::{Ask, Client, Level, Wish};
pub use digest::Digest;
pub use presence::Presence;
pub use refusal::Refusal;
