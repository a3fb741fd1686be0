//! What became of a write, in one place: the word, and the sentence that a model passes on. It says what happened, who can
//! see the note now and what happens next.

use std::fmt;

/// What became of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was written, as asked.
    DryRun,
    /// The team's ref has it, as this call saw.
    Published {
        /// The remote's name in the user's configuration.
        remote: String,
    },
    /// What the team has is here, as asked; nothing was sent.
    TakenIn {
        /// The remote's name in the user's configuration.
        remote: String,
    },
    /// The checkout names no place for notes, or none that the user has agreed to.
    NotShared {
        /// Why, as a clause.
        why: String,
        /// What to do about it.
        hint: String,
    },
    /// Syncing is off here: the client's hooks do it.
    HandedToHost,
    /// Another process of the repository is at it.
    Deferred,
    /// The remote had not answered when the call had waited long enough; the work goes on.
    TimedOut,
    /// It could not be sent.
    Failed {
        /// The machine's word.
        word: &'static str,
        /// Why, as a clause.
        why: String,
        /// What to do about it.
        hint: String,
    },
    /// The team's ref was removed or rewritten.
    Rewritten,
}

impl Outcome {
    /// The word.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::DryRun => "dry-run",
            Self::Published { .. } => "published",
            Self::TakenIn { .. } => "taken-in",
            Self::NotShared { .. } => "not-shared",
            Self::HandedToHost => "handed-to-host",
            Self::Deferred => "deferred",
            Self::TimedOut => "timed-out",
            Self::Failed { word, .. } => word,
            Self::Rewritten => "rewritten",
        }
    }

    /// Whether the team's ref has it.
    #[must_use]
    pub const fn is_published(&self) -> bool {
        matches!(self, Self::Published { .. })
    }
}

/// Where a note is that the team does not have.
const HERE: &str = "Saved on this machine, where every agent in this repository and its worktrees can read it; the team cannot see it yet.";
/// What happens to it next.
const AGAIN: &str = "It is sent with the next note, and while notes are used here.";

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DryRun => f.write_str("Nothing was written: this is what would be."),
            Self::Published { remote } => write!(
                f,
                "Saved and published: everybody who can read the notes at the remote `{remote}` can see it."
            ),
            Self::TakenIn { remote } => write!(
                f,
                "What the team has written down at the remote `{remote}` is here. Nothing was sent."
            ),
            Self::NotShared { why, hint } => {
                write!(
                    f,
                    "{HERE} It is not sent anywhere: {why}. To share it: {hint}"
                )
            }
            Self::HandedToHost => write!(
                f,
                "{HERE} This client's hooks send it, since MAJORDOMUS_SYNC is off here."
            ),
            Self::Deferred => write!(
                f,
                "{HERE} Another process of this repository is talking to the remote. {AGAIN}"
            ),
            Self::TimedOut => write!(
                f,
                "{HERE} The remote has not answered yet; sending goes on, and may still succeed by itself."
            ),
            Self::Failed { why, hint, .. } => {
                write!(
                    f,
                    "{HERE} It could not be sent: {why}. {AGAIN} To find out more: {hint}"
                )
            }
            Self::Rewritten => write!(
                f,
                "{HERE} The team's notes were removed or rewritten on the remote, and nothing is put back into them: ask \
                 whoever did it. If it was meant, `majordomus sync --adopt` takes what is there now, and sends what was not published."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Outcome;

    /// What a model relays is worded on purpose: a change of it is a change of this file.
    #[test]
    fn every_outcome_says_what_the_golden_file_says() {
        let text = |word: &str| word.to_owned();
        let all = [
            Outcome::DryRun,
            Outcome::Published {
                remote: text("origin"),
            },
            Outcome::TakenIn {
                remote: text("origin"),
            },
            Outcome::NotShared {
                why: text("the checkout names no place for the team's notes"),
                hint: text("majordomus notes share"),
            },
            Outcome::HandedToHost,
            Outcome::Deferred,
            Outcome::TimedOut,
            Outcome::Failed {
                word: "offline",
                why: text("the team's remote cannot be reached"),
                hint: text("git ls-remote URL"),
            },
            Outcome::Rewritten,
        ];
        let said: Vec<String> = all
            .iter()
            .map(|outcome| {
                let published = if outcome.is_published() {
                    " (published)"
                } else {
                    ""
                };
                format!("{}{published}: {outcome}\n", outcome.word())
            })
            .collect();
        assert_eq!(said.concat(), include_str!("outcome.golden"));
    }
}
