//! The folder of the repository: made whole, and what its configuration says.

use std::io;
use std::path::Path;

use gix_hash::Kind;
use gix_object::bstr::ByteSlice as _;

use super::LibraryError;
use crate::floor::fs::read_plain;
use crate::floor::git;

/// The most of the repository's configuration that is looked at, in bytes.
const CONFIG_BYTES: usize = 64 * 1024;

/// Makes the repository aside and puts it in place whole, so that nobody ever sees a half of one.
pub(super) fn create(folder: &Path, kind: Kind) -> Result<(), LibraryError> {
    let parent = folder.parent().unwrap_or(folder);
    let aside = tempfile::Builder::new()
        .prefix(".memory.git.new-")
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
