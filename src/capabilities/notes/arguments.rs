//! What is asked about notes.

use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::board::scope;
use crate::floor::text::{is_hidden, shown};
use crate::memory::library::NOTE_BYTES;
use crate::memory::note::{self, Note};
use crate::memory::secrets;
use crate::registry::{Refusal, refusal};

/// What a note is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum NoteKind {
    #[default]
    Memory,
    Decision,
    WorkState,
    Person,
}

impl NoteKind {
    pub(super) fn of_note(self) -> note::Kind {
        match self {
            Self::Memory => note::Kind::Memory,
            Self::Decision => note::Kind::Decision,
            Self::WorkState => note::Kind::WorkState,
            Self::Person => note::Kind::Person,
        }
    }
}

/// One fact.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Remember {
    /// The fact in one line, understood without the text.
    #[schema(min_length = 1, max_length = 200)]
    title: String,
    /// The text, in Markdown: why, since when, what follows from it.
    #[serde(default)]
    body: String,
    /// What it is about.
    #[serde(default)]
    kind: NoteKind,
    /// Words to find it by.
    #[serde(default)]
    #[schema(max_items = 16)]
    tags: Vec<String>,
    /// The paths and globs that it is about, relative to the repository's root.
    #[serde(default)]
    #[schema(max_items = 64)]
    paths: Vec<String>,
    /// Ids of notes whose place it takes.
    #[serde(default)]
    #[schema(max_items = 16)]
    pub(super) supersedes: Vec<Uuid>,
    /// Keep it here, found by nobody, until somebody promotes it.
    #[serde(default)]
    pub(super) draft: bool,
    /// Only say what would be written.
    #[serde(default)]
    pub(super) dry_run: bool,
    /// What was refused as a secret is none.
    #[serde(default)]
    pub(super) not_secret: bool,
}

impl Remember {
    /// The note that it asks for.
    pub(super) fn note(self, id: Uuid) -> Result<Note, Refusal> {
        let title = title(&self.title)?;
        plain_tags(&self.tags)?;
        let note = Note {
            tags: self.tags,
            paths: paths(&self.paths)?,
            supersedes: self.supersedes,
            ..Note::new(self.kind.of_note(), id, title, self.body)
        };
        // What is still to come (author, client, time) is short.
        let bytes = note.render().len() + SAID_LATER;
        if bytes > NOTE_BYTES {
            return Err(refusal::LONG_NOTE.fill(&[&bytes, &NOTE_BYTES]));
        }
        Ok(note)
    }
}

/// Refuses a note that holds a secret, with each line of it and a mask in place of the secret. A hostile text of the greatest
/// length takes a while.
pub(super) fn holds_no_secret(note: &Note) -> Result<(), Refusal> {
    let heads = [&note.tags, &note.paths].map(|words| words.join("\n"));
    let parts = [
        ("title", &note.title),
        ("tags", &heads[0]),
        ("paths", &heads[1]),
        ("body", &note.body),
    ];
    let found: Vec<String> = parts
        .iter()
        .flat_map(|(part, text)| {
            secrets::scan(text).into_iter().map(move |finding| {
                let secrets::Finding {
                    rule,
                    line,
                    preview,
                } = finding;
                format!(
                    "{rule} in line {line} of the {part}: {}",
                    shown(&preview, PREVIEW)
                )
            })
        })
        .collect();
    if found.is_empty() {
        // What is sent is looked through as the file that it is: whoever writes hears of it now.
        let file = note.render();
        let Some(finding) = secrets::scan(&file).into_iter().next() else {
            return Ok(());
        };
        let secrets::Finding {
            rule,
            line,
            preview,
        } = finding;
        let what = format!("{rule} in line {line} of the file: {preview}");
        return Err(refusal::SECRET.fill(&[&what]));
    }
    Err(refusal::SECRET.fill(&[&found.join("; ")]))
}

/// The longest preview of a secret, in characters.
const PREVIEW: usize = 80;

/// What author, client and time take in a note's front matter at most, in bytes.
const SAID_LATER: usize = 1024;

fn title(said: &str) -> Result<String, Refusal> {
    plain("title", said)?;
    Ok(said.trim().to_owned())
}

fn plain_tags(tags: &[String]) -> Result<(), Refusal> {
    for (index, tag) in tags.iter().enumerate() {
        plain(&format!("tags[{index}]"), tag)?;
    }
    Ok(())
}

fn paths(said: &[String]) -> Result<Vec<String>, Refusal> {
    let parsed = scope::parse(said).map_err(|bad| refusal::NO_PATH.fill(&[&bad.index()]))?;
    Ok(parsed
        .iter()
        .map(|entry| entry.as_str().to_owned())
        .collect())
}

fn plain(name: &str, word: &str) -> Result<(), Refusal> {
    if word.trim().is_empty() || word.chars().any(is_hidden) {
        return Err(refusal::HIDDEN_WORD.fill(&[&name]));
    }
    Ok(())
}

/// What becomes of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Action {
    /// Correct it: every argument that is there takes the place of what it says.
    Edit,
    /// Another note, `by`, takes its place.
    Supersede,
    /// Take it away; the history of the notes keeps its text.
    Forget,
    /// A draft becomes a note.
    Promote,
    /// A draft is given up.
    Reject,
    /// Agree where the notes of this repository go: answers what that comes to and a `code`; once the person you work for
    /// has agreed, call it again with the code.
    Share,
}

/// How things stand with a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum NoteStatus {
    Active,
    Stale,
    Proposed,
    Accepted,
    Planned,
    InProgress,
    Blocked,
    Done,
}

impl NoteStatus {
    fn of_note(self) -> note::Status {
        match self {
            Self::Active => note::Status::Active,
            Self::Stale => note::Status::Stale,
            Self::Proposed => note::Status::Proposed,
            Self::Accepted => note::Status::Accepted,
            Self::Planned => note::Status::Planned,
            Self::InProgress => note::Status::InProgress,
            Self::Blocked => note::Status::Blocked,
            Self::Done => note::Status::Done,
        }
    }
}

/// What is to become of a note.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeNote {
    /// What is to be done.
    pub(super) action: Action,
    /// The note; every action but `share` needs it.
    #[schema(nullable = false)]
    pub(super) id: Option<Uuid>,
    /// For `edit`, and where you like for `forget`: the note's version as you read it. What others wrote since is kept.
    #[schema(nullable = false, min_length = 16, max_length = 16)]
    pub(super) version: Option<String>,
    /// For `supersede`: the note that takes its place.
    #[schema(nullable = false)]
    pub(super) by: Option<Uuid>,
    /// For `edit`.
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    title: Option<String>,
    /// For `edit`: the whole text.
    #[schema(nullable = false)]
    body: Option<String>,
    /// For `edit`: how things stand; a kind has its own words.
    #[schema(nullable = false)]
    status: Option<NoteStatus>,
    /// For `edit`: all of them.
    #[schema(nullable = false, max_items = 16)]
    tags: Option<Vec<String>>,
    /// For `edit`: all of them.
    #[schema(nullable = false, max_items = 64)]
    paths: Option<Vec<String>>,
    /// What was refused as a secret is none.
    #[serde(default)]
    pub(super) not_secret: bool,
    /// For `share`: the remote, as git calls it here.
    #[serde(default = "origin")]
    #[schema(default = "origin", max_length = 200)]
    pub(super) remote: String,
    /// For `share`: what the proposal answered.
    #[schema(nullable = false, max_length = 64)]
    pub(super) code: Option<String>,
}

impl ChangeNote {
    /// The note as it is once it is corrected, and whether that is another one.
    pub(super) fn makes_of(&self, note: &Note) -> Result<(Note, bool), Refusal> {
        let mut after = note.clone();
        self.apply(&mut after)?;
        let is_other = after != *note;
        Ok((after, is_other))
    }

    fn apply(&self, note: &mut Note) -> Result<(), Refusal> {
        if !self.says_something() {
            return Err(refusal::NOTHING_CHANGED.fill(&[]));
        }
        if let Some(said) = &self.title {
            note.title = title(said)?;
        }
        if let Some(body) = &self.body {
            note.body.clone_from(body);
        }
        if let Some(status) = self.status {
            let status = status.of_note();
            let known = note.kind.statuses();
            if !known.contains(&status) {
                let words: Vec<_> = known.iter().map(|status| status.as_str()).collect();
                return Err(refusal::UNFIT_STATUS.fill(&[
                    &note.kind.as_str(),
                    &status.as_str(),
                    &words.join(", "),
                ]));
            }
            note.status = Some(status);
        }
        if let Some(tags) = &self.tags {
            plain_tags(tags)?;
            note.tags.clone_from(tags);
        }
        if let Some(said) = &self.paths {
            note.paths = paths(said)?;
        }
        Ok(())
    }

    fn says_something(&self) -> bool {
        self.title.is_some()
            || self.body.is_some()
            || self.status.is_some()
            || self.tags.is_some()
            || self.paths.is_some()
    }
}

fn origin() -> String {
    "origin".to_owned()
}

/// Which notes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    /// Read this one, with its text.
    #[schema(nullable = false)]
    pub(super) id: Option<Uuid>,
    /// Only those that the team does not have yet, drafts among them.
    #[serde(default)]
    pub(super) pending: bool,
    /// Only those of this kind.
    #[schema(nullable = false)]
    pub(super) kind: Option<NoteKind>,
    /// How many at most, the newest first.
    #[serde(default = "twenty")]
    #[schema(minimum = 1, maximum = 200, default = 20)]
    pub(super) limit: usize,
}

/// Which way notes go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Direction {
    #[default]
    Both,
    Pull,
    Push,
}

/// How to meet the team's notes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Meet {
    /// Take what the remote has now for all that the team has, after its notes were removed or rewritten.
    #[serde(default)]
    pub(super) adopt: bool,
    /// Only take in what the team has, or only send what it does not have; to adopt is always both.
    #[serde(default)]
    pub(super) direction: Direction,
}

/// What to look for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Recall {
    /// What you want to know, in plain words, names or paths.
    #[schema(min_length = 1, max_length = 1000)]
    pub(super) query: String,
    /// Paths that you work on: notes about them come first.
    #[serde(default)]
    #[schema(max_items = 64)]
    pub(super) paths: Vec<String>,
    /// Only those of this kind.
    #[schema(nullable = false)]
    pub(super) kind: Option<NoteKind>,
    /// How many at most, the best first.
    #[serde(default = "eight")]
    #[schema(minimum = 1, maximum = 50, default = 8)]
    pub(super) limit: usize,
}

fn twenty() -> usize {
    20
}

fn eight() -> usize {
    8
}
