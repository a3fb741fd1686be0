//! `majordomus sync`: what the team has written down, and what it does not have yet.

use serde_json::{Value, json};

use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::errand;
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

    /// Only take in what the team has
    #[arg(long, conflicts_with_all = ["push", "adopt"])]
    pub pull: bool,

    /// Only send what the team does not have yet
    #[arg(long, conflicts_with = "adopt")]
    pub push: bool,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Meets the team's notes, and says what came of it.
///
/// # Errors
/// When the owner does not answer or refuses, or what is done here does.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let direction = match (args.pull, args.push) {
        (true, _) => "pull",
        (_, true) => "push",
        _ => "both",
    };
    let arguments = json!({ "adopt": args.adopt, "direction": direction });
    let answer = errand::run(WORDS, &arguments, context)?;
    if args.form.json {
        context.screen.json(&answer)?;
    } else {
        let said = answer.pointer("/sync/message").and_then(Value::as_str);
        context
            .screen
            .print(&format!("{}\n", clean(said.unwrap_or_default())))?;
    }
    let status = answer.pointer("/sync/status").and_then(Value::as_str);
    Ok(if matches!(status, Some("published" | "taken-in")) {
        Exit::Done
    } else {
        Exit::Failed
    })
}
