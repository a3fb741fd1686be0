//! `majordomus init`: tells the clients in use how to start the server of this checkout, and `--undo` takes it back.
//!
//! Each client file gets one entry; every byte beside it stays ([`crate::clients::merge`]). What a file was before is kept
//! in a *record* below `.ai/local`, so that `--undo` gives back exactly that ([`record`]); where the file was changed since,
//! or the record is gone, the entry alone is taken out.

pub(super) mod carry;
pub(super) mod plan;
pub(super) mod record;

use std::path::{Path, PathBuf};

use self::carry::Wish;
use self::plan::File;
use self::record::Record;
use crate::cli::arguments::Json;
use crate::cli::commands::generate;
use crate::cli::commands::notes::share;
use crate::cli::context::Context;
use crate::cli::report::{Exit, Failure, Outcome, failures};
use crate::clients::known::{CLIENTS, COMMAND, Client};
use crate::floor::paths::{Explicit, Site};
use clap::builder::PossibleValuesParser;

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write for this client, in use or not; may be given several times
    #[arg(long, value_name = "CLIENT", value_parser = PossibleValuesParser::new(CLIENTS.iter().map(|client| client.word)))]
    pub client: Vec<String>,

    /// Write for every client that is known
    #[arg(long, conflicts_with = "client")]
    pub all: bool,

    /// Take back what was written
    #[arg(long)]
    pub undo: bool,

    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,

    /// How to print; without `--yes` nothing is written
    #[command(flatten)]
    pub form: Json,
}

/// Shows what would change, asks, and writes it.
///
/// # Errors
/// When the executable is not in `PATH`, nobody is there to ask, or a file cannot be written.
pub fn run(args: &Args, context: &Context) -> Outcome {
    // Without git and without `.ai`, this folder becomes the checkout.
    let site = match context.site()? {
        Some(site) => site,
        None => Site::discover(Path::new("."), Explicit::Yes)
            .map_err(|error| Failure::from(&error))?
            .ok_or_else(|| failures::NO_CHECKOUT.fill(&[]))?,
    };
    if generate::is_source_tree(site.root()) {
        return Err(failures::SOURCE_TREE.fill(&[]));
    }
    let clients = if args.undo {
        Vec::new()
    } else {
        executable(context)?;
        is_a_project(&site, context)?;
        wanted(args, &site, context)
    };
    let plan = || {
        if args.undo {
            plan::undo(&site, &Record::read(site.init_record()))
        } else {
            plan::init(site.root(), &clients)
        }
    };
    let wish = Wish {
        yes: args.yes,
        json: args.form.json,
        back: args.undo,
    };
    let (files, written) = carry::out(plan, wish, &site.init_record(), &site, context)?;
    // Files that were left alone are a failure, after everything else was done.
    let left: Vec<String> = files.iter().filter_map(File::left).collect();
    if !left.is_empty() {
        return Err(failures::LEFT_ALONE.each(left));
    }
    if written && !args.undo && !args.form.json {
        next(&files, context);
        if !args.yes {
            share::offer(&site, context)?;
        }
    }
    Ok(Exit::Done)
}

/// Refuses the folder in which a client's files hold for every project of this person, and the root of all folders, unless
/// it was named.
pub(super) fn is_a_project(site: &Site, context: &Context) -> Result<(), Failure> {
    let home = context.settings.home.as_ref();
    let home = home.and_then(|home| home.canonicalize().ok());
    let is_above_all = site.root().parent().is_none() || home.as_deref() == Some(site.root());
    if !is_above_all || context.repo.is_some() {
        return Ok(());
    }
    Err(failures::ABOVE_ALL.fill(&[]))
}

/// The clients of this call: those that were named, else the usual ones that are in use, else all of the usual ones.
fn wanted(args: &Args, site: &Site, context: &Context) -> Vec<&'static Client> {
    if args.all {
        return CLIENTS.iter().collect();
    }
    if !args.client.is_empty() {
        let named = |client: &&Client| args.client.iter().any(|word| word == client.word);
        return CLIENTS.iter().filter(named).collect();
    }
    let usual = || CLIENTS.iter().filter(|client| client.usual);
    let in_use: Vec<_> = usual()
        .filter(|client| is_in_use(client, site.root(), context))
        .collect();
    if !in_use.is_empty() {
        return in_use;
    }
    context.screen.note(
        "no client was found on this machine; the files are those of Claude Code, Gemini CLI and Codex",
    );
    usual().collect()
}

/// Whether this client works in this checkout, or on this machine.
pub(super) fn is_in_use(client: &Client, root: &Path, context: &Context) -> bool {
    let home = context.settings.home.as_ref();
    root.join(client.path).exists()
        || home.is_some_and(|home| home.join(client.home).exists())
        || context.settings.find(Path::new(client.program)).is_some()
}

/// Finds the executable as a client will.
pub(super) fn executable(context: &Context) -> Result<PathBuf, Failure> {
    context
        .settings
        .find(Path::new(COMMAND))
        .ok_or_else(|| failures::NOT_INSTALLED.fill(&[]))
}

/// Says what each client asks for, and where to look.
fn next(files: &[File], context: &Context) {
    let changes = files.iter().filter(|file| file.is_change());
    let paths: Vec<&str> = changes.map(|file| file.path).collect();
    for client in CLIENTS.iter().filter(|client| paths.contains(&client.path)) {
        let in_use = context.settings.find(Path::new(client.program)).is_some();
        if client.usual || in_use {
            context
                .screen
                .note(&format!("{} {}", client.title, client.gate));
        }
    }
    context
        .screen
        .note("open a client here, then: majordomus status");
}
