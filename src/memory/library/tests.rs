//! The repository against what `git` itself says of it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use gix_hash::{Kind, ObjectId};
use tempfile::TempDir;
use uuid::Uuid;

use super::{Change, Difference, Library, LibraryError, Message, NOTE_BYTES};
use crate::floor::git;
use crate::memory::note::Kind as NoteKind;
use crate::memory::place;

const WRITERS: u128 = 8;
const EACH: u128 = 10;
const REF: &str = "refs/majordomus/memory";
const KINDS: [Kind; 2] = [Kind::Sha1, Kind::Sha256];

/// A folder with a repository to come.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("memory.git")
    }

    fn open(&self, kind: Kind) -> Library {
        Library::open(&self.folder(), kind).unwrap()
    }

    /// What `git` says in the repository.
    #[track_caller]
    fn git(&self, arguments: &[&str]) -> String {
        self.fed(arguments, b"")
    }

    /// The same with something on its standard input.
    #[track_caller]
    fn fed(&self, arguments: &[&str], input: &[u8]) -> String {
        let mut git = git::command(&self.folder())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        git.stdin.take().unwrap().write_all(input).unwrap();
        let output = git.wait_with_output().unwrap();
        assert!(output.status.success(), "git {arguments:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

fn note(number: u128) -> String {
    place::path(NoteKind::Memory, Uuid::from_u128(number), "a note")
}

fn message(subject: &str) -> Message<'_> {
    Message {
        subject,
        author: ("A Writer", "writer@example.org"),
        at: 1_700_000_000_123,
        trailers: &[("Client", "an agent"), ("Key", "k-1")],
    }
}

#[track_caller]
fn write(library: &Library, path: &str, text: &str) -> ObjectId {
    let change = Change::new(path, Some(text.as_bytes()));
    let done = library.commit(REF, &[change], &message("remember"));
    done.unwrap().tip
}

#[test]
fn git_reads_what_is_written_and_the_reverse() {
    for kind in KINDS {
        let place = Place::new();
        let library = place.open(kind);
        assert_eq!(library.tip(REF).unwrap(), None);
        let first = write(&library, &note(1), "one");
        let second = write(&library, &note(2), "two");
        assert_eq!(place.git(&["rev-parse", REF]), second.to_string());
        assert_eq!(
            place.git(&["rev-parse", &format!("{REF}^")]),
            first.to_string()
        );
        assert_eq!(
            place.git(&["cat-file", "-p", &format!("{REF}:{}", note(2))]),
            "two"
        );
        let said = place.git(&[
            "log",
            "-1",
            "--format=%an|%ae|%at|%s|%(trailers:key=Key)",
            REF,
        ]);
        assert_eq!(
            said,
            "A Writer|writer@example.org|1700000000|remember|Key: k-1"
        );
        assert_eq!(place.git(&["fsck", "--full", "--strict"]), "");
        // Packed and gone from the loose objects, as a repack and a fetch leave it.
        place.git(&["repack", "-adq"]);
        place.git(&["pack-refs", "--all"]);
        for library in [&library, &place.open(kind)] {
            assert_eq!(library.tip(REF).unwrap(), Some(second));
            assert_eq!(library.read(second, &note(1)).unwrap().unwrap(), b"one");
        }
        let third = write(&library, &note(3), "three");
        assert_eq!(library.read(third, &note(2)).unwrap().unwrap(), b"two");
        assert_eq!(place.git(&["fsck", "--full", "--strict"]), "");
        assert_eq!(place.git(&["rev-list", "--count", REF]), "3");
    }
}

#[test]
fn the_same_bytes_again_are_no_commit_and_a_removed_note_is_gone() {
    let place = Place::new();
    let library = place.open(Kind::Sha1);
    let tip = write(&library, &note(1), "one");
    let path = note(1);
    let again = Change::new(&path, Some(b"one"));
    let done = library.commit(REF, &[again], &message("again")).unwrap();
    assert_eq!((done.tip, done.new), (tip, false));
    let removal = Change::new(&path, None);
    let done = library
        .commit(REF, std::slice::from_ref(&removal), &message("forget"))
        .unwrap();
    assert!(done.new);
    assert_eq!(library.read(done.tip, &path).unwrap(), None);
    assert_eq!(library.read(tip, &path).unwrap().unwrap(), b"one");
    let first = library.commit("refs/other", &[removal], &message("nothing"));
    assert!(first.unwrap().new, "a ref that is not there is made");
}

/// No commit of one is lost to another: each stands on the one before.
#[test]
fn many_writers_at_once_lose_nothing() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let place = &place;
            scope.spawn(move || {
                let library = place.open(Kind::Sha1);
                for number in 0..EACH {
                    write(&library, &note(writer * EACH + number), "text");
                }
            });
        }
    });
    let library = place.open(Kind::Sha1);
    let tip = library.tip(REF).unwrap().unwrap();
    let found = library.differences(None, tip).unwrap();
    assert_eq!((found.notes.len(), found.others), (80, 0));
    assert_eq!(place.git(&["rev-list", "--count", REF]), "80");
    let left = fs::read_dir(place.0.path()).unwrap().count();
    assert_eq!(left, 1, "nothing is left aside");
}

#[test]
fn what_changed_between_two_commits_is_told_by_path() {
    let place = Place::new();
    let library = place.open(Kind::Sha1);
    let mut tips = vec![write(&library, &note(1), "one")];
    for number in 2..20 {
        tips.push(write(&library, &note(number), "text"));
    }
    write(&library, &note(1), "changed");
    let path = note(7);
    let removal = Change::new(&path, None);
    let last = library
        .commit(REF, &[removal], &message("forget"))
        .unwrap()
        .tip;
    let since = library.differences(Some(tips[17]), last).unwrap();
    let mut paths: Vec<_> = since.notes.iter().map(|note| note.path.clone()).collect();
    paths.sort();
    let mut expected = [note(1), note(7), note(19)];
    expected.sort();
    assert_eq!(paths, expected);
    for Difference { path, blob } in since.notes {
        let read = blob.map(|blob| library.blob(blob).unwrap().unwrap());
        assert_eq!(read, library.read(last, &path).unwrap());
        assert_eq!(read.is_none(), path == note(7));
    }
    assert_eq!(library.differences(Some(last), last).unwrap().notes, []);
}

/// A pulled tree is hostile: what is no plain, small file at a note's path is counted, and never read.
#[test]
fn nothing_but_notes_is_read_from_a_hostile_tree() {
    let place = Place::new();
    let library = place.open(Kind::Sha1);
    let good = write(&library, &note(1), "good");
    let blob = place.fed(&["hash-object", "-w", "--stdin"], b"bad");
    let huge = place.fed(
        &["hash-object", "-w", "--stdin"],
        &vec![b'x'; NOTE_BYTES + 1],
    );
    let (folder, file) = {
        let path = note(1);
        let (folder, file) = path.rsplit_once('/').unwrap();
        (
            folder.rsplit_once('/').unwrap().1.to_owned(),
            file.to_owned(),
        )
    };
    let other = |number: u128| note(number).rsplit_once('/').unwrap().1.to_owned();
    // Notes of one shard: ids whose hash begins as that of the first one.
    let mut mates = (2..)
        .filter(|number| note(*number).contains(&format!("/{folder}/")))
        .map(other);
    let mut mate = || mates.next().unwrap();
    let listing = [
        format!("100644 blob {blob}\t{file}"),
        format!("100755 blob {blob}\t{}", mate()),
        format!("120000 blob {blob}\t{}", mate()),
        format!("160000 commit {good}\t{}", mate()),
        format!("100644 blob {huge}\t{}", mate()),
        format!("100644 blob {blob}\tREADME.md"),
    ];
    let shard = place.fed(&["mktree"], listing.join("\n").as_bytes());
    let kind = place.fed(
        &["mktree"],
        format!("040000 tree {shard}\t{folder}\n100644 blob {blob}\tflat.md").as_bytes(),
    );
    let deep = place.fed(&["mktree"], format!("040000 tree {kind}\tagain").as_bytes());
    let top = place.fed(
        &["mktree"],
        format!("040000 tree {kind}\tmemory\n040000 tree {deep}\tdeep\n100644 blob {blob}\t.gitattributes").as_bytes(),
    );
    let commit = place.git(&[
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@x",
        "commit-tree",
        "-m",
        "x",
        &top,
    ]);
    let commit: ObjectId = commit.parse().unwrap();
    let found = library.differences(None, commit).unwrap();
    let readable: Vec<_> = found
        .notes
        .iter()
        .filter(|note| {
            note.blob
                .is_some_and(|blob| library.blob(blob).unwrap().is_some())
        })
        .map(|note| note.path.clone())
        .collect();
    assert_eq!(readable, [note(1)]);
    assert!(found.others >= 6, "{found:?}");
    for path in [
        "memory/../memory",
        ".gitattributes",
        "memory/flat.md",
        "",
        "/",
        "//",
    ] {
        assert_eq!(library.read(commit, path).unwrap(), None, "{path}");
        let change = Change::new(path, Some(b"x"));
        let refused = library.commit(REF, &[change], &message("no"));
        assert!(matches!(refused, Err(LibraryError::Path(_))), "{path}");
    }
    assert_eq!(library.tip(REF).unwrap(), Some(good));
}

#[test]
fn a_note_that_is_too_long_is_refused_and_one_at_the_edge_is_not() {
    let place = Place::new();
    let library = place.open(Kind::Sha1);
    let path = note(1);
    let of = |length: usize| {
        let bytes = vec![b'x'; length];
        let change = Change::new(&path, Some(&bytes));
        library.commit(REF, &[change], &message("long"))
    };
    assert!(matches!(of(NOTE_BYTES + 1), Err(LibraryError::TooLong(_))));
    assert_eq!(library.tip(REF).unwrap(), None);
    assert!(of(NOTE_BYTES).unwrap().new);
}

#[test]
fn a_message_cannot_forge_a_trailer_or_an_author() {
    let place = Place::new();
    let library = place.open(Kind::Sha1);
    let path = note(1);
    let change = Change::new(&path, Some(b"x"));
    let hostile = Message {
        subject: "a\n\nKey: forged\r\u{1b}[2J",
        author: ("A <b@c> 1 +0000\nparent x", "x>\n"),
        at: u64::MAX,
        trailers: &[("Key", "k\nClient: forged")],
    };
    library.commit(REF, &[change], &hostile).unwrap();
    assert_eq!(place.git(&["fsck", "--full", "--strict"]), "");
    let trailers = place.git(&["log", "-1", "--format=%(trailers:only,unfold)", REF]);
    assert_eq!(trailers, "Key: k Client: forged");
}

/// A damaged or foreign thing in its place is named, and left as it is.
#[test]
fn what_is_no_repository_of_ours_is_named() {
    let place = Place::new();
    fs::write(place.folder(), "in the way").unwrap();
    assert!(matches!(
        Library::open(&place.folder(), Kind::Sha1),
        Err(LibraryError::Open(_))
    ));
    assert_eq!(fs::read_to_string(place.folder()).unwrap(), "in the way");

    let place = Place::new();
    let library = place.open(Kind::Sha1);
    let tip = write(&library, &note(1), "one");
    let damaged = object(&place.folder(), tip);
    let mut permissions = fs::metadata(&damaged).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o644);
    fs::set_permissions(&damaged, permissions).unwrap();
    fs::write(&damaged, "garbage").unwrap();
    let library = place.open(Kind::Sha1);
    assert!(matches!(
        library.read(tip, &note(1)),
        Err(LibraryError::Read(_))
    ));
    let change = Change::new(&note(2), Some(b"x"));
    assert!(library.commit(REF, &[change], &message("no")).is_err());
    assert_eq!(library.tip(REF).unwrap(), Some(tip));
}

/// A writer that is suspended with the ref's lock in its hands keeps the next ones waiting, and they say for what; of one
/// that was killed only the lock is left, and goes.
#[test]
fn a_lock_is_named_as_long_as_somebody_has_the_turn_and_goes_when_nobody_has() {
    let place = Place::new();
    let library = place.open(Kind::Sha1);
    let tip = write(&library, &note(1), "one");
    let lock = place.folder().join(format!("{REF}.lock"));
    fs::write(&lock, "").unwrap();
    let turn = fs::File::open(place.folder().join("HEAD")).unwrap();
    turn.lock().unwrap();
    let path = note(2);
    let change = Change::new(&path, Some(b"two"));
    let refused = library.commit(REF, &[change], &message("no")).unwrap_err();
    assert!(
        matches!(refused, LibraryError::Reference { .. }),
        "{refused:?}"
    );
    assert_eq!(library.tip(REF).unwrap(), Some(tip));
    drop(turn);
    write(&library, &note(2), "two");
    assert!(!lock.exists());
}

fn object(folder: &Path, id: ObjectId) -> PathBuf {
    let text = id.to_string();
    folder.join("objects").join(&text[..2]).join(&text[2..])
}
