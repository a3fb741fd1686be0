//! `majordomus notes [ID]`: what was written down in this repository.

use std::fmt::Write as _;

use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::errand;
use crate::cli::report::{Exit, Failure, Outcome, failures};
use crate::cli::screen::{Mark, Screen, clean};
use crate::floor::text::shown;
use crate::memory::note::Kind;

mod acknowledge;
mod change;
mod export;
mod purge;
mod recover;
pub mod share;

/// The words of the command, by which its capability is found.
pub const WORDS: &[&str] = &["notes"];
/// The words of the commands that change a note.
const CHANGE: &[&str] = &["notes", "edit"];

/// Reads a kind by its word.
pub fn kinds() -> PossibleValuesParser {
    PossibleValuesParser::new(Kind::ALL.map(Kind::as_str))
}

/// What may be typed.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// What else to do
    #[command(subcommand)]
    pub action: Option<Action>,

    /// Print this note, with its text
    #[arg(value_name = "ID")]
    pub id: Option<String>,

    /// Only those that the team does not have yet
    #[arg(long)]
    pub pending: bool,

    /// Only notes of this kind
    #[arg(long, value_name = "KIND", value_parser = kinds())]
    pub kind: Option<String>,

    /// How many at most, the newest first
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    pub limit: u32,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Refuses what no note is called.
fn is_id(text: &str) -> Result<(), Failure> {
    match Uuid::try_parse(text) {
        Ok(_) => Ok(()),
        Err(_) => Err(failures::NO_SUCH_NOTE.fill(&[&shown(text, 64)])),
    }
}

/// What may be typed after `show`.
#[derive(Debug, clap::Args)]
pub struct Shown {
    /// The note
    #[arg(value_name = "ID")]
    pub id: String,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// What may be typed after `pending`.
#[derive(Debug, clap::Args)]
pub struct Pending {
    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// What else there is to do with notes.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Print one note, with its text
    Show(Shown),
    /// List what the team does not have yet, drafts among them
    Pending(Pending),
    /// Make a draft a note
    Promote(change::One),
    /// Say that what looks like a secret in a note that is held back is none, and send it
    Acknowledge(change::One),
    /// Give a draft up
    Reject(change::One),
    /// Correct a note
    Edit(change::Edit),
    /// Say that another note takes the place of one
    Supersede(change::Supersede),
    /// Take a note away; the history of the notes keeps its text
    Forget(change::One),
    /// Take a note out of the history too, here and for the team
    Purge(purge::Purge),
    /// Take over what an earlier boot wrote down and did not send, on a file system that other machines may use
    Recover(recover::Recover),
    /// Print where the repository of the notes is
    Path(export::Path),
    /// Write every note to a file of its own
    Export(export::Export),
    /// Name a remote that the team's notes go to, and accept it here
    Share(share::Share),
    /// Accept the remote that the checkout names for the team's notes
    Trust(share::Trust),
}

/// Lists the notes, prints one, or does what else there is to do.
///
/// # Errors
/// When the owner does not answer or refuses, or what is done here does; those of [`share`].
pub fn run(args: &Args, context: &Context) -> Outcome {
    match &args.action {
        None => {}
        Some(Action::Show(shown)) => {
            return list(&json!({ "id": shown.id }), true, shown.form, context);
        }
        Some(Action::Pending(pending)) => {
            let asked = json!({ "pending": true, "limit": 200 });
            return list(&asked, false, pending.form, context);
        }
        Some(Action::Promote(args)) => {
            let question = "make it a note, which the team gets?";
            return change::one("promote", question, args, context);
        }
        Some(Action::Acknowledge(args)) => return acknowledge::acknowledge(args, context),
        Some(Action::Reject(args)) => {
            return change::one("reject", "give this draft up?", args, context);
        }
        Some(Action::Forget(args)) => {
            let question = "take it away, here and for the team?";
            return change::one("forget", question, args, context);
        }
        Some(Action::Edit(args)) => return change::edit(args, context),
        Some(Action::Supersede(args)) => return change::supersede(args, context),
        Some(Action::Purge(args)) => return purge::purge(args, context),
        Some(Action::Recover(args)) => return recover::recover(args, context),
        Some(Action::Path(args)) => return export::path(args, context),
        Some(Action::Export(args)) => return export::export(args, context),
        Some(Action::Share(args)) => return share::share(args, context),
        Some(Action::Trust(args)) => return share::trust(args, context),
    }
    let mut arguments = json!({ "pending": args.pending, "limit": args.limit });
    if let Some(fields) = arguments.as_object_mut() {
        let said = [("id", args.id.as_deref()), ("kind", args.kind.as_deref())];
        for (name, value) in said {
            if let Some(value) = value {
                fields.insert(name.to_owned(), Value::from(value));
            }
        }
    }
    list(&arguments, args.id.is_some(), args.form, context)
}

/// Prints the notes that are asked for; whole ones with their text.
fn list(asked: &Value, whole: bool, form: Json, context: &Context) -> Outcome {
    if let Some(id) = asked.get("id").and_then(Value::as_str) {
        is_id(id)?;
    }
    let answer = errand::run(WORDS, asked, context)?;
    if form.json {
        context.screen.json(&answer)?;
    } else {
        let text = render(&answer, whole, context.screen);
        context.screen.print(&text)?;
    }
    Ok(Exit::Done)
}

/// Renders notes for people; whole ones with their text.
#[must_use]
pub fn render(answer: &Value, whole: bool, screen: Screen) -> String {
    let mut text = String::new();
    let word =
        |note: &Value, key: &str| clean(note.get(key).and_then(Value::as_str).unwrap_or_default());
    let notes = answer.get("notes").and_then(Value::as_array);
    let notes = notes.map_or(&[][..], Vec::as_slice);
    if notes.is_empty() {
        text.push_str("no note\n");
    }
    for note in notes {
        let mut facts: Vec<String> = ["kind", "status", "author", "created"]
            .iter()
            .map(|key| word(note, key))
            .filter(|fact| !fact.is_empty())
            .collect();
        let is = |key: &str| note.get(key).and_then(Value::as_bool);
        if is("draft") == Some(true) {
            facts.push("draft".to_owned());
        } else if is("shared") == Some(false) {
            facts.push("not shared".to_owned());
        }
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{}\n  {}",
            screen.mark(Mark::Bold, &word(note, "title")),
            screen.mark(
                Mark::Dim,
                &format!("{} · {}", word(note, "id"), facts.join(" · "))
            ),
        );
        let body = note.get("text").and_then(Value::as_str).unwrap_or_default();
        for line in body.lines().filter(|_| whole) {
            let _ = writeln!(text, "  {}", clean(line));
        }
    }
    let held = answer.get("withheld").and_then(Value::as_array);
    for held in held.map_or(&[][..], Vec::as_slice) {
        let held = clean(held.as_str().unwrap_or_default());
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "held back: {held}; if it is no secret: majordomus notes acknowledge ID"
        );
    }
    if let Some(slow) = answer.get("slow").and_then(Value::as_str) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", clean(slow));
    }
    let left = answer.get("left").and_then(Value::as_array);
    for left in left.map_or(&[][..], Vec::as_slice) {
        let left = clean(left.as_str().unwrap_or_default());
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{left}");
    }
    let pending = answer
        .get("unpublished")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    if pending > 0 {
        let (writes, are) = if pending == 1 {
            ("write", "is")
        } else {
            ("writes", "are")
        };
        let _ = writeln!(
            text,
            "{pending} {writes} of this machine {are} not shared with the team; majordomus notes pending"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::render;
    use crate::cli::screen::Screen;
    use crate::cli::settings::Settings;

    #[test]
    fn a_note_is_one_fact_with_who_and_when() {
        let plain = Settings {
            plain: true,
            ..Settings::default()
        };
        let screen = Screen::new(&plain);
        let answer = json!({
            "notes": [{
                "id": "1", "kind": "decision", "title": "Deploys\u{1b} on Thursdays", "status": "accepted",
                "author": "Ann", "shared": false, "text": "since\nMay",
            }],
            "unpublished": 1,
        });
        let head = "Deploys\u{fffd} on Thursdays\n  1 · decision · accepted · Ann · not shared\n";
        let tail =
            "1 write of this machine is not shared with the team; majordomus notes pending\n";
        assert_eq!(render(&answer, false, screen), format!("{head}{tail}"));
        assert_eq!(
            render(&answer, true, screen),
            format!("{head}  since\n  May\n{tail}")
        );
        assert_eq!(render(&json!({ "notes": [] }), true, screen), "no note\n");
    }
}
