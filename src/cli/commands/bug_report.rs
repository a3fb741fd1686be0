//! `majordomus bug-report`: what somebody who helps needs to know, in Markdown, to be read before it is sent.
//!
//! It holds no secret, and no path but those below the checkout: whatever looks like one is replaced ([`Scrub`]), also
//! where other programs' words came into the log.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::doctor;
use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::journal::{Entry, Journal};
use crate::cli::report::{Exit, Outcome};
use crate::floor::clock;
use crate::floor::paths::Site;

/// How many of the last log lines are told.
const LINES: usize = 100;
/// How much of each is told, in characters: whatever came into the log, the report is for people.
const LINE_CHARS: usize = 200;

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Prints the report.
///
/// # Errors
/// As `doctor`, whose findings it holds.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let site = context.site()?;
    let findings = doctor::look(context)?;
    let log = site.as_ref().map(last_lines).unwrap_or_default();
    let scrub = Scrub::new(site.as_ref(), context);
    let report = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "made_at": clock::rfc3339(clock::now_ms()),
        "system": system(),
        "log_level": context.settings.log,
        "share_replaced": context.settings.share.is_some(),
        "doctor": doctor::report(&findings),
        "log": log,
    });
    let report = scrub.value(report);
    if args.form.json {
        context.screen.json(&report)?;
    } else {
        context.screen.print(&markdown(&report))?;
    }
    Ok(Exit::Done)
}

/// The kernel and the processor; no name of the machine.
fn system() -> Value {
    let named = nix::sys::utsname::uname();
    let kernel = named.as_ref().map_or_else(
        |_| std::env::consts::OS.to_owned(),
        |named| {
            format!(
                "{} {}",
                named.sysname().to_string_lossy(),
                named.release().to_string_lossy()
            )
        },
    );
    json!({ "kernel": kernel, "processor": std::env::consts::ARCH })
}

fn last_lines(site: &Site) -> Vec<String> {
    // A log that cannot be read is a finding of the doctor's folder.
    let entries = Journal::of(site).all().unwrap_or_default();
    let begin = entries.len().saturating_sub(LINES);
    let line = |entry: &Entry| match entry.line() {
        long if long.chars().count() > LINE_CHARS => {
            long.chars().take(LINE_CHARS).chain(['…']).collect()
        }
        line => line,
    };
    entries.iter().skip(begin).map(line).collect()
}

fn markdown(report: &Value) -> String {
    let word = |pointer: &str| {
        report
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or("-")
    };
    let mut text = format!(
        "## majordomus {}\n\n- system: {}, {}\n- made at: {}\n\n### doctor\n\n",
        word("/version"),
        word("/system/kernel"),
        word("/system/processor"),
        word("/made_at"),
    );
    let findings = report.pointer("/doctor/findings").and_then(Value::as_array);
    for finding in findings.into_iter().flatten() {
        let word = |key: &str| finding.get(key).and_then(Value::as_str).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "- {} {}: {}",
            word("verdict"),
            word("check"),
            word("text")
        );
    }
    text.push_str("\n### log\n\n```text\n");
    let lines = report.get("log").and_then(Value::as_array);
    for line in lines.into_iter().flatten().filter_map(Value::as_str) {
        // Nothing in a line ends the block.
        text.push_str(&line.replace("```", "` ` `"));
        text.push('\n');
    }
    text.push_str("```\n");
    text
}

/// Replaces what a report must not hold.
#[derive(Debug)]
struct Scrub {
    /// What is replaced wherever it stands, and by what; the longest first.
    known: Vec<(String, &'static str)>,
}

impl Scrub {
    fn new(site: Option<&Site>, context: &Context) -> Self {
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let mut known = Vec::new();
        if let Some(site) = site {
            known.push((text(site.root()), "<checkout>"));
        }
        if let Some(home) = &context.settings.home {
            known.push((text(home), "<home>"));
        }
        if let Ok(host) = nix::unistd::gethostname() {
            known.push((host.to_string_lossy().into_owned(), "<host>"));
        }
        // A root of `/` or a host called `a` would take every second word along.
        known.retain(|(words, _)| words.len() > 3);
        known.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        Self { known }
    }

    fn value(&self, value: Value) -> Value {
        match value {
            Value::String(words) => self.words(&words).into(),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(key, value)| (key, self.value(value)))
                .collect(),
            other => other,
        }
    }

    fn words(&self, words: &str) -> String {
        let mut words = words.to_owned();
        for (known, stands_for) in &self.known {
            words = words.replace(known, stands_for);
        }
        let mut scrubbed = String::with_capacity(words.len());
        for word in words.split_inclusive(|c: char| c.is_whitespace() || "=\"'`(),;".contains(c)) {
            let bare =
                word.trim_end_matches(|c: char| c.is_whitespace() || "=\"'`(),;".contains(c));
            let rest = &word[bare.len()..];
            // A route of the server is no path of this machine, and neither is a slash.
            let is_path = bare.len() > 1 && bare.starts_with('/') && !bare.starts_with("/api/");
            if is_path {
                scrubbed.push_str("<path>");
            } else if is_secret(bare) {
                scrubbed.push_str("<secret>");
            } else {
                scrubbed.push_str(bare);
            }
            scrubbed.push_str(rest);
        }
        scrubbed
    }
}

/// A token is 64 hexadecimal digits; nothing else of ours that long is worth keeping.
fn is_secret(word: &str) -> bool {
    let is_long = |part: &str| part.len() >= 40 && part.bytes().all(|b| b.is_ascii_alphanumeric());
    word.split(|c: char| !c.is_ascii_alphanumeric())
        .any(is_long)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Scrub;

    #[test]
    fn paths_names_and_secrets_are_replaced_and_the_rest_stays() {
        let scrub = Scrub {
            known: vec![
                ("/home/someone/here".to_owned(), "<checkout>"),
                ("/home/someone".to_owned(), "<home>"),
            ],
        };
        let long = "ab".repeat(32);
        let words = format!(
            "at /home/someone/here/x, in \"/home/someone\", error=/etc/passwd token={long} /api/v1/peers http://127.0.0.1:2/docs/ a/b"
        );
        assert_eq!(
            scrub.value(json!({ "a": [words], "n": 1 })),
            json!({ "a": ["at <checkout>/x, in \"<home>\", error=<path> token=<secret> /api/v1/peers http://127.0.0.1:2/docs/ a/b"], "n": 1 })
        );
    }
}
