//! The bridge.
pub mod ledger;
pub mod wire;
