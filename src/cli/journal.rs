//! The owner's log as a command reads it: JSON lines of `server.log`, and of the file that it was rotated from.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::screen::clean;
use crate::floor::fs::{FileError, open_plain};
use crate::floor::log::FILE_BYTES;
use crate::floor::paths::Site;

/// What is read of one file at once; a file is rotated soon after it has grown past [`FILE_BYTES`].
const MOST_BYTES: u64 = 4 * FILE_BYTES;
/// The fields that a line has of its own; the rest is what was logged.
const OWN_FIELDS: &[&str] = &["timestamp", "level", "message", "target", "span", "spans"];

/// One line of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry(Map<String, Value>);

impl Entry {
    /// Reads a line. A line that was cut off, by a full disk or a power cut, is kept as its own message.
    fn read(line: &str) -> Self {
        match serde_json::from_str(line) {
            Ok(Value::Object(fields)) => Self(fields),
            _ => Self(Map::from_iter([("message".to_owned(), line.into())])),
        }
    }

    /// The whole entry.
    #[must_use]
    pub fn json(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// Renders it as one line for people: time, level, message, and what was logged beside it.
    #[must_use]
    pub fn line(&self) -> String {
        let word = |key: &str| self.0.get(key).and_then(Value::as_str).unwrap_or_default();
        // Milliseconds are enough to read, and the day too: a log outlives it.
        let time = word("timestamp").trim_end_matches('Z');
        let time: String = time.replace('T', " ").chars().take(23).collect();
        let mut line = format!("{time:23} {:5} {}", word("level"), word("message"));
        for (key, value) in &self.0 {
            if OWN_FIELDS.contains(&key.as_str()) {
                continue;
            }
            // Writing to a string cannot fail.
            let _ = match value {
                Value::String(words) => write!(line, " {key}={words}"),
                other => write!(line, " {key}={other}"),
            };
        }
        clean(&line)
    }
}

/// A reader that goes on where it stopped.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    /// A line whose end has not been written yet.
    rest: Vec<u8>,
}

impl Journal {
    /// Opens the log of a checkout; one that is not there yet has no entries.
    #[must_use]
    pub fn of(site: &Site) -> Self {
        Self {
            path: site.log(),
            open: None,
        }
    }

    /// Reads what stood in the log before it was rotated, and then everything that is in it now.
    ///
    /// # Errors
    /// When a file is there and cannot be read.
    pub fn all(&mut self) -> Result<Vec<Entry>, FileError> {
        let mut old = self.path.clone().into_os_string();
        old.push(".1");
        let mut before = Self {
            path: old.into(),
            open: None,
        };
        let mut entries = before.more()?;
        entries.extend(self.more()?);
        Ok(entries)
    }

    /// Reads the whole lines that came since the last call. A log that was rotated or removed in between is first read to
    /// its end.
    ///
    /// # Errors
    /// As [`Self::all`].
    pub fn more(&mut self) -> Result<Vec<Entry>, FileError> {
        let mut entries = Vec::new();
        if let Some(open) = &mut self.open {
            entries.extend(open.lines().map_err(FileError::Io)?);
            if open.stands_at(&self.path) {
                return Ok(entries);
            }
        }
        self.open = match open_plain(&self.path, OpenOptions::new().read(true)) {
            Ok(file) => Some(Open::begin(file).map_err(FileError::Io)?),
            Err(FileError::Absent) => None,
            Err(error) => return Err(error),
        };
        if let Some(open) = &mut self.open {
            entries.extend(open.lines().map_err(FileError::Io)?);
        }
        Ok(entries)
    }
}

impl Open {
    /// A file that is far too long is read from near its end.
    fn begin(mut file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        if length > MOST_BYTES {
            file.seek(SeekFrom::Start(length - MOST_BYTES))?;
        }
        Ok(Self {
            file,
            rest: Vec::new(),
        })
    }

    fn stands_at(&self, path: &std::path::Path) -> bool {
        let there = std::fs::symlink_metadata(path);
        matches!(
            (self.file.metadata(), there),
            (Ok(ours), Ok(there)) if (ours.dev(), ours.ino()) == (there.dev(), there.ino())
        )
    }

    fn lines(&mut self) -> io::Result<Vec<Entry>> {
        (&mut self.file)
            .take(MOST_BYTES)
            .read_to_end(&mut self.rest)?;
        let Some(end) = memchr::memrchr(b'\n', &self.rest) else {
            return Ok(Vec::new());
        };
        let rest = self.rest.split_off(end + 1);
        let whole = std::mem::replace(&mut self.rest, rest);
        let text = String::from_utf8_lossy(&whole);
        Ok(text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(Entry::read)
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::Journal;

    fn journal(path: &std::path::Path) -> Journal {
        Journal {
            path: path.to_owned(),
            open: None,
        }
    }

    #[test]
    fn a_log_is_followed_through_its_rotation_and_no_line_is_cut_or_told_twice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.log");
        let mut journal = journal(&path);
        assert!(journal.all().unwrap().is_empty());
        let mut file = fs::File::create(&path).unwrap();
        let message = |journal: &mut Journal| -> Vec<String> {
            let entries = journal.more().unwrap();
            let of = |entry: &super::Entry| entry.json()["message"].as_str().unwrap().to_owned();
            entries.iter().map(of).collect()
        };
        file.write_all(b"{\"message\":\"one\"}\n{\"mess").unwrap();
        assert_eq!(message(&mut journal), ["one"]);
        file.write_all(b"age\":\"two\"}\n").unwrap();
        fs::rename(&path, folder.path().join("server.log.1")).unwrap();
        fs::write(&path, "{\"message\":\"three\"}\nno json\n").unwrap();
        assert_eq!(message(&mut journal), ["two", "three", "no json"]);
        assert!(message(&mut journal).is_empty());
        let all = super::Journal { path, open: None };
        let mut all = all;
        assert_eq!(all.all().unwrap().len(), 4);
    }

    #[test]
    fn an_entry_is_one_line_whatever_stands_in_it() {
        let entry = super::Entry::read(
            r#"{"timestamp":"2026-01-02T03:04:05.678901Z","level":"INFO","message":"a\u001b[2J","n":3,"target":"x"}"#,
        );
        assert_eq!(
            entry.line(),
            "2026-01-02 03:04:05.678 INFO  a\u{fffd}[2J n=3"
        );
    }
}
