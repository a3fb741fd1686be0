//! Locks of refs that nobody holds any more: a process that is killed leaves its own behind, and gitoxide waits for it as
//! for anybody's.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::floor::clock;

/// How old the lock of a ref is that nobody can still be holding, in milliseconds: each is held for one rename. A clock
/// that was set back makes it young, so one from the future is as old as it is far away.
const ABANDONED_MS: u64 = 60_000;

/// Removes what a killed process left locked of the ref `name` in the repository at `folder`; whether there was anything.
///
/// A kernel's lock lets one process at a time look and remove: else the second of two would remove the lock that somebody
/// took after the first one's removal.
pub(super) fn remove(folder: &Path, name: &str) -> bool {
    let Ok(turn) = File::open(folder.join("HEAD")) else {
        return false;
    };
    if turn.lock().is_err() {
        return false;
    }
    let mut removed = false;
    for lock in [format!("{name}.lock"), "packed-refs.lock".to_owned()] {
        let path = folder.join(lock);
        removed |= is_abandoned(&path) && fs::remove_file(path).is_ok();
    }
    removed
}

fn is_abandoned(path: &Path) -> bool {
    let Ok(found) = path.symlink_metadata() else {
        return false;
    };
    let changed = u64::try_from(found.mtime())
        .unwrap_or(0)
        .saturating_mul(1000);
    found.is_file() && clock::now_ms().abs_diff(changed) > ABANDONED_MS
}
