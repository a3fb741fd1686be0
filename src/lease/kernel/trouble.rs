//! What a refused call ran into, kept for the sentence that people read.

use std::io;

use crate::floor::fs::FileError;
use crate::floor::paths::{Files, SiteError};

/// What a call ran into.
#[derive(Debug)]
pub(in crate::lease) enum Trouble {
    /// The folders cannot be made.
    Folder(SiteError),
    /// This lock file cannot be opened or locked.
    Lock(Files, FileError),
    /// The document cannot be written.
    Write(io::Error),
    /// The document cannot be read, because no file can be opened.
    Files,
}
