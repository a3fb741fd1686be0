//! The MCP clients, as plain data: which file of a checkout tells each of them what to start, and what stands in it.
//!
//! *Client file*: a file in a checkout that a client reads. *Entry*: the few lines in it that are ours, under the name
//! `majordomus`; everything beside it belongs to somebody else and stays as it is, byte for byte ([`merge`]).
//!
//! Two writers, two entries. `majordomus init` puts the installed executable into the files of any checkout ([`known`]).
//! This repository's own files start a launcher that builds first, and `majordomus generate` writes them ([`launcher`]).
//!
//! Where a client runs hooks of its own, the commands in them are data too ([`hooks`]).
//!
//! Absent: reading and writing the disk. This module turns text into text and knows no capability.

pub mod hooks;
pub mod known;
pub mod launcher;
pub mod merge;
