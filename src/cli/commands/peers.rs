//! `majordomus peers`: who works in this checkout, on what, and where they meet.

use std::fmt::Write as _;

use serde_json::Value;

use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::offline;
use crate::cli::owner::{Owner, block_on};
use crate::cli::report::{Exit, Outcome};
use crate::cli::screen::{Mark, Screen, clean};

/// The words of the command, by which its capability is found.
pub const WORDS: &[&str] = &["peers"];

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Lists the peers.
///
/// # Errors
/// When there is no owner to ask, or it refuses.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let site = context.checkout()?;
    let registry = offline::registry(Some(&site))?;
    let capability = offline::by_words(&registry, WORDS)?;
    let answer = block_on(async {
        let mut owner = Owner::reach(&site).await?;
        owner.call(capability, &serde_json::json!({})).await
    })?;
    if args.form.json {
        context.screen.json(&answer)?;
    } else {
        context.screen.print(&render(&answer, context.screen))?;
    }
    Ok(Exit::Done)
}

/// Renders the list for people.
#[must_use]
pub fn render(answer: &Value, screen: Screen) -> String {
    let mut text = String::new();
    let peers = list(answer, "peers");
    if peers.is_empty() {
        text.push_str("nobody is here\n");
    }
    for peer in peers {
        let attached = peer.get("attached").and_then(Value::as_bool) != Some(false);
        let mut facts: Vec<String> = ["version", "transport", "checkout", "branch"]
            .iter()
            .map(|key| word(peer, key))
            .filter(|fact| !fact.is_empty())
            .collect();
        if !attached {
            facts.push("gone".to_owned());
        }
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{}  {}",
            screen.mark(Mark::Bold, &name_of(peer)),
            screen.mark(Mark::Dim, &facts.join(" · "))
        );
        for announcement in list(peer, "announcements") {
            text.push_str(&announcement_lines(announcement));
        }
    }
    text.push_str(&collisions(answer, screen));
    if answer.get("complete").and_then(Value::as_bool) == Some(false) {
        text.push_str("the list is not complete yet: the server has just changed hands\n");
    }
    text
}

/// Renders `collisions` of an answer, if there are any.
#[must_use]
pub fn collisions(answer: &Value, screen: Screen) -> String {
    let mut text = String::new();
    for collision in list(answer, "collisions") {
        let _ = writeln!(
            text,
            "{} {}",
            screen.mark(Mark::Yellow, "collision:"),
            clean(&sentence(collision))
        );
    }
    text
}

/// Says a collision in one line, from whichever of the known fields it has.
fn sentence(collision: &Value) -> String {
    let mut parts = Vec::new();
    match collision {
        Value::Object(fields) => {
            for (key, value) in fields {
                let value = match value {
                    Value::String(words) => words.clone(),
                    Value::Object(inner) => inner
                        .get("name")
                        .or_else(|| inner.get("intent"))
                        .and_then(Value::as_str)
                        .map_or_else(|| value.to_string(), str::to_owned),
                    Value::Null => continue,
                    other => other.to_string(),
                };
                parts.push(format!("{key} {value}"));
            }
        }
        other => parts.push(other.to_string()),
    }
    parts.join(", ")
}

fn announcement_lines(announcement: &Value) -> String {
    let label = word(announcement, "label");
    let scope: Vec<String> = list(announcement, "scope")
        .iter()
        .filter_map(Value::as_str)
        .map(clean)
        .collect();
    let mut text = String::from("  ");
    if !label.is_empty() {
        let _ = write!(text, "[{label}] ");
    }
    text.push_str(&word(announcement, "intent"));
    if !scope.is_empty() {
        let _ = write!(text, "\n    {}", scope.join("  "));
    }
    text.push('\n');
    text
}

fn name_of(peer: &Value) -> String {
    let name = word(peer, "name");
    if name.is_empty() {
        word(peer, "id")
    } else {
        name
    }
}

fn word(value: &Value, key: &str) -> String {
    value
        .get(key)
        .and_then(Value::as_str)
        .map(clean)
        .unwrap_or_default()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}
