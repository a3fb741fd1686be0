//! The board.
pub mod scope;
