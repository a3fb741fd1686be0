//! HTTP on loopback: the projection of the registry, MCP, and the door through which links come in.
//!
//! *Guard*: what every request passes before a route sees it. *Page token*: what a page of this server holds in place
//! of the checkout's token. *Link*: a connection upgraded to the bridge's own line protocol; handed on, not spoken here.
//!
//! The story of a request: [`server`] accepts the connection and gives it a place ([`connections`]); hyper bounds its
//! header; [`guards`] look at peer, `Host` and `Origin`; [`auth`] at its token; then a route of [`mod@router`] answers,
//! and everything that is no success is a problem of one table ([`problem`]). The liveness probe skips the pool of
//! running requests and is answered even to connections past the cap.
//!
//! Invariants: I9 (nothing here names a capability), I14 (guards and tokens), I15 (every input bounded, [`limits`]).
//!
//! Absent on purpose: CORS, cookies, compression, HTTP/2, TLS, a name other than loopback. ADR 0005 argues it.

pub mod api;
mod auth;
mod body;
pub mod connections;
pub mod endpoint;
mod guards;
mod held;
pub mod limits;
mod liveness;
pub mod openapi;
mod pages;
pub mod problem;
pub mod router;
pub mod secrets;
pub mod server;
pub mod sign_in;
mod sign_in_routes;
pub mod state;
pub mod stream;
mod upgrade;
pub mod work;

#[cfg(test)]
mod tests;

pub use connections::Connections;
pub use endpoint::ledger::{Earlier, Recall, Receipt, SessionLedger};
pub use limits::Limits;
pub use router::router;
pub use secrets::Secrets;
pub use server::serve;
pub use sign_in::SignIn;
pub use state::{Auth, Http, Owner, Parts};
pub use stream::LinkStream;
