//! The folder of the repository: made whole, and what its configuration says.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use gix_hash::Kind;
use gix_object::bstr::ByteSlice as _;

use super::LibraryError;
use crate::floor::fs::read_plain;
use crate::floor::{clock, git};

/// The most of the repository's configuration that is looked at, in bytes.
const CONFIG_BYTES: usize = 64 * 1024;

/// How a repository is called while it is made.
const NEW: &str = ".memory.git.new-";
/// How long one that is being made is left alone, in milliseconds: git needs some of them.
const ABANDONED_MS: u64 = 10 * 60 * 1000;

/// Removes the repositories in a folder that somebody was killed in making.
pub fn sweep_new(parent: &Path) {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let is_new = entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(NEW.as_bytes());
        let changed = entry.metadata().map(|found| found.mtime());
        let changed = u64::try_from(changed.unwrap_or(0))
            .unwrap_or(0)
            .saturating_mul(1000);
        if is_new && clock::now_ms().abs_diff(changed) > ABANDONED_MS {
            // What cannot be removed is left, and found again.
            let _left = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Makes the repository aside and puts it in place whole, so that nobody ever sees a half of one.
pub(super) fn create(folder: &Path, kind: Kind) -> Result<(), LibraryError> {
    // What stands there is in the way of one, and nothing is made that could not go there.
    if folder.symlink_metadata().is_ok()
        && folder.read_dir().is_ok_and(|mut all| all.next().is_some())
    {
        return Err(LibraryError::Headless);
    }
    let parent = folder.parent().unwrap_or(folder);
    let aside = tempfile::Builder::new()
        .prefix(NEW)
        .tempdir_in(parent)
        .map_err(LibraryError::Open)?;
    let made = git::command(parent)
        .args([
            "init",
            "--quiet",
            "--bare",
            "--template=",
            "--ref-format=files",
        ])
        .arg(format!("--object-format={kind}"))
        .arg("--")
        .arg(aside.path())
        .output()
        .map_err(LibraryError::Open)?;
    if !made.status.success() {
        let said = String::from_utf8_lossy(&made.stderr);
        return Err(LibraryError::Git(said.trim().to_owned()));
    }
    match std::fs::rename(aside.path(), folder) {
        // Somebody else made it meanwhile.
        Err(_) if folder.join("HEAD").exists() => Ok(()),
        Err(error) => Err(LibraryError::Open(error)),
        Ok(()) => Ok(()),
    }
}

/// What git says in the repository at `folder`.
pub(super) fn git(folder: &Path, arguments: &[&str]) -> Result<String, LibraryError> {
    let output = git::command(folder)
        .arg("--git-dir")
        .arg(folder)
        .args(arguments)
        .output()
        .map_err(LibraryError::Open)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(LibraryError::Git(said.trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The kind of object ids that the repository's configuration names.
pub(super) fn kind_of(folder: &Path) -> Result<Kind, LibraryError> {
    let (config, _) = read_plain(&folder.join("config"), CONFIG_BYTES)
        .map_err(|error| LibraryError::Open(io::Error::other(error)))?;
    for line in config.lines() {
        let Some((name, value)) = line.split_once_str(b"=") else {
            continue;
        };
        match name.trim().to_ascii_lowercase().as_slice() {
            b"objectformat" if value.trim() == b"sha256" => return Ok(Kind::Sha256),
            b"refstorage" if value.trim() != b"files" => {
                return Err(LibraryError::Format(
                    value.trim().to_str_lossy().into_owned(),
                ));
            }
            _ => {}
        }
    }
    Ok(Kind::Sha1)
}
