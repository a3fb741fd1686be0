//! What git's words mean. They are English (`LC_ALL=C`), and what stands in them is told apart here and nowhere else.
//!
//! Lines that begin with `remote: ` are the remote's: they may claim anything, so they are shown, and decide nothing but
//! whether somebody has access, where the great hosts say it in such a line alone.

use super::RemoteError;
use super::address::without_secrets;
use super::child::Ran;
use crate::floor::text;

/// The most of somebody else's words that is passed on, in characters.
const SAID: usize = 600;

/// What git says, in its own lines and in small letters, and what it means. The first that is found holds.
const MEANINGS: &[(&[&str], RemoteError)] = &[
    (
        &[
            "no space left on device",
            "disk quota exceeded",
            "read-only file system",
            "insufficient permission for adding an object",
            "file too large",
        ],
        RemoteError::Disk,
    ),
    // Before what a connection says that git then lets go of.
    (
        &[
            "error: could not read ",
            "failed to traverse parents",
            "bad object ",
            "unable to read tree",
            "loose object ",
            "missing necessary objects",
        ],
        RemoteError::Broken(String::new()),
    ),
    (
        &[
            "' not allowed",
            "transport 'file' not allowed",
            "strange hostname",
            "strange pathname",
        ],
        RemoteError::Url(String::new()),
    ),
    (
        &[
            "mismatched algorithms",
            "does not support this repository's hash algorithm",
        ],
        RemoteError::Format,
    ),
    (
        &[
            "host key verification failed",
            "remote host identification has changed",
        ],
        RemoteError::HostKey,
    ),
    (
        &[
            "ssl certificate problem",
            "server certificate verification failed",
            "certificate verify failed",
            "unable to get local issuer",
            "certificate subject name",
        ],
        RemoteError::Certificate,
    ),
    (
        &[
            "could not read username",
            "could not read password",
            "authentication failed",
            "terminal prompts disabled",
            "permission denied (",
            "too many authentication failures",
            "returned error: 401",
        ],
        RemoteError::NoCredentials,
    ),
    (
        &[
            "returned error: 403",
            "returned error: 404",
            "returned error: 410",
            "repository not found",
            "' not found",
            "write access to repository not granted",
            "you are not allowed to push",
            "permission to ",
            "access denied",
            "does not appear to be a git repository",
            "dubious ownership",
            "not exported",
        ],
        RemoteError::NoAccess,
    ),
    (
        &[
            "could not resolve host",
            "failed to connect",
            "couldn't connect",
            "could not connect",
            "connection refused",
            "connection timed out",
            "connection reset",
            "connection closed",
            "operation timed out",
            "network is unreachable",
            "no route to host",
            "empty reply from server",
            "kex_exchange_identification",
            "operation too slow",
            "the remote end hung up",
            "disconnect while reading",
            "early eof",
            "rpc failed",
            "proxy connect aborted",
            "returned error: 5",
            "returned error: 429",
            "could not read from remote repository",
            "bad line length",
            "protocol error",
            "transfer closed",
            "expected flush",
            "invalid server response",
        ],
        RemoteError::Offline,
    ),
];
/// Lines of a remote that say who may not, for the hosts that say it nowhere else.
const NO_ACCESS: &[&str] = &[
    "remote: repository not found",
    "remote: write access to repository not granted",
    "remote: permission to ",
    "remote: you are not allowed to push",
    "remote: the project you were looking for could not be found",
];
/// Why a remote refuses a ref that somebody else has just moved.
const RACES: &[&str] = &[
    "stale info",
    "fetch first",
    "non-fast-forward",
    "already exists",
    "cannot lock ref",
    "failed to lock",
    "failed to update ref",
    "incorrect old value",
    "but expected",
];

/// Whether git says that the remote has no such ref.
#[must_use]
pub fn is_missing(ran: &Ran) -> bool {
    own(&said(ran)).any(|line| line.starts_with("fatal: couldn't find remote ref "))
}

/// Why a fetch failed.
#[must_use]
pub fn of_fetch(ran: &Ran) -> RemoteError {
    let said = said(ran);
    let is_damage = |line: &str| {
        line.contains("fsck error")
            || line.contains("invalid index-pack output")
            || line.contains("inflate")
            || line.contains("pack has bad object")
            || line.contains("pack is corrupted")
            || line.starts_with("error: object ")
    };
    let meaning = meaning(&said, ran);
    if matches!(meaning, RemoteError::Disk | RemoteError::Lock) {
        return meaning;
    }
    if let Some(line) = own(&said).find(|line| is_damage(line)) {
        return RemoteError::Damaged(line.to_owned());
    }
    meaning
}

/// Why our own repository refused, in the words of this process.
#[must_use]
pub fn of_ours(words: String) -> RemoteError {
    let (disk, _) = &MEANINGS[0];
    let small = words.to_lowercase();
    if disk.iter().any(|word| small.contains(word)) {
        return RemoteError::Disk;
    }
    RemoteError::Other(words)
}

/// Why a push failed: a line of `--porcelain` where there is one.
#[must_use]
pub fn of_push(ran: &Ran) -> RemoteError {
    let said = said(ran);
    let reported = String::from_utf8_lossy(&ran.stdout);
    let Some(line) = reported.lines().find(|line| line.starts_with("!\t")) else {
        return meaning(&said, ran);
    };
    let summary = shown(line.rsplit('\t').next().unwrap_or_default());
    if RACES.iter().any(|race| summary.contains(race)) {
        return RemoteError::Stale;
    }
    if summary.starts_with("[remote failure]") {
        return meaning(&said, ran);
    }
    let reason = summary
        .split_once('(')
        .map_or(summary.as_str(), |(_, rest)| rest.trim_end_matches(')'));
    let theirs: Vec<_> = said
        .iter()
        .filter_map(|line| line.strip_prefix("remote: "))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let words = if theirs.is_empty() {
        reason.to_owned()
    } else {
        format!("{reason}: {}", theirs.join(" / "))
    };
    RemoteError::Rejected(text::shown(&words, SAID))
}

fn meaning(said: &[String], ran: &Ran) -> RemoteError {
    if said.iter().any(|line| starts(line, NO_ACCESS)) {
        return RemoteError::NoAccess;
    }
    for line in own(said) {
        let small = line.to_lowercase();
        let is_lock = small.contains(".lock': file exists");
        if is_lock {
            return RemoteError::Lock;
        }
        // Of the remote's refs, or of ours where another user made them.
        if small.contains("unable to create '") && small.contains("permission denied") {
            return RemoteError::Disk;
        }
    }
    for (words, meaning) in MEANINGS {
        let found = own(said).find(|line| {
            let small = line.to_lowercase();
            words.iter().any(|word| small.contains(word))
        });
        if let Some(line) = found {
            return match meaning {
                RemoteError::Url(_) => RemoteError::Url(line.to_owned()),
                RemoteError::Broken(_) => RemoteError::Broken(line.to_owned()),
                other => other.clone(),
            };
        }
    }
    let last = own(said)
        .find(|line| line.starts_with("fatal: ") || line.starts_with("error: "))
        .map_or_else(|| ran.status.to_string(), str::to_owned);
    RemoteError::Other(last)
}

fn starts(line: &str, beginnings: &[&str]) -> bool {
    let small = line.to_lowercase();
    beginnings
        .iter()
        .any(|beginning| small.starts_with(beginning))
}

/// Git's own lines.
fn own(said: &[String]) -> impl Iterator<Item = &str> {
    let is_own = |line: &&str| !line.starts_with("remote: ");
    said.iter().map(String::as_str).filter(is_own)
}

/// The lines that git wrote, without progress that was overwritten, as people are shown them.
fn said(ran: &Ran) -> Vec<String> {
    let all = String::from_utf8_lossy(&ran.stderr);
    let lines = all.split(['\n', '\r']);
    lines.map(shown).filter(|line| !line.is_empty()).collect()
}

fn shown(line: &str) -> String {
    text::shown(&without_secrets(line), SAID).trim().to_owned()
}
