//! The black-box suite: every promise, kept by the built executable, as a user and as MCP clients meet it.
//!
//! One binary, so that the crate is linked once. `README.md` beside this file maps each promise to its test. A test's
//! name is the sentence it proves; `/// Guards In.` above it names the invariant of `ARCHITECTURE.md`.
//!
//! Deliberately absent: anything that only the library knows, sleeps, ports chosen here, and assertions on speed
//! (a time is printed; `benches/` and `torture` judge it).
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking and speaks through the harness"
)]

mod adopted;
mod announce;
mod architecture;
mod bounds;
mod bridge;
mod bridge_failures;
mod carried;
mod changes;
mod cli;
mod degraded;
mod delayed;
mod demo;
mod doctor;
mod errands;
mod exhausted;
mod files;
mod first_aid;
mod flags;
mod hooks;
mod hooks_stores;
mod hostile;
mod hosts;
mod http;
mod http_mcp;
mod init;
mod json;
mod killed;
mod launcher;
mod lease;
mod leaving;
mod left;
mod limits;
mod link;
mod listed;
mod mcp_asking;
mod mcp_batches;
mod mcp_legacy;
mod mcp_modern;
mod mcp_prompts;
mod mcp_schemas;
mod notes;
mod openapi;
mod peers;
mod places;
mod polling;
mod publish;
mod raced;
mod refused;
mod removed;
mod scopes;
mod security;
mod serve;
mod shallow;
mod similar;
mod spoiled;
mod squatted;
mod stalled;
mod stores;
mod stores_attacked;
mod stores_gaps;
mod stores_git;
mod stores_live;
mod stores_past;
mod stores_random;
mod stores_segments;
mod stores_snapshots;
mod storm;
mod support;
mod surroundings;
mod takeover;
mod terminal;
mod tidied;
mod upgrade;
mod withheld;
