//! What a refused call ran into, kept for the sentence that people read.

use std::io;

use crate::floor::fs::{FileError, Kind};
use crate::floor::paths::SiteError;

/// What a call ran into.
#[derive(Debug)]
pub(in crate::lease) enum Trouble {
    /// The folders cannot be made.
    Folder(SiteError),
    /// The lock file cannot be opened.
    Lock(FileError),
    /// The document cannot be written.
    Write(io::Error),
    /// The document cannot be read, because no file can be opened.
    Files,
}

impl Trouble {
    /// The lock file that is no plain file stays where it is: nothing of ours ever replaces it.
    pub(in crate::lease) fn blocked_by(&self) -> Option<Kind> {
        match self {
            Self::Lock(FileError::NotAFile(kind)) => Some(*kind),
            Self::Lock(_) | Self::Folder(_) | Self::Write(_) | Self::Files => None,
        }
    }
}
