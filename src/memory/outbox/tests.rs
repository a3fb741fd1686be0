use std::fs;
use std::path::PathBuf;

use uuid::Uuid;

use super::{Key, Outbox, OutboxError, State, Write};
use crate::floor::database::{Database, DatabaseError, Place};

fn write(note: u128) -> Write {
    Write {
        note: Uuid::from_u128(note),
        path: format!("memory/00/{note}.md"),
        base: None,
        bytes: Some(b"text".to_vec()),
        subject: "a title".to_owned(),
        author: ("A".to_owned(), "a@example.org".to_owned()),
        client: "client".to_owned(),
        peer: String::new(),
        at: 1,
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("writes.db")
    }

    fn outbox(&self) -> Outbox {
        Outbox::at(Place::File(self.file()))
    }
}

#[test]
fn what_is_kept_is_there_for_the_next_process_in_its_order() {
    let folder = Folder::new();
    let mut outbox = folder.outbox();
    for note in 1..=3 {
        outbox.keep(&write(note), None, State::Waiting).unwrap();
    }
    let mut next = folder.outbox();
    let kept = next.unpublished().unwrap();
    assert_eq!(
        kept.iter()
            .map(|kept| kept.write.clone())
            .collect::<Vec<_>>(),
        [write(1), write(2), write(3)]
    );
    assert!(kept.iter().all(|kept| kept.state == State::Waiting));
}

#[test]
fn a_key_gives_the_first_write_back_also_to_another_process() {
    let folder = Folder::new();
    let key = Key::new("peer", 7, "digest");
    let first = folder
        .outbox()
        .keep(&write(1), Some(&key), State::Waiting)
        .unwrap();
    let again = folder
        .outbox()
        .keep(&write(2), Some(&key), State::Waiting)
        .unwrap();
    assert_eq!(first, again);
    assert_eq!(folder.outbox().unpublished().unwrap(), [first]);
    let other = Key::new("peer", 7, "another");
    assert!(matches!(
        folder
            .outbox()
            .keep(&write(2), Some(&other), State::Waiting),
        Err(OutboxError::OtherKey)
    ));
    for other in [
        Key::new("peer", 8, "digest"),
        Key::new("peers", 7, "digest"),
    ] {
        assert_eq!(folder.outbox().first(&other).unwrap(), None);
    }
}

#[test]
fn no_file_holds_what_a_key_is_made_of() {
    let folder = Folder::new();
    let secret = "http:very-secret-handle";
    let key = Key::new(secret, 1, "digest");
    folder
        .outbox()
        .keep(&write(1), Some(&key), State::Waiting)
        .unwrap();
    for entry in fs::read_dir(folder.0.path()).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(memchr::memmem::find(&bytes, b"very-secret").is_none());
    }
}

#[test]
fn a_write_only_goes_forward() {
    let folder = Folder::new();
    let mut outbox = folder.outbox();
    let seq = outbox.keep(&write(1), None, State::Waiting).unwrap().seq;
    outbox.advance(&[(seq, "abc")], State::Committed).unwrap();
    let kept = outbox.unpublished().unwrap();
    assert_eq!(
        (kept[0].state, kept[0].sha.as_deref()),
        (State::Committed, Some("abc"))
    );
    outbox.advance(&[(seq, "def")], State::Published).unwrap();
    outbox.advance(&[(seq, "ghi")], State::Committed).unwrap();
    assert!(outbox.unpublished().unwrap().is_empty());
    assert_eq!(outbox.forget(1).unwrap(), 0);
    assert_eq!(outbox.forget(2).unwrap(), 1);
}

#[test]
fn what_is_not_published_is_never_forgotten() {
    let folder = Folder::new();
    let mut outbox = folder.outbox();
    outbox.keep(&write(1), None, State::Waiting).unwrap();
    assert_eq!(outbox.forget(u64::from(u32::MAX)).unwrap(), 0);
    assert_eq!(outbox.unpublished().unwrap().len(), 1);
}

/// Each waits for the disk: a power cut takes nothing that was answered.
#[test]
fn each_write_is_on_the_disk_when_it_is_kept() {
    let folder = Folder::new();
    let mut outbox = folder.outbox();
    let synchronous: i64 = outbox
        .0
        .with(|connection| {
            Ok::<_, OutboxError>(connection.query_row("PRAGMA synchronous", [], |row| row.get(0))?)
        })
        .unwrap();
    assert_eq!(synchronous, 2, "FULL");
}

#[test]
fn a_damaged_file_is_kept_with_all_its_bytes_however_many_there_are() {
    let folder = Folder::new();
    for round in 0..5 {
        let garbage = format!("no database at all {round} {}", "x".repeat(4096));
        fs::write(folder.file(), &garbage).unwrap();
        for log in ["-wal", "-shm"] {
            drop(fs::remove_file(format!("{}{log}", folder.file().display())));
        }
        folder
            .outbox()
            .keep(&write(1), None, State::Waiting)
            .unwrap();
        let kept = fs::read_dir(folder.0.path()).unwrap().filter(|entry| {
            let path = entry.as_ref().unwrap().path();
            fs::read(path).is_ok_and(|bytes| bytes == garbage.as_bytes())
        });
        assert_eq!(kept.count(), 1, "round {round}");
    }
}

#[test]
fn a_draft_goes_nowhere_before_it_is_promoted() {
    let folder = Folder::new();
    let mut outbox = folder.outbox();
    let kept = outbox.keep(&write(1), None, State::Draft).unwrap();
    assert_eq!(outbox.drafts().unwrap(), std::slice::from_ref(&kept));
    assert_eq!(
        (outbox.unpublished().unwrap(), outbox.count().unwrap()),
        (vec![], 0)
    );
    assert_eq!(outbox.last_of(kept.write.note).unwrap(), None);
    outbox
        .advance(&[(kept.seq, "abc")], State::Published)
        .unwrap();
    assert_eq!(outbox.drafts().unwrap().len(), 1, "nobody promoted it");
    assert!(
        outbox
            .shift(kept.seq, State::Draft, State::Rejected)
            .unwrap()
    );
    assert!(
        !outbox
            .shift(kept.seq, State::Draft, State::Waiting)
            .unwrap()
    );
    assert!(!outbox.redraft(&kept, b"other").unwrap());
    assert_eq!(outbox.drafts().unwrap(), []);
    let given_up = outbox.draft_of(kept.write.note).unwrap().unwrap();
    assert_eq!(
        (given_up.state, &given_up.write),
        (State::Rejected, &kept.write)
    );
    assert!(
        outbox
            .shift(kept.seq, State::Rejected, State::Draft)
            .unwrap()
    );
    assert!(outbox.redraft(&kept, b"other").unwrap());
    assert!(
        outbox
            .shift(kept.seq, State::Draft, State::Waiting)
            .unwrap()
    );
    let waiting = outbox.waiting().unwrap();
    assert_eq!(waiting[0].write.bytes.as_deref(), Some(&b"other"[..]));
}

/// What the release before kept is there for this one.
#[test]
fn a_file_of_the_first_version_is_taken_over() {
    let folder = Folder::new();
    let connection = rusqlite::Connection::open(folder.file()).unwrap();
    connection.execute_batch(super::SCHEMA.steps[0]).unwrap();
    connection
        .execute_batch(
            "INSERT INTO write (digest, note, path, bytes, subject, author, address, client, peer, at, state)
             VALUES ('', '00000000-0000-0000-0000-000000000001', 'p', x'41', 's', 'a', '', '', '', 1, 0);
             PRAGMA user_version = 1;",
        )
        .unwrap();
    drop(connection);
    let kept = folder.outbox().unpublished().unwrap();
    assert_eq!(kept[0].write.bytes.as_deref(), Some(&b"A"[..]));
    assert_eq!(kept[0].write.base, None);
}

/// SQLite refuses one of two that open a new file at once, without waiting.
#[test]
fn of_two_that_open_a_new_file_at_once_none_is_refused() {
    for _ in 0..100 {
        let folder = Folder::new();
        let ready = std::sync::Barrier::new(3);
        let open = || {
            ready.wait();
            let place = Place::File(folder.file());
            let mut database = Database::new(place, super::SCHEMA);
            database.with(|_| Ok::<_, DatabaseError>(()))
        };
        std::thread::scope(|scope| {
            let all = [(); 3].map(|()| scope.spawn(open));
            for one in all {
                one.join().unwrap().unwrap();
            }
        });
    }
}
