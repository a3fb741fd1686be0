//! What the client files were before `init` wrote to them.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::plan::{self, File};
use crate::cli::report::{Exit, Failure};
use crate::clients::merge::LONGEST;
use crate::floor::fs;
use crate::floor::paths::Site;

/// What was written, by path. It may hold what its files hold, so it is as private as the rest of `.ai/local`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    files: Vec<Known>,
}

/// One file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Known {
    path: String,
    /// Its text before; `None` for a file that was not there.
    pub(super) before: Option<String>,
    /// Its text as `init` left it.
    pub(super) after: String,
    made_folder: bool,
}

impl Record {
    /// Reads the record; one that is not there or cannot be read is empty, and `--undo` then takes out the entries alone.
    pub(super) fn read(site: &Site) -> Self {
        fs::read_plain(&site.init_record(), 32 * LONGEST)
            .ok()
            .and_then(|(bytes, _)| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// Returns what is known of a path.
    pub(super) fn of(&self, path: &str) -> Option<&Known> {
        self.files.iter().find(|known| known.path == path)
    }

    /// Whether the folder of this file was made with it.
    pub(super) fn made_folder(&self, path: &str) -> bool {
        self.of(path).is_some_and(|known| known.made_folder)
    }

    /// Takes up a change that is about to be made. What a file was before the first of several is what counts, unless
    /// somebody else changed it in between.
    pub(super) fn note(&mut self, root: &Path, file: &File) {
        let Some((before, after)) = file.texts() else {
            return;
        };
        let existed = !matches!(file.change, plan::Change::Make(_));
        match self.files.iter_mut().find(|known| known.path == file.path) {
            Some(known) if known.after == before => after.clone_into(&mut known.after),
            Some(known) => {
                known.before = existed.then(|| before.to_owned());
                after.clone_into(&mut known.after);
            }
            None => self.files.push(Known {
                path: file.path.to_owned(),
                before: existed.then(|| before.to_owned()),
                after: after.to_owned(),
                made_folder: !plan::has_folder(root, file.path),
            }),
        }
    }

    /// Writes it.
    pub(super) fn write(&self, site: &Site) -> Result<(), Failure> {
        let path = site.init_record();
        let text = serde_json::to_vec(self).unwrap_or_default();
        fs::replace(&path, &text).map(drop).map_err(|error| {
            let shown = site.shown(&path);
            Failure::new(
                Exit::Failed,
                format!("nothing was written: {shown}: {error}"),
            )
            .hint("df -h .")
        })
    }

    /// Removes it: there is nothing left to take back.
    pub(super) fn remove(site: &Site) -> Result<(), Failure> {
        let path = site.init_record();
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Failure::new(
                Exit::Failed,
                format!("cannot remove {}: {error}", site.shown(&path)),
            )),
            _ => Ok(()),
        }
    }
}
