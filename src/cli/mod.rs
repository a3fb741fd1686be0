//! The cli.
