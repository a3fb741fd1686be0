//! What became of a write, in one place: the word, and the sentence that a model passes on. It says what happened, who can
//! see the note now and what happens next.

use std::fmt;

/// What became of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was written, as asked.
    DryRun,
    /// No remote is agreed on for this repository.
    NotShared,
}

impl Outcome {
    /// The word.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::DryRun => "dry-run",
            Self::NotShared => "not-shared",
        }
    }

    /// Whether the team's ref has it.
    #[must_use]
    pub const fn is_published(&self) -> bool {
        match self {
            Self::DryRun | Self::NotShared => false,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DryRun => "Nothing was written: this is what would be.",
            Self::NotShared => {
                "Saved on this machine, where every agent in this repository and its worktrees can read it. \
                 The team cannot see it: this version does not send notes to a remote."
            }
        })
    }
}
