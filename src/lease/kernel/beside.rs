//! Documents that owners beside left by dying: of our own scope, and of scopes that nobody serves any more.

use std::fs;
use std::path::Path;

use super::lock_file::{self, Missing};
use crate::floor::paths::{Files, Site};
use crate::lease::election::Locked;

/// Removes the document of our own scope. Only for an owner at the common files, which holds its scope's locks and so knows
/// that nobody serves there.
pub(super) fn clear_ours(site: &Site) {
    let place = site.place(&site.document(Files::Scope));
    let _absent = place.and_then(fs::remove_file);
}

/// Removes each other scope's document whose lock is free. Only for who holds a lock of this file system that was tested, and
/// where no other kernel's locks may be out of sight: there a free lock proves that its owner is dead.
///
/// The lock is held meanwhile, so that nobody of that scope writes what is then removed, and its file stays (ADR 0012).
pub(super) fn sweep_others(site: &Site) {
    let entries = fs::read_dir(site.state_dir());
    for entry in entries.into_iter().flatten().flatten() {
        let document = entry.path();
        if is_beside(&document) && document != site.document(Files::Scope) {
            sweep(site, &document);
        }
    }
}

fn sweep(site: &Site, document: &Path) {
    let path = document.with_extension("lock");
    // Who serves beside makes the lock before the document: without one, somebody removes files here, and they heal themselves.
    let Ok(lock) = lock_file::open(site, &path, Missing::Left) else {
        return;
    };
    let (locked, _refused) = lock_file::take(&lock);
    if locked == Locked::Ours && lock_file::stands_at(&lock, &path) {
        let place = site.place(document);
        if let Err(error) = place.and_then(fs::remove_file) {
            tracing::debug!(%error, "a document that an owner beside left stays");
        }
    }
}

/// Whether this is `server.<scope>.json`.
fn is_beside(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let scope = name
        .and_then(|name| name.strip_prefix("server."))
        .and_then(|name| name.strip_suffix(".json"));
    scope.is_some_and(|scope| {
        scope.len() == 16 && scope.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}
