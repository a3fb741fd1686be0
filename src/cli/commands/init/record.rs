//! What the client files were before `init` wrote to them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::plan::{self, File};
use crate::cli::report::{Failure, failures};
use crate::clients::merge::LONGEST;
use crate::floor::fs;
use crate::floor::paths::Site;

/// What was written, by path. It may hold what its files hold, so it is as private as the rest of `.ai/local`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::cli::commands) struct Record {
    files: Vec<Known>,
    /// The folder was no checkout before: `.ai` was made for it.
    #[serde(default)]
    made_checkout: bool,
    /// Where it stands.
    #[serde(skip)]
    at: PathBuf,
}

/// One file.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::cli::commands) struct Known {
    path: String,
    /// Its text before; `None` for a file that was not there.
    pub(in crate::cli::commands) before: Option<String>,
    /// Its text as `init` left it.
    pub(in crate::cli::commands) after: String,
    made_folder: bool,
}

impl Record {
    /// Reads the record; one that is not there or cannot be read is empty, and `--undo` then takes out the entries alone.
    pub(in crate::cli::commands) fn read(at: PathBuf) -> Self {
        let known = fs::read_plain(&at, 32 * LONGEST)
            .ok()
            .and_then(|(bytes, _)| serde_json::from_slice::<Self>(&bytes).ok());
        Self {
            at,
            ..known.unwrap_or_default()
        }
    }

    /// Returns what is known of a path.
    pub(in crate::cli::commands) fn of(&self, path: &str) -> Option<&Known> {
        self.files.iter().find(|known| known.path == path)
    }

    /// Takes up a change that is about to be made. What a file was before the first of several is what counts, unless
    /// somebody else changed it in between.
    pub(in crate::cli::commands) fn note(&mut self, root: &Path, file: &File) {
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
    pub(in crate::cli::commands) fn write(
        &mut self,
        site: &Site,
        alone: &Alone,
    ) -> Result<(), Failure> {
        self.made_checkout |= alone.made_checkout;
        let text = serde_json::to_vec(self).unwrap_or_default();
        let written = site.place(&self.at);
        let written = written.and_then(|place| fs::replace(&place, &text));
        written.map(drop).map_err(|error| {
            let shown = site.shown(&self.at);
            failures::NO_RECORD.fill(&[&shown, &error])
        })
    }

    /// Forgets what was taken back, and removes the folders that were made for it. What was left alone stays known.
    pub(in crate::cli::commands) fn taken_back(
        mut self,
        site: &Site,
        files: &[File],
        alone: &Alone,
    ) -> Result<Unmade, Failure> {
        let stays = |path: &str| {
            let file = files.iter().find(|file| file.path == path);
            file.is_none_or(|file| file.left().is_some())
        };
        let gone = self.files.iter().filter(|known| !stays(&known.path));
        for known in gone.filter(|known| known.made_folder) {
            if let Some(folder) = site.root().join(&known.path).parent() {
                // Somebody may have put something else there since; then it stays.
                let _kept = std::fs::remove_dir(folder);
            }
        }
        self.files.retain(|known| stays(&known.path));
        if !self.files.is_empty() {
            return self.write(site, alone).map(|()| Unmade::Nothing);
        }
        let path = &self.at;
        match site.place(path).and_then(std::fs::remove_file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let shown = site.shown(path);
                return Err(failures::NOT_REMOVED
                    .fill(&[&shown, &error])
                    .hint(format!("ls -ld {shown}")));
            }
            _ => {}
        }
        if !self.made_checkout {
            return Ok(Unmade::Nothing);
        }
        unmake_checkout(site);
        Ok(if site.root().join(".ai").exists() {
            Unmade::Stays
        } else {
            Unmade::Gone
        })
    }
}

/// Removes the folders of a checkout in which nothing is kept but that they exist. A server's files are not ours to remove.
fn unmake_checkout(site: &Site) {
    let state = site.state_dir();
    for folder in state
        .ancestors()
        .take_while(|folder| *folder != site.root())
    {
        if folder.ends_with("local") {
            let holds_more = std::fs::read_dir(folder).is_ok_and(|entries| {
                let names = entries.flatten().map(|entry| entry.file_name());
                names.into_iter().any(|name| name != ".gitignore")
            });
            if holds_more || std::fs::remove_file(folder.join(".gitignore")).is_err() {
                return;
            }
        }
        if std::fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

/// What became of a folder that was made a checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli::commands) enum Unmade {
    /// It was one before, or still is.
    Nothing,
    /// It is none any more.
    Gone,
    /// Something else is kept in it.
    Stays,
}

/// That no other `init` of this checkout writes now: while it lives, the state folder is locked.
#[derive(Debug)]
pub(in crate::cli::commands) struct Alone {
    _folder: Option<std::fs::File>,
    /// There was no checkout before this.
    made_checkout: bool,
}

impl Alone {
    /// Makes the state folder and waits for its turn. Where a folder cannot be locked, nobody waits.
    pub(in crate::cli::commands) fn wait(site: &Site) -> Result<Self, Failure> {
        let made_checkout = site.checkout().is_none() && !site.root().join(".ai").exists();
        site.prepare().map_err(|error| Failure::from(&error))?;
        let folder = std::fs::File::open(site.state_dir()).ok();
        let locked = folder.filter(|folder| folder.lock().is_ok());
        if let Ok(record) = site.place(&site.init_record()) {
            fs::sweep(&record);
        }
        Ok(Self {
            _folder: locked,
            made_checkout,
        })
    }
}
