//! `majordomus logs`: what the owners of this checkout logged.

use std::sync::mpsc;

use notify::{RecursiveMode, Watcher as _};
use serde_json::Value;

use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::journal::{Entry, Journal};
use crate::cli::report::{Exit, Failure, Outcome, failures};
use crate::floor::error::Chain;
use crate::floor::fs::FileError;
use crate::floor::paths::Site;
use crate::floor::watch;

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Go on with what comes, until interrupted
    #[arg(long, short)]
    pub follow: bool,

    /// How many of the last lines to begin with
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 50)]
    pub lines: usize,

    /// How to print; with `--follow` one JSON value a line
    #[command(flatten)]
    pub form: Json,
}

/// Prints the last lines, oldest first.
///
/// # Errors
/// Where there is no checkout, no log, or one that cannot be read.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let site = context.checkout()?;
    let mut journal = Journal::of(&site);
    // Watched before it is read, so that nothing falls in between.
    let news = args.follow.then(|| watch(&site)).transpose()?;
    let entries = journal.all().map_err(|error| unreadable(&site, &error))?;
    let last = &entries[entries.len().saturating_sub(args.lines)..];
    let Some((_watcher, news)) = news else {
        if args.form.json {
            let last: Vec<Value> = last.iter().map(Entry::json).collect();
            context.screen.json(&last.into())?;
        } else if entries.is_empty() {
            return Err(failures::NO_LOG.fill(&[]));
        } else {
            context.screen.print(&text(last, args.form))?;
        }
        return Ok(Exit::Done);
    };
    let mut open = context.screen.printed(&text(last, args.form))?;
    while open && news.recv().is_ok() {
        // A burst is one look.
        while news.try_recv().is_ok() {}
        let entries = journal.more().map_err(|error| unreadable(&site, &error))?;
        open = context.screen.printed(&text(&entries, args.form))?;
    }
    Ok(Exit::Done)
}

fn text(entries: &[Entry], form: Json) -> String {
    let mut text = String::new();
    for entry in entries {
        text.push_str(&if form.json {
            entry.json().to_string()
        } else {
            entry.line()
        });
        text.push('\n');
    }
    text
}

fn watch(site: &Site) -> Result<(notify::RecommendedWatcher, mpsc::Receiver<()>), Failure> {
    let failed = |reason: String| failures::NOT_FOLLOWED.fill(&[&reason]);
    site.prepare()
        .map_err(|error| failed(Chain(&error).to_string()))?;
    let (tell, news) = mpsc::channel();
    let mut watcher = watch::watcher(move |event| {
        if !event.is_ok_and(|event| event.kind.is_access()) {
            // Nobody listens once the command ends.
            let _gone = tell.send(());
        }
    })
    .map_err(failed)?;
    watcher
        .watch(&site.state_dir(), RecursiveMode::NonRecursive)
        .map_err(|error| failed(error.to_string()))?;
    Ok((watcher, news))
}

fn unreadable(site: &Site, error: &FileError) -> Failure {
    let shown = site.shown(&site.log());
    failures::UNREAD_LOG
        .fill(&[&shown, &Chain(error)])
        .hint(format!("ls -l {shown}"))
}
