//! The remote as real repositories: on disk, and over HTTP on loopback.

mod apart;
mod death;
mod http;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use gix_hash::{Kind, ObjectId};
use tempfile::TempDir;
use uuid::Uuid;

use http::{Manner, Server};

use super::{Deadline, Reach, Remote, RemoteError, TRACKING};
use crate::floor::git;
use crate::memory::library::{Change, Library, Message};
use crate::memory::note::Kind as NoteKind;
use crate::memory::place;

const REF: &str = "refs/majordomus/memory";
const LONG: Duration = Duration::from_mins(1);

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
    fn point_to(&mut self, url: &str) {
        self.remote =
            Remote::new(&self.remote.folder, &self.remote.checkout, url, REF, true).unwrap();
    }

    #[track_caller]
    fn write(&self, number: u128) -> ObjectId {
        let path = place::path(NoteKind::Memory, Uuid::from_u128(number), "a note");
        let text = format!("{number}\n");
        let change = Change::new(&path, Some(text.as_bytes()));
        let message = Message {
            subject: "remember",
            author: ("A Writer", "writer@example.org"),
            at: 1_700_000_000_123,
            trailers: &[],
        };
        self.library.commit(REF, &[change], &message).unwrap().tip
    }

    fn fetch(&self) -> Result<Option<ObjectId>, RemoteError> {
        self.remote.fetch(Reach::New, &Deadline::after(LONG))
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

#[test]
fn it_is_the_same_over_http() {
    let place = Place::new();
    let (mut one, mut other) = (place.clone("one"), place.clone("other"));
    let server = Server::new(place.0.path(), Manner::Serve);
    one.point_to(&server.url("team.git"));
    other.point_to(&server.url("team.git"));
    assert_eq!(one.fetch(), Ok(None));
    let tip = one.write(1);
    assert_eq!(one.push(tip, None), Ok(()));
    assert_eq!(place.remote_tip(), tip.to_string());
    let late = other.write(2);
    assert_eq!(other.push(late, None), Err(RemoteError::Stale));
    assert_eq!(other.fetch(), Ok(Some(tip)));
    let next = one.write(3);
    assert_eq!(one.push(next, Some(tip)), Ok(()));
    assert_eq!(other.fetch(), Ok(Some(next)));
}

#[test]
fn the_checkouts_credentials_and_headers_go_along_and_no_process_shows_them() {
    let place = Place::new();
    let mut one = place.clone("one");
    let server = Server::new(place.0.path(), Manner::Ask);
    one.point_to(&server.url("team.git"));
    assert_eq!(one.fetch(), Err(RemoteError::NoCredentials));
    let helper = "!f() { test \"$1\" = get && echo username=u && echo password=hidden-1; }; f";
    place.git(&["-C", "checkout", "config", "credential.helper", helper]);
    place.git(&[
        "-C",
        "checkout",
        "config",
        "http.extraHeader",
        "X-Team: hidden-2",
    ]);
    assert_eq!(one.fetch(), Ok(None));
    let heads = server.heads();
    let last = heads.last().unwrap();
    assert_eq!(last.matches("X-Team: hidden-2").count(), 1, "{last}");
    assert!(last.contains("Authorization: Basic "), "{last}");
    let config = fs::read_to_string(one.remote.folder.join("config")).unwrap();
    assert!(
        !config.contains("hidden") && !config.contains("team"),
        "{config}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn no_argument_of_a_process_has_a_secret() {
    let place = Place::new();
    let mut one = place.clone("one");
    let server = Server::new(place.0.path(), Manner::Hang);
    one.point_to(&server.url("team.git"));
    let header = format!("X-Team: {}", Uuid::from_u128(7));
    place.git(&["-C", "checkout", "config", "http.extraHeader", &header]);
    let until = Deadline::after(LONG);
    let shown = std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            while server.heads().is_empty() {
                std::thread::yield_now();
            }
            let processes = fs::read_dir("/proc").unwrap().flatten();
            let lines: Vec<_> = processes
                .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
                .map(|line| String::from_utf8_lossy(&line).into_owned())
                .collect();
            until.call_off();
            lines
        });
        assert_eq!(
            one.remote.fetch(Reach::New, &until),
            Err(RemoteError::TimedOut)
        );
        looking.join().unwrap()
    });
    assert!(server.heads()[0].contains(&header));
    assert!(
        shown
            .iter()
            .any(|line| line.contains(&server.url("team.git"))),
        "it runs"
    );
    assert!(!shown.iter().any(|line| line.contains(&header)));
}

#[test]
fn each_way_to_fail_has_its_own_word() {
    let place = Place::new();
    let mut one = place.clone("one");
    let tip = one.write(1);
    for (manner, expected) in [
        (Manner::Refuse("403 Forbidden"), RemoteError::NoAccess),
        (Manner::Refuse("404 Not Found"), RemoteError::NoAccess),
        (
            Manner::Refuse("401 Unauthorized"),
            RemoteError::NoCredentials,
        ),
        (Manner::Refuse("502 Bad Gateway"), RemoteError::Offline),
        (Manner::Half, RemoteError::Offline),
    ] {
        let server = Server::new(place.0.path(), manner);
        one.point_to(&server.url("team.git"));
        assert_eq!(one.fetch(), Err(expected.clone()), "{manner:?}");
        assert_eq!(one.push(tip, None), Err(expected), "{manner:?}");
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = port.local_addr().unwrap();
    drop(port);
    one.point_to(&format!("http://{closed}/team.git"));
    assert_eq!(one.fetch(), Err(RemoteError::Offline));
    one.point_to("ssh://git@127.0.0.1:1/team.git");
    assert_eq!(one.fetch(), Err(RemoteError::Offline));
    one.point_to(&format!("file://{}", place.at("gone.git").display()));
    assert_eq!(one.fetch(), Err(RemoteError::NoAccess));
    assert_eq!(one.push(tip, None), Err(RemoteError::NoAccess));
    place.git(&[
        "init",
        "--quiet",
        "--bare",
        "--object-format=sha256",
        "--",
        "other.git",
    ]);
    one.point_to(&format!("file://{}", place.at("other.git").display()));
    assert_eq!(one.push(tip, None), Err(RemoteError::Format));
}

#[test]
fn an_address_that_runs_something_or_is_a_path_is_none() {
    let place = Place::new();
    let (folder, checkout) = (place.at("memory.git"), place.at("checkout"));
    let new = |url: &str, local| Remote::new(&folder, &checkout, url, REF, local).map(|_| ());
    let hostile = [
        "--upload-pack=touch /tmp/x;",
        "--upload-pack=x",
        "-oProxyCommand=x:y",
        "ext::sh -c x",
        "ext::x",
        "fd::3",
        "host::path",
        "https://",
        "https://-host/x",
        "ssh://-oProxyCommand=x/y",
        "ssh://user@-oProxyCommand=x/y",
        "git@-oProxyCommand=x:y",
        "git://host/x",
        "http://host.example/x",
        "http://127.0.0.1.example/x",
        // Git goes to the first host of these, whoever stands behind it.
        "http://host.example?@127.0.0.1/x",
        "http://host.example#@127.0.0.1/x",
        "http://host.example\\@127.0.0.1/x",
        "file://host/x",
        "ftp://host/x",
        "team.git",
        "./team.git",
        "../a:b",
        "",
        "https://host/a\nb",
        "https://host/a b",
    ];
    for url in hostile {
        for local in [false, true] {
            assert!(matches!(new(url, local), Err(RemoteError::Url(_))), "{url}");
        }
    }
    for url in [
        "/a/team.git",
        "file:///a/team.git",
        "http://localhost:80/x",
        "http://[::1]/x",
    ] {
        assert!(matches!(new(url, false), Err(RemoteError::Url(_))), "{url}");
        assert_eq!(new(url, true), Ok(()), "{url}");
    }
    for url in [
        "https://host.example/team.git",
        "https://user:word@host.example:8443/team.git",
        "ssh://git@host.example:22/team.git",
        "git@host.example:team/notes.git",
        "host:notes",
        "[::1]:notes",
    ] {
        assert_eq!(new(url, false), Ok(()), "{url}");
    }
    let Err(RemoteError::Url(shown)) = new("http://user:hidden@host.example/x", false) else {
        panic!("it was to be refused");
    };
    assert_eq!(shown, "http://host.example/x");
    for name in [
        "main",
        "refs/heads/a..b",
        "refs/heads/*",
        "-x",
        "refs/a:refs/b",
        "refs/x.lock",
    ] {
        let refused = Remote::new(&folder, &checkout, "host:notes", name, false).map(|_| ());
        assert_eq!(refused, Err(RemoteError::Name(name.to_owned())));
    }
}

#[test]
fn a_rewritten_address_runs_nothing_either() {
    let place = Place::new();
    let ran = place.at("ran");
    let hook = format!("#!/bin/sh\ntouch {}\n", ran.display());
    let path = place.at("team.git/hooks/pre-receive");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, hook).unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let one = place.clone("one");
    let tip = one.write(1);
    let until = Deadline::after(LONG);
    let program = format!("ext::sh -c touch% {}", ran.display());
    for target in [
        place.url(),
        place.at("team.git").display().to_string(),
        program,
    ] {
        let key = format!("url.{target}.insteadOf");
        place.git(&["-C", "checkout", "config", &key, "https://host.invalid/"]);
        let remote = Remote::new(
            &one.remote.folder,
            &one.remote.checkout,
            "https://host.invalid/",
            REF,
            false,
        );
        let refused = remote.unwrap().push(tip, None, &until);
        assert!(
            matches!(refused, Err(RemoteError::Url(_))),
            "{target}: {refused:?}"
        );
        place.git(&["-C", "checkout", "config", "--unset-all", &key]);
        assert!(!ran.exists(), "{target}");
    }
    assert_eq!(one.push(tip, None), Ok(()));
    assert!(ran.exists(), "where it is allowed, the hook runs");
}

/// Whose hands a password is in is nobody's who reads a log.
#[test]
fn what_is_printed_of_a_remote_holds_no_password() {
    let place = Place::new();
    let url = "https://ann:word-of-hers@host.example/team.git";
    let remote = Remote::new(
        &place.at("memory.git"),
        &place.at("checkout"),
        url,
        REF,
        false,
    );
    let shown = format!("{:?}", remote.unwrap());
    assert!(
        !shown.contains("word-of-hers") && shown.contains(REF),
        "{shown}"
    );
}

/// Guards M1: the remote has it, so that is the answer, also where it cannot be noted here.
#[test]
fn a_push_that_arrived_is_no_failure_where_it_cannot_be_noted() {
    let place = Place::new();
    let one = place.clone("one");
    let tip = one.write(1);
    // A ref of that name cannot be: one below it is there.
    let below = format!("{TRACKING}/below");
    assert!(one.library.advance(&below, None, tip).unwrap());
    assert_eq!(one.push(tip, None), Ok(()));
    assert_eq!(place.remote_tip(), tip.to_string());
}

#[test]
fn a_setting_of_our_repository_that_is_not_ours_stops_everything() {
    let place = Place::new();
    let one = place.clone("one");
    let folder = one.remote.folder.display().to_string();
    for (key, line) in [
        ("remote.team.receivepack", "[remote \"team\"]"),
        ("core.sshCommand", "sshCommand = x"),
        ("include.path", "[include]"),
    ] {
        place.git(&["--git-dir", &folder, "config", key, "x"]);
        assert_eq!(one.fetch(), Err(RemoteError::Settings(line.to_owned())));
        place.git(&["--git-dir", &folder, "config", "--unset", key]);
        let section = key.rsplit_once('.').unwrap().0;
        if section != "core" {
            let _gone = fs::write(
                one.remote.folder.join("config"),
                fs::read_to_string(one.remote.folder.join("config"))
                    .unwrap()
                    .replace(&format!("{line}\n"), ""),
            );
        }
    }
    assert_eq!(one.fetch(), Ok(None));
    // Another repository's configuration, in which such a setting stands.
    place.git(&[
        "--git-dir",
        "team.git",
        "config",
        "remote.team.uploadpack",
        "x",
    ]);
    let lead = one.remote.folder.join("commondir");
    fs::write(&lead, place.at("team.git").display().to_string()).unwrap();
    assert_eq!(
        one.fetch(),
        Err(RemoteError::Settings("commondir".to_owned()))
    );
    fs::remove_file(&lead).unwrap();
    assert_eq!(one.fetch(), Ok(None));
}

#[test]
fn a_disk_that_is_full_or_may_not_be_written_is_named() {
    let place = Place::new();
    let (one, other) = (place.clone("one"), place.clone("other"));
    let tip = one.write(1);
    one.push(tip, None).unwrap();
    let folder = other.remote.folder.to_str().unwrap();
    let small = place.at("small");
    fs::create_dir(&small).unwrap();
    let small = small.to_str().unwrap();
    let full = r#"mount -t tmpfs -o size=64k none "$0" && cp -R "$1" "$0/memory.git" && : >"$0/sync.lock" && shift && { dd if=/dev/zero of="$0/filler" bs=4k count=64 2>/dev/null; exec "$@"; }"#;
    let read_only = r#"mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@""#;
    let parent = place.at("other");
    let in_small = place.at("small/memory.git");
    let wrappers = [
        (
            ["unshare", "-rm", "sh", "-c", full, small, folder].to_vec(),
            in_small,
        ),
        (
            [
                "unshare",
                "-rm",
                "sh",
                "-c",
                read_only,
                parent.to_str().unwrap(),
            ]
            .to_vec(),
            other.remote.folder.clone(),
        ),
    ];
    for (wrapper, folder) in wrappers {
        let child = apart::fetch(&place, &wrapper, &folder, &place.url())
            .spawn()
            .unwrap();
        let came = apart::result(child);
        assert!(came.starts_with("disk "), "{came}");
    }
}

#[test]
fn every_error_says_what_its_row_says_and_what_helps() {
    crate::floor::gaps::holds_for(RemoteError::table());
    let error = RemoteError::Rejected("no".to_owned());
    assert_eq!(error.to_string(), "the remote refused what was sent: no");
    assert_eq!((error.word(), error.is_passing()), ("rejected", false));
}
