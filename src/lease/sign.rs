//! Which of a checkout's documents speaks to whom: a scope's owner may serve from the common files or from its scope's own.

use std::fs;

use super::document::{Document, Reading, State};
use crate::floor::paths::{Files, Site};

/// What a newcomer of this scope would find.
#[derive(Debug, Clone, PartialEq)]
pub struct Sign {
    /// Where.
    pub files: Files,
    /// What is there.
    pub reading: Reading,
}

/// Reads the document of this scope's owner: the common one, unless that says nothing of a ready owner here and one that
/// serves beside has left its own.
pub fn read(site: &Site) -> Sign {
    let common = Reading::at(&site.document(Files::Common));
    let is_ours =
        |document: &Document| document.root_id == site.root_id() && document.scope == site.scope();
    let is_ready = |document: &Document| is_ours(document) && document.state == State::Ready;
    if !common.document().is_some_and(is_ready) {
        let beside = Reading::at(&site.document(Files::Scope));
        if beside.document().is_some_and(is_ours) {
            return Sign {
                files: Files::Scope,
                reading: beside,
            };
        }
    }
    Sign {
        files: Files::Common,
        reading: common,
    }
}

/// Reads the documents of this checkout's owners of other scopes. Whether they live cannot be seen from here.
pub fn others(site: &Site) -> Vec<Document> {
    let folder = fs::read_dir(site.state_dir());
    let names = folder.into_iter().flatten().flatten();
    let mut paths: Vec<_> = names
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("server.") && name.ends_with(".json")
        })
        .collect();
    paths.sort_unstable();
    paths
        .iter()
        .filter_map(|path| Reading::at(path).document().cloned())
        .filter(|found| found.root_id == site.root_id() && found.scope != site.scope())
        .collect()
}
