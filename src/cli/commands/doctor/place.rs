//! Where the server lives: the checkout, its folders, its locks, its limits.

use std::io::{self, ErrorKind};

use nix::sys::resource::{Resource, getrlimit};

use super::finding::{Finding, Verdict};
use crate::floor::error::Chain;
use crate::floor::fs::{FileError, Kind, is_full, replace};
use crate::floor::git;
use crate::floor::paths::{Files, Site};
use crate::lease::trial::{self, Excludes};

/// How much is written to see that something can be: a document, a log line, and some pages of the board.
const TRIAL_BYTES: usize = 64 * 1024;
/// With fewer files than this an owner refuses clients early: each takes two.
const FEW_FILES: u64 = 256;

pub(super) fn look(site: &Site) -> Vec<Finding> {
    let mut findings = vec![checkout(site)];
    let folder = folder(site);
    let writable = folder.verdict == Verdict::Good;
    findings.push(folder);
    if writable {
        findings.push(lock(site));
    }
    findings.push(names());
    findings.extend(shared(site));
    findings.extend(boards(site));
    findings.extend(tracked(site));
    findings.extend(files());
    findings
}

fn checkout(site: &Site) -> Finding {
    let name = site.name();
    match (site.checkout(), site.branch()) {
        (None, _) => Finding::note("checkout", format!("{name}, without git")),
        (Some(_), Some(branch)) => Finding::good("checkout", format!("{name} on {branch}")),
        (Some(_), None) => Finding::good("checkout", format!("{name}, on no branch")),
    }
}

/// Makes the folders as a client does, and writes something there.
fn folder(site: &Site) -> Finding {
    let folder = site.shown(&site.state_dir());
    if let Err(error) = site.prepare() {
        return Finding::problem("folder", Chain(&error).to_string()).hint(error.hint());
    }
    let path = site
        .state_dir()
        .join(format!("trial-{}", std::process::id()));
    let tried = site.place(&path).and_then(|place| {
        let written = replace(&place, &vec![0; TRIAL_BYTES]);
        let removed = std::fs::remove_file(&place);
        written.and(removed)
    });
    match tried {
        Ok(()) => Finding::good("folder", format!("{folder} can be written")),
        Err(error) => Finding::problem("folder", format!("{folder} cannot be written: {error}"))
            .hint(help(&error, &folder)),
    }
}

/// The command that shows why a folder refuses a file.
fn help(error: &io::Error, folder: &str) -> String {
    if is_full(error) {
        return format!("df -h {folder}");
    }
    match error.kind() {
        ErrorKind::ReadOnlyFilesystem => format!("findmnt -T {folder}"),
        ErrorKind::FileTooLarge => "ulimit -f".to_owned(),
        _ => format!("ls -ld {folder}"),
    }
}

/// Tries a lock beside the lease's, and looks what stands at the two that a lease may need.
fn lock(site: &Site) -> Finding {
    // The scope's own is needed as soon as another scope holds the common one, and then it is too late to say so.
    for lock in [Files::Common, Files::Scope].map(|files| site.lock(files)) {
        let shown = site.shown(&lock);
        let stands = std::fs::symlink_metadata(&lock).ok();
        if let Some(kind) = stands.and_then(|found| Kind::of(found.file_type())) {
            return Finding::problem("lock", format!("{shown} is {kind}, and no lock file"))
                .hint(format!("rm -r {shown}"));
        }
    }
    let path = site
        .state_dir()
        .join(format!("trial-{}.lock", std::process::id()));
    let tried = site.place(&path).map_err(FileError::Io).and_then(|place| {
        let tried = trial::file_locks(&place);
        // What is left of a trial would only puzzle somebody.
        drop(std::fs::remove_file(&place));
        tried
    });
    match tried {
        Ok(Excludes::Yes) => Finding::good("lock", "file locks exclude others"),
        Ok(Excludes::No) => elsewhere("file locks exclude nobody on this file system"),
        Ok(Excludes::Unsupported) => elsewhere("this file system has no file locks"),
        Err(error) => {
            Finding::problem("lock", format!("a lock file {}", Chain(&error))).hint(match &error {
                FileError::Io(error) => help(error, &site.shown(&site.state_dir())),
                _ => format!("ls -l {}", site.shown(&site.state_dir())),
            })
        }
    }
}

/// Another lock takes the place of one that does not work.
fn elsewhere(text: &str) -> Finding {
    Finding::note("lock", format!("{text}; a lock outside it is used")).hint("findmnt -T .ai/local")
}

fn names() -> Finding {
    if trial::names() {
        Finding::good("socket", "abstract sockets can be named")
    } else {
        Finding::note(
            "socket",
            "there are no abstract sockets here; the file lock decides alone",
        )
    }
}

/// A repository's worktrees share a token and a board, where git's folder can be written.
fn shared(site: &Site) -> Option<Finding> {
    site.checkout()?;
    if site.shared_dir().starts_with(site.root().join(".ai")) {
        return Some(
            Finding::note(
                "worktrees",
                "git's folder cannot be written, so this checkout shares no token and no board with other worktrees",
            )
            .hint("ls -ld \"$(git rev-parse --git-common-dir)\""),
        );
    }
    None
}

/// Boards that owners beside left. Nobody can tell from one checkout whether another worktree's server uses one, so a
/// person decides.
fn boards(site: &Site) -> Option<Finding> {
    let others = site.other_boards();
    let what = match others {
        0 => return None,
        1 => "1 board".to_owned(),
        more => format!("{more} boards"),
    };
    let folder = site.shown(&site.shared_dir());
    let text = format!("{what} of other network namespaces, kernels or boots in {folder}");
    Some(Finding::note("boards", text).hint(format!(
        "ls -l {folder}, then rm what of board.SCOPE.db* is older than the last boot (uptime -s)"
    )))
}

/// What git carries to others must not hold a lease.
fn tracked(site: &Site) -> Option<Finding> {
    site.checkout()?;
    let listed = git::command(site.root())
        .args(["ls-files", "-z", "--", ".ai/local"])
        .output()
        .ok()?;
    (!listed.stdout.is_empty()).then(|| {
        Finding::problem(
            "git",
            "files below .ai/local are tracked by git, and every clone would carry them along",
        )
        .hint("git rm -r --cached .ai/local")
    })
}

fn files() -> Option<Finding> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    (hard < FEW_FILES).then(|| {
        Finding::problem(
            "files",
            format!("a process may open {hard} files here, which is too few for a shared server"),
        )
        .hint("ulimit -Hn")
    })
}
