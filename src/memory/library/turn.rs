//! Whose turn it is to move a ref, and the locks of refs that nobody holds any more: a process that is killed leaves its own
//! behind, and gitoxide waits for it as for anybody's.
//!
//! Whoever moves a ref has the kernel's lock on `HEAD` meanwhile, which dies with its process. So who has the turn and finds
//! a ref locked all the same knows that one of us was killed, or that somebody works here by hand, which takes an instant.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::floor::clock;

/// Between two looks at a turn that somebody else has for one rename.
const LOOK: Duration = Duration::from_millis(5);
/// How old the lock of a ref is, in milliseconds, that is nobody's where the kernel has no locks to tell. A clock that was
/// set back makes it young, so one from the future is as old as it is far away.
const ABANDONED_MS: u64 = 60_000;

/// A turn, which ends when it is dropped.
#[derive(Debug)]
pub(super) enum Turn {
    /// It is ours.
    Ours {
        /// Holds the kernel's lock.
        _lock: File,
    },
    /// Somebody has it for longer than a rename takes: it is suspended, and may go on.
    Theirs,
    /// The file system has no such locks.
    Untold,
}

impl Turn {
    /// Waits for a turn in the repository at `folder`, for as long as `most`.
    pub(super) fn take(folder: &Path, most: Duration) -> Self {
        let Ok(lock) = File::open(folder.join("HEAD")) else {
            return Self::Untold;
        };
        let began = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => return Self::Ours { _lock: lock },
                Err(TryLockError::WouldBlock) if began.elapsed() >= most => return Self::Theirs,
                Err(TryLockError::WouldBlock) => thread::park_timeout(LOOK),
                Err(TryLockError::Error(_)) => return Self::Untold,
            }
        }
    }

    /// Removes what a killed process left locked of the ref `name`; whether there was anything.
    pub(super) fn free(&self, folder: &Path, name: &str) -> bool {
        let mut freed = false;
        for lock in [format!("{name}.lock"), "packed-refs.lock".to_owned()] {
            let path = folder.join(lock);
            let is_nobodys = match self {
                Self::Ours { .. } => true,
                Self::Theirs => false,
                Self::Untold => is_old(&path),
            };
            freed |= is_nobodys && fs::remove_file(path).is_ok();
        }
        freed
    }
}

/// Whether the lock of a ref at `path` is too old to be anybody's.
pub(in crate::memory) fn is_old(path: &Path) -> bool {
    let Ok(found) = path.symlink_metadata() else {
        return false;
    };
    let changed = u64::try_from(found.mtime())
        .unwrap_or(0)
        .saturating_mul(1000);
    found.is_file() && clock::now_ms().abs_diff(changed) > ABANDONED_MS
}
