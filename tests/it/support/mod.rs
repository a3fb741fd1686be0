//! What every scenario stands on: a real checkout, real processes with real pipes, a raw HTTP client.
//!
//! *Repository*: a checkout in a temporary folder of its own, with its own HOME. *Client*: one spawned
//! `majordomus mcp`, driven as an MCP client drives it. *Http*: one raw HTTP/1.1 exchange. Nothing here knows the
//! library: a scenario may only use what a user has, which is the executable, the files it documents and its ports.
//!
//! Every wait is on a condition with a bound ([`wait_for`]). Every process dies with the value that holds it. When a
//! test fails, its checkout's log and its clients' stderr are printed.
//!
//! Deliberately absent: mocks, fixed ports, a shared fixture between tests.

pub(crate) mod build;
pub(crate) mod checks;
pub(crate) mod client;
pub(crate) mod command;
pub(crate) mod confine;
pub(crate) mod frames;
pub(crate) mod host;
pub(crate) mod http;
pub(crate) mod inbox;
pub(crate) mod launch;
pub(crate) mod mnemon;
pub(crate) mod network;
pub(crate) mod preload;
pub(crate) mod random;
pub(crate) mod remote;
pub(crate) mod repository;
pub(crate) mod rounds;
pub(crate) mod schemas;
pub(crate) mod terminal;
pub(crate) mod wait;

pub(crate) use client::Client;
pub(crate) use http::{Http, Reply};
pub(crate) use repository::Repository;
pub(crate) use wait::{BOUND, wait_for, wait_some};
