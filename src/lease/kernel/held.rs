//! What a candidate or an owner has in its hands.

use std::fs::File;
use std::sync::Arc;

use super::lock_file;
use crate::floor::paths::{Files, Site};
use crate::lease::elsewhere::Elsewhere;
use crate::lease::name::Name;

/// Everything that goes when the lease goes.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) name: Option<Name>,
    pub(super) lock: Option<Arc<File>>,
    /// In place of the file's lock, where the file system has none.
    pub(super) elsewhere: Option<Elsewhere>,
    /// Our scope's lock file, of an owner at the common files.
    pub(super) scope: Option<Arc<File>>,
}

/// The locked files alone, so that nobody waits for them to be looked at.
pub(super) struct LockFiles {
    lock: Option<Arc<File>>,
    scope: Option<Arc<File>>,
}

impl Held {
    pub(super) fn files(&self) -> LockFiles {
        LockFiles {
            lock: self.lock.clone(),
            scope: self.scope.clone(),
        }
    }

    pub(super) fn release(self) {
        // The name goes first, and our scope's lock next: whoever then gets the lock finds them free.
        drop(self.name);
        drop(self.elsewhere);
        for file in [self.scope, self.lock].into_iter().flatten() {
            if let Err(error) = file.unlock() {
                tracing::debug!(%error, "the lock goes with its file");
            }
        }
    }
}

impl LockFiles {
    /// Whether each is the one that stands at its path.
    pub(super) fn stand(&self, site: &Site, files: Files) -> bool {
        let stands = |file: &File, files| lock_file::stands_at(file, &site.lock(files));
        let lock = self.lock.as_deref();
        let scope = self.scope.as_deref();
        lock.is_some_and(|lock| stands(lock, files))
            && scope.is_none_or(|scope| stands(scope, Files::Scope))
    }
}
