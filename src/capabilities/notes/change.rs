//! What becomes of a note that is there: corrected, replaced, promoted, given up, forgotten.

use uuid::Uuid;

use super::answers::Changed;
use super::arguments::{Action, ChangeNote, holds_no_secret};
use super::saving::Writer;
use super::{refusals, share};
use crate::capabilities::declare::{answer, read};
use crate::capabilities::services::Services;
use crate::floor::paths::Site;
use crate::memory::library::NOTE_BYTES;
use crate::memory::note::Note;
use crate::memory::outbox::{Kept, State};
use crate::memory::outcome::Act;
use crate::memory::team::{Found, Team, TeamError};
use crate::registry::{Answer, Call, Refusal, refusal};

/// What a job did, or why not.
type Done = Result<Kept, Refusal>;

pub(super) async fn change(services: Services, call: Call) -> Answer {
    services.writes("notes.change")?;
    let writer = Writer::of(&call);
    let asked: ChangeNote = read(call.arguments)?;
    if asked.action == Action::Share {
        return share::share(services, asked).await;
    }
    let id = asked.id.ok_or_else(|| missing("id", "a note's id"))?;
    let act = match asked.action {
        Action::Forget => Act::Forget,
        _ => Act::Write,
    };
    let by = writer.clone();
    let job = move |team: &mut Team, site: &Site| {
        if let Some(key) = &by.key
            && let Some(first) = team.first(key)?
        {
            return Ok(Ok(first));
        }
        Job { team, site, by }.run(id, &asked)
    };
    let kept = services.memory.write(job).await;
    let kept = kept.map_err(|error| refusals::not_saved(&error))??;
    let outcome = writer.finish(&services, &kept).await;
    let write = kept.write.clone();
    let sibling = services
        .memory
        .read(move |team, _| team.sibling_of(&write))
        .await
        .map_err(|error| refusals::unreadable(&error))?;
    let mut changed = Changed::of(&kept, sibling, &outcome, act);
    if let Some(sync) = &mut changed.sync {
        sync.beside(services.memory.happened());
    }
    answer(&changed)
}

/// An argument that this action needs.
pub(super) fn missing(name: &'static str, expected: &'static str) -> Refusal {
    refusal::MISSING.fill(&[&name, &expected])
}

/// One change, on the thread that writes.
struct Job<'a> {
    team: &'a mut Team,
    site: &'a Site,
    by: Writer,
}

impl Job<'_> {
    fn run(mut self, id: Uuid, asked: &ChangeNote) -> Result<Done, TeamError> {
        match asked.action {
            Action::Promote => self.promote(id),
            Action::Reject => self.reject(id),
            Action::Edit => self.edit(id, asked),
            Action::Supersede => self.supersede(id, asked.by),
            Action::Forget => self.forget(id, asked.version.as_deref()),
            // It is answered before there is a job.
            Action::Share => Ok(Err(refusal::NO_NOTE.fill(&[&id]))),
        }
    }

    fn promote(&mut self, id: Uuid) -> Result<Done, TeamError> {
        if self.by.is_reviewed(self.site) {
            let hint = format!("majordomus notes promote {id}");
            return Ok(Err(refusal::NEEDS_PERSON.fill(&[]).hint(hint)));
        }
        if let Some(draft) = self.team.draft_of(id)? {
            self.team.shift(&draft, State::Waiting)?;
            let promoted = Kept {
                state: State::Waiting,
                ..draft
            };
            return Ok(Ok(promoted));
        }
        // Somebody promoted it before.
        self.stands(id)
            .map(|found| found.map(|found| as_kept(&found)))
    }

    fn reject(&mut self, id: Uuid) -> Result<Done, TeamError> {
        let Some(draft) = self.team.draft_of(id)? else {
            let found = self.stands(id)?;
            return Ok(found.and_then(|_| Err(refusal::NO_DRAFT.fill(&[&id]))));
        };
        self.team.shift(&draft, State::Rejected)?;
        Ok(Ok(Kept {
            state: State::Rejected,
            ..draft
        }))
    }

    fn edit(&mut self, id: Uuid, asked: &ChangeNote) -> Result<Done, TeamError> {
        let Some(version) = &asked.version else {
            return Ok(Err(missing("version", "the note's version as you read it")));
        };
        let draft = self.team.draft_of(id)?;
        let draft = draft.filter(|draft| draft.state == State::Draft);
        if let Some((draft, found)) = draft.as_ref().zip(draft.as_ref().and_then(Found::of))
            && found.version() == *version
        {
            return self.edit_draft(draft, &found, asked);
        }
        let found = match self.stands(id)? {
            Ok(found) => found,
            Err(_) if draft.is_some() => return Ok(Err(no_version(id, version))),
            Err(refusal) => return Ok(Err(refusal)),
        };
        let Some(read) = self.read_as(&found, version)? else {
            return Ok(Err(no_version(id, version)));
        };
        let made = asked.makes_of(&found.note().0).and_then(|now| {
            let then = asked.makes_of(&read.note().0)?;
            Ok((now, then))
        });
        let note = match made {
            Err(refusal) => return Ok(Err(refusal)),
            // Whoever sends it again after an owner died finds it done; and what is to stay as it was read is no change.
            Ok(((_, false), _) | (_, (_, false))) => return Ok(Ok(as_kept(&found))),
            Ok((_, (note, true))) => note,
        };
        if let Err(refusal) = whole(&note, asked.not_secret) {
            return Ok(Err(refusal));
        }
        self.keep("edit", note, read, false)
    }

    /// Writes a draft anew: it is in one place, and has no history to be merged with.
    fn edit_draft(
        &mut self,
        draft: &Kept,
        found: &Found,
        asked: &ChangeNote,
    ) -> Result<Done, TeamError> {
        let note = match asked.makes_of(&found.note().0) {
            Err(refusal) => return Ok(Err(refusal)),
            Ok((_, false)) => return Ok(Ok(draft.clone())),
            Ok((note, true)) => note,
        };
        if let Err(refusal) = whole(&note, asked.not_secret) {
            return Ok(Err(refusal));
        }
        let bytes = note.render().into_bytes();
        if !self.team.redraft(draft, &bytes)? {
            return Ok(Err(no_version(found.id, &found.version())));
        }
        let mut draft = draft.clone();
        draft.write.bytes = Some(bytes);
        Ok(Ok(draft))
    }

    fn supersede(&mut self, id: Uuid, newer: Option<Uuid>) -> Result<Done, TeamError> {
        let Some(newer) = newer.filter(|newer| *newer != id) else {
            return Ok(Err(missing(
                "by",
                "the id of the note that takes its place",
            )));
        };
        if let Err(refusal) = self.stands(id)? {
            return Ok(Err(refusal));
        }
        let found = match self.stands(newer)? {
            Ok(found) => found,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let (mut note, _) = found.note();
        if note.supersedes.contains(&id) {
            return Ok(Ok(as_kept(&found)));
        }
        note.supersedes.push(id);
        if let Err(refusal) = whole(&note, true) {
            return Ok(Err(refusal));
        }
        self.keep("supersede", note, found, false)
    }

    fn forget(&mut self, id: Uuid, version: Option<&str>) -> Result<Done, TeamError> {
        let found = self.stands(id)?;
        if found.is_err() && self.team.draft_of(id)?.is_some() {
            return self.reject(id);
        }
        if self.by.is_reviewed(self.site) {
            let hint = format!("majordomus notes forget {id}");
            return Ok(Err(refusal::NEEDS_PERSON.fill(&[]).hint(hint)));
        }
        match found {
            Err(refusal) => Ok(Err(refusal)),
            Ok(found) => {
                let read = match version {
                    None => Some(found),
                    Some(version) => self.read_as(&found, version)?,
                };
                let Some(read) = read else {
                    return Ok(Err(no_version(id, version.unwrap_or_default())));
                };
                let (note, _) = read.note();
                self.keep("forget", note, read, true)
            }
        }
    }

    fn keep(&mut self, verb: &str, note: Note, was: Found, goes: bool) -> Result<Done, TeamError> {
        let write = self
            .by
            .write(self.site, verb, note, (was.path, Some(was.bytes)), goes);
        let state = if self.by.is_reviewed(self.site) {
            State::Draft
        } else {
            State::Waiting
        };
        Ok(Ok(self.team.keep(&write, self.by.key.as_ref(), state)?))
    }

    /// The note as it stood in the version that its reader names.
    fn read_as(&mut self, found: &Found, version: &str) -> Result<Option<Found>, TeamError> {
        if found.version() == version {
            return Ok(Some(found.clone()));
        }
        let bytes = self.team.version(found.id, version)?;
        Ok(bytes.map(|bytes| Found {
            bytes,
            ..found.clone()
        }))
    }

    /// The note as it stands.
    fn stands(&mut self, id: Uuid) -> Result<Result<Found, Refusal>, TeamError> {
        let found = self.team.read(id)?;
        Ok(found.ok_or_else(|| refusal::NO_NOTE.fill(&[&id])))
    }
}

/// A version that is not here, or is no draft's any more.
fn no_version(id: Uuid, version: &str) -> Refusal {
    refusal::NO_VERSION.fill(&[&id, &version])
}

/// Refuses a note that is too long, or that holds a secret.
fn whole(note: &Note, not_secret: bool) -> Result<(), Refusal> {
    let bytes = note.render().len() + SAID_LATER;
    if bytes > NOTE_BYTES {
        return Err(refusal::LONG_NOTE.fill(&[&bytes, &NOTE_BYTES]));
    }
    if not_secret {
        return Ok(());
    }
    holds_no_secret(note)
}

/// What the time of a change takes in a note's front matter at most, in bytes.
const SAID_LATER: usize = 64;

/// A note that stands as it was asked for: nothing is to be written, and it may still have to be sent.
fn as_kept(found: &Found) -> Kept {
    let (note, _) = found.note();
    Kept::standing(
        note.id,
        found.path.clone(),
        found.bytes.clone(),
        found.state,
    )
}
