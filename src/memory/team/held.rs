//! Secrets in what is about to be sent: what is held back, and what somebody committed by hand.
//!
//! Every commit that the team does not have is looked through before it goes: each file, its name, and the message. A write
//! that seems to hold a secret becomes a draft, and the rest is applied again without it. So its words are in no commit that
//! leads to the team's ref, and nothing is lost here. A commit that is none of ours is kept as a write first, and as it was
//! under a ref below [`ASIDE`] where the history is made anew.

use std::collections::HashSet;
use std::fmt;

use gix_hash::ObjectId;
use uuid::Uuid;

use super::{Team, TeamError, VOUCHED};
use crate::memory::library::{Fresh, Library, NOTE_BYTES};
use crate::memory::note::Note;
use crate::memory::outbox::{Kept, State, Write};
use crate::memory::place;
use crate::memory::secrets::{self, Finding};

/// Below this stand the histories from which something was taken out that somebody had committed by hand.
pub const ASIDE: &str = "refs/majordomus/withheld";
/// The longest file that is looked through, in bytes; a longer one is none of ours, and is not sent.
const LONGEST: u64 = 4 * 1024 * 1024;

/// A secret that a note seems to hold, for which it is held back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The note.
    pub note: Uuid,
    /// Its path, without the words of its title: those may be it.
    pub path: String,
    /// What was found, and in which line of its file; in line 0 it is what its commit would say.
    pub finding: Finding,
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding {
            rule,
            line,
            preview,
        } = &self.finding;
        match line {
            0 => write!(f, "{rule} in what is said of {}: {preview}", self.path),
            line => write!(f, "{rule} in line {line} of {}: {preview}", self.path),
        }
    }
}

impl Team {
    /// What is held back: drafts that would not be sent if they were promoted.
    ///
    /// # Errors
    /// Where the file of what was written cannot be read.
    pub fn withheld(&mut self) -> Result<Vec<Held>, TeamError> {
        let mut held = Vec::new();
        for draft in self.outbox.drafts()? {
            if draft.vouched.is_empty() {
                held.extend(in_write(&draft.write));
            }
        }
        Ok(held)
    }

    /// Notes that `name` says of a draft that what looks like a secret in it is none, and promotes it. Answers whether there
    /// was such a draft.
    ///
    /// # Errors
    /// Where the file of what was written cannot be written.
    pub fn acknowledge(&mut self, id: Uuid, name: &str) -> Result<bool, TeamError> {
        let Some(draft) = self.outbox.draft_of(id)? else {
            return Ok(false);
        };
        self.outbox.vouch(draft.seq, name)?;
        Ok(self.outbox.shift(draft.seq, draft.state, State::Waiting)?)
    }

    /// Notes that `name` says so of a write.
    ///
    /// # Errors
    /// Where the file of what was written cannot be written.
    pub fn vouch(&mut self, kept: &Kept, name: &str) -> Result<(), TeamError> {
        Ok(self.outbox.vouch(kept.seq, name)?)
    }

    /// Whether a write was made a draft since it was kept, and if so for what.
    ///
    /// # Errors
    /// Where the file of what was written cannot be read.
    pub fn held_of(&mut self, kept: &Kept) -> Result<Vec<Held>, TeamError> {
        match self.outbox.state_of(kept.seq)? {
            Some(State::Draft | State::Rejected) => Ok(in_write(&kept.write)),
            _ => Ok(Vec::new()),
        }
    }

    /// Keeps as writes what was committed by hand between `tracking` and `tip`: only writes are applied again where
    /// somebody else was faster.
    pub(super) fn adopt_hands(
        &mut self,
        library: &Library,
        tracking: Option<ObjectId>,
        tip: ObjectId,
    ) -> Result<Vec<Fresh>, TeamError> {
        let leads_on = match tracking {
            Some(tracking) if tracking == tip => false,
            Some(tracking) => library.leads_to(tracking, tip)?,
            None => true,
        };
        if !leads_on {
            return Ok(Vec::new());
        }
        let fresh = library.fresh(tracking, tip)?;
        let ours = self.shas()?;
        for commit in &fresh {
            if !ours.contains(&commit.commit) {
                self.adopt_hand(library, commit)?;
            }
        }
        Ok(fresh)
    }

    /// The commits of the writes that the team does not have.
    fn shas(&mut self) -> Result<HashSet<ObjectId>, TeamError> {
        let all = [self.outbox.unpublished()?, self.outbox.drafts()?].concat();
        let shas = all
            .iter()
            .filter_map(|kept| kept.sha.as_ref()?.parse().ok());
        Ok(shas.collect())
    }

    fn adopt_hand(&mut self, library: &Library, commit: &Fresh) -> Result<(), TeamError> {
        let speaks = !secrets::scan(&commit.message).is_empty();
        for (path, _) in &commit.files {
            let Some((kind, note)) = place::parse(path) else {
                continue;
            };
            let bytes = library.read(commit.commit, path)?;
            if self.outbox.knows(note, bytes.as_deref())? {
                continue;
            }
            let base = match commit.parent {
                Some(parent) => library.read(parent, path)?,
                None => None,
            };
            if bytes.is_none() && base.is_none() {
                continue;
            }
            let subject = if speaks {
                // What it says is looked through once more when it is to be sent.
                commit.message.replace('\n', " ")
            } else {
                commit.message.lines().next().unwrap_or_default().to_owned()
            };
            let write = Write {
                note,
                path: path.clone(),
                base,
                bytes,
                subject: if subject.trim().is_empty() {
                    kind.as_str().to_owned()
                } else {
                    subject
                },
                author: commit.author.clone(),
                client: String::new(),
                peer: String::new(),
                at: commit.at,
            };
            let vouched = vouched(&commit.message);
            self.outbox
                .adopt(&write, &commit.commit.to_string(), vouched)?;
        }
        Ok(())
    }

    /// Takes out what seems to hold a secret, of what leads from `tracking` to `tip`. Answers whether there was any: the ref
    /// then stands elsewhere.
    pub(super) fn hold_back(
        &mut self,
        library: &Library,
        tracking: Option<ObjectId>,
        tip: ObjectId,
    ) -> Result<bool, TeamError> {
        let fresh = self.adopt_hands(library, tracking, tip)?;
        let mut held = Vec::new();
        for commit in &fresh {
            if vouched(&commit.message).is_empty() && holds_secret(library, commit)? {
                held.push(commit);
            }
        }
        if held.is_empty() {
            return Ok(false);
        }
        tracing::warn!(
            commits = held.len(),
            "what seems to hold a secret is held back from the team"
        );
        let unpublished = self.outbox.unpublished()?;
        let of_rows: HashSet<&str> = unpublished
            .iter()
            .filter_map(|kept| kept.sha.as_deref())
            .collect();
        let is_row = |commit: &Fresh| of_rows.contains(&*commit.commit.to_string());
        if fresh
            .iter()
            .any(|commit| !is_row(commit) || !is_only_notes(commit))
        {
            let name = format!("{ASIDE}/{tip}");
            library.advance(&name, None, tip)?;
        }
        for kept in &unpublished {
            let is_held = held.iter().any(|commit| {
                let sha = commit.commit.to_string();
                kept.sha.as_deref() == Some(&*sha)
                    || !is_row(commit) && brings(library, commit, &kept.write)
            });
            if is_held {
                self.outbox.hold(kept)?;
            }
        }
        self.apply_again(library, Some(tip), tracking)?;
        Ok(true)
    }
}

/// Whether a commit put a write's bytes where they belong.
fn brings(library: &Library, commit: &Fresh, write: &Write) -> bool {
    commit.files.iter().any(|(path, _)| *path == write.path)
        && library
            .read(commit.commit, &write.path)
            .is_ok_and(|bytes| bytes == write.bytes)
}

fn is_only_notes(commit: &Fresh) -> bool {
    let mut files = commit.files.iter();
    files.all(|(path, _)| place::parse(path).is_some())
}

/// Who says in a commit that what looks like a secret in it is none; empty where nobody does.
fn vouched(message: &str) -> &str {
    let mut lines = message
        .trim_end()
        .lines()
        .rev()
        .take_while(|line| !line.is_empty());
    let said = lines.find_map(|line| line.strip_prefix(VOUCHED)?.strip_prefix(": "));
    said.unwrap_or_default().trim()
}

fn holds_secret(library: &Library, commit: &Fresh) -> Result<bool, TeamError> {
    if !secrets::scan(&commit.message).is_empty() {
        return Ok(true);
    }
    for (path, blob) in &commit.files {
        if !secrets::scan(path).is_empty() {
            return Ok(true);
        }
        let Some(blob) = blob else {
            continue;
        };
        match library.words(*blob, LONGEST)? {
            Some(words) if !in_file(path, &words).is_empty() => return Ok(true),
            Some(_) => {}
            None => return Ok(true),
        }
    }
    Ok(false)
}

/// What is found in a file; of a note also what its front matter spells otherwise than it means.
fn in_file(path: &str, words: &str) -> Vec<Finding> {
    let mut found = secrets::scan(words);
    if let (true, Some((kind, id))) = (
        found.is_empty() && words.len() <= NOTE_BYTES,
        place::parse(path),
    ) {
        let (note, _) = Note::parse(kind, id, words.as_bytes());
        let meant = [note.title, note.tags.join("\n"), note.paths.join("\n")];
        found.extend(
            meant
                .iter()
                .flat_map(|text| secrets::scan(text))
                .map(|finding| Finding { line: 1, ..finding }),
        );
    }
    found
}

fn in_write(write: &Write) -> Vec<Held> {
    let said = secrets::scan(&write.subject).into_iter();
    let mut found: Vec<Finding> = Vec::new();
    if let Some(bytes) = &write.bytes {
        found.extend(in_file(&write.path, &String::from_utf8_lossy(bytes)));
    }
    // A title is its first line's words too: it is named once.
    if found.is_empty() {
        found.extend(said.map(|finding| Finding { line: 0, ..finding }));
    }
    let held = |finding| Held {
        note: write.note,
        path: nameless(&write.path, write.note),
        finding,
    };
    found.into_iter().map(held).collect()
}

/// A path without the words of a title.
fn nameless(path: &str, note: Uuid) -> String {
    let id = note.to_string();
    match path.split_once(&*id) {
        Some((folder, "" | ".md")) => format!("{folder}{id}.md"),
        Some((folder, _)) => format!("{folder}{id}-….md"),
        None => id,
    }
}
