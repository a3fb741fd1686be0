//! `majordomus sync`: what the team has written down, and what it does not have yet.

use serde_json::{Value, json};

use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::owner;
use crate::cli::report::{Exit, Outcome};
use crate::cli::screen::clean;

/// The words of the command, by which its capability is found.
pub const WORDS: &[&str] = &["sync"];

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Take what the remote has now for all that the team has, after its notes were removed or rewritten
    #[arg(long)]
    pub adopt: bool,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Meets the team's notes, and says what came of it.
///
/// # Errors
/// When there is no owner to ask, or it refuses.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let answer = owner::ask(WORDS, &json!({ "adopt": args.adopt }), context)?;
    if args.form.json {
        context.screen.json(&answer)?;
    } else {
        let said = answer.pointer("/sync/message").and_then(Value::as_str);
        context
            .screen
            .print(&format!("{}\n", clean(said.unwrap_or_default())))?;
    }
    let published = answer.pointer("/sync/published").and_then(Value::as_bool);
    Ok(if published == Some(true) {
        Exit::Done
    } else {
        Exit::Failed
    })
}
