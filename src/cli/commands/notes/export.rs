//! `majordomus notes path` and `notes export`: the notes as files, without a server.

use std::fs;
use std::path::PathBuf;

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
    let path = site.shared_dir().join(FOLDER);
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
    let mut entries = fs::read_dir(&args.folder).map_err(|error| unwritten(&error))?;
    if entries.next().is_some() {
        return Err(unwritten(&"it is not empty"));
    }
    let notes = all(&site)?;
    for (path, bytes) in &notes {
        let file = args.folder.join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(|error| unwritten(&error))?;
        }
        fs::write(&file, bytes).map_err(|error| unwritten(&error))?;
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

/// Every note as it stands here: its path and its file.
fn all(site: &Site) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let mut team = Team::at(&site.shared_dir(), site.writes());
    team.all()
        .map_err(|error| failures::UNREAD_NOTES.fill(&[&Chain(&error)]))
}
