//! `majordomus sync`: what the team has written down, and what it does not have yet.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::errand;
use crate::cli::owner::block_on;
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

    /// As a client's hook: end after this many seconds, say one line at most, and never fail
    #[arg(long, value_name = "SECONDS", hide = true, conflicts_with_all = ["json", "adopt"])]
    pub hook: Option<u64>,

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
    if let Some(seconds) = args.hook {
        return Ok(hook(&arguments, Duration::from_secs(seconds), context));
    }
    let answer = errand::run(WORDS, &arguments, context)?;
    if args.form.json {
        context.screen.json(&answer)?;
    } else {
        let said = answer.pointer("/sync/message").and_then(Value::as_str);
        context
            .screen
            .print(&format!("{}\n", clean(said.unwrap_or_default())))?;
    }
    Ok(if is_done(&answer) {
        Exit::Done
    } else {
        Exit::Failed
    })
}

fn is_done(answer: &Value) -> bool {
    let status = answer.pointer("/sync/status").and_then(Value::as_str);
    matches!(status, Some("published" | "taken-in"))
}

/// Meets the team's notes within a time, without a word where it worked. A client shows what a hook prints, or takes it for
/// an order, and stops for one that fails: so nothing goes to standard output, and it always ends well.
fn hook(arguments: &Value, bound: Duration, context: &Context) -> Exit {
    let met = context.checkout().and_then(|site| {
        block_on(async {
            match timeout(bound, errand::ask_or_do(WORDS, arguments, &site)).await {
                Ok(answer) => answer.map(Some),
                Err(_) => Ok(None),
            }
        })
    });
    let trouble = match met {
        Ok(Some(answer)) if is_done(&answer) => return Exit::Done,
        Ok(Some(answer)) => {
            let said = answer.pointer("/sync/message").and_then(Value::as_str);
            said.unwrap_or_default().to_owned()
        }
        Ok(None) => format!("the team's notes were not met within {} s", bound.as_secs()),
        Err(failure) => format!(
            "{} ({})",
            failure.causes.join("; "),
            failure.hints().join("; ")
        ),
    };
    context
        .screen
        .note(&format!("hook of notes: {}", clean(&trouble)));
    Exit::Done
}
