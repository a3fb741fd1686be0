//! `majordomus notes path` and `notes export`: the notes as files, without a server.

use std::path::{self, PathBuf};
use std::{fs, io};

use serde_json::json;

use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::report::{Exit, Failure, Outcome, failures};
use crate::floor::error::Chain;
use crate::floor::paths::Site;
use crate::memory::team::{FOLDER, Team};

/// What may be typed after `path`.
#[derive(Debug, clap::Args)]
pub struct Path {
    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// What may be typed after `export`.
#[derive(Debug, clap::Args)]
pub struct Export {
    /// A folder, which is made; one that is there has to be empty
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Prints where the repository of the notes is.
///
/// # Errors
/// Where there is no checkout.
pub(super) fn path(args: &Path, context: &Context) -> Outcome {
    let site = context.checkout()?;
    let path = site.notes_dir().join(FOLDER);
    if args.form.json {
        context
            .screen
            .json(&json!({ "path": path.to_string_lossy(), "exists": path.exists() }))?;
    } else {
        context.screen.print(&format!("{}\n", path.display()))?;
    }
    Ok(Exit::Done)
}

/// Writes every note to a file of its own.
///
/// # Errors
/// Where the folder holds something, cannot be written, or the notes cannot be read.
pub(super) fn export(args: &Export, context: &Context) -> Outcome {
    let site = context.checkout()?;
    let unwritten = |error: &dyn std::fmt::Display| {
        failures::NOT_EXPORTED.fill(&[&args.folder.display(), error])
    };
    fs::create_dir_all(&args.folder).map_err(|error| unwritten(&error))?;
    let whole = fs::canonicalize(&args.folder).map_err(|error| unwritten(&error))?;
    if site
        .checkout()
        .is_some_and(|checkout| whole.starts_with(&checkout.common_dir))
    {
        return Err(unwritten(&"it is in git's own folder"));
    }
    let mut entries = fs::read_dir(&args.folder).map_err(|error| unwritten(&error))?;
    if entries.next().is_some() {
        return Err(unwritten(&"it is not empty"));
    }
    let notes = all(&site)?;
    if let Err(error) = write(&whole, &notes) {
        clear(&whole, &notes);
        return Err(unwritten(&error));
    }
    if args.form.json {
        context.screen.json(&json!({ "notes": notes.len() }))?;
    } else {
        let count = notes.len();
        context
            .screen
            .print(&format!("{count} notes in {}\n", args.folder.display()))?;
    }
    Ok(Exit::Done)
}

fn write(folder: &path::Path, notes: &[(String, Vec<u8>)]) -> io::Result<()> {
    for (path, bytes) in notes {
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&file, bytes)?;
    }
    Ok(())
}

/// Takes half an export back, so that the next one finds the folder empty. What somebody else put there stays.
fn clear(folder: &path::Path, notes: &[(String, Vec<u8>)]) {
    for (path, _) in notes {
        let file = folder.join(path);
        // What cannot be removed is there to be seen, and the next export says so.
        drop(fs::remove_file(&file));
        let parents = file.ancestors().skip(1);
        for parent in parents.take_while(|parent| *parent != folder) {
            drop(fs::remove_dir(parent));
        }
    }
}

/// Every note as it stands here: its path and its file.
fn all(site: &Site) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let mut team = Team::at(&site.notes_dir(), site.writes());
    team.all()
        .map_err(|error| failures::UNREAD_NOTES.fill(&[&Chain(&error)]))
}
