//! One shared MCP server per checkout.
//!
//! Every `majordomus mcp` process is a *bridge* between its client's stdio and one *link* to the current server.
//! The process that wins the *election* also runs the *host*, and its own bridge reaches it through an in-memory link.
//! `ARCHITECTURE.md` tells the story; the modules below stand in import order, from the top down, and
//! `tests/it/architecture.rs` holds that order.

pub mod board;
pub mod bridge;
pub mod capabilities;
pub mod cli;
pub mod clients;
pub mod floor;
pub mod host;
pub mod http;
pub mod lease;
pub mod link;
pub mod mcp;
pub mod memory;
pub mod registry;
pub mod stores;
