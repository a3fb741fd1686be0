//! The team's remote: a bare repository on disk, and checkouts that have it as their own remote.

use std::fs;
use std::path::{Path, PathBuf};

use super::build;
use super::command::{hermetic, succeed};
use super::repository::Repository;

/// Where the team's notes are, here and there.
pub(crate) const REF: &str = "refs/majordomus/memory";
/// What the team calls its remote; the user's own configuration leads from there to a folder.
const URL: &str = "https://git.example.org/team/code.git";

/// A bare repository that clones share.
#[derive(Debug)]
pub(crate) struct Remote {
    folder: tempfile::TempDir,
}

impl Remote {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let remote = Self { folder };
        succeed(
            hermetic("git", remote.base(), remote.base())
                .args(["init", "-q", "--bare", "code.git"]),
        );
        remote
    }

    /// The folder in which it lies; the test may put its own files there.
    pub(crate) fn base(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.base().join("code.git")
    }

    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = succeed(hermetic("git", &self.path(), self.base()).args(arguments));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// The subjects of the team's commits, the oldest first.
    pub(crate) fn subjects(&self) -> Vec<String> {
        let log = self.git(&["log", "--reverse", "--format=%s", REF]);
        log.lines().map(str::to_owned).collect()
    }

    /// Makes a script the hook that may refuse a push.
    pub(crate) fn hook(&self, text: &str) {
        self.hook_named("pre-receive", text);
    }

    pub(crate) fn hook_named(&self, name: &str, text: &str) {
        build::executable(&self.path().join("hooks").join(name), text);
    }

    pub(crate) fn without_hook(&self) {
        fs::remove_file(self.path().join("hooks/pre-receive")).unwrap();
    }

    /// A checkout with this remote, whose notes are not shared yet.
    pub(crate) fn clone_of(&self) -> Repository {
        clone_by(&self.path().display().to_string())
    }

    /// A checkout with this remote, whose notes are shared.
    pub(crate) fn sharing(&self) -> Repository {
        let repository = self.clone_of();
        share(&repository);
        repository
    }
}

/// A checkout whose remote is at this address, whose notes are not shared yet.
pub(crate) fn clone_by(address: &str) -> Repository {
    let repository = Repository::new();
    let lead = format!("url.{address}.insteadOf");
    repository.git(&["config", "user.name", "Ann"]);
    repository.git(&["config", &lead, URL]);
    repository.git(&["remote", "add", "origin", URL]);
    repository
}

/// Agrees that notes go to the remote.
#[track_caller]
pub(crate) fn share(repository: &Repository) {
    // A remote on loopback asks nobody who they are.
    succeed(&mut repository.command(&["notes", "share", "--unreviewed", "--yes"]));
}
