//! A file as it is recognized again.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;

/// A file at one moment. Two equal ones mean: nobody replaced or wrote it in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint([i128; 5]);

impl Fingerprint {
    pub(super) fn of(file: &Metadata) -> Self {
        let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) << 32 | i128::from(rest);
        Self([
            i128::from(file.dev()),
            i128::from(file.ino()),
            i128::from(file.size()),
            nanoseconds(file.mtime(), file.mtime_nsec()),
            nanoseconds(file.ctime(), file.ctime_nsec()),
        ])
    }
}

/// Whether these are of one inode.
pub(super) fn is_one_file(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}
