//! The capabilities.
