//! Who uses the network for a repository's notes, and what a killed one left.
//!
//! The lock is the kernel's, on `sync.lock` beside the repository. It is held by an open file, and git has that file for
//! its standard input: so a git that its starter's death has not ended yet still keeps others out, and when the last of
//! them is gone the lock is free, whatever became of them.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::{Deadline, RemoteError, TRACKING};
use crate::floor::fs::{FileError, open_plain};
use crate::memory::library::is_old;

/// Between two looks at a lock that somebody else holds for as long as a network takes.
const LOOK: Duration = Duration::from_millis(20);
/// How deep refs are looked through.
const DEPTH: usize = 8;

/// The lock, held until it is dropped and every child that has it is gone.
#[derive(Debug)]
pub(super) struct SyncLock(File);

impl SyncLock {
    /// Takes the lock of the repository in `folder`, waiting for whoever has it.
    ///
    /// # Errors
    /// `Lock` where it is held until the deadline; `Disk` or `Other` where it cannot be made.
    pub(super) fn take(folder: &Path, until: &Deadline) -> Result<Self, RemoteError> {
        let path = path(folder);
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let file = open_plain(&path, &mut options).map_err(|error| unusable(&error))?;
            match file.try_lock() {
                // Of a file that was removed meanwhile, everybody could have one.
                Ok(()) if stands_at(&file, &path) => return Ok(Self(file)),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if until.left().is_zero() => {
                    return Err(RemoteError::Lock);
                }
                Err(TryLockError::WouldBlock) => thread::park_timeout(LOOK.min(until.left())),
                Err(TryLockError::Error(error)) => return Err(unusable(&FileError::Io(error))),
            }
        }
    }

    /// The lock for a child's standard input. The file is empty, so who reads it reads nothing.
    pub(super) fn share(&self) -> io::Result<File> {
        self.0.try_clone()
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.parent().unwrap_or(folder).join("sync.lock")
}

fn stands_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(ours), Ok(found)) => ours.ino() == found.ino() && ours.dev() == found.dev(),
        _ => false,
    }
}

fn unusable(error: &FileError) -> RemoteError {
    let FileError::Io(cause) = error else {
        return RemoteError::Other(format!("sync.lock {error}"));
    };
    match cause.kind() {
        io::ErrorKind::StorageFull
        | io::ErrorKind::QuotaExceeded
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::PermissionDenied => RemoteError::Disk,
        _ => RemoteError::Other(format!("sync.lock {error}: {cause}")),
    }
}

/// Removes what a killed git left: half packs, the lock of the ref that only the network moves, and locks of other refs
/// that are too old to be anybody's. Called with the lock; what cannot be removed is git's to name.
pub(super) fn sweep(folder: &Path) {
    let tracking = folder.join(format!("{TRACKING}.lock"));
    let _gone = fs::remove_file(tracking);
    let _gone = fs::remove_file(folder.join("shallow.lock"));
    for path in entries(&folder.join("objects/pack")) {
        let name = path.file_name().unwrap_or_default();
        if name.as_encoded_bytes().starts_with(b"tmp_") {
            let _gone = fs::remove_file(path);
        }
    }
    sweep_old(&folder.join("refs"), DEPTH);
    remove_old(&folder.join("packed-refs.lock"));
}

fn sweep_old(folder: &Path, depth: usize) {
    for path in entries(folder) {
        if path
            .extension()
            .is_some_and(|extension| extension == "lock")
        {
            remove_old(&path);
        } else if depth > 0 && path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            sweep_old(&path, depth - 1);
        }
    }
}

fn remove_old(path: &Path) {
    if is_old(path) {
        let _gone = fs::remove_file(path);
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).into_iter().flatten();
    listed.flatten().map(|entry| entry.path()).collect()
}
