//! `majordomus generate [--check]`: writes the files that are projections of the source, or names the stale ones.
//!
//! It works in the source tree of majordomus only: in any other checkout these files are none of its business.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::offline;
use crate::cli::reference::{self, Generated};
use crate::cli::report::{Exit, Failure, Outcome, failures};

/// The line by which the source tree is known.
const PACKAGE: &str = "name = \"majordomus\"";

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write nothing; exit 10 and name the stale files
    #[arg(long)]
    pub check: bool,

    /// Write below this folder, in place of the source tree
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Generates or checks.
///
/// # Errors
/// When the registry is invalid, the place is not the source tree, or a file cannot be written; with
/// [`Exit::Contract`] when `--check` finds a stale file.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let root = match &args.out {
        Some(folder) => folder.clone(),
        None => source_tree(context)?,
    };
    // Without a checkout: no generated file may depend on where it was generated.
    let registry = offline::registry(None)?;
    let files = reference::files(&registry)?;
    let stale: Vec<&Generated> = files.iter().filter(|file| is_stale(&root, file)).collect();
    if !args.check {
        for file in &stale {
            write(&root, file)?;
        }
    }
    let paths: Vec<&str> = stale.iter().map(|file| file.path.as_str()).collect();
    if args.form.json {
        let key = if args.check { "stale" } else { "written" };
        context
            .screen
            .json(&json!({ "files": files.len(), key: paths }))?;
        return Ok(verdict(args, &stale));
    }
    if args.check && !stale.is_empty() {
        let stale = paths.iter().map(|path| format!("{path} is stale"));
        return Err(failures::STALE_FILE.each(stale.collect()));
    }
    let mut text = String::new();
    for path in &paths {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "wrote {path}");
    }
    if paths.is_empty() {
        text = format!("{} files are up to date\n", files.len());
    }
    context.screen.print(&text)?;
    Ok(Exit::Done)
}

fn verdict(args: &Args, stale: &[&Generated]) -> Exit {
    if args.check && !stale.is_empty() {
        Exit::Contract
    } else {
        Exit::Done
    }
}

fn source_tree(context: &Context) -> Result<PathBuf, Failure> {
    let root = context.checkout()?.root().to_owned();
    if is_source_tree(&root) {
        Ok(root)
    } else {
        Err(failures::NO_SOURCE_TREE.fill(&[]))
    }
}

/// Whether majordomus itself is built here.
pub(super) fn is_source_tree(root: &Path) -> bool {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
    manifest.lines().any(|line| line.trim() == PACKAGE)
}

fn is_stale(root: &Path, file: &Generated) -> bool {
    std::fs::read(root.join(&file.path)).ok().as_deref() != Some(file.text.as_bytes())
}

fn write(root: &Path, file: &Generated) -> Result<(), Failure> {
    let path = root.join(&file.path);
    let failed = |error: &std::io::Error| {
        failures::NOT_WRITTEN
            .fill(&[&file.path, error])
            .hint(format!("ls -ld {}", file.path))
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    }
    // Tracked files keep the mode that the person's umask gives, so they are not replaced as private ones.
    std::fs::write(&path, &file.text).map_err(|error| failed(&error))
}
