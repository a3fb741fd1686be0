//! The one place that starts `git`, and the readers of a checkout's `.git` that need no process.
//!
//! Starting a process costs more than a whole call of ours, and every call wants to know the branch; so where the *top
//! level*, the *git dir* (of this worktree) and the *common dir* (of the repository) are, and what `HEAD` names, is read from
//! the files, in the way gitrepository-layout(5) lays down. A test holds the answers against `git rev-parse`.
//!
//! Not read: `GIT_DIR` and its kin (a client's environment must not move a server), `core.worktree` and `core.bare` (the
//! checkout is where its `.git` stands), and reftable (branch and head are then unknown). Unlike git, a mount point inside a
//! checkout belongs to the checkout.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The longest `.git` file, `commondir`, `HEAD` or loose ref that is read.
const SMALL_FILE_BYTES: u64 = 64 * 1024;
/// The most of `packed-refs` that is searched.
const PACKED_REFS_BYTES: u64 = 64 * 1024 * 1024;
/// How many symbolic refs are followed; git's own bound.
const SYMBOLIC_REFS: usize = 5;

/// Where one checkout keeps its files and its repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The top folder of the working tree, canonical if the start was.
    pub top: PathBuf,
    /// What is this worktree's own: `HEAD`, the index.
    pub git_dir: PathBuf,
    /// What all worktrees share: objects, branches. Equal to `git_dir` in a plain clone.
    pub common_dir: PathBuf,
}

impl Checkout {
    /// Returns the checkout that holds `start`, an absolute and canonical folder, if there is one.
    ///
    /// As in git, the nearest `.git` that is a repository wins; a `.git` *file* that leads nowhere ends the search, an
    /// unusable `.git` folder does not, and inside a git dir there is no checkout.
    #[must_use]
    pub fn find(start: &Path) -> Option<Self> {
        for top in start.ancestors() {
            let dot_git = top.join(".git");
            if let Ok(found) = fs::metadata(&dot_git) {
                let git_dir = if found.is_dir() {
                    dot_git
                } else {
                    let named = small_file(&dot_git)?;
                    top.join(as_path(named.strip_prefix(b"gitdir: ")?))
                };
                if let Some(common_dir) = common_dir_of(&git_dir) {
                    return Some(Self {
                        top: top.to_path_buf(),
                        git_dir: git_dir.canonicalize().ok()?,
                        common_dir: common_dir.canonicalize().ok()?,
                    });
                }
                if found.is_file() {
                    return None;
                }
            }
            if common_dir_of(top).is_some() {
                return None;
            }
        }
        None
    }

    /// Returns the branch that `HEAD` names now, without `refs/heads/`; `None` when detached or unknown.
    #[must_use]
    pub fn branch(&self) -> Option<String> {
        let head = small_file(&self.git_dir.join("HEAD"))?;
        let branch = symbolic(&head)?.strip_prefix(b"refs/heads/")?;
        (branch != b".invalid").then(|| String::from_utf8_lossy(branch).into_owned())
    }

    /// Returns the commit that `HEAD` stands at now, in hexadecimal; `None` before the first commit.
    #[must_use]
    pub fn head(&self) -> Option<String> {
        let mut name = b"HEAD".to_vec();
        for _ in 0..SYMBOLIC_REFS {
            let value = self.loose(&name).or_else(|| self.packed(&name))?;
            match symbolic(&value) {
                Some(target) => name = target.to_vec(),
                None => return object_id(&value),
            }
        }
        None
    }

    /// Refs of this worktree stand in its git dir, all others in the common dir.
    fn loose(&self, name: &[u8]) -> Option<Vec<u8>> {
        let name = as_path(name);
        let sound = name
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        if !sound {
            return None;
        }
        small_file(&self.git_dir.join(name)).or_else(|| small_file(&self.common_dir.join(name)))
    }

    /// A line of `packed-refs` is `<object id> <name>`; comments and peeled tags begin with `#` and `^`.
    fn packed(&self, name: &[u8]) -> Option<Vec<u8>> {
        let file = File::open(self.common_dir.join("packed-refs")).ok()?;
        let mut reader = BufReader::with_capacity(64 * 1024, file.take(PACKED_REFS_BYTES));
        let mut line = Vec::new();
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line).ok()? == 0 {
                return None;
            }
            let text = line.trim_ascii_end();
            if let Some(id) = text.strip_suffix(name).and_then(|t| t.strip_suffix(b" ")) {
                return Some(id.to_vec());
            }
        }
    }
}

/// What names another repository, index or configuration in an environment: `git rev-parse --local-env-vars`, and what
/// hooks and traces leave there. A test holds the first line against the installed `git`.
const ELSEWHERE: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_QUARANTINE_PATH",
    "GIT_DEFAULT_HASH",
    "GIT_CURL_VERBOSE",
];
/// The same by how the name begins.
const ELSEWHERE_PREFIXES: &[&str] = &["GIT_TRACE", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];

/// Returns a `git` that runs in `folder`, asks nobody anything and is steered by nothing in our environment.
///
/// Every `GIT_*` variable is removed: they may name another repository, index or configuration. The rest stays, because
/// credentials and proxies live there. Hooks, file-system monitors and background maintenance of the user's are off, no
/// optional lock is taken, messages are English, and there is no terminal to prompt on.
#[must_use]
pub fn command(folder: &Path) -> Command {
    without(folder, |name| name.starts_with("GIT_"))
}

/// The same for what goes over a network: what `GIT_*` variables say of credentials, ssh and certificates stays, and only
/// what leads to another repository, index or configuration goes.
#[must_use]
pub fn command_with_credentials(folder: &Path) -> Command {
    without(folder, leads_elsewhere)
}

/// The same for reading the settings of a checkout, to which those in the environment belong.
#[must_use]
pub fn command_with_settings(folder: &Path) -> Command {
    without(folder, |name| {
        leads_elsewhere(name) && !name.starts_with("GIT_CONFIG_")
    })
}

/// The same command, none of whose files may grow past `bytes`: what somebody else sends decides how large a pack is.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "a shell sets the bound, and then becomes the git that was asked for"
)]
pub fn bounded(git: &Command, bytes: u64) -> Command {
    let mut shell = Command::new("/bin/sh");
    // POSIX counts blocks of 512 bytes.
    let script = format!("ulimit -f {} && exec \"$0\" \"$@\"", bytes.div_ceil(512));
    shell
        .args(["-c", &script])
        .arg(git.get_program())
        .args(git.get_args());
    for (name, value) in git.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    if let Some(folder) = git.get_current_dir() {
        shell.current_dir(folder);
    }
    shell.stdin(Stdio::null());
    shell
}

fn leads_elsewhere(name: &str) -> bool {
    ELSEWHERE.contains(&name)
        || ELSEWHERE_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that starts git"
)]
fn without(folder: &Path, goes: impl Fn(&str) -> bool) -> Command {
    let mut git = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if goes(&name.to_string_lossy()) {
            git.env_remove(name);
        }
    }
    git.env("LC_ALL", "C")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor="])
        .args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"])
        .current_dir(folder)
        .stdin(Stdio::null());
    git
}

/// Returns the common dir if `git_dir` is one (it has `HEAD`, and objects and refs in its common dir), else `None`.
fn common_dir_of(git_dir: &Path) -> Option<PathBuf> {
    fs::symlink_metadata(git_dir.join("HEAD")).ok()?;
    let common_dir = match small_file(&git_dir.join("commondir")) {
        Some(named) => git_dir.join(as_path(&named)),
        None => git_dir.to_path_buf(),
    };
    let sound = common_dir.join("objects").is_dir() && common_dir.join("refs").is_dir();
    sound.then_some(common_dir)
}

/// Returns the bytes of a small plain file without the white space at its end.
fn small_file(path: &Path) -> Option<Vec<u8>> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let read = File::open(path).ok()?.take(SMALL_FILE_BYTES);
    BufReader::new(read).read_to_end(&mut bytes).ok()?;
    bytes.truncate(bytes.trim_ascii_end().len());
    Some(bytes)
}

/// Returns what a symbolic ref points at: `ref: refs/heads/main`.
fn symbolic(value: &[u8]) -> Option<&[u8]> {
    Some(value.strip_prefix(b"ref:")?.trim_ascii_start())
}

/// SHA-1 ids have 40 digits, SHA-256 ids 64.
fn object_id(value: &[u8]) -> Option<String> {
    let sound = matches!(value.len(), 40 | 64) && value.iter().all(u8::is_ascii_hexdigit);
    sound.then(|| String::from_utf8_lossy(value).into_owned())
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{Checkout, bounded, command, leads_elsewhere};

    /// Runs git hermetically in `folder` and returns what it printed, or `None` if it failed.
    fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
        let output = command(folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
            .args(["-c", "init.defaultBranch=main"])
            .args(["-c", "protocol.file.allow=always"])
            .args(arguments)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        output.status.success().then(|| text.trim_end().to_owned())
    }

    fn must(folder: &Path, arguments: &[&str]) {
        assert!(git(folder, arguments).is_some(), "git {arguments:?}");
    }

    fn repository(folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        must(folder, &["init", "--quiet"]);
        must(folder, &["commit", "--quiet", "--allow-empty", "-m", "one"]);
    }

    /// Asks git and us the same questions about one folder.
    #[track_caller]
    fn agree(folder: &Path) {
        let folder = folder.canonicalize().unwrap();
        let ours = Checkout::find(&folder);
        let top = git(&folder, &["rev-parse", "--show-toplevel"]).map(PathBuf::from);
        assert_eq!(ours.as_ref().map(|checkout| checkout.top.clone()), top);
        let Some(ours) = ours else { return };
        let ask = |what: &str| git(&folder, &["rev-parse", "--path-format=absolute", what]);
        assert_eq!(
            ask("--git-common-dir").map(PathBuf::from),
            Some(ours.common_dir.clone())
        );
        assert_eq!(
            ask("--git-dir").map(PathBuf::from),
            Some(ours.git_dir.clone())
        );
        let branch = git(&folder, &["symbolic-ref", "--quiet", "--short", "HEAD"]);
        assert_eq!(ours.branch(), branch);
        let head = git(&folder, &["rev-parse", "--verify", "--quiet", "HEAD"]);
        assert_eq!(ours.head(), head);
    }

    #[test]
    fn a_plain_repository_a_subfolder_and_a_detached_head_are_read_as_git_reads_them() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("plain");
        fs::create_dir_all(top.join("a/b")).unwrap();
        must(&top, &["init", "--quiet"]);
        agree(&top);
        repository(&top);
        agree(&top);
        agree(&top.join("a/b"));
        must(&top, &["pack-refs", "--all"]);
        agree(&top);
        must(&top, &["checkout", "--quiet", "-b", "feature/deep/name"]);
        agree(&top);
        must(&top, &["checkout", "--quiet", "--detach"]);
        agree(&top);
        agree(&top.join(".git"));
        agree(&top.join(".git/refs"));
    }

    #[test]
    fn linked_worktrees_share_the_common_dir() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("main");
        repository(&top);
        must(&top, &["worktree", "add", "--quiet", "-b", "side", "../s"]);
        must(&top, &["worktree", "add", "--quiet", "-b", "in", "inside"]);
        must(&top, &["pack-refs", "--all"]);
        agree(&folder.path().join("s"));
        agree(&top.join("inside"));
        agree(&top);
    }

    #[test]
    fn a_submodule_is_a_checkout_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let (library, top) = (folder.path().join("library"), folder.path().join("top"));
        repository(&library);
        repository(&top);
        must(
            &top,
            &["submodule", "--quiet", "add", "../library", "nested/sub"],
        );
        agree(&top.join("nested/sub"));
        agree(&top.join("nested"));
    }

    #[test]
    fn a_path_with_spaces_quotes_and_other_letters_is_no_different() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("it's a \"ščř\" — 日本 dir");
        repository(&top);
        must(
            &top,
            &["worktree", "add", "--quiet", "-b", "side", "../ž ž"],
        );
        agree(&top);
        agree(&folder.path().join("ž ž"));
    }

    #[test]
    fn what_is_no_repository_is_passed_over_as_git_does() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("outer");
        repository(&top);
        fs::create_dir_all(top.join("hollow/.git")).unwrap();
        agree(&top.join("hollow"));
        fs::create_dir_all(top.join("broken")).unwrap();
        fs::write(top.join("broken/.git"), "gitdir: /nowhere\n").unwrap();
        agree(&top.join("broken"));
        fs::write(top.join("broken/.git"), [0xff; 100]).unwrap();
        agree(&top.join("broken"));
        must(folder.path(), &["init", "--quiet", "--bare", "bare.git"]);
        agree(&folder.path().join("bare.git"));
    }

    #[test]
    fn git_variables_of_the_environment_do_not_reach_git() {
        let folder = tempfile::tempdir().unwrap();
        let removed = command(folder.path());
        let kept: Vec<_> = removed
            .get_envs()
            .filter(|(name, value)| name.to_string_lossy().starts_with("GIT_") && value.is_some())
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect();
        assert_eq!(kept, ["GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT"]);
    }

    #[test]
    fn a_bounded_git_writes_no_file_past_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        repository(folder.path());
        let bytes: Vec<u8> = (0..250_000_u32)
            .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect();
        fs::write(folder.path().join("big"), bytes).unwrap();
        let mut git = command(folder.path());
        git.args(["hash-object", "-w", "big"]);
        assert!(!bounded(&git, 4096).output().unwrap().status.success());
        assert!(bounded(&git, 4_000_000).output().unwrap().status.success());
    }

    #[test]
    fn what_git_itself_holds_for_anothers_goes_and_credentials_stay() {
        let folder = tempfile::tempdir().unwrap();
        let listed = git(folder.path(), &["rev-parse", "--local-env-vars"]).unwrap();
        assert!(listed.contains("GIT_DIR"));
        for name in listed.lines() {
            assert!(leads_elsewhere(name), "{name}");
        }
        for name in ["GIT_ASKPASS", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO"] {
            assert!(!leads_elsewhere(name), "{name}");
        }
    }
}
