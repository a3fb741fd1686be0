//! Whether strangers can read a remote: somebody without a name asks it.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::{Deadline, RemoteError};
use crate::floor::git;
use crate::floor::remote::{child, verdict};

/// The longest that it is waited for.
const PATIENCE: Duration = Duration::from_secs(8);

/// Whether strangers can read a remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Openness {
    /// Whoever has its address can.
    Open,
    /// It asks who is there.
    Closed,
    /// Nobody can tell: it does not answer, or is no host of the web.
    Unknown,
}

/// Asks the remote at `url` without any of the user's credentials; one that is reached by ssh is asked at the same place by
/// https.
#[must_use]
pub fn openness(url: &str, identity: &str) -> Openness {
    let address = match url.split_once("://") {
        Some((scheme @ ("http" | "https"), rest)) => {
            let begin = rest
                .split('/')
                .next()
                .and_then(|host| host.rfind('@'))
                .map_or(0, |at| at + 1);
            format!("{scheme}://{}", &rest[begin..])
        }
        Some(("file", _)) => return Openness::Unknown,
        _ if url.starts_with('/') => return Openness::Unknown,
        _ => format!("https://{identity}"),
    };
    let mut git = git::command(Path::new("/"));
    // Nothing of the user's speaks for them.
    for name in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        git.env(name, "/dev/null");
    }
    for name in ["GIT_ASKPASS", "SSH_ASKPASS", "GIT_CONFIG_COUNT"] {
        git.env_remove(name);
    }
    git.env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ALLOW_PROTOCOL", "http:https")
        .env("HOME", OsStr::new("/nonexistent"))
        .args([
            "-c",
            "credential.helper=",
            "-c",
            "http.followRedirects=initial",
        ])
        .args(["ls-remote", "--quiet", "--", &address, "HEAD"]);
    git.stdin(Stdio::null());
    match child::run(&mut git, &Deadline::after(PATIENCE), PATIENCE) {
        Ok(ran) if ran.status.success() => Openness::Open,
        Ok(ran) => match verdict::of_fetch(&ran) {
            RemoteError::NoCredentials | RemoteError::NoAccess => Openness::Closed,
            _ => Openness::Unknown,
        },
        Err(_) => Openness::Unknown,
    }
}
