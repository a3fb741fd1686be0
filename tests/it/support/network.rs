//! A network namespace with a loopback address of its own: what a container is to its host.

use std::ffi::OsString;
use std::process::{Child, Stdio};

use super::command::hermetic;
use super::confine::is_root;
use super::repository::Repository;
use super::wait::{BOUND, wait_for};

/// A namespace that lives as long as this.
#[derive(Debug)]
pub(crate) struct Network {
    holder: Child,
}

impl Network {
    /// Makes one. `None`, which is said, only where the kernel refuses user namespaces to a plain user.
    #[track_caller]
    pub(crate) fn new(repository: &Repository) -> Option<Self> {
        let flags = if is_root() { "-n" } else { "-rn" };
        let start = |script: &str| {
            let mut command = hermetic("unshare", repository.outside(), repository.home());
            command.args([flags, "sh", "-c", script]);
            command
        };
        let tried = start("true").output().expect("unshare starts");
        if !tried.status.success() {
            assert!(!is_root(), "no network namespace: {tried:?}");
            eprintln!("no user namespaces here: nothing is shown");
            return None;
        }
        let ready = tempfile::Builder::new()
            .prefix("network-")
            .tempdir_in(repository.outside())
            .unwrap();
        let up = ready.path().join("up");
        let script = format!("ip link set lo up && touch '{}' && exec cat", up.display());
        let mut holder = start(&script).stdin(Stdio::piped()).spawn().unwrap();
        wait_for("a loopback address of its own", BOUND, || {
            let ended = holder.try_wait().unwrap();
            assert_eq!(ended, None, "`ip link set lo up` fails in a namespace");
            up.exists()
        });
        Some(Self { holder })
    }

    /// Words that start a program inside.
    pub(crate) fn enter(&self) -> Vec<OsString> {
        let pid = self.holder.id().to_string();
        let user: &[&str] = if is_root() {
            &[]
        } else {
            &["-U", "--preserve-credentials"]
        };
        let words = [&["nsenter", "-t", &pid], user, &["-n"]].concat();
        words.iter().map(OsString::from).collect()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        drop(self.holder.kill());
        drop(self.holder.wait());
    }
}
