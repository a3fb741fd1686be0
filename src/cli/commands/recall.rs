//! `majordomus recall WORD...`: what was written down about something.

use serde_json::{Value, json};

use crate::cli::arguments::Json;
use crate::cli::commands::notes;
use crate::cli::context::Context;
use crate::cli::errand;
use crate::cli::report::{Exit, Outcome};

/// The words of the command, by which its capability is found.
pub const WORDS: &[&str] = &["recall"];

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What you want to know
    #[arg(value_name = "WORD", required = true)]
    pub words: Vec<String>,

    /// A path that you work on, from the root of the checkout: notes about it come first; may be given again
    #[arg(long = "path", value_name = "PATH")]
    pub paths: Vec<String>,

    /// Only notes of this kind
    #[arg(long, value_name = "KIND", value_parser = notes::kinds())]
    pub kind: Option<String>,

    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value_t = 8)]
    pub limit: u32,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Finds notes, and prints them with their text.
///
/// # Errors
/// When the owner does not answer or refuses, or what is done here does.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let mut arguments = json!({
        "query": args.words.join(" "),
        "paths": args.paths,
        "limit": args.limit,
    });
    if let (Some(kind), Some(fields)) = (&args.kind, arguments.as_object_mut()) {
        fields.insert("kind".to_owned(), Value::from(kind.as_str()));
    }
    let answer = errand::run(WORDS, &arguments, context)?;
    if args.form.json {
        context.screen.json(&answer)?;
    } else {
        context
            .screen
            .print(&notes::render(&answer, true, context.screen))?;
    }
    Ok(Exit::Done)
}
