//! `majordomus remember TITLE`: one fact, written down for every agent and person of this repository.

use std::io::Read as _;

use serde_json::{Value, json};

use crate::cli::arguments::Json;
use crate::cli::commands::notes;
use crate::cli::context::Context;
use crate::cli::owner;
use crate::cli::report::{Exit, Outcome, failures};
use crate::cli::screen::clean;
use crate::memory::library::NOTE_BYTES;

/// The words of the command, by which its capability is found.
pub const WORDS: &[&str] = &["remember"];

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The fact in one line
    #[arg(value_name = "TITLE")]
    pub title: String,

    /// The text, in Markdown; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub body: String,

    /// What it is about
    #[arg(long, value_name = "KIND", default_value = "memory", value_parser = notes::kinds())]
    pub kind: String,

    /// A word to find it by; may be given again
    #[arg(long = "tag", value_name = "WORD")]
    pub tags: Vec<String>,

    /// A path or glob that it is about, from the root of the checkout; may be given again
    #[arg(long = "path", value_name = "PATH")]
    pub paths: Vec<String>,

    /// The id of a note whose place it takes; may be given again
    #[arg(long, value_name = "ID")]
    pub supersedes: Vec<String>,

    /// Keep it on this machine, found by nobody, until it is promoted
    #[arg(long)]
    pub draft: bool,

    /// Only say what would be written
    #[arg(long)]
    pub dry_run: bool,

    /// What was refused as a secret is none
    #[arg(long)]
    pub not_secret: bool,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Writes the note, and says who can see it.
///
/// # Errors
/// When there is no owner to ask, it refuses, or standard input cannot be read.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let body = if args.body == "-" {
        let mut text = String::new();
        // One byte more than a note may have says that it is too long.
        let most = NOTE_BYTES as u64 + 1;
        let read = std::io::stdin().take(most).read_to_string(&mut text);
        read.map_err(|error| failures::UNREAD_TEXT.fill(&[&error]))?;
        text
    } else {
        args.body.clone()
    };
    let arguments = json!({
        "title": args.title,
        "body": body,
        "kind": args.kind,
        "tags": args.tags,
        "paths": args.paths,
        "supersedes": args.supersedes,
        "draft": args.draft,
        "dry_run": args.dry_run,
        "not_secret": args.not_secret,
    });
    let answer = owner::ask(WORDS, &arguments, context)?;
    if args.form.json {
        context.screen.json(&answer)?;
    } else {
        let word = |at: &str| {
            clean(
                answer
                    .pointer(at)
                    .and_then(Value::as_str)
                    .unwrap_or_default(),
            )
        };
        let mut text = format!(
            "{}  {}\n{}\n",
            word("/id"),
            word("/path"),
            word("/sync/message")
        );
        let similar = answer.get("similar").and_then(Value::as_array);
        for number in 0..similar.map_or(0, Vec::len) {
            let [id, title] = ["id", "title"].map(|key| word(&format!("/similar/{number}/{key}")));
            text = format!("{text}nearly the same: {id}  {title}\n");
        }
        context.screen.print(&text)?;
    }
    Ok(Exit::Done)
}
