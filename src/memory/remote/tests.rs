//! The remote as real repositories: on disk, and over HTTP on loopback.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use gix_hash::{Kind, ObjectId};
use tempfile::TempDir;
use uuid::Uuid;

use super::{Deadline, Remote, RemoteError, TRACKING};
use crate::floor::git;
use crate::memory::library::{Change, Library, Message};
use crate::memory::note::Kind as NoteKind;
use crate::memory::place;

const REF: &str = "refs/majordomus/memory";
const LONG: Duration = Duration::from_secs(60);

/// A folder with a checkout, the notes of one or more clones, and a bare remote.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(TempDir::new().unwrap());
        place.git(&["init", "--quiet", "--", "checkout"]);
        place.git(&["init", "--quiet", "--bare", "--", "team.git"]);
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    #[track_caller]
    fn git(&self, arguments: &[&str]) -> String {
        let output = git::command(self.0.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .args(arguments)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn url(&self) -> String {
        format!("file://{}", self.at("team.git").display())
    }

    /// Where the remote's ref stands, as the remote says.
    fn remote_tip(&self) -> String {
        self.git(&[
            "--git-dir=team.git",
            "for-each-ref",
            "--format=%(objectname)",
            REF,
        ])
    }

    fn clone(&self, name: &str) -> Clone {
        let folder = self.at(name).join("memory.git");
        fs::create_dir_all(self.at(name)).unwrap();
        let library = Library::open(&folder, Kind::Sha1).unwrap();
        let checkout = self.at("checkout");
        let remote = Remote::new(&folder, &checkout, &self.url(), REF, true).unwrap();
        Clone { library, remote }
    }
}

/// One user's notes and the way to the team's.
struct Clone {
    library: Library,
    remote: Remote,
}

impl Clone {
    #[track_caller]
    fn write(&self, number: u128) -> ObjectId {
        let path = place::path(NoteKind::Memory, Uuid::from_u128(number), "a note");
        let text = format!("{number}\n");
        let change = Change {
            path: &path,
            bytes: Some(text.as_bytes()),
        };
        let message = Message {
            subject: "remember",
            author: ("A Writer", "writer@example.org"),
            at: 1_700_000_000_123,
            trailers: &[],
        };
        self.library.commit(REF, &[change], &message).unwrap().tip
    }

    fn fetch(&self) -> Result<Option<ObjectId>, RemoteError> {
        self.remote.fetch(&Deadline::after(LONG))
    }

    fn push(&self, tip: ObjectId, expected: Option<ObjectId>) -> Result<(), RemoteError> {
        self.remote.push(tip, expected, &Deadline::after(LONG))
    }
}

#[test]
fn what_one_pushes_another_fetches_and_who_is_late_is_told() {
    let place = Place::new();
    let (one, other) = (place.clone("one"), place.clone("other"));
    assert_eq!(one.fetch(), Ok(None));
    let first = one.write(1);
    assert_eq!(one.push(first, None), Ok(()));
    assert_eq!(place.remote_tip(), first.to_string());
    assert_eq!(one.library.tip(TRACKING).unwrap(), Some(first));
    // The other one still believes that there is nothing.
    let late = other.write(2);
    assert_eq!(other.push(late, None), Err(RemoteError::Stale));
    assert_eq!(place.remote_tip(), first.to_string());
    assert_eq!(other.library.tip(TRACKING).unwrap(), None);
    assert_eq!(other.fetch(), Ok(Some(first)));
    assert_eq!(other.library.tip(TRACKING).unwrap(), Some(first));
    let second = one.write(3);
    assert_eq!(one.push(second, Some(first)), Ok(()));
    assert_eq!(one.push(second, Some(second)), Ok(()), "the same again");
    assert_eq!(other.fetch(), Ok(Some(second)));
}
