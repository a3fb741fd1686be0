//! What would change in each client file: read, compared, nothing written.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::record::{Known, Record};
use crate::cli::report::{Failure, failures};
use crate::clients::known::{CLIENTS, Client};
use crate::clients::merge::{self, Found, LONGEST};
use crate::floor::fs::{self, FileError};
use crate::floor::paths::Site;

/// The mode of a client file that was not there before.
const MODE: u32 = 0o644;

/// What happens to a file.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli::commands) enum Change {
    /// It stays.
    None,
    /// It is there afterwards and was not before.
    Make(String),
    /// It changes from the first text to the second.
    Edit(String, String),
    /// It goes; this is what stood in it.
    Remove(String),
    /// It is left alone, for this reason.
    Leave(String),
}

/// One client file of the plan.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli::commands) struct File {
    /// Where it is, from the root.
    pub(in crate::cli::commands) path: &'static str,
    /// What happens to it.
    pub(in crate::cli::commands) change: Change,
    /// Who reads it.
    pub(in crate::cli::commands) clients: Vec<&'static str>,
    /// What is put into it, for whoever has to do it by hand.
    pub(in crate::cli::commands) entry: Value,
}

impl File {
    pub(in crate::cli::commands) fn is_change(&self) -> bool {
        !matches!(self.change, Change::None | Change::Leave(_))
    }

    /// The text before and after, empty for a file that is not there.
    pub(in crate::cli::commands) fn texts(&self) -> Option<(&str, &str)> {
        match &self.change {
            Change::None | Change::Leave(_) => None,
            Change::Make(after) => Some(("", after)),
            Change::Edit(before, after) => Some((before, after)),
            Change::Remove(before) => Some((before, "")),
        }
    }

    /// Why it is left alone, if it is.
    pub(in crate::cli::commands) fn left(&self) -> Option<String> {
        match &self.change {
            Change::Leave(reason) => Some(format!("{} {reason}, and is left as it is", self.path)),
            _ => None,
        }
    }

    pub(in crate::cli::commands) fn json(&self) -> Value {
        let (change, reason) = match &self.change {
            Change::None => ("none", None),
            Change::Make(_) => ("make", None),
            Change::Edit(..) => ("edit", None),
            Change::Remove(_) => ("remove", None),
            Change::Leave(reason) => ("leave", Some(reason)),
        };
        json!({
            "path": self.path,
            "change": change,
            "reason": reason,
            "clients": self.clients,
            "entry": self.entry,
        })
    }

    /// Makes it so.
    pub(in crate::cli::commands) fn apply(&self, site: &Site) -> Result<(), Failure> {
        let path = site.root().join(self.path);
        let failed = |error: std::io::Error| {
            failures::NOT_WRITTEN
                .fill(&[&self.path, &error])
                .hint(if fs::is_full(&error) {
                    "df -h".to_owned()
                } else {
                    format!("ls -ld {}", self.path)
                })
        };
        match &self.change {
            Change::None | Change::Leave(_) => Ok(()),
            Change::Make(after) | Change::Edit(_, after) => {
                if let Some(folder) = path.parent() {
                    std::fs::create_dir_all(folder).map_err(failed)?;
                }
                let ours = site.place(&site.init_record()).map_err(failed)?;
                fs::rewrite(&path, after.as_bytes(), MODE, &ours).map_err(failed)
            }
            Change::Remove(_) => std::fs::remove_file(&path).map_err(failed),
        }
    }
}

/// Plans the entries of these clients.
pub(in crate::cli::commands) fn init(root: &Path, clients: &[&'static Client]) -> Vec<File> {
    each_path(clients, |client| {
        let before = read(root, client.path)?;
        let text = before.as_deref().unwrap_or_default();
        let after = merged(merge::put(text, client.format, &client.entry()))?;
        put(before, after)
    })
}

/// The change that puts something into a file.
pub(in crate::cli::commands) fn put(
    before: Option<String>,
    after: String,
) -> Result<Change, String> {
    if after.len() > LONGEST {
        // It could be written, and not be read to be taken back.
        return Err(FileError::TooLong { limit: LONGEST }.to_string());
    }
    Ok(match before {
        None => Change::Make(after),
        Some(before) if before == after => Change::None,
        Some(before) => Change::Edit(before, after),
    })
}

/// The change that gives back what a file was, where it is as it was left.
pub(in crate::cli::commands) fn give_back(known: Option<&Known>, now: &str) -> Option<Change> {
    let known = known.filter(|known| known.after == now)?;
    Some(match &known.before {
        Some(before) => Change::Edit(now.to_owned(), before.clone()),
        None => Change::Remove(now.to_owned()),
    })
}

/// The change that takes something out of a file which was changed since; one that was made for it and holds nothing else
/// goes.
pub(in crate::cli::commands) fn take(known: Option<&Known>, now: String, after: String) -> Change {
    let was_made = known.is_some_and(|known| known.before.is_none());
    if now == after {
        Change::None
    } else if was_made && ["", "{}"].contains(&after.trim()) {
        Change::Remove(now)
    } else {
        Change::Edit(now, after)
    }
}

/// Plans the way back.
pub(in crate::cli::commands) fn undo(site: &Site, record: &Record) -> Vec<File> {
    let clients: Vec<&'static Client> = CLIENTS.iter().collect();
    each_path(&clients, |client| {
        let known = record.of(client.path);
        let now = match read(site.root(), client.path) {
            Ok(Some(now)) => now,
            // What cannot be read and was never written here is somebody else's business.
            Err(reason) if known.is_some() => return Err(reason),
            _ => return Ok(Change::None),
        };
        if let Some(change) = give_back(known, &now) {
            return Ok(change);
        }
        match merge::look(&now, client.format, &client.entry()) {
            Ok(Found::Same) => {}
            Ok(Found::Other) if known.is_some() => {
                return Err("has another entry under our name by now".to_owned());
            }
            Err(error) if known.is_some() => return Err(error.to_string()),
            _ => return Ok(Change::None),
        }
        let after = merged(merge::take(&now, client.format))?;
        Ok(take(known, now, after))
    })
}

/// One file for each path: several clients may read it.
fn each_path(
    clients: &[&'static Client],
    plan: impl Fn(&'static Client) -> Result<Change, String>,
) -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    for client in clients {
        if files.iter().any(|file| file.path == client.path) {
            continue;
        }
        files.push(File {
            path: client.path,
            change: plan(client).unwrap_or_else(Change::Leave),
            clients: CLIENTS
                .iter()
                .filter(|reader| reader.path == client.path)
                .map(|reader| reader.title)
                .collect(),
            entry: client.entry(),
        });
    }
    files
}

pub(in crate::cli::commands) fn merged(
    text: Result<String, merge::Unmergeable>,
) -> Result<String, String> {
    text.map_err(|error| error.to_string())
}

/// Reads a client file; no link is followed, since it could lead out of the checkout.
pub(in crate::cli::commands) fn read(root: &Path, path: &str) -> Result<Option<String>, String> {
    let folders = Path::new(path).ancestors().skip(1);
    let path = root.join(path);
    for folder in folders
        .map(|folder| root.join(folder))
        .filter(|at| at != root)
    {
        if std::fs::symlink_metadata(&folder).is_ok_and(|found| !found.is_dir()) {
            return Err("stands in something that is no folder".to_owned());
        }
    }
    match fs::read_plain(&path, LONGEST) {
        Ok((bytes, _)) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| "is not UTF-8 text".to_owned()),
        Err(FileError::Absent) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether the folder of a client file is there.
pub(in crate::cli::commands) fn has_folder(root: &Path, path: &str) -> bool {
    let folder: Option<PathBuf> = Path::new(path).parent().map(|folder| root.join(folder));
    folder.is_none_or(|folder| folder.is_dir())
}
