//! The settings and the environment that git meets the remote with.
//!
//! Of the user's configuration only what says how to reach a remote goes along, as the checkout has it, with all that its
//! conditions include. It goes in the environment and never as `-c`, which `ps` shows to everybody; the files themselves are
//! not read again, so nothing else in them (a push option, a hook, a prune) reaches our repository.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use gix_object::bstr::ByteSlice as _;

use super::{Deadline, REMOTE, RemoteError, child};
use crate::floor::fs::read_plain;
use crate::floor::{git, text};

/// The sections that say how to reach a remote.
const SECTIONS: &[&str] = &["credential.", "http.", "ssh.", "url."];
/// Keys that do, of sections that do not.
const KEYS: &[&str] = &["core.sshcommand"];
/// What holds in our repository whatever the user has set.
const OURS: &[(&str, &str)] = &[
    ("transfer.fsckObjects", "true"),
    ("fetch.writeCommitGraph", "false"),
    ("core.logAllRefUpdates", "false"),
    ("advice.pushFetchFirst", "false"),
];
/// ssh where the user has named none: it asks nobody, and notices a connection that is dead.
const SSH: &str =
    "ssh -oBatchMode=yes -oConnectTimeout=15 -oServerAliveInterval=5 -oServerAliveCountMax=3";
/// The most of our repository's configuration that is looked at, in bytes.
const CONFIG_BYTES: usize = 64 * 1024;
/// What git writes into a new repository's configuration, by section.
const WRITTEN: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "logallrefupdates",
            "sharedrepository",
        ],
    ),
    ("extensions", &["objectformat", "refstorage"]),
];

/// How the checkout reaches remotes: names and values, in git's order.
#[derive(Debug)]
pub struct Settings(Vec<(String, String)>);

impl Settings {
    /// Reads them, by git, in the checkout.
    ///
    /// # Errors
    /// Where git does not answer.
    pub fn read(checkout: &Path, until: &Deadline, silence: Duration) -> Result<Self, RemoteError> {
        let mut git = git::command_with_settings(checkout);
        git.args(["config", "--includes", "--list", "-z"]);
        let ran = child::run(&mut git, until, silence)?;
        if !ran.status.success() {
            let said = text::shown(&String::from_utf8_lossy(&ran.stderr), 300);
            return Err(RemoteError::Other(said));
        }
        let all = String::from_utf8_lossy(&ran.stdout);
        let settings = all.split_terminator('\0').map(|setting| {
            // A name without a value says that it is so.
            let (name, value) = setting.split_once('\n').unwrap_or((setting, "true"));
            (name.to_owned(), value.to_owned())
        });
        Ok(Self(settings.filter(|(name, _)| is_wanted(name)).collect()))
    }

    /// Whether the user says themselves how ssh is started.
    fn name_ssh(&self) -> bool {
        let set = |name| std::env::var_os(name).is_some();
        set("GIT_SSH_COMMAND") || set("GIT_SSH") || self.0.iter().any(|(name, _)| name == KEYS[0])
    }

    /// A git for the repository in `folder`, which knows the remote at `url` by its name and may use `protocols` alone.
    #[must_use]
    pub fn command(&self, folder: &Path, url: &str, protocols: &str) -> Command {
        let mut git = git::command_with_credentials(folder);
        let url_key = format!("remote.{REMOTE}.url");
        let theirs = self.0.iter().map(|(n, v)| (n.as_str(), v.as_str()));
        let ours = OURS.iter().copied().chain([(url_key.as_str(), url)]);
        let mut count = 0;
        for (name, value) in theirs.chain(ours) {
            git.env(format!("GIT_CONFIG_KEY_{count}"), name);
            git.env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        git.env("GIT_CONFIG_COUNT", count.to_string())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_ALLOW_PROTOCOL", protocols)
            .env("GCM_INTERACTIVE", "never")
            .env("SSH_ASKPASS_REQUIRE", "never")
            // Git would ask for a password by the window that it opens.
            .env_remove("SSH_ASKPASS");
        if !self.name_ssh() {
            git.env("GIT_SSH_COMMAND", SSH);
        }
        git.arg("--git-dir").arg(folder);
        git
    }
}

fn is_wanted(name: &str) -> bool {
    KEYS.contains(&name) || SECTIONS.iter().any(|section| name.starts_with(section))
}

/// Holds that our repository's own configuration is what git wrote there: any other setting may run a program.
///
/// # Errors
/// `Settings` with the first line that git did not write; `Other` where it cannot be read.
pub fn hold(folder: &Path) -> Result<(), RemoteError> {
    // With this file git reads another repository's configuration.
    if folder.join("commondir").symlink_metadata().is_ok() {
        return Err(RemoteError::Settings("commondir".to_owned()));
    }
    let (config, _) = read_plain(&folder.join("config"), CONFIG_BYTES)
        .map_err(|error| RemoteError::Other(format!("our repository's configuration {error}")))?;
    let mut known: &[&str] = &[];
    for line in config.lines().map(|line| line.trim().to_str_lossy()) {
        let is_ours = if let Some(section) = line.strip_prefix('[') {
            let section = WRITTEN
                .iter()
                .find(|(name, _)| section == format!("{name}]"));
            known = section.map_or(&[], |(_, keys)| keys);
            section.is_some()
        } else {
            let name = line.split('=').next().unwrap_or_default().trim();
            name.is_empty() && line.is_empty()
                || known.contains(&name.to_ascii_lowercase().as_str())
        };
        if !is_ours {
            return Err(RemoteError::Settings(text::shown(&line, 80)));
        }
    }
    Ok(())
}
