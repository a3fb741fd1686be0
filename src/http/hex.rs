//! Digests as text.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of the parts, lower-case hex.
pub(crate) fn sha256(parts: &[&[u8]]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part);
    }
    let mut text = String::with_capacity(64);
    for byte in digest.finalize() {
        // Writing to a string cannot fail.
        let _always = write!(text, "{byte:02x}");
    }
    text
}
