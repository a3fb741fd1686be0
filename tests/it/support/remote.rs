//! A team's remote: a bare repository on disk, which the user's configuration leads to from an address of a host.

use std::fs;
use std::path::{Path, PathBuf};

use super::command::{hermetic, succeed};
use super::{Repository, build};

/// The team's ref.
pub(crate) const REF: &str = "refs/majordomus/memory";
/// What the team calls its remote; the user's own configuration leads from there to a folder.
pub(crate) const URL: &str = "https://git.example.org/team/code.git";

/// A bare repository that clones share.
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

    pub(crate) fn hook(&self, text: &str) {
        build::executable(&self.path().join("hooks/pre-receive"), text);
    }

    pub(crate) fn without_hook(&self) {
        fs::remove_file(self.path().join("hooks/pre-receive")).unwrap();
    }

    /// A checkout with this remote, whose notes are not shared yet.
    pub(crate) fn clone_of(&self) -> Repository {
        let repository = Repository::new();
        let lead = format!("url.{}.insteadOf", self.path().display());
        repository.git(&["config", "user.name", "Ann"]);
        repository.git(&["config", &lead, URL]);
        repository.git(&["remote", "add", "origin", URL]);
        repository
    }

    /// The same, whose notes are shared.
    pub(crate) fn sharing(&self) -> Repository {
        let repository = self.clone_of();
        succeed(&mut repository.command(&["notes", "share", "--yes"]));
        repository
    }
}
