//! Hooks that belong to a person and not to a checkout: those of stores, in the person's own files of each client.
//!
//! Shown, agreed to, recorded, written, as the files of a checkout are. The record, beside the shadows, is the backup: it
//! gives back every byte, and where a file was changed since, the items alone are taken out.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Agreed;
use super::plan::State;
use crate::cli::agree;
use crate::cli::commands::{init, store};
use crate::cli::context::Context;
use crate::cli::report::{Exit, Failure, Outcome, failures};
use crate::clients::hooks::{HOSTS, Host, Part};
use crate::clients::merge::{self, LONGEST};
use crate::floor::fs::{FileError, read_plain, replace, rewrite};

/// The mode of a file that was not there before: it may come to hold secrets of the person's.
const MODE: u32 = 0o600;

/// What the files were before.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record(BTreeMap<PathBuf, Known>);

#[derive(Debug, Serialize, Deserialize)]
struct Known {
    /// Its text before; nothing for a file that was not there.
    before: Option<String>,
    after: String,
    made_folder: bool,
}

/// What becomes of one file.
#[derive(Debug, PartialEq, Eq)]
struct Edit {
    host: &'static str,
    path: PathBuf,
    before: Option<String>,
    /// Its text afterwards, or why it is left alone; nothing where it goes or is not there.
    after: Result<Option<String>, String>,
}

impl Edit {
    fn is_change(&self) -> bool {
        self.after.as_ref().is_ok_and(|after| *after != self.before)
    }
}

/// The person's file of a client's hooks.
fn file(host: &Host, context: &Context) -> Option<PathBuf> {
    let settings = &context.settings;
    let given = settings.claude_settings.clone();
    let given = given.filter(|_| host.word == "claude");
    let path = given.or_else(|| Some(settings.home.as_ref()?.join(host.path)))?;
    std::path::absolute(path).ok()
}

fn read(path: &Path) -> Result<Option<String>, String> {
    match read_plain(path, LONGEST) {
        Ok((bytes, _)) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| "is not UTF-8 text".to_owned()),
        Err(FileError::Absent) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Says how much of a part's hooks stands in the person's file, and where that is.
pub(super) fn state(part: Part, host: &Host, context: &Context) -> Result<State, String> {
    let Some(path) = file(host, context) else {
        return Ok(State::Absent);
    };
    let text = read(&path)?.unwrap_or_default();
    let mut found = Vec::new();
    for hook in part.hooks() {
        found.push(merge::hook(&text, &hook).map_err(|error| error.to_string())?);
    }
    Ok(State::of(&found))
}

fn install(part: Part, before: Option<&String>) -> Result<Option<String>, String> {
    let mut text = before.cloned().unwrap_or_default();
    for hook in part.hooks() {
        text = merge::put_hook(&text, &hook).map_err(|error| error.to_string())?;
    }
    Ok(Some(text))
}

fn uninstall(
    part: Part,
    before: Option<&String>,
    known: Option<&Known>,
) -> Result<Option<String>, String> {
    let Some(now) = before else { return Ok(None) };
    if let Some(known) = known.filter(|known| known.after == *now) {
        return Ok(known.before.clone());
    }
    let mut text = now.clone();
    for hook in part.hooks().iter().rev() {
        if merge::hook(&text, hook).map_err(|error| error.to_string())? {
            text = merge::take_hook(&text, hook).map_err(|error| error.to_string())?;
        }
    }
    let was_made = known.is_some_and(|known| known.before.is_none());
    let is_bare = ["", "{}"].contains(&text.trim());
    Ok((!was_made || !is_bare).then_some(text))
}

fn plan(part: Part, back: bool, agreed: &Agreed, record: &Record, context: &Context) -> Vec<Edit> {
    let edit = |host: &&'static Host| {
        let path = file(host, context)?;
        let (before, after) = match read(&path) {
            Ok(before) if back => {
                let after = uninstall(part, before.as_ref(), record.0.get(&path));
                (before, after)
            }
            Ok(before) => {
                let after = install(part, before.as_ref());
                (before, after)
            }
            Err(why) => (None, Err(why)),
        };
        Some(Edit {
            host: host.word,
            path,
            before,
            after,
        })
    };
    wanted(back, agreed, context)
        .iter()
        .filter_map(edit)
        .collect()
}

/// Those that were named, else those in use, else all of them; to take back, all of them.
fn wanted(back: bool, agreed: &Agreed, context: &Context) -> Vec<&'static Host> {
    if !agreed.client.is_empty() {
        let named = |host: &&Host| agreed.client.iter().any(|word| word == host.word);
        return HOSTS.iter().filter(named).collect();
    }
    let is_in_use = |host: &&Host| {
        let home = context.settings.home.as_deref().unwrap_or(Path::new("/"));
        let client = host.client();
        let used = client.is_some_and(|client| init::is_in_use(client, home, context));
        used || file(host, context).is_some_and(|path| path.exists())
    };
    let in_use: Vec<_> = HOSTS.iter().filter(is_in_use).collect();
    if back || in_use.is_empty() {
        return HOSTS.iter().collect();
    }
    in_use
}

/// Installs the hooks of a part in the person's files, or takes them back.
pub(super) fn run(part: Part, back: bool, agreed: &Agreed, context: &Context) -> Outcome {
    if !back {
        init::executable(context)?;
    }
    let at = store::surroundings(context)?.state.join("hooks.json");
    let mut record: Record = read_plain(&at, 32 * LONGEST)
        .ok()
        .and_then(|(bytes, _)| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let edits = plan(part, back, agreed, &record, context);
    let changes: Vec<&Edit> = edits.iter().filter(|edit| edit.is_change()).collect();
    if !agreed.form.json {
        for edit in &changes {
            let text = |text: Option<&String>| text.cloned().unwrap_or_default();
            let after = edit.after.as_ref().ok().and_then(Option::as_ref);
            let (before, after) = (text(edit.before.as_ref()), text(after));
            let name = edit.path.display().to_string();
            context
                .screen
                .print(&agree::diff(&name, &before, &after, context.screen))?;
        }
        if !changes.is_empty() && !agreed.yes && !agree::agreed("write these files?", context)? {
            return Err(failures::NOT_AGREED.fill(&[]));
        }
    }
    let written = !changes.is_empty() && (agreed.yes || !agreed.form.json);
    if written {
        if plan(part, back, agreed, &record, context) != edits {
            return Err(failures::CHANGED_MEANWHILE.fill(&[]));
        }
        for edit in &changes {
            write(edit, back, &at, &mut record)?;
        }
    }
    if agreed.form.json {
        let files: Vec<_> = edits
            .iter()
            .map(|edit| {
                json!({ "client": edit.host, "path": edit.path.display().to_string(),
                "change": edit.is_change(), "reason": edit.after.as_ref().err() })
            })
            .collect();
        context
            .screen
            .json(&json!({ "written": written, "files": files }))?;
    } else {
        context.screen.note(&match changes.len() {
            0 => "nothing to write".to_owned(),
            1 => "1 file written".to_owned(),
            count => format!("{count} files written"),
        });
    }
    let left = edits.iter().filter_map(|edit| {
        let why = edit.after.as_ref().err()?;
        Some(format!(
            "{} {why}, and is left as it is",
            edit.path.display()
        ))
    });
    let left: Vec<String> = left.collect();
    if !left.is_empty() && (!back || written) {
        return Err(failures::LEFT_ALONE
            .each(left)
            .hint("majordomus hooks, once the file is repaired"));
    }
    if written && !back && !agreed.form.json {
        for host in HOSTS.iter().filter(|host| host.word == "codex") {
            if changes.iter().any(|edit| edit.host == host.word) {
                context.screen.note(&format!("Codex {}", host.gate));
            }
        }
    }
    Ok(Exit::Done)
}

/// Writes one file. The record goes first: a process that is killed in between leaves nothing that the way back does not
/// know.
fn write(edit: &Edit, back: bool, at: &Path, record: &mut Record) -> Result<(), Failure> {
    let failed = |path: &Path, error: &io::Error| {
        let shown = path.display();
        failures::NOT_WRITTEN
            .fill(&[&shown, error])
            .hint(format!("ls -ld {shown}"))
    };
    let keep = |record: &Record| -> io::Result<()> {
        let folder = at.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder)?;
        let text = serde_json::to_vec(record).map_err(io::Error::other)?;
        replace(at, &text).map(drop)
    };
    let (path, after) = (&edit.path, edit.after.clone().unwrap_or_default());
    let folder = path.parent().unwrap_or(Path::new("/"));
    if let (false, Some(after)) = (back, &after) {
        let before = match record.0.remove(path) {
            Some(known) if Some(&known.after) == edit.before.as_ref() => known.before,
            _ => edit.before.clone(),
        };
        let known = Known {
            before,
            after: after.clone(),
            made_folder: !folder.is_dir(),
        };
        record.0.insert(path.clone(), known);
        keep(record).map_err(|error| failed(at, &error))?;
    }
    let done = match &after {
        Some(after) => {
            fs::create_dir_all(folder).and_then(|()| rewrite(path, after.as_bytes(), MODE, at))
        }
        None => fs::remove_file(path),
    };
    done.map_err(|error| failed(path, &error))?;
    if back && let Some(known) = record.0.remove(path) {
        if known.made_folder {
            // Somebody may have put something else there since; then it stays.
            let _kept = fs::remove_dir(folder);
        }
        keep(record).map_err(|error| failed(at, &error))?;
    }
    Ok(())
}
