use proptest::prelude::*;
use uuid::Uuid;

use super::{applied, sibling_id};
use crate::memory::library::Change;
use crate::memory::note::{Kind, Note, Status};
use crate::memory::outbox::Write;
use crate::memory::place;

const ID: Uuid = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001);

fn note() -> Note {
    Note {
        tags: vec!["a".to_owned(), "b".to_owned()],
        ..Note::new(
            Kind::Decision,
            ID,
            "The title".to_owned(),
            "The text".to_owned(),
        )
    }
}

fn write(base: Option<&Note>, ours: Option<&Note>) -> Write {
    let bytes = |note: &Note| note.render().into_bytes();
    Write {
        note: ID,
        path: place::path(Kind::Decision, ID, "The title"),
        base: base.map(bytes),
        bytes: ours.map(bytes),
        subject: String::new(),
        author: (String::new(), String::new()),
        client: String::new(),
        peer: String::new(),
        at: 0,
    }
}

fn meet(base: Option<&Note>, ours: Option<&Note>, theirs: Option<&Note>) -> Vec<Change> {
    let theirs = theirs.map(Note::render);
    applied(&write(base, ours), theirs.as_ref().map(String::as_bytes))
}

/// What a change writes; `None` where it removes.
fn read(change: &Change) -> Option<Note> {
    let (kind, id) = place::parse(&change.path).unwrap();
    let bytes = change.bytes.as_ref()?;
    Some(Note::parse(kind, id, bytes).0)
}

#[test]
fn what_each_side_changed_is_merged_field_by_field() {
    let ours = Note {
        tags: vec!["b".to_owned(), "ours".to_owned()],
        status: Some(Status::Stale),
        updated: Some("2026-01-02".to_owned()),
        ..note()
    };
    let theirs = Note {
        title: "Another title".to_owned(),
        tags: vec!["a".to_owned(), "b".to_owned(), "theirs".to_owned()],
        updated: Some("2026-01-03".to_owned()),
        ..note()
    };
    let changes = meet(Some(&note()), Some(&ours), Some(&theirs));
    assert_eq!(changes.len(), 1);
    let expected = Note {
        tags: ["b", "theirs", "ours"].map(str::to_owned).to_vec(),
        status: Some(Status::Stale),
        ..theirs
    };
    assert_eq!(read(&changes[0]), Some(expected));
}

#[test]
fn two_texts_are_two_notes_that_name_each_other() {
    let ours = Note {
        body: "Ours".to_owned(),
        ..note()
    };
    let theirs = Note {
        body: "Theirs".to_owned(),
        ..note()
    };
    let changes = meet(Some(&note()), Some(&ours), Some(&theirs));
    let [beside, there] = &changes[..] else {
        panic!("{changes:?}");
    };
    let (beside, there) = (read(beside).unwrap(), read(there).unwrap());
    assert_eq!((&*there.body, there.id), ("Theirs", ID));
    assert_eq!(beside.body, "Ours");
    assert_eq!(beside.relates, [ID]);
    assert_eq!(there.relates, [beside.id]);
    assert_eq!(beside.id, sibling_id(ID, ours.render().as_bytes()));
    // Whoever does it again does the same.
    assert_eq!(meet(Some(&note()), Some(&ours), Some(&theirs)), changes);
}

#[test]
fn who_supersedes_a_note_is_not_undone_by_who_changes_its_status() {
    let ours = Note {
        status: Some(Status::Superseded),
        ..note()
    };
    let theirs = Note {
        status: Some(Status::Proposed),
        ..note()
    };
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let changes = meet(Some(&note()), Some(ours), Some(theirs));
        let merged: Vec<_> = changes.iter().filter_map(read).collect();
        let statuses: Vec<_> = merged.iter().map(|note| note.status).collect();
        assert_eq!(statuses, [Some(Status::Superseded)].repeat(merged.len()));
    }
}

#[test]
fn a_note_that_was_forgotten_stays_away_and_what_was_changed_of_it_is_a_note_of_its_own() {
    let changed = Note {
        body: "Changed".to_owned(),
        ..note()
    };
    // Whoever comes second, the result is the same.
    let after = meet(Some(&note()), Some(&changed), None);
    let before = meet(Some(&note()), None, Some(&changed));
    let [beside] = &after[..] else {
        panic!("{after:?}");
    };
    assert_eq!(read(beside).unwrap().body, "Changed");
    assert_ne!(read(beside).unwrap().id, ID);
    assert_eq!(
        before,
        [Change::new(&write(None, None).path, None), beside.clone()]
    );
    // Nobody changed it: it just goes, once.
    let gone = [Change::new(&write(None, None).path, None)];
    assert_eq!(meet(Some(&note()), None, Some(&note())), gone);
    assert_eq!(meet(Some(&note()), None, None), []);
}

#[test]
fn a_new_note_that_is_there_already_is_not_written_over_what_became_of_it() {
    let changed = Note {
        body: "Changed".to_owned(),
        ..note()
    };
    assert_eq!(meet(None, Some(&note()), Some(&changed)), []);
    assert_eq!(meet(None, Some(&note()), None).len(), 1);
}

#[test]
fn a_note_that_is_full_loses_nothing_either() {
    let full = |word: &str| Note {
        body: word.repeat(60_000),
        tags: vec![word.repeat(5_000)],
        ..note()
    };
    let changes = meet(Some(&note()), Some(&full("o")), Some(&full("t")));
    let bodies: Vec<_> = changes
        .iter()
        .filter_map(read)
        .map(|note| note.body)
        .collect();
    assert!(bodies.contains(&"o".repeat(60_000)), "ours");
    assert!(changes.iter().all(|change| {
        change
            .bytes
            .as_ref()
            .is_none_or(|bytes| bytes.len() <= 65_536)
    }));
}

/// A few values for each field, so that sides meet often.
fn any_note() -> impl Strategy<Value = Note> {
    let word = prop::sample::select(vec!["a", "b", "c"]);
    let words = prop::sample::subsequence(vec!["a", "b", "c", "d"], 0..4);
    let status = prop::sample::select(vec![None, Some(Status::Stale), Some(Status::Superseded)]);
    (word.clone(), word, words, status).prop_map(|(title, body, tags, status)| Note {
        tags: tags.into_iter().map(str::to_owned).collect(),
        status,
        ..Note::new(Kind::Decision, ID, title.to_owned(), body.to_owned())
    })
}

proptest! {
    /// Every text that a side wrote stands somewhere afterwards, and a field that one side alone changed is as that side
    /// has it.
    #[test]
    fn no_text_is_lost(base in any_note(), ours in any_note(), theirs in any_note()) {
        let changes = meet(Some(&base), Some(&ours), Some(&theirs));
        let mut stand: Vec<Note> = changes.iter().filter_map(read).collect();
        if !changes.iter().any(|change| change.path == write(None, None).path) {
            stand.push(theirs.clone());
        }
        for side in [&ours, &theirs] {
            prop_assert!(side.body == base.body || stand.iter().any(|note| note.body == side.body));
            prop_assert!(side.title == base.title || stand.iter().any(|note| note.title == side.title));
            for tag in &side.tags {
                let taken_out = base.tags.contains(tag);
                prop_assert!(taken_out || stand.iter().any(|note| note.tags.contains(tag)));
            }
        }
        prop_assert!(stand.len() <= 2);
    }
}
