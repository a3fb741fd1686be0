//! The two streams of a command: data on standard output, everything else on standard error.
//!
//! A reader that went away (`majordomus peers | head -1`) ends the command quietly and well. Colour is used on a
//! terminal only. Words that other people chose (names, intents) are stripped of control characters before they reach
//! a terminal.

use std::io::{self, IsTerminal as _, Write as _};

use serde_json::Value;

use super::report::{Failure, failures};
use super::settings::Settings;
use crate::floor::log;
use crate::floor::text::is_hidden;

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Text,
    /// For programs: one JSON value.
    Json,
}

/// A colour that marks a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A heading.
    Bold,
    /// Less important.
    Dim,
    /// Good.
    Green,
    /// Look here.
    Yellow,
    /// Bad.
    Red,
}

/// Where a command prints.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    colour_out: bool,
    colour_err: bool,
}

impl Screen {
    /// Looks at the two streams.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self {
            colour_out: !settings.plain && io::stdout().is_terminal(),
            colour_err: !settings.plain && io::stderr().is_terminal(),
        }
    }

    /// Marks `text` on standard output.
    #[must_use]
    pub fn mark(self, mark: Mark, text: &str) -> String {
        paint(self.colour_out, mark, text)
    }

    /// Prints data.
    ///
    /// # Errors
    /// When standard output refuses it for any reason but a reader that went away.
    pub fn print(self, text: &str) -> Result<(), Failure> {
        self.printed(text).map(drop)
    }

    /// Prints data of which there is more to come; `false` means that nobody reads it any more.
    ///
    /// # Errors
    /// As [`Self::print`].
    pub fn printed(self, text: &str) -> Result<bool, Failure> {
        let mut out = io::stdout().lock();
        let outcome = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        let is_read = outcome.is_ok();
        self.written(outcome).map(|()| is_read)
    }

    /// Judges what became of data; a reader that went away has seen what it wanted.
    ///
    /// # Errors
    /// As [`Self::print`].
    pub fn written(self, outcome: io::Result<()>) -> Result<(), Failure> {
        match outcome {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(failures::NO_OUTPUT.fill(&[&error]))
            }
            _ => Ok(()),
        }
    }

    /// Prints one JSON value, indented, with a newline.
    ///
    /// # Errors
    /// As [`Self::print`].
    pub fn json(self, value: &Value) -> Result<(), Failure> {
        self.print(&format!("{value:#}\n"))
    }

    /// Prints a line for people on standard error; a closed one is fine.
    pub fn note(self, line: &str) {
        log::say(&format!("{line}\n"));
    }

    /// Prints why a command failed.
    pub fn fail(self, failure: &Failure) {
        log::say(&failure.render(|word| {
            let mark = if word == "error" {
                Mark::Red
            } else {
                Mark::Green
            };
            paint(self.colour_err, mark, word)
        }));
    }
}

/// Wraps `text` in a colour when `colour` is on.
fn paint(colour: bool, mark: Mark, text: &str) -> String {
    if !colour {
        return text.to_owned();
    }
    let code = match mark {
        Mark::Bold => 1,
        Mark::Dim => 2,
        Mark::Red => 31,
        Mark::Green => 32,
        Mark::Yellow => 33,
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// Replaces control characters and what cannot be seen or turns the line around, so that nobody's words move a
/// reader's cursor.
#[must_use]
pub fn clean(words: &str) -> String {
    words
        .chars()
        .map(|c| if is_hidden(c) { '\u{fffd}' } else { c })
        .collect()
}

/// Lays rows out in columns two spaces apart; the last column is not padded. Widths count characters.
#[must_use]
pub fn columns(rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (index, cell) in row.iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(index) {
                Some(known) => *known = width.max(*known),
                None => widths.push(width),
            }
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            let padding = width + 2 - cell.chars().count();
            line.extend(std::iter::repeat_n(' ', padding));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Mark, clean, columns, paint};

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "bbb", "c"], ["long", "ü", ""]]
            .map(|row| row.map(str::to_owned).to_vec())
            .to_vec();
        assert_eq!(columns(&rows), "a     bbb  c\nlong  ü\n");
    }

    #[test]
    fn other_peoples_words_cannot_move_the_cursor() {
        assert_eq!(clean("a\u{1b}[2Jb\r\n"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}");
        assert_eq!(clean("\u{202e}evil"), "\u{fffd}evil");
        assert_eq!(clean("naïve ✓"), "naïve ✓");
    }

    #[test]
    fn colour_is_off_unless_asked_for() {
        assert_eq!(paint(false, Mark::Red, "x"), "x");
        assert_eq!(paint(true, Mark::Red, "x"), "\u{1b}[31mx\u{1b}[0m");
    }
}
