//! Damaged files, which are kept under another name.

use std::io;
use std::path::{Path, PathBuf};

use super::{LOG, Place, Schema, with_suffix};
use crate::floor::clock;
use crate::floor::error::Chain;

/// What a damaged file is called from then on; a time follows.
const DAMAGED: &str = ".damaged-";

/// Keeps a damaged file under another name, with all its bytes.
pub(super) fn move_aside(place: &Place, schema: &Schema, error: &rusqlite::Error) {
    let Place::File(path) = place else {
        return;
    };
    let whose = schema.whose;
    let suffix = format!("{DAMAGED}{:013}", clock::now_ms());
    for part in ["", LOG, "-shm"] {
        let from = with_suffix(path, part);
        let to = with_suffix(&from, &suffix);
        if let Err(error) = std::fs::rename(&from, &to)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(whose, error = %Chain(&error), "a damaged file cannot be moved aside");
        }
    }
    forget_oldest(path, schema.damaged_kept);
    let kept = with_suffix(path, &suffix);
    let name = kept.file_name().unwrap_or_default().to_string_lossy();
    tracing::warn!(whose, kept = %name, error = %Chain(error), "a file was damaged and is kept aside");
}

/// The names of the files that were moved aside from a path, the oldest first, without their companions.
#[must_use]
pub fn kept_aside(path: &Path) -> Vec<String> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    let begins = format!("{}{DAMAGED}", name.to_string_lossy());
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(&begins)).collect();
    names.sort_unstable();
    names
}

/// Removes all but the last of the files that were moved aside, each with its companions.
fn forget_oldest(path: &Path, damaged_kept: usize) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return;
    };
    let name = name.to_string_lossy();
    let mut found: Vec<(String, PathBuf)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let file = entry.file_name().to_string_lossy().into_owned();
            let (_, time) = file.strip_prefix(&*name)?.split_once(DAMAGED)?;
            Some((time.to_owned(), entry.path()))
        })
        .collect();
    found.sort_unstable();
    let mut times: Vec<&str> = found.iter().map(|(time, _)| time.as_str()).collect();
    times.dedup();
    let Some(first_kept) = times.iter().rev().nth(damaged_kept.saturating_sub(1)) else {
        return;
    };
    for (time, path) in &found {
        if time.as_str() < *first_kept {
            // What cannot be removed is left, and found again.
            let _left = std::fs::remove_file(path);
        }
    }
}
