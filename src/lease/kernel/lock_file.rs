//! A lock file: opened, locked without waiting, compared with what stands at its path.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::print::is_one_file;
use crate::floor::fs::{FileError, open_plain};
use crate::floor::paths::Site;
use crate::lease::election::Locked;

/// What becomes of a lock file that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Made,
    Left,
}

pub(super) fn open(site: &Site, path: &Path, missing: Missing) -> Result<File, FileError> {
    let place = site.place(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => FileError::Absent,
        _ => FileError::Io(error),
    })?;
    open_plain(
        &place,
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(missing == Missing::Made)
            .truncate(false),
    )
}

/// Whether this open file is the one that stands at `path`.
pub(super) fn stands_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(ours), Ok(found)) => is_one_file(&ours, &found) && ours.nlink() > 0,
        _ => false,
    }
}

/// Tries the lock; with [`Locked::Unusable`] comes what the system said.
pub(super) fn take(file: &File) -> (Locked, Option<FileError>) {
    match file.try_lock() {
        Ok(()) => (Locked::Ours, None),
        Err(TryLockError::WouldBlock) => (Locked::Held, None),
        Err(TryLockError::Error(error)) => (Locked::Unusable, Some(FileError::Io(error))),
    }
}
