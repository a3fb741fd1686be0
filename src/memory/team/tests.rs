//! Writers of several processes on one repository; each thread here has its own connection and its own objects, as a
//! process has.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;

use tempfile::TempDir;
use uuid::Uuid;

use super::{REF, State, Team};
use crate::floor::git;
use crate::memory::note::Kind;
use crate::memory::outbox::{Key, Write};
use crate::memory::place;

fn team(folder: &Path) -> Team {
    Team::at(folder, folder.join("writes.db"))
}

fn id(number: u64) -> Uuid {
    Uuid::from_u128(u128::from(number))
}

fn write(number: u64, text: &str) -> Write {
    Write {
        note: id(number),
        path: place::path(Kind::Memory, id(number), "a title"),
        base: None,
        bytes: Some(text.as_bytes().to_vec()),
        subject: format!("remember: {text}"),
        author: ("A".to_owned(), "a@example.org".to_owned()),
        client: "client".to_owned(),
        peer: String::new(),
        at: 1_700_000_000_000,
    }
}

#[track_caller]
fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = git::command(&folder.join("memory.git"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn subjects(folder: &Path) -> Vec<String> {
    let log = git(folder, &["log", "--reverse", "--format=%s", REF]);
    log.lines().map(str::to_owned).collect()
}

#[test]
fn a_note_is_read_as_it_was_written_last_wherever_it_stands() {
    let folder = TempDir::new().unwrap();
    let mut team = team(folder.path());
    assert_eq!(team.read(id(1)).unwrap(), None);
    assert!(
        !folder.path().join("memory.git").exists(),
        "to read makes nothing"
    );
    assert!(
        !folder.path().join("writes.db").exists(),
        "to read makes nothing"
    );
    team.keep(&write(1, "one"), None, State::Waiting).unwrap();
    let found = team.read(id(1)).unwrap().unwrap();
    assert_eq!((&*found.bytes, found.state), (&b"one"[..], State::Waiting));
    team.commit().unwrap();
    assert_eq!(team.read(id(1)).unwrap().unwrap().state, State::Committed);
    assert_eq!(
        git(
            folder.path(),
            &["show", &format!("{REF}:{}", write(1, "").path)]
        ),
        "one"
    );
    assert_eq!(subjects(folder.path()), ["remember: one"]);
    assert_eq!(team.read(id(2)).unwrap(), None);
    let gone = Write {
        base: Some(b"one".to_vec()),
        bytes: None,
        ..write(1, "gone")
    };
    team.keep(&gone, None, State::Waiting).unwrap();
    assert_eq!(team.read(id(1)).unwrap(), None);
    team.commit().unwrap();
    assert_eq!(team.read(id(1)).unwrap(), None);
    assert_eq!(git(folder.path(), &["ls-tree", "-r", REF]), "");
}

#[test]
fn what_was_published_and_forgotten_is_read_from_the_repository() {
    let folder = TempDir::new().unwrap();
    let mut team = team(folder.path());
    let kept = team.keep(&write(1, "one"), None, State::Waiting).unwrap();
    team.commit().unwrap();
    team.outbox
        .advance(&[(kept.seq, "abc")], State::Published)
        .unwrap();
    let found = team.read(id(1)).unwrap().unwrap();
    assert_eq!(
        (&*found.bytes, found.state),
        (&b"one"[..], State::Published)
    );
}

/// A process was killed between the commit and its mark: the next one finds it unmarked.
#[test]
fn what_was_committed_and_not_marked_is_committed_once() {
    let folder = TempDir::new().unwrap();
    let mut one = team(folder.path());
    one.keep(&write(1, "first"), None, State::Waiting).unwrap();
    one.commit().unwrap();
    let second = Write {
        base: Some(b"first".to_vec()),
        ..write(1, "second")
    };
    let kept = one.keep(&second, None, State::Waiting).unwrap();
    one.commit().unwrap();
    one.outbox.unmark(kept.seq);
    team(folder.path()).commit().unwrap();
    assert_eq!(
        subjects(folder.path()),
        ["remember: first", "remember: second"]
    );
    assert!(one.outbox.waiting().unwrap().is_empty());
}

#[test]
fn many_processes_commit_each_write_once_and_none_undoes_another_ones() {
    const WRITERS: u64 = 6;
    const EACH: u64 = 12;
    let folder = TempDir::new().unwrap();
    let of_all = write(1, "The text");
    team(folder.path())
        .keep(&of_all, None, State::Waiting)
        .unwrap();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (folder, of_all) = (folder.path(), &of_all);
            scope.spawn(move || {
                let mut team = team(folder);
                for round in 0..EACH {
                    // All tag one note of everybody's, and write one of their own.
                    let number = writer * EACH + round;
                    let key = Key::new("w", number, "d");
                    team.keep(&write(100 + number, "own"), Some(&key), State::Waiting)
                        .unwrap();
                    let found = team.read(id(1)).unwrap().unwrap();
                    let (mut note, _) = found.note();
                    note.tags.push(format!("tag-{number}"));
                    let tagged = Write {
                        base: Some(found.bytes),
                        bytes: Some(note.render().into_bytes()),
                        ..of_all.clone()
                    };
                    team.keep(&tagged, None, State::Waiting).unwrap();
                    team.commit().unwrap();
                }
            });
        }
    });
    let mut team = team(folder.path());
    assert!(team.outbox.waiting().unwrap().is_empty());
    let kept = team.unpublished().unwrap();
    assert_eq!(kept.len() as u64, 1 + 2 * WRITERS * EACH);
    // One commit a write, in the order in which they were kept.
    let order: Vec<String> = kept.iter().map(|kept| kept.write.subject.clone()).collect();
    assert_eq!(subjects(folder.path()), order);
    let (note, _) = team.read(id(1)).unwrap().unwrap().note();
    let tags: BTreeSet<String> = note.tags.into_iter().collect();
    let all = (0..WRITERS * EACH).map(|number| format!("tag-{number}"));
    assert_eq!(tags, all.collect::<BTreeSet<_>>());
    assert_eq!(note.body, "The text");
    git(folder.path(), &["fsck", "--strict", "--no-dangling"]);
}
