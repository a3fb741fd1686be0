//! Why the remote did not do it: each reason with its word, what it says and what helps.

use std::fmt;

use crate::floor::gaps;

/// Why the remote did not do it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteError {
    /// The deadline passed, or nothing came for too long. A push may have arrived all the same; a fetch tells.
    TimedOut,
    /// The remote is not reached: no name, no route, no answer, a broken connection.
    Offline,
    /// The remote wants to know who asks, and nothing here can say it without a person.
    NoCredentials,
    /// The remote's ssh key is not known here, or is another one than before.
    HostKey,
    /// The remote's certificate is not trusted here.
    Certificate,
    /// The remote has no such repository for this user, or lets them read alone.
    NoAccess,
    /// Somebody else moved the ref first.
    Stale,
    /// A hook or a rule of the remote refused, with its words.
    Rejected(String),
    /// What came does not hold together, with what git found.
    Damaged(String),
    /// Our own repository does not hold together, with what git found.
    Broken(String),
    /// The remote's object ids are of another kind than ours.
    Format,
    /// The disk is full, or may not be written.
    Disk,
    /// There is no git.
    NoGit,
    /// Another process uses the network for the same repository, or holds the lock of a ref.
    Lock,
    /// Not an address that is used.
    Url(String),
    /// Not a name of a ref.
    Name(String),
    /// Our own repository has settings that are not ours, and that could run a program.
    Settings(String),
    /// Anything else, in git's words.
    Other(String),
}

/// A machine word, a text with gaps, and what helps.
type Row = (&'static str, &'static str, &'static str);

const TIMED_OUT: Row = (
    "timed-out",
    "the remote did not answer in time",
    "git ls-remote URL, to see whether it answers you",
);
const OFFLINE: Row = (
    "offline",
    "the remote cannot be reached",
    "git ls-remote URL, to see what is in the way",
);
const NO_CREDENTIALS: Row = (
    "no-credentials",
    "the remote asks who you are, and git has no answer without asking you",
    "git ls-remote URL once in a terminal, with a credential helper or an ssh agent that keeps the answer",
);
const HOST_KEY: Row = (
    "host-key",
    "the ssh key of the remote is not the one that is known here",
    "ssh -T HOST once in a terminal, and compare the key",
);
const CERTIFICATE: Row = (
    "certificate",
    "the certificate of the remote is not trusted here",
    "git config http.sslCAInfo FILE, with your company's certificate",
);
const NO_ACCESS: Row = (
    "no-access",
    "the remote has no such repository for you, or does not let you write",
    "git ls-remote URL, then ask its owner for access",
);
const STALE: Row = (
    "stale",
    "somebody else published in the same moment",
    "nothing: it is done again on top of theirs",
);
const REJECTED: Row = (
    "rejected",
    "the remote refused what was sent: …",
    "ask who looks after its rules, or name another ref",
);
const DAMAGED: Row = (
    "damaged",
    "what the remote sent does not hold together: …",
    "git fsck, in a clone of the remote; whoever may push puts its ref back to the commit before",
);
const BROKEN: Row = (
    "damaged-here",
    "the repository of the notes on this machine is damaged: …",
    "majordomus doctor",
);
const FORMAT: Row = (
    "format",
    "the remote has object ids of another kind than ours",
    "majordomus doctor",
);
const DISK: Row = (
    "disk",
    "the disk is full or cannot be written",
    "df -h PATH",
);
const NO_GIT: Row = (
    "no-git",
    "there is no git on the path of this process",
    "git --version",
);
const LOCK: Row = (
    "lock",
    "another process is sending from the same repository",
    "majordomus status",
);
const URL: Row = (
    "url",
    "`…` is no address of a remote that is used: expected https:// or ssh",
    "git remote -v, for the addresses of this checkout",
);
const NAME: Row = (
    "name",
    "`…` is no full name of a ref",
    "git check-ref-format REF",
);
const SETTINGS: Row = (
    "settings",
    "our repository has a setting that is not ours: `…`",
    "git config --file PATH --list, and take it out",
);
const OTHER: Row = ("failed", "git failed: …", "majordomus doctor");

impl RemoteError {
    /// Every reason, for the reference: what it says, and what helps.
    pub fn table() -> impl Iterator<Item = (&'static str, &'static str)> {
        [
            TIMED_OUT,
            OFFLINE,
            NO_CREDENTIALS,
            HOST_KEY,
            CERTIFICATE,
            NO_ACCESS,
            STALE,
            REJECTED,
            DAMAGED,
            BROKEN,
            FORMAT,
            DISK,
            NO_GIT,
            LOCK,
            URL,
            NAME,
            SETTINGS,
            OTHER,
        ]
        .into_iter()
        .map(|(_, text, hint)| (text, hint))
    }

    fn row(&self) -> Row {
        match self {
            Self::TimedOut => TIMED_OUT,
            Self::Offline => OFFLINE,
            Self::NoCredentials => NO_CREDENTIALS,
            Self::HostKey => HOST_KEY,
            Self::Certificate => CERTIFICATE,
            Self::NoAccess => NO_ACCESS,
            Self::Stale => STALE,
            Self::Rejected(_) => REJECTED,
            Self::Damaged(_) => DAMAGED,
            Self::Broken(_) => BROKEN,
            Self::Format => FORMAT,
            Self::Disk => DISK,
            Self::NoGit => NO_GIT,
            Self::Lock => LOCK,
            Self::Url(_) => URL,
            Self::Name(_) => NAME,
            Self::Settings(_) => SETTINGS,
            Self::Other(_) => OTHER,
        }
    }

    /// Its machine word: `timed-out`, `offline`, `no-credentials`, `no-access`, `rejected`, `disk`, ….
    #[must_use]
    pub fn word(&self) -> &'static str {
        self.row().0
    }

    /// What helps.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        self.row().2
    }

    /// Whether trying again helps before somebody has changed something.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::TimedOut | Self::Offline | Self::Stale | Self::Lock | Self::Disk | Self::Other(_)
        )
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.row().1;
        match self {
            Self::Rejected(what)
            | Self::Damaged(what)
            | Self::Broken(what)
            | Self::Url(what)
            | Self::Name(what)
            | Self::Settings(what)
            | Self::Other(what) => f.write_str(&gaps::fill(text, &[what])),
            _ => f.write_str(text),
        }
    }
}

impl std::error::Error for RemoteError {}
