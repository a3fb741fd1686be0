//! Packing what many writes left: each makes a few small files, and a push or a question reads through all of them.
//!
//! It is git's work, in a process group with a deadline, under the lock of whoever uses the network: so two never pack at
//! once, and what a killed one left is swept by the next that has the lock. Writers take no such lock. An object that they
//! have written and no ref leads to yet stays in a file of its own; one that goes from there into a pack is found in the pack.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::{Deadline, RemoteError, lock};
use crate::floor::git;
use crate::floor::remote::{child, settings};

/// How many files of one object each may lie about.
const LOOSE: usize = 1000;
/// How many packs may lie about; each fetch and each packing makes one.
const PACKS: usize = 32;
/// The longest that it may take. What is not done by then is begun anew by a later start.
pub const TIDY: Duration = Duration::from_secs(20);

/// Packs the repository in `folder`, where much lies about in it, until it is done or the deadline. Answers whether there was
/// a reason to.
///
/// # Errors
/// `Lock` where somebody uses the network, `TimedOut`, and whatever git fails with: nothing is lost by it.
pub fn tidy(folder: &Path, until: &Deadline) -> Result<bool, RemoteError> {
    let arguments: &[&str] = match (loose(folder), packs(folder)) {
        // What no ref leads to is put back into files of its own.
        (_, packs) if packs > PACKS => &["repack", "-A", "-d", "-q"],
        (loose, _) if loose > LOOSE => &["repack", "-d", "-q"],
        _ => return Ok(false),
    };
    let held = lock::SyncLock::take(folder, until)?;
    settings::hold(folder)?;
    lock::sweep(folder);
    let input = held
        .share()
        .map_err(|error| RemoteError::Other(error.to_string()))?;
    let mut git = git::command(folder);
    git.arg("--git-dir")
        .arg(folder)
        .args(["-c", "core.fsync=all", "-c", "pack.threads=1"])
        .args(["-c", "repack.writeBitmaps=false"])
        .args(arguments)
        .stdin(input);
    let ran = child::run(&mut git, until, TIDY)?;
    if ran.status.success() {
        return Ok(true);
    }
    let said = String::from_utf8_lossy(&ran.stderr);
    Err(RemoteError::Other(
        said.lines().next().unwrap_or_default().to_owned(),
    ))
}

fn loose(folder: &Path) -> usize {
    let shards = (0..=u8::MAX).map(|shard| folder.join("objects").join(format!("{shard:02x}")));
    shards.map(|shard| count(&shard, "")).sum()
}

fn packs(folder: &Path) -> usize {
    count(&folder.join("objects/pack"), "pack")
}

fn count(folder: &Path, extension: &str) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| {
            let path = entry.path();
            path.extension().unwrap_or_default() == extension
        })
        .count()
}
