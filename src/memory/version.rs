//! The version of a note: whoever corrects one says which they read, so that what was written since is met, and not replaced.
//!
//! It is the beginning of the id that git gives the note's file, which nobody has to store: what stands is hashed, and what
//! stood is found in the repository.

use gix_hash::{Kind, Prefix};
use gix_object::Kind as Object;

/// How many hexadecimal digits name a version.
pub const DIGITS: usize = 16;

/// The version of a note with this file.
#[must_use]
pub fn of(bytes: &[u8]) -> String {
    // Hashing what is in memory fails only for an attack on SHA-1, which is no version of anything.
    gix_object::compute_hash(Kind::Sha1, Object::Blob, bytes)
        .map(|id| id.to_hex_with_len(DIGITS).to_string())
        .unwrap_or_default()
}

/// The ids that begin like a version; `None` of a word that is none.
pub(super) fn prefix(version: &str) -> Option<Prefix> {
    Prefix::from_hex(version).ok()
}
