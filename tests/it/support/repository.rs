//! A checkout in a temporary folder of its own.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;

use super::command::{MAJORDOMUS, hermetic, succeed};
use super::http::Http;
use super::launch::Launch;
use super::wait::{BOUND, wait_some};

/// How much of a log a failing test prints.
const LOG_TAIL: usize = 12_000;

/// One checkout; several may share one git repository (linked worktrees) or one temporary folder (copies).
#[derive(Debug)]
pub(crate) struct Repository {
    folder: Arc<TempDir>,
    root: PathBuf,
    home: PathBuf,
    git: bool,
}

impl Repository {
    /// A git repository with one commit.
    pub(crate) fn new() -> Self {
        Self::named("checkout")
    }

    /// The same under another folder name.
    pub(crate) fn named(name: &str) -> Self {
        let repository = Self::folder(name, true);
        fs::write(repository.root.join("README.md"), "# A project\n").unwrap();
        repository.git(&["init", "-q", "-b", "main"]);
        repository.git(&["add", "-A"]);
        repository.git(&["commit", "-q", "-m", "start"]);
        repository
    }

    /// A folder with `.ai/` and no git.
    pub(crate) fn without_git() -> Self {
        let repository = Self::folder("no git", false);
        fs::create_dir(repository.root.join(".ai")).unwrap();
        repository
    }

    /// A folder that is nobody's checkout.
    pub(crate) fn bare_folder() -> Self {
        Self::folder("nowhere", false)
    }

    fn folder(name: &str, git: bool) -> Self {
        let folder = TempDir::with_prefix("majordomus-it-").unwrap();
        // Resolved, so that paths compare equal on systems whose temporary folder is a symlink.
        let base = folder.path().canonicalize().unwrap();
        let root = base.join(name);
        let home = base.join("home");
        fs::create_dir(&root).unwrap();
        fs::create_dir(&home).unwrap();
        Self {
            folder: Arc::new(folder),
            root,
            home,
            git,
        }
    }

    /// A linked worktree of this repository, on a branch of its own.
    pub(crate) fn worktree(&self, branch: &str) -> Self {
        let root = self
            .root
            .parent()
            .unwrap()
            .join(format!("tree of {branch}"));
        self.git(&[
            "worktree",
            "add",
            "-q",
            "-b",
            branch,
            root.to_str().unwrap(),
        ]);
        self.at(root)
    }

    /// A copy of this checkout, state folder and all, as `cp -a` makes it.
    pub(crate) fn copied(&self) -> Self {
        let root = self.root.parent().unwrap().join("a copy");
        succeed(
            hermetic("cp", &self.root, &self.home)
                .arg("-a")
                .arg(&self.root)
                .arg(&root),
        );
        self.at(root)
    }

    /// Another checkout at `root`, somewhere beside or below this one.
    pub(crate) fn at(&self, root: PathBuf) -> Self {
        Self {
            folder: Arc::clone(&self.folder),
            root,
            home: self.home.clone(),
            git: self.git,
        }
    }

    /// The checkout's root.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The HOME of everything started here.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// A folder of this test that is not inside the checkout.
    pub(crate) fn outside(&self) -> &Path {
        self.root.parent().unwrap()
    }

    /// Runs git and returns what it printed.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = succeed(hermetic("git", &self.root, &self.home).args(arguments));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Where the lease lives.
    pub(crate) fn state(&self) -> PathBuf {
        self.root.join(".ai/local/state/mcp")
    }

    /// The lease document's path.
    pub(crate) fn document(&self) -> PathBuf {
        self.state().join("server.json")
    }

    /// What all worktrees share.
    pub(crate) fn shared(&self) -> PathBuf {
        if !self.git {
            return self.root.join(".ai/local/state");
        }
        let common = self.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        Path::new(common.trim()).join("majordomus")
    }

    /// The bearer token, once there is one.
    pub(crate) fn token(&self) -> Option<String> {
        let text = fs::read_to_string(self.shared().join("token")).ok()?;
        (!text.trim().is_empty()).then(|| text.trim().to_owned())
    }

    /// The lease document now, if it is readable JSON.
    pub(crate) fn lease(&self) -> Option<Value> {
        serde_json::from_slice(&fs::read(self.document()).ok()?).ok()
    }

    /// Waits for a document in state `ready`.
    #[track_caller]
    pub(crate) fn ready(&self) -> Value {
        self.ready_when("ready lease document", |_| true)
    }

    /// Waits for a document in state `ready` that `fits`.
    #[track_caller]
    pub(crate) fn ready_when(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        wait_some(what, BOUND, || {
            self.lease()
                .filter(|lease| lease["state"] == "ready" && fits(lease))
        })
    }

    /// The pid that the document names.
    pub(crate) fn owner_pid(&self) -> Option<i32> {
        i32::try_from(self.lease()?["pid"].as_i64()?).ok()
    }

    /// A plan to start `majordomus` here.
    pub(crate) fn launch(&self) -> Launch<'_> {
        Launch::new(self)
    }

    /// Starts `majordomus mcp --conformance` and does not speak yet.
    pub(crate) fn client(&self, name: &str) -> super::Client {
        self.launch().name(name).start()
    }

    /// Starts a client and waits until it is served by an owner.
    #[track_caller]
    pub(crate) fn attached(&self, name: &str) -> super::Client {
        let client = self.client(name);
        client.attach();
        client
    }

    /// Runs a command of the CLI to its end.
    pub(crate) fn cli(&self, arguments: &[&str]) -> Output {
        self.cli_in(&self.root, arguments)
    }

    /// The same from another folder.
    pub(crate) fn cli_in(&self, directory: &Path, arguments: &[&str]) -> Output {
        hermetic(MAJORDOMUS, directory, &self.home)
            .args(arguments)
            .output()
            .expect("the executable starts")
    }

    /// A command of the CLI, not started yet.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = hermetic(MAJORDOMUS, &self.root, &self.home);
        command.args(arguments);
        command
    }

    /// An HTTP client of the current owner, with the token.
    #[track_caller]
    pub(crate) fn http(&self) -> Http {
        let lease = self.ready_when("lease with a url", |lease| lease["url"].is_string());
        Http::new(lease["url"].as_str().unwrap()).with_token(self.token().as_deref())
    }

    /// The file to which the conformance provider's commands append under `name`.
    pub(crate) fn conformance_file(&self, name: &str) -> PathBuf {
        self.shared().join("conformance").join(name)
    }

    /// The server's log, all of it.
    pub(crate) fn log(&self) -> String {
        let mut text = String::new();
        for name in ["server.log.1", "server.log"] {
            if let Ok(bytes) = fs::read(self.state().join(name)) {
                text.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
        text
    }

    /// Every entry below the checkout's root, with size, mode, modification time and content: to show that nothing
    /// was touched.
    pub(crate) fn fingerprint(&self) -> BTreeMap<PathBuf, (u64, u32, i64, i64, Vec<u8>)> {
        let mut entries = BTreeMap::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let meta = fs::symlink_metadata(&path).unwrap();
                let content = if meta.is_file() {
                    fs::read(&path).unwrap()
                } else {
                    Vec::new()
                };
                if meta.is_dir() {
                    folders.push(path.clone());
                }
                entries.insert(
                    path,
                    (
                        meta.size(),
                        meta.mode(),
                        meta.mtime(),
                        meta.mtime_nsec(),
                        content,
                    ),
                );
            }
        }
        entries
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.log();
            let mut from = log.len().saturating_sub(LOG_TAIL);
            while !log.is_char_boundary(from) {
                from += 1;
            }
            eprintln!(
                "--- {} lease: {:?}\n--- server.log (tail):\n{}",
                self.root.display(),
                fs::read_to_string(self.document()),
                &log[from..],
            );
        }
    }
}
