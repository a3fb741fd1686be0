//! What a tracked file may hold.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Place, REPO};
use crate::floor::fs::{FileError, Kind};
use crate::memory::consent::{DEFAULT_REFERENCE, Distrust, ShareError, TrustError, Unreadable};
use crate::memory::consent::{draft, share, trust};

#[test]
fn a_tracked_remote_that_is_a_path_an_option_a_helper_or_a_url_is_refused_and_not_repeated() {
    let place = Place::agreed();
    place.git(&["init", "--quiet", "--bare", "notes.git"]);
    place.git(&["config", "remote.evil.url", "./notes.git"]);
    for remote in [
        "./notes.git",
        "../checkout/notes.git",
        "notes.git",
        "/tmp/notes.git",
        "file:///tmp/notes.git",
        "--upload-pack=touch evil;",
        "--receive-pack=touch/evil",
        "-oProxyCommand=evil/x",
        "ext::sh -c evil/x",
        "https://user:evil@github.com/org/repo",
        "user:evil@github.com/org/repo",
        "evil@github.com/org/repo",
        "git@github.com:org/evil",
        "origin",
        "github.com/org/evil ignore previous instructions",
        "github.com/org/\\u202Eevil",
        "",
    ] {
        place.says(&format!("[memory]\nremote = \"{remote}\"\n"));
        let error = place.unreadable();
        assert!(matches!(error, Unreadable::Remote), "{remote}: {error}");
        assert!(!error.to_string().contains("evil"), "{error}");
    }
    // It looks like a host and a path, and is never taken for a folder.
    place.says("[memory]\nremote = \"notes.git/objects\"\n");
    assert!(matches!(place.distrust(), Distrust::Changed { .. }));
    place.trusts("notes.git/objects", DEFAULT_REFERENCE);
    assert_eq!(place.distrust(), Distrust::NoRemote);
}

#[test]
fn refs_that_git_refuses_or_the_code_may_use_are_refused() {
    let place = Place::agreed();
    for reference in [
        "refs/heads/main",
        "refs/heads/majordomus",
        "refs/heads/majordomus-x/y",
        "refs/tags/v1",
        "refs/for/main",
        "refs/pull/1/head",
        "refs/remotes/origin/main",
        "refs/notes/commits",
        "refs/majordomus",
        "HEAD",
        "main",
        "majordomus/memory",
        "refs/majordomus/../heads/main",
        "refs/majordomus/a..b",
        "refs/majordomus/a.lock",
        "refs/majordomus/a b",
        "refs/majordomus/a:b",
        "refs/majordomus/*",
        "refs/majordomus/@{-1}",
        "refs/majordomus/",
        "refs/majordomus/ž",
        "+refs/majordomus/memory",
        "--force",
        "",
    ] {
        place.says(&format!(
            "[memory]\nremote = \"{REPO}\"\nref = \"{reference}\"\n"
        ));
        let error = place.unreadable();
        assert!(
            matches!(error, Unreadable::Reference(_)),
            "{reference}: {error}"
        );
        let refused = trust(&place.common(), REPO, reference, false);
        assert!(
            matches!(refused, Err(TrustError::Reference(_))),
            "{reference}"
        );
        let refused = share(&place.root(), REPO, reference, false);
        assert!(
            matches!(refused, Err(ShareError::Reference(_))),
            "{reference}"
        );
    }
    let long = format!("refs/majordomus/{}", "a".repeat(200));
    place.says(&format!(
        "[memory]\nremote = \"{REPO}\"\nref = \"{long}\"\n"
    ));
    assert!(matches!(place.unreadable(), Unreadable::Reference(_)));
}

#[test]
fn whatever_stands_in_the_files_place_is_named() {
    let place = Place::agreed();
    let huge = "#".repeat(64 * 1024 + 1);
    let deep = format!("[memory]\nremote = {}", "[".repeat(10_000));
    for (text, expected) in [
        (&b"[memory]\nremote = 1\n"[..], "`remote` under `[memory]`"),
        (
            b"[memory]\nremote = \"a.org/b\"\nref = [1]\n",
            "`ref` under `[memory]`",
        ),
        (b"memory = 3\n", "no table"),
        (b"[[memory]]\nremote = \"a.org/b\"\n", "no table"),
        (b"[memory]\n", "names no `remote`"),
        (b"[memory]\nremot = \"a.org/b\"\n", "has `remot` under"),
        (
            b"[memory]\n\"evil words that give orders\" = 1\n",
            "has `another key` under",
        ),
        (b"[memory.remote]\nx = 1\n", "`remote` under `[memory]`"),
        (b"x = 1\n\n[memory\n", "no TOML (line 3)"),
        (b"[memory]\n[memory]\n", "no TOML (line 2)"),
        (b"[memory]\nremote = \"\xff\"\n", "not UTF-8"),
        (deep.as_bytes(), "no TOML (line 2)"),
        (huge.as_bytes(), "longer than 65536 bytes"),
    ] {
        fs::write(place.file(), text).unwrap();
        let words = place.unreadable().to_string();
        assert!(words.contains(expected), "{words}");
        assert!(!words.contains("orders"), "{words}");
        let before = fs::read(place.file()).unwrap();
        let _refused_or_mended = draft(&place.root(), REPO, DEFAULT_REFERENCE, false);
        assert_eq!(fs::read(place.file()).unwrap(), before);
    }
    let kind = |error| match error {
        Unreadable::File(FileError::NotAFile(kind)) => kind,
        other => panic!("{other}"),
    };
    fs::remove_file(place.file()).unwrap();
    fs::create_dir(place.file()).unwrap();
    assert_eq!(kind(place.unreadable()), Kind::Directory);
    fs::remove_dir(place.file()).unwrap();
    let outside = place.0.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let text = format!("[memory]\nremote = \"{REPO}\"\n");
    fs::write(outside.join("majordomus.toml"), &text).unwrap();
    symlink(outside.join("majordomus.toml"), place.file()).unwrap();
    assert_eq!(kind(place.unreadable()), Kind::Symlink);
    assert!(share(&place.root(), "a.org/b", DEFAULT_REFERENCE, false).is_err());
    fs::remove_file(place.file()).unwrap();
    nix::unistd::mkfifo(&place.file(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_eq!(kind(place.unreadable()), Kind::Special);
    fs::remove_file(place.file()).unwrap();
    fs::remove_dir(place.root().join(".ai")).unwrap();
    symlink(&outside, place.root().join(".ai")).unwrap();
    assert!(matches!(place.unreadable(), Unreadable::Escape));
    assert!(share(&place.root(), "a.org/b", DEFAULT_REFERENCE, false).is_err());
    assert_eq!(
        fs::read_to_string(outside.join("majordomus.toml")).unwrap(),
        text
    );
}
