//! What the user has accepted: one pair of remote and ref, in git's folder, for the repository with all its worktrees.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::TrustError;
use super::identity::{self, is_same};
use super::section::reference;
use crate::floor::fs::{FileError, PRIVATE_DIRECTORY, make_directory, read_plain, replace};

/// The longest file that is read, in bytes.
const LONGEST: usize = 4 * 1024;

/// The pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pin {
    /// The remote's identity.
    pub(super) remote: String,
    /// The ref's full name.
    #[serde(rename = "ref")]
    pub(super) reference: String,
    /// Whether the team reviewed its notes when it was accepted: a file that says no more what it said does not undo it.
    #[serde(default)]
    pub(super) review: bool,
}

impl Pin {
    /// Whether it is this pair.
    pub(super) fn is(&self, remote: &str, reference: &str) -> bool {
        is_same(&self.remote, remote) && self.reference == reference
    }
}

/// What stands in the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pinned {
    /// Nothing is accepted.
    Nothing,
    /// A pair is.
    Pair(Pin),
    /// What stands there is not understood, and accepts nothing.
    Damaged,
}

/// Reads what is accepted.
pub(super) fn read(common_dir: &Path) -> Pinned {
    let bytes = match read_plain(&path(common_dir), LONGEST) {
        Ok((bytes, _)) => bytes,
        Err(FileError::Absent) => return Pinned::Nothing,
        Err(_) => return Pinned::Damaged,
    };
    match serde_json::from_slice::<Pin>(&bytes) {
        Ok(pin) if is_sound(&pin) => Pinned::Pair(pin),
        _ => Pinned::Damaged,
    }
}

/// Accepts a pair, in the place of any other (`<common dir>/majordomus/trust`, 0600, whole or not at all).
///
/// # Errors
/// [`TrustError`]; what was accepted before then still is.
pub fn trust(common_dir: &Path, remote: &str, name: &str, review: bool) -> Result<(), TrustError> {
    let pin = Pin {
        remote: identity::parse(remote).ok_or(TrustError::Remote)?,
        reference: name.to_owned(),
        review,
    };
    reference(name).map_err(TrustError::Reference)?;
    let path = path(common_dir);
    let text = serde_json::to_string(&pin).map_err(|error| TrustError::Write(error.into()))?;
    if let Some(folder) = path.parent() {
        make_directory(folder, PRIVATE_DIRECTORY).map_err(TrustError::Write)?;
    }
    replace(&path, format!("{text}\n").as_bytes()).map_err(TrustError::Write)?;
    Ok(())
}

/// What is written here always is; anything else was not.
fn is_sound(pin: &Pin) -> bool {
    identity::parse(&pin.remote).as_ref() == Some(&pin.remote) && reference(&pin.reference).is_ok()
}

fn path(common_dir: &Path) -> PathBuf {
    common_dir.join("majordomus").join("trust")
}
