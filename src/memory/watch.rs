//! What happens to the file of what was written while a server has it open: it is damaged and kept aside, or somebody removes
//! it. Whoever writes next is told, once: drafts, and what was in no commit, were in that file alone.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::floor::database;

/// A file, as it was seen last.
#[derive(Debug)]
pub(super) struct Watch {
    file: PathBuf,
    seen: Option<Seen>,
    happened: Option<String>,
}

#[derive(Debug)]
struct Seen {
    identity: Option<(u64, u64)>,
    aside: BTreeSet<String>,
}

impl Watch {
    /// Describes a file; nothing is looked at.
    pub(super) fn new(file: PathBuf) -> Self {
        Self {
            file,
            seen: None,
            happened: None,
        }
    }

    /// Looks, and keeps in mind what happened since the last time. Called before and after whatever uses the file.
    pub(super) fn look(&mut self) {
        let identity = fs::symlink_metadata(&self.file).ok();
        let identity = identity.map(|found| (found.dev(), found.ino()));
        let before = self.seen.as_ref().map(|seen| seen.identity);
        if before == Some(identity) {
            return;
        }
        let aside: BTreeSet<String> = database::kept_aside(&self.file).into_iter().collect();
        if let Some(Seen {
            identity: Some(_),
            aside: known,
        }) = &self.seen
        {
            self.happened = Some(told(&self.file, aside.difference(known).last()));
        }
        self.seen = Some(Seen { identity, aside });
    }

    /// Whether something happened that nobody was told of.
    pub(super) fn is_news(&self) -> bool {
        self.happened.is_some()
    }

    /// What happened, once.
    pub(super) fn take(&mut self) -> Option<String> {
        self.happened.take()
    }
}

fn told(file: &Path, aside: Option<&String>) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    match aside {
        Some(aside) => format!(
            "The file of what was written here ({name}) was damaged, and is kept aside as {aside}: earlier drafts, and what was \
             in no commit, are in it alone. Tell the person you work for; majordomus doctor says more."
        ),
        None => format!(
            "The file of what was written here ({name}) was removed or replaced by another program: earlier drafts, and what was \
             in no commit, are gone. Tell the person you work for."
        ),
    }
}
