//! Executables that tests make; above all other builds of the one under test, without compiling it again.
//!
//! A build differs from the next one by what it says of itself: its version, and the version of the link that it
//! speaks. Both are strings in the executable, so a copy in which they are overwritten by others of the same length is
//! another build, in every file and every answer: its version is part of its registry's digest too. What it does is
//! the same, which is no loss here; what an older build *did* is in the recordings of the link.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use super::command::{MAJORDOMUS, hermetic, succeed};

/// The version of the executable under test.
pub(crate) const OURS: &str = env!("CARGO_PKG_VERSION");

/// Writes a copy of the executable to `path`, in which each first word is replaced by the second one.
#[track_caller]
pub(crate) fn other(path: &Path, changes: &[(&str, &str)]) {
    let mut bytes = fs::read(MAJORDOMUS).unwrap();
    for (from, to) in changes {
        assert_eq!(from.len(), to.len(), "nothing may move");
        let finder = memchr::memmem::Finder::new(from.as_bytes());
        let found: Vec<usize> = finder.find_iter(&bytes).collect();
        assert!(!found.is_empty(), "{from} is not in the executable");
        for at in found {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
    }
    executable(path, &bytes);
}

/// Writes an executable file, as every test must that runs one it made. The copy is another process's: a file that this
/// one has open for writing while a test on another thread forks cannot be executed ("text file busy").
#[track_caller]
pub(crate) fn executable(path: &Path, bytes: impl AsRef<[u8]>) {
    let plain = path.with_extension("plain");
    let beside = path.with_extension("new");
    fs::write(&plain, bytes).unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o755)).unwrap();
    let folder = path.parent().unwrap();
    let mut copy: Command = hermetic("cp", folder, folder);
    let _copied = succeed(copy.arg(&plain).arg(&beside));
    fs::remove_file(&plain).unwrap();
    // Renamed, so that nothing starts half of it and no running process is written to.
    fs::rename(&beside, path).unwrap();
}

/// The same for another version, and makes sure that it says so.
#[track_caller]
pub(crate) fn of_version(path: &Path, version: &str, more: &[(&str, &str)]) {
    let changes: Vec<(&str, &str)> = [(OURS, version)]
        .into_iter()
        .chain(more.iter().copied())
        .collect();
    other(path, &changes);
    let folder = path.parent().unwrap();
    let mut command: Command = hermetic(path, folder, folder);
    let said = succeed(command.arg("--version")).stdout;
    let said = String::from_utf8(said).unwrap();
    assert_eq!(said.trim(), format!("majordomus {version}"));
}
