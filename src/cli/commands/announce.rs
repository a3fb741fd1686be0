//! `majordomus announce INTENT [PATH...]`: what this person is about to do, told to everybody in the checkout.
//!
//! Nothing stays open behind the command, so the announcement stays for `--for`, under a peer named by user and
//! terminal (I11); the next one from the same terminal under the same label replaces it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::arguments::Json;
use crate::cli::commands::peers;
use crate::cli::context::Context;
use crate::cli::duration;
use crate::cli::owner;
use crate::cli::report::{Exit, Outcome};

/// The words of the command, by which its capability is found.
pub const WORDS: &[&str] = &["announce"];

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What you are about to do, in one line; an empty one withdraws it
    #[arg(value_name = "INTENT")]
    pub intent: String,

    /// The paths or globs that you are about to change, from the root of the checkout
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,

    /// Keeps announcements of one terminal apart; the next one under the same label replaces this one
    #[arg(long, value_name = "LABEL")]
    pub label: Option<String>,

    /// How long it stays, such as 90s, 30m or 2h
    #[arg(long = "for", value_name = "TIME", default_value = "30m", value_parser = duration::parse)]
    pub stay: Duration,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Announces, and names every collision.
///
/// # Errors
/// When there is no owner to ask, or it refuses.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let mut arguments = json!({
        "intent": args.intent,
        "scope": args.paths,
        "name": name(),
        "for_seconds": args.stay.as_secs(),
    });
    if let (Some(label), Some(fields)) = (&args.label, arguments.as_object_mut()) {
        fields.insert("label".to_owned(), Value::from(label.as_str()));
    }
    let answer = owner::ask(WORDS, &arguments, context)?;
    if args.form.json {
        context.screen.json(&answer)?;
    } else {
        let mut text = if args.intent.is_empty() {
            "withdrawn\n".to_owned()
        } else {
            format!("announced for {}\n", duration::words(args.stay))
        };
        text.push_str(&peers::collisions(&answer, context.screen));
        context.screen.print(&text)?;
    }
    Ok(Exit::Done)
}

/// Names the person and the terminal: `ann on pts/3`.
fn name() -> String {
    let uid = nix::unistd::getuid();
    let user = match nix::unistd::User::from_uid(uid) {
        Ok(Some(user)) => user.name,
        _ => format!("uid {uid}"),
    };
    let terminal = nix::unistd::ttyname(std::io::stdin())
        .or_else(|_| nix::unistd::ttyname(std::io::stderr()))
        .ok()
        .map(|path| path.to_string_lossy().replacen("/dev/", "", 1));
    match terminal {
        Some(terminal) => format!("{user} on {terminal}"),
        None => user,
    }
}
