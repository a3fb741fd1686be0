//! Whether the lease's two locks work here, tried on names of our own: nobody's lease is touched, and nobody waits.

use std::fs::{File, OpenOptions};
use std::path::Path;

use super::name::Name;
use crate::floor::fs::{FileError, open_plain};

/// What a trial of file locks came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excludes {
    /// A second lock was refused, as it must be.
    Yes,
    /// A second lock was given beside the first.
    No,
    /// The first lock was refused: there are no locks here.
    Unsupported,
}

/// Locks `path` twice, through two openings, as an owner's self-test does. The file is made if it is not there, and stays.
///
/// # Errors
/// When the file cannot be opened.
pub fn file_locks(path: &Path) -> Result<Excludes, FileError> {
    let open = || -> Result<File, FileError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        open_plain(path, &mut options)
    };
    let (first, second) = (open()?, open()?);
    Ok(match (first.try_lock(), second.try_lock()) {
        (Err(_), _) => Excludes::Unsupported,
        (Ok(()), Ok(())) => Excludes::No,
        (Ok(()), Err(_)) => Excludes::Yes,
    })
}

/// Whether a name among the kernel's abstract sockets can be taken; only Linux has them.
#[must_use]
pub fn names() -> bool {
    Name::trial()
}

#[cfg(test)]
mod tests {
    use super::{Excludes, file_locks};

    #[test]
    fn a_second_lock_on_a_local_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert_eq!(file_locks(&path).unwrap(), Excludes::Yes);
        assert!(file_locks(folder.path()).is_err());
    }
}
