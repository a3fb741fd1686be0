//! Why a place for the notes is not understood, kept or written.

use std::io;

use crate::floor::fs::{FileError, is_full};

/// Why `.ai/majordomus.toml` names no place that could be used. Nothing of what it holds is repeated but the name of a
/// key: its words are anybody's who can open a pull request.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// No plain file, or a very long one.
    #[error("`.ai/majordomus.toml` {0}")]
    File(FileError),
    /// The folder is a link to somewhere else.
    #[error("`.ai` leads out of the checkout")]
    Escape,
    /// No text.
    #[error("`.ai/majordomus.toml` is not UTF-8")]
    Encoding,
    /// No TOML.
    #[error("`.ai/majordomus.toml` is no TOML (line {0})")]
    Syntax(usize),
    /// `memory` is something else than a table.
    #[error("`memory` in `.ai/majordomus.toml` is no table")]
    Shape,
    /// A key that does not exist: it may be one that is misspelled, or one that a newer version heeds.
    #[error(
        "`.ai/majordomus.toml` has `{0}` under `[memory]`, where `remote`, `ref` and `review` may stand"
    )]
    Unknown(String),
    /// A value that is no text.
    #[error("`{0}` under `[memory]` in `.ai/majordomus.toml` is no text")]
    Kind(&'static str),
    /// A value that is neither true nor false.
    #[error("`{0}` under `[memory]` in `.ai/majordomus.toml` is neither true nor false")]
    Flag(&'static str),
    /// No remote.
    #[error("`[memory]` in `.ai/majordomus.toml` names no `remote`")]
    Missing,
    /// The remote is no identity.
    #[error("the `remote` in `.ai/majordomus.toml` is not of the form `github.com/org/repo`")]
    Remote,
    /// The ref may not be used.
    #[error("the `ref` in `.ai/majordomus.toml` {0}")]
    Reference(BadReference),
    /// Git does not tell its configuration.
    #[error("git does not tell what is configured here")]
    Git,
}

impl Unreadable {
    /// Returns the command to try next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File(_) => "ls -l .ai/majordomus.toml",
            Self::Escape => "ls -ld .ai",
            Self::Git => "git config --list --show-origin",
            Self::Encoding | Self::Syntax(_) | Self::Unknown(_) | Self::Flag(_) => {
                "git diff .ai/majordomus.toml"
            }
            Self::Shape | Self::Kind(_) | Self::Missing | Self::Remote | Self::Reference(_) => {
                "majordomus notes share"
            }
        }
    }
}

/// Why a ref is not one for notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadReference {
    /// `git check-ref-format` refuses it, or it holds more than ASCII.
    #[error("is no full name of a ref")]
    Name,
    /// It is one that the code may use.
    #[error("is neither below `refs/majordomus/` nor below `refs/heads/majordomus/`")]
    Elsewhere,
}

/// Why a place was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The remote is no identity.
    #[error("the remote is not of the form `github.com/org/repo`")]
    Remote,
    /// The ref may not be used.
    #[error("the ref {0}")]
    Reference(BadReference),
    /// The system refused the file.
    #[error("cannot write `majordomus/trust` in git's folder")]
    Write(#[source] io::Error),
}

impl TrustError {
    /// Returns the command to try next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Remote | Self::Reference(_) => "majordomus notes share",
            Self::Write(error) if is_full(error) => "df -h",
            Self::Write(_) => "ls -ld .git/majordomus",
        }
    }
}

/// Why `.ai/majordomus.toml` was not written. It is then as it was.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// The remote is no identity.
    #[error("the remote is not of the form `github.com/org/repo`")]
    Remote,
    /// The ref may not be used.
    #[error("the ref {0}")]
    Reference(BadReference),
    /// What stands there cannot be read.
    #[error(transparent)]
    Unreadable(Unreadable),
    /// `memory` is written in a way in which nothing can be put between.
    #[error("`memory` in `.ai/majordomus.toml` is written in a way that only a person can change")]
    Entangled,
    /// The system refused the file.
    #[error("cannot write `.ai/majordomus.toml`")]
    Write(#[source] io::Error),
}

impl ShareError {
    /// Returns the command to try next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Remote | Self::Reference(_) => "git remote -v",
            Self::Unreadable(error) => error.hint(),
            Self::Entangled => "cat .ai/majordomus.toml",
            Self::Write(error) if is_full(error) => "df -h",
            Self::Write(_) => "ls -ld .ai .ai/majordomus.toml",
        }
    }
}
