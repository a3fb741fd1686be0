//! A note: one fact, with who said it, when, about which paths, and what it replaces.
//!
//! [`Note::parse`] is total and [`Note::render`] its inverse: a note that is rendered and parsed is the same note, and a
//! file that is parsed, rendered and parsed again is read the same way both times. Keys that this version does not know,
//! and values that it cannot understand, are carried along in the words in which they were written.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use super::front::{self, Entry, Value};

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Something that was found out.
    Memory,
    /// Something that was decided.
    Decision,
    /// Something that somebody works on.
    WorkState,
    /// Somebody.
    Person,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Memory, Self::Decision, Self::WorkState, Self::Person];

    /// The word, which is the folder's name too.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Decision => "decision",
            Self::WorkState => "work-state",
            Self::Person => "person",
        }
    }

    /// The kind of this word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// What a note of this kind may be.
    #[must_use]
    pub const fn statuses(self) -> &'static [Status] {
        match self {
            Self::Memory | Self::Person => &[Status::Active, Status::Stale, Status::Superseded],
            Self::Decision => &[
                Status::Proposed,
                Status::Accepted,
                Status::Stale,
                Status::Superseded,
            ],
            Self::WorkState => &[
                Status::Planned,
                Status::InProgress,
                Status::Blocked,
                Status::Done,
            ],
        }
    }

    /// What a note of this kind is when it says nothing else.
    #[must_use]
    pub const fn first_status(self) -> Status {
        match self {
            Self::Memory | Self::Person => Status::Active,
            Self::Decision => Status::Accepted,
            Self::WorkState => Status::InProgress,
        }
    }
}

/// How things stand with a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It holds.
    Active,
    /// It is to be decided.
    Proposed,
    /// It is decided.
    Accepted,
    /// It is to be worked on.
    Planned,
    /// It is worked on.
    InProgress,
    /// It cannot go on.
    Blocked,
    /// It is worked on no more.
    Done,
    /// It may hold no more.
    Stale,
    /// Another note has taken its place.
    Superseded,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 9] = [
        Self::Active,
        Self::Proposed,
        Self::Accepted,
        Self::Planned,
        Self::InProgress,
        Self::Blocked,
        Self::Done,
        Self::Stale,
        Self::Superseded,
    ];

    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Proposed => "proposed",
            Self::Accepted => "accepted",
            Self::Planned => "planned",
            Self::InProgress => "in-progress",
            Self::Blocked => "blocked",
            Self::Done => "done",
            Self::Stale => "stale",
            Self::Superseded => "superseded",
        }
    }
}

impl FromStr for Status {
    type Err = Misread;

    fn from_str(word: &str) -> Result<Self, Misread> {
        let known = Self::ALL.into_iter().find(|status| status.as_str() == word);
        known.ok_or(Misread)
    }
}

/// A value has no form that its key has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value is not understood")]
pub struct Misread;

/// A note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// UUID v7, minted when it was made.
    pub id: Uuid,
    /// What it is about.
    pub kind: Kind,
    /// One line; empty in a file that has none.
    pub title: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The paths and globs that it is about, relative to the repository's root.
    pub paths: Vec<String>,
    /// Who said it.
    pub author: Option<String>,
    /// With which client.
    pub client: Option<String>,
    /// When it was made, in RFC 3339.
    pub created: Option<String>,
    /// When it was changed last, in RFC 3339.
    pub updated: Option<String>,
    /// How things stand; a file that does not say has its kind's first ([`Note::status`]).
    pub status: Option<Status>,
    /// The notes whose place it takes.
    pub supersedes: Vec<Uuid>,
    /// The note that took its place.
    pub superseded_by: Option<Uuid>,
    /// Notes that belong to it.
    pub relates: Vec<Uuid>,
    /// The project, where a repository has several.
    pub project: Option<String>,
    /// Entries that are not understood, as they were written.
    pub others: Vec<String>,
    /// The text, in Markdown.
    pub body: String,
}

/// Something in a file that is no part of a note as this version understands it. It is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The bytes are not UTF-8; what could not be read is replaced, and nothing else is kept of it.
    Encoding,
    /// The value of this key has another form.
    Value(&'static str),
    /// This key stands twice; the first one counts.
    Twice(&'static str),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encoding => f.write_str("the file is not UTF-8"),
            Self::Value(key) => write!(f, "`{key}` has a value that is not understood"),
            Self::Twice(key) => write!(f, "`{key}` stands twice, and the first one counts"),
        }
    }
}

/// The keys that this version knows, in the order in which they are rendered.
const KEYS: [&str; 12] = [
    "title",
    "status",
    "tags",
    "paths",
    "project",
    "author",
    "client",
    "created",
    "updated",
    "supersedes",
    "superseded_by",
    "relates",
];

impl Note {
    /// How things stand.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status.unwrap_or_else(|| self.kind.first_status())
    }

    /// A note with a title and a text, and nothing else said about it.
    #[must_use]
    pub fn new(kind: Kind, id: Uuid, title: String, body: String) -> Self {
        Self {
            id,
            kind,
            title,
            tags: Vec::new(),
            paths: Vec::new(),
            author: None,
            client: None,
            created: None,
            updated: None,
            status: None,
            supersedes: Vec::new(),
            superseded_by: None,
            relates: Vec::new(),
            project: None,
            others: Vec::new(),
            body,
        }
    }

    /// Reads a file. Kind and id are its path's ([`super::place::parse`]).
    #[must_use]
    pub fn parse(kind: Kind, id: Uuid, bytes: &[u8]) -> (Self, Vec<Fault>) {
        let text = String::from_utf8_lossy(bytes);
        let mut faults = Vec::new();
        if matches!(text, Cow::Owned(_)) {
            faults.push(Fault::Encoding);
        }
        let (entries, body) = front::split(&text);
        let mut note = Self::new(kind, id, String::new(), body.to_owned());
        let mut seen = Vec::new();
        for entry in entries {
            let Some(key) = KEYS.into_iter().find(|key| *key == entry.key) else {
                note.others.push(entry.raw);
                continue;
            };
            let fault = if seen.contains(&key) {
                Some(Fault::Twice(key))
            } else {
                note.take(key, &entry).is_err().then_some(Fault::Value(key))
            };
            if let Some(fault) = fault {
                faults.push(fault);
                note.others.push(entry.raw);
            } else if note.entry(key).is_some() {
                // A key that says nothing is not there, and another one of its name may say something.
                seen.push(key);
            }
        }
        (note, faults)
    }

    /// Takes the value of a known key; fails if it is of no form that the key has.
    fn take(&mut self, key: &str, entry: &Entry) -> Result<(), Misread> {
        let value = &entry.value;
        match key {
            "title" => self.title = text(value)?.unwrap_or_default(),
            "status" => {
                self.status = match text(value)? {
                    Some(word) => Some(word.parse()?),
                    None => None,
                };
            }
            "tags" => self.tags = texts(value)?,
            "paths" => self.paths = texts(value)?,
            "project" => self.project = text(value)?,
            "author" => self.author = text(value)?,
            "client" => self.client = text(value)?,
            "created" => self.created = date(value)?,
            "updated" => self.updated = date(value)?,
            "supersedes" => self.supersedes = ids(value)?,
            "superseded_by" => {
                self.superseded_by = match text(value)? {
                    Some(id) => Some(id.parse().map_err(|_| Misread)?),
                    None => None,
                };
            }
            "relates" => self.relates = ids(value)?,
            _ => return Err(Misread),
        }
        Ok(())
    }

    /// Renders the file.
    #[must_use]
    pub fn render(&self) -> String {
        let entries: Vec<String> = KEYS.into_iter().filter_map(|key| self.entry(key)).collect();
        let all = entries.iter().chain(&self.others).map(String::as_str);
        front::join(all, &self.body)
    }

    /// The entry of a known key, where there is something to say.
    fn entry(&self, key: &'static str) -> Option<String> {
        let one = |value: &Option<String>| value.as_deref().map(|value| front::text(key, value));
        let many = |values: &[String]| (!values.is_empty()).then(|| front::list(key, values));
        let ids = |ids: &[Uuid]| {
            (!ids.is_empty()).then(|| front::list(key, ids.iter().map(Uuid::to_string)))
        };
        match key {
            "title" => (!self.title.is_empty()).then(|| front::text(key, &self.title)),
            "status" => self.status.map(|status| front::text(key, status.as_str())),
            "tags" => many(&self.tags),
            "paths" => many(&self.paths),
            "project" => one(&self.project),
            "author" => one(&self.author),
            "client" => one(&self.client),
            "created" => one(&self.created),
            "updated" => one(&self.updated),
            "supersedes" => ids(&self.supersedes),
            "superseded_by" => one(&self.superseded_by.map(|id| id.to_string())),
            "relates" => ids(&self.relates),
            _ => None,
        }
    }
}

/// A scalar, or nothing.
fn text(value: &Value) -> Result<Option<String>, Misread> {
    match value {
        Value::Nothing => Ok(None),
        Value::Text(text) => Ok(Some(text.clone())),
        Value::List(_) | Value::Other => Err(Misread),
    }
}

/// A list, of which a single scalar is one too.
fn texts(value: &Value) -> Result<Vec<String>, Misread> {
    match value {
        Value::Nothing => Ok(Vec::new()),
        Value::Text(text) => Ok(vec![text.clone()]),
        Value::List(list) => Ok(list.clone()),
        Value::Other => Err(Misread),
    }
}

fn ids(value: &Value) -> Result<Vec<Uuid>, Misread> {
    let ids = texts(value)?.into_iter();
    ids.map(|id| id.parse().map_err(|_| Misread)).collect()
}

/// A date, with or without a time.
fn date(value: &Value) -> Result<Option<String>, Misread> {
    let text = text(value)?;
    match &text {
        Some(said) if !is_date(said) => Err(Misread),
        _ => Ok(text),
    }
}

fn is_date(text: &str) -> bool {
    let Some(day) = text.get(..10).filter(|_| text.is_ascii()) else {
        return false;
    };
    let of_digits = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let parts: Vec<&str> = day.split('-').collect();
    matches!(parts[..], [year, month, day]
        if of_digits(year, 4) && of_digits(month, 2) && of_digits(day, 2))
        && matches!(text.as_bytes().get(10), None | Some(b'T' | b't' | b' '))
}

#[cfg(test)]
mod tests;
