//! What a person is shown before a file of theirs is written, and the question.

use std::io::{self, BufRead as _, IsTerminal as _};

use similar::TextDiff;

use super::context::Context;
use super::report::{Failure, failures};
use super::screen::{Mark, Screen, clean};

/// The change of one file as a unified diff; an empty text is no file.
#[must_use]
pub fn diff(path: &str, before: &str, after: &str, screen: Screen) -> String {
    let name = |text: &str| if text.is_empty() { "/dev/null" } else { path }.to_owned();
    let diff = TextDiff::from_lines(before, after);
    let mut unified = diff.unified_diff();
    let mut text = String::new();
    for line in unified
        .header(&name(before), &name(after))
        .to_string()
        .lines()
    {
        let mark = match line.as_bytes().first() {
            Some(b'+') => Some(Mark::Green),
            Some(b'-') => Some(Mark::Red),
            _ => None,
        };
        // A tab is what it is; everything else that moves a cursor is shown as something strange.
        let line = line.split('\t').map(clean).collect::<Vec<_>>().join("\t");
        text.push_str(&mark.map_or(line.clone(), |mark| screen.mark(mark, &line)));
        text.push('\n');
    }
    text
}

/// Asks at a terminal; anywhere else nobody can agree.
///
/// # Errors
/// Where nobody is there to ask, or the answer cannot be read.
pub fn agreed(question: &str, context: &Context) -> Result<bool, Failure> {
    agreed_or(question, false, context)
}

/// The same, where an empty line is an answer too.
///
/// # Errors
/// As [`agreed`].
pub fn agreed_or(question: &str, otherwise: bool, context: &Context) -> Result<bool, Failure> {
    let choice = if otherwise { "[Y/n]" } else { "[y/N]" };
    let line = typed(&format!("{question} {choice}"), context)?;
    Ok(match &*line {
        "" => otherwise,
        line => matches!(line, "y" | "Y" | "yes"),
    })
}

/// Whether there is somebody to ask.
#[must_use]
pub fn is_somebody_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// What is typed at a terminal.
///
/// # Errors
/// As [`agreed`].
pub fn typed(question: &str, context: &Context) -> Result<String, Failure> {
    if !is_somebody_there() {
        return Err(failures::NOBODY_TO_ASK.fill(&[]));
    }
    context.screen.note(question);
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(|error| failures::UNREAD_ANSWER.fill(&[&error]))?;
    Ok(line.trim().to_owned())
}
