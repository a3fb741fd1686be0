//! What hostile files, pull requests and configurations make of consent, with a real git.

mod configuration;
mod hostile;
mod sharing;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use super::{Consent, DEFAULT_REFERENCE, Distrust, TrustError, Unreadable, decide, share, trust};
use crate::floor::git;

const REPO: &str = "github.com/org/repo";
const URL: &str = "https://github.com/org/repo.git";

/// A checkout with a user and a HOME of its own.
struct Place(TempDir);

impl Place {
    /// With this remote, called `origin`.
    fn of(url: &str) -> Self {
        let place = Self(TempDir::new().unwrap());
        fs::create_dir_all(place.root().join(".ai")).unwrap();
        fs::create_dir_all(place.0.path().join("home")).unwrap();
        place.git(&["init", "--quiet"]);
        place.git(&["config", "remote.origin.url", url]);
        place
    }

    /// With a remote, a section that names it, and the user's agreement.
    fn agreed() -> Self {
        let place = Self::of(URL);
        place.says("[memory]\nremote = \"github.com/org/repo\"\n");
        place.trusts(REPO, DEFAULT_REFERENCE);
        place
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("checkout")
    }

    fn common(&self) -> PathBuf {
        self.root().join(".git")
    }

    fn trust_file(&self) -> PathBuf {
        self.common().join("majordomus/trust")
    }

    fn file(&self) -> PathBuf {
        self.root().join(".ai/majordomus.toml")
    }

    fn says(&self, text: &str) {
        fs::write(self.file(), text).unwrap();
    }

    fn trusts(&self, remote: &str, reference: &str) {
        trust(&self.common(), remote, reference, false).unwrap();
    }

    fn command(&self) -> Command {
        let mut git = git::command(&self.root());
        git.env("HOME", self.0.path().join("home"))
            .env("XDG_CONFIG_HOME", self.0.path().join("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        git
    }

    #[track_caller]
    fn git(&self, arguments: &[&str]) {
        let _said = self.asked(arguments);
    }

    /// What git says.
    #[track_caller]
    fn asked(&self, arguments: &[&str]) -> String {
        fs::create_dir_all(self.root()).unwrap();
        let output = self.command().args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn consent(&self) -> Consent {
        decide(self.command(), &self.root(), &self.common())
    }

    /// Where notes go; fails where they go nowhere.
    #[track_caller]
    fn given(&self) -> [String; 5] {
        match self.consent() {
            Consent::Given {
                url,
                push_url,
                remote,
                reference,
                protocols,
            } => [url, push_url, remote, reference, protocols],
            other => panic!("{other:?}"),
        }
    }

    /// Why they go nowhere although a place is named; the words and what helps are checked along the way.
    #[track_caller]
    fn distrust(&self) -> Distrust {
        let consent = self.consent();
        assert_eq!(consent.hint(), Some("majordomus notes trust"));
        let words = consent.to_string();
        match consent {
            Consent::Untrusted { why, wanted } => {
                assert!(
                    words.contains(&wanted) && words.contains(&why.to_string()),
                    "{words}"
                );
                why
            }
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn unreadable(&self) -> Unreadable {
        match self.consent() {
            Consent::Unreadable(error) => error,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn notes_go_where_the_checkout_the_users_git_and_the_user_agree() {
    for url in [
        URL,
        "git@github.com:org/repo.git",
        "ssh://git@GitHub.com/org/repo",
        "https://github.com/Org/Repo",
    ] {
        let place = Place::of(url);
        assert!(matches!(place.consent(), Consent::Unconfigured));
        place.says("[other]\nx = 1\n");
        assert!(matches!(place.consent(), Consent::Unconfigured));
        share(&place.root(), REPO, DEFAULT_REFERENCE, false).unwrap();
        assert_eq!(place.distrust(), Distrust::NotAccepted);
        place.trusts(REPO, DEFAULT_REFERENCE);
        let protocol = if url.starts_with("https") {
            "https"
        } else {
            "ssh"
        };
        assert_eq!(
            place.given(),
            [url, url, "origin", DEFAULT_REFERENCE, protocol]
        );
    }
}

#[test]
fn a_worktree_shares_what_was_accepted() {
    let place = Place::agreed();
    place.git(&["add", "."]);
    place.git(&[
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@b",
        "commit",
        "-qm",
        "one",
    ]);
    place.git(&["worktree", "add", "-q", "../side"]);
    let side = place.0.path().join("side");
    let mut git = place.command();
    git.current_dir(&side);
    let consent = decide(git, &side, &place.common());
    assert!(matches!(consent, Consent::Given { .. }), "{consent:?}");
}

#[test]
fn a_pull_request_that_changes_the_place_stops_everything_until_it_is_accepted() {
    let place = Place::agreed();
    place.git(&["config", "remote.fork.url", "https://github.com/evil/repo"]);
    for (text, remote, reference) in [
        (
            "remote = \"github.com/evil/repo\"",
            "github.com/evil/repo",
            DEFAULT_REFERENCE,
        ),
        (
            "remote = \"github.com/nobody/repo\"",
            "github.com/nobody/repo",
            DEFAULT_REFERENCE,
        ),
        (
            "remote = \"github.com/org/repo\"\nref = \"refs/heads/majordomus/memory\"",
            REPO,
            "refs/heads/majordomus/memory",
        ),
    ] {
        place.says(&format!("[memory]\n{text}\n"));
        let accepted = format!("`{REPO}` at `{DEFAULT_REFERENCE}`");
        assert_eq!(place.distrust(), Distrust::Changed { accepted });
        let words = place.consent().to_string();
        assert!(
            words.contains(&format!("`{remote}` at `{reference}`")),
            "{words}"
        );
    }
    place.trusts(REPO, "refs/heads/majordomus/memory");
    assert_eq!(place.given()[3], "refs/heads/majordomus/memory");
    place.says(
        "[memory]\nremote = \"GitHub.com/Org/Repo.git\"\nref = \"refs/heads/majordomus/memory\"\n",
    );
    place.given();
}

#[test]
fn a_place_that_the_users_git_does_not_know_is_not_used_although_it_was_accepted() {
    let place = Place::agreed();
    place.git(&["remote", "remove", "origin"]);
    assert_eq!(place.distrust(), Distrust::NoRemote);
    for url in [
        "https://github.com/org/repo2",
        "https://github.com.example.org/org/repo",
        "http://github.com/org/repo",
        "git://github.com/org/repo",
        "ext::sh -c evil",
        "/srv/github.com/org/repo",
        "./github.com/org/repo",
        "-oProxyCommand=evil@github.com:org/repo",
    ] {
        place.git(&["config", "remote.origin.url", url]);
        assert_eq!(place.distrust(), Distrust::NoRemote, "{url}");
    }
}

#[test]
fn what_is_accepted_is_private_whole_and_one_pair() {
    let place = Place::agreed();
    let file = place.trust_file();
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let folder = file.parent().unwrap();
    assert_eq!(
        fs::metadata(folder).unwrap().permissions().mode() & 0o777,
        0o700
    );
    // What leads elsewhere is replaced, and what it leads to is left alone.
    let elsewhere = place.0.path().join("elsewhere");
    fs::rename(&file, &elsewhere).unwrap();
    symlink(&elsewhere, &file).unwrap();
    assert_eq!(place.distrust(), Distrust::Damaged);
    let before = fs::read(&elsewhere).unwrap();
    place.trusts("a.org/b", DEFAULT_REFERENCE);
    assert_eq!(fs::read(&elsewhere).unwrap(), before);
    place.trusts(REPO, DEFAULT_REFERENCE);
    place.given();
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
    for text in [
        "",
        "{",
        "[]",
        "{\"remote\":\"github.com/org/repo\"}",
        "{\"remote\":\"GitHub.com/org/repo\",\"ref\":\"refs/majordomus/memory\"}",
        "{\"remote\":\"github.com/org/repo\",\"ref\":\"refs/heads/main\"}",
    ] {
        fs::write(&file, text).unwrap();
        assert_eq!(place.distrust(), Distrust::Damaged, "{text}");
    }
    let refused = trust(&place.common(), URL, DEFAULT_REFERENCE, false);
    assert!(matches!(refused, Err(TrustError::Remote)));
    let refused = trust(
        &place.0.path().join("nowhere"),
        REPO,
        DEFAULT_REFERENCE,
        false,
    );
    assert!(matches!(refused, Err(TrustError::Write(_))));
}

#[test]
fn a_configuration_that_git_cannot_read_is_named() {
    let place = Place::agreed();
    fs::write(place.common().join("config"), "[broken\n").unwrap();
    assert!(matches!(place.unreadable(), Unreadable::Git));
}
