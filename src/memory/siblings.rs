//! What becomes of a write when the note that it changes is not the one any more that its writer saw.
//!
//! *Base*: the note as the writer saw it; *ours*: as they want it; *theirs*: as it stands. Each field is merged by itself:
//! where one side alone changed it, that side counts; of lists, what each side added and took out. Where both changed one
//! text to another, no program knows which holds: theirs stays where it is, and ours becomes a *sibling*, a note of its own,
//! whose id follows from the note and the bytes, so that everybody who merges the same makes the same. The two name each
//! other. So nothing that was written is ever lost to somebody faster, and nothing is undone that was forgotten: a change of
//! a note that is gone is a sibling too.

use sha2::{Digest as _, Sha256};
use uuid::{Builder, Uuid};

use super::library::{Change, NOTE_BYTES};
use super::note::{Note, Status};
use super::outbox::Write;
use super::place;

/// The changes that put a write into a tree where its note stands as `theirs`; none where there is nothing to do.
#[must_use]
pub fn applied(write: &Write, theirs: Option<&[u8]>) -> Vec<Change> {
    let ours = write.bytes.as_deref();
    let plain = || vec![Change::new(&write.path, ours)];
    if ours == theirs {
        return Vec::new();
    }
    match (&write.base, theirs, ours) {
        (None, None, _) => plain(),
        // Ids are never minted twice: it came here before, and was changed since.
        (None, Some(_), _) => Vec::new(),
        (Some(base), Some(theirs), _) if base == theirs => plain(),
        (Some(_), None, None) => Vec::new(),
        (Some(_), None, Some(ours)) => sibling(write, ours, false).into_iter().collect(),
        (Some(_), Some(theirs), None) => {
            let mut changes = plain();
            changes.extend(sibling(write, theirs, false));
            changes
        }
        (Some(base), Some(theirs), Some(ours)) => met(write, base, theirs, ours),
    }
}

/// The id of the sibling that is made of bytes which could not be merged into a note.
#[must_use]
pub fn sibling_id(note: Uuid, bytes: &[u8]) -> Uuid {
    let mut hash = Sha256::new();
    hash.update(note.as_bytes());
    hash.update(bytes);
    let hash = hash.finalize();
    let mut random = [0; 10];
    random.copy_from_slice(&hash[..10]);
    // With the time of its note, so that it is listed beside it.
    let millis = note.get_timestamp().map_or(0, |at| {
        let (seconds, nanos) = at.to_unix();
        seconds * 1000 + u64::from(nanos / 1_000_000)
    });
    Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

/// Both sides changed the note.
fn met(write: &Write, base: &[u8], theirs: &[u8], ours: &[u8]) -> Vec<Change> {
    let parse = |bytes| place::parse(&write.path).map(|(kind, id)| Note::parse(kind, id, bytes).0);
    let (Some(base), Some(their), Some(our)) = (parse(base), parse(theirs), parse(ours)) else {
        return Vec::new();
    };
    let (mut merged, clashes) = merge(&base, &our, &their);
    if !clashes && merged.render().len() <= NOTE_BYTES {
        let merged = merged.render();
        return vec![Change::new(&write.path, Some(merged.as_bytes()))];
    }
    let Some(beside) = sibling(write, ours, true) else {
        return Vec::new();
    };
    let id = sibling_id(write.note, ours);
    if !merged.relates.contains(&id) {
        merged.relates.push(id);
    }
    let mut changes = vec![beside];
    let merged = merged.render();
    // A note that is full names no sibling; the sibling names it.
    if merged.len() <= NOTE_BYTES {
        changes.push(Change::new(&write.path, Some(merged.as_bytes())));
    }
    changes
}

/// The note of its own that bytes become; it names the note that they were of, where that is `there`.
fn sibling(write: &Write, bytes: &[u8], there: bool) -> Option<Change> {
    let (kind, _) = place::parse(&write.path)?;
    let id = sibling_id(write.note, bytes);
    let (mut note, _) = Note::parse(kind, id, bytes);
    let path = place::path(kind, id, &note.title);
    if there && !note.relates.contains(&write.note) {
        note.relates.push(write.note);
    }
    let linked = note.render();
    let whole = if there && linked.len() <= NOTE_BYTES {
        linked.as_bytes()
    } else {
        bytes
    };
    Some(Change::new(&path, Some(whole)))
}

/// The note with what both sides changed of it, and whether they clash somewhere: there it is as theirs.
fn merge(base: &Note, ours: &Note, theirs: &Note) -> (Note, bool) {
    let mut clashes = false;
    macro_rules! one {
        ($field:ident) => {{
            let (value, clash) = one(&base.$field, &ours.$field, &theirs.$field);
            clashes |= clash;
            value
        }};
    }
    macro_rules! many {
        ($field:ident) => {
            many(&base.$field, &ours.$field, &theirs.$field)
        };
    }
    let statuses = [ours.status, theirs.status];
    let note = Note {
        id: theirs.id,
        kind: theirs.kind,
        title: one!(title),
        tags: many!(tags),
        paths: many!(paths),
        // Who made it, with what and when is the first one's to say.
        author: theirs.author.clone(),
        client: theirs.client.clone(),
        created: theirs.created.clone(),
        updated: theirs.updated.clone().max(ours.updated.clone()),
        status: if statuses.contains(&Some(Status::Superseded)) {
            Some(Status::Superseded)
        } else {
            one!(status)
        },
        supersedes: many!(supersedes),
        // The newer notes each say whose place they take.
        superseded_by: one(
            &base.superseded_by,
            &ours.superseded_by,
            &theirs.superseded_by,
        )
        .0,
        relates: many!(relates),
        project: one!(project),
        others: one!(others),
        body: one!(body),
    };
    (note, clashes)
}

/// The value that one side changed; theirs, and that they clash, where both did.
fn one<T: Clone + PartialEq>(base: &T, ours: &T, theirs: &T) -> (T, bool) {
    if ours == base || ours == theirs {
        (theirs.clone(), false)
    } else {
        let clash = theirs != base;
        ((if clash { theirs } else { ours }).clone(), clash)
    }
}

/// Theirs with what we added, and without what we took out.
fn many<T: Clone + PartialEq>(base: &[T], ours: &[T], theirs: &[T]) -> Vec<T> {
    let stays = |value: &&T| ours.contains(value) || !base.contains(value);
    let mut merged: Vec<T> = theirs.iter().filter(stays).cloned().collect();
    for value in ours {
        if !base.contains(value) && !merged.contains(value) {
            merged.push(value.clone());
        }
    }
    merged
}

#[cfg(test)]
mod tests;
