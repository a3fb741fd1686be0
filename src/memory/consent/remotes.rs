//! The remotes of the user's own git configuration, and where git really goes for each.
//!
//! `[include] path = ../.gitconfig` makes a tracked file part of a checkout's configuration, and many projects ask for
//! that line. So each value is taken with the file that it stands in: one of the checkout's names no remote of the
//! user's, and where it turns an address into another, that address is not used.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::error::Unreadable;
use super::identity::{after_user, identity, is_loopback, is_same};

/// Where notes can go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The remote's name.
    pub(super) name: String,
    /// Where to fetch from.
    pub(super) url: String,
    /// Where to push to.
    pub(super) push_url: String,
}

/// What an identity is in the user's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lookup {
    /// A remote.
    Found(Found),
    /// A remote, which is led to an address that is not used.
    Led,
    /// Nothing.
    Absent,
}

/// What the configuration says of remotes.
#[derive(Debug, Default)]
pub(super) struct Remotes {
    urls: Vec<Url>,
    rewrites: Vec<Rewrite>,
    root: PathBuf,
}

#[derive(Debug)]
struct Url {
    remote: String,
    value: String,
    push: bool,
}

/// `url.<base>.insteadOf = <prefix>`.
#[derive(Debug)]
struct Rewrite {
    base: String,
    prefix: String,
    push: bool,
    own: bool,
}

/// What `insteadOf` makes of an address.
#[derive(Debug)]
enum Rewritten {
    /// Nothing.
    Not,
    /// This.
    To(String),
    /// Something that a file of the checkout wants.
    ByTheCheckout,
}

impl Rewritten {
    fn trusted(self) -> Option<String> {
        match self {
            Self::To(url) => Some(url),
            Self::Not | Self::ByTheCheckout => None,
        }
    }
}

impl Remotes {
    /// Asks `git`, a command that is prepared for the checkout's top folder.
    ///
    /// # Errors
    /// [`Unreadable::Git`], also where git refuses because the checkout is somebody else's.
    pub(super) fn read(
        mut git: Command,
        root: &Path,
        common_dir: &Path,
    ) -> Result<Self, Unreadable> {
        let output = git
            .args(["config", "--list", "--includes", "-z"])
            .args(["--show-scope", "--show-origin"])
            .stderr(Stdio::null())
            .output()
            .map_err(|_| Unreadable::Git)?;
        let (Ok(root), Ok(common_dir), true) = (
            root.canonicalize(),
            common_dir.canonicalize(),
            output.status.success(),
        ) else {
            return Err(Unreadable::Git);
        };
        let mut remotes = Self {
            root,
            ..Self::default()
        };
        let mut fields = output.stdout.split(|byte| *byte == 0);
        while let (Some(scope), Some(origin), Some(entry)) =
            (fields.next(), fields.next(), fields.next())
        {
            let texts = (
                str::from_utf8(scope),
                str::from_utf8(origin),
                str::from_utf8(entry),
            );
            if let (Ok(scope), Ok(origin), Ok(entry)) = texts
                && let Some((key, value)) = entry.split_once('\n')
            {
                let own = is_own(scope, origin, &remotes.root, &common_dir);
                remotes.take(key, value, own);
            }
        }
        Ok(remotes)
    }

    fn take(&mut self, key: &str, value: &str, own: bool) {
        let Some((section, rest)) = key.split_once('.') else {
            return;
        };
        let Some((name, variable)) = rest.rsplit_once('.') else {
            return;
        };
        match (section, variable) {
            ("remote", "url" | "pushurl") if own => {
                let push = variable == "pushurl";
                if value.is_empty() {
                    // Git takes an empty value for the order to forget those before it.
                    self.urls
                        .retain(|url| url.remote != name || url.push != push);
                } else {
                    self.urls.push(Url {
                        remote: name.to_owned(),
                        value: value.to_owned(),
                        push,
                    });
                }
            }
            ("url", "insteadof" | "pushinsteadof") => self.rewrites.push(Rewrite {
                base: name.to_owned(),
                prefix: value.to_owned(),
                push: variable == "pushinsteadof",
                own,
            }),
            _ => {}
        }
    }

    /// Finds the remote of this identity: by the URL as it is configured, or as git goes there.
    pub(super) fn find(&self, wanted: &str) -> Lookup {
        let named: Vec<&Url> = self
            .urls
            .iter()
            .filter(|url| !url.push && self.is_called(url, |name| is_same(name, wanted)))
            .collect();
        // Where two spellings are two repositories, the one that is spelled as wanted.
        let exact = named
            .iter()
            .find(|url| self.is_called(url, |name| name == wanted));
        let Some(url) = exact.or(named.first()) else {
            return Lookup::Absent;
        };
        let push = self.urls.iter().find(|other| {
            other.push
                && other.remote == url.remote
                && self.is_called(other, |name| is_same(name, wanted))
        });
        let push_url = match push {
            Some(push) => self.led(&push.value),
            None => match self.rewritten(&url.value, true) {
                Rewritten::Not => self.led(&url.value),
                rewritten => rewritten.trusted(),
            },
        };
        match (self.led(&url.value), push_url) {
            (Some(fetch), Some(push)) if self.is_used(&fetch) && self.is_used(&push) => {
                Lookup::Found(Found {
                    name: url.remote.clone(),
                    url: fetch,
                    push_url: push,
                })
            }
            _ => Lookup::Led,
        }
    }

    fn is_called(&self, url: &Url, is: impl Fn(&str) -> bool) -> bool {
        let led = self.led(&url.value);
        let urls = [Some(url.value.as_str()), led.as_deref()];
        let mut names = urls.into_iter().flatten().filter_map(identity);
        names.any(|name| is(&name))
    }

    /// Where git fetches from for an address; `None` where a file of the checkout leads it.
    fn led(&self, url: &str) -> Option<String> {
        match self.rewritten(url, false) {
            Rewritten::Not => Some(url.to_owned()),
            rewritten => rewritten.trusted(),
        }
    }

    /// What the longest prefix makes of it, which is git's rule.
    fn rewritten(&self, url: &str, push: bool) -> Rewritten {
        let fitting = self
            .rewrites
            .iter()
            .filter(|rewrite| rewrite.push == push && url.starts_with(&rewrite.prefix));
        // Of two that are equally long the first one, which `max_by_key` finds from the other end.
        let Some(rewrite) = fitting.rev().max_by_key(|rewrite| rewrite.prefix.len()) else {
            return Rewritten::Not;
        };
        match url.strip_prefix(&rewrite.prefix) {
            Some(rest) if rewrite.own => Rewritten::To(format!("{}{rest}", rewrite.base)),
            _ => Rewritten::ByTheCheckout,
        }
    }

    fn is_used(&self, url: &str) -> bool {
        match protocol(url) {
            Some("file") => {
                // Git would run the hooks of a repository that came with the checkout.
                let path = Path::new(url.strip_prefix("file://").unwrap_or(url));
                path.canonicalize()
                    .is_ok_and(|path| !path.starts_with(&self.root))
            }
            protocol => protocol.is_some(),
        }
    }
}

/// Which of the protocols that may be used an address is of, in git's words; `None` of any other.
pub(super) fn protocol(url: &str) -> Option<&'static str> {
    let Some((scheme, rest)) = url.split_once("://") else {
        let is_path = url.starts_with('/');
        return match identity(url) {
            Some(_) => Some("ssh"),
            None => is_path.then_some("file"),
        };
    };
    let authority = rest.split('/').next().unwrap_or_default();
    match scheme {
        "https" => identity(url).map(|_| "https"),
        "ssh" => identity(url).map(|_| "ssh"),
        "http" if is_loopback(after_user(authority)?) => identity(url).map(|_| "http"),
        "file" => authority.is_empty().then_some("file"),
        _ => None,
    }
}

/// Whether the file is the user's: of a repository's own configuration, one in git's folder; of the user's and the
/// machine's, one that does not stand in the checkout.
fn is_own(scope: &str, origin: &str, root: &Path, common_dir: &Path) -> bool {
    let Some(path) = origin.strip_prefix("file:") else {
        return false;
    };
    let Ok(path) = root.join(path).canonicalize() else {
        return false;
    };
    match scope {
        "local" | "worktree" => path.starts_with(common_dir),
        "global" | "system" => !path.starts_with(root),
        _ => false,
    }
}
