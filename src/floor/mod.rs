//! What every other module stands on: frames, paths, clock, git, files, errors and limits.
//!
//! Nothing here knows what the product does, and nothing here imports another module of the crate.

pub mod clock;
pub mod database;
pub mod deferred;
pub mod error;
pub mod fs;
pub mod gaps;
pub mod git;
pub mod hex;
pub mod json;
pub mod jsonrpc;
pub mod limits;
pub mod log;
pub mod mac;
pub mod mount;
pub mod paths;
pub mod place;
pub mod remote;
pub mod text;
pub mod turns;
pub mod watch;
pub mod worker;
