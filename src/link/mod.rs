//! The link between a bridge and the host: lines and handshake, with no I/O.

pub mod handshake;
pub mod line;
