//! `majordomus peers`: who works in this checkout, on what, and where they meet.

use std::fmt::Write as _;

use serde_json::Value;

use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::owner;
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
    let answer = owner::ask(WORDS, &serde_json::json!({}), context)?;
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
    if let Some(omitted) = answer.get("omitted").and_then(Value::as_u64) {
        let _ = writeln!(text, "{omitted} more are not shown");
    }
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
            sentence(collision)
        );
    }
    text
}

/// Says a collision in one line: a pair of the list, or somebody else's side of one's own.
fn sentence(collision: &Value) -> String {
    let name = |side: &Value| {
        let name = word(side, "name");
        if name.is_empty() {
            word(side, "peer")
        } else {
            name
        }
    };
    if let (Some(one), Some(other)) = (collision.get("one"), collision.get("other")) {
        return format!(
            "{} ({}) and {} ({})",
            name(one),
            word(one, "entry"),
            name(other),
            word(other, "entry")
        );
    }
    format!(
        "{} meets {} of {}, since {}: {}",
        word(collision, "yours"),
        word(collision, "theirs"),
        name(collision),
        word(collision, "since"),
        word(collision, "intent"),
    )
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{collisions, render};
    use crate::cli::screen::Screen;
    use crate::cli::settings::Settings;

    /// Without a terminal nothing is coloured.
    fn screen() -> Screen {
        let plain = Settings {
            plain: true,
            ..Settings::default()
        };
        Screen::new(&plain)
    }

    #[test]
    fn peers_and_what_they_are_about_are_listed() {
        let text = render(
            &json!({
                "peers": [{
                    "id": "1", "name": "codex\u{1b}", "transport": "stdio", "checkout": "shop",
                    "attached": false,
                    "announcements": [{"label": "", "intent": "tidy", "scope": ["src/a", "b"]}],
                }],
                "collisions": [{
                    "one": {"peer": "1", "name": "codex", "entry": "src/a"},
                    "other": {"peer": "2", "entry": "src/**"},
                }],
                "complete": false,
            }),
            screen(),
        );
        assert_eq!(
            text,
            "codex\u{fffd}  stdio · shop · gone\n  tidy\n    src/a  b\n\
             collision: codex (src/a) and 2 (src/**)\n\
             the list is not complete yet: the server has just changed hands\n"
        );
        assert_eq!(
            render(&json!({ "peers": [] }), screen()),
            "nobody is here\n"
        );
    }

    #[test]
    fn a_collision_of_ones_own_says_whose_and_why() {
        let text = collisions(
            &json!({ "collisions": [{
                "peer": "2", "name": "gemini", "intent": "rename", "yours": "src/a",
                "theirs": "src/**", "since": "2026-11-30T19:19:37.042Z",
            }] }),
            screen(),
        );
        assert_eq!(
            text,
            "collision: src/a meets src/** of gemini, since 2026-11-30T19:19:37.042Z: rename\n"
        );
    }
}
