//! What became of a write, in one place: the word, and the sentence that a model passes on. It says what happened, who can
//! see the note now and what happens next.

use std::fmt;

/// What was done to the notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// One was written or changed.
    Write,
    /// One was taken away.
    Forget,
    /// One was taken out of the history.
    Purge,
    /// Those of this machine and of the team were to be brought together.
    Meet,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was written, as asked.
    DryRun,
    /// It waits for somebody to promote it.
    Draft {
        /// Whether that has to be a person.
        reviewed: bool,
    },
    /// A draft was given up.
    Rejected,
    /// The team's ref has it, as this call saw.
    Published {
        /// The remote's name in the user's configuration.
        remote: String,
    },
    /// There is no remote at all.
    NoRemote,
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
    /// It seems to hold a secret, and was held back.
    Withheld {
        /// The note's id.
        id: String,
        /// Where and what, as a clause.
        what: String,
    },
}

impl Outcome {
    /// The word.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::DryRun => "dry-run",
            Self::Draft { .. } => "draft",
            Self::Rejected => "rejected-draft",
            Self::Published { .. } => "published",
            Self::NoRemote => "committed-no-remote",
            Self::TakenIn { .. } => "taken-in",
            Self::NotShared { .. } => "not-shared",
            Self::HandedToHost => "handed-to-host",
            Self::Deferred => "deferred",
            Self::TimedOut => "timed-out",
            Self::Failed { word, .. } => word,
            Self::Rewritten => "rewritten",
            Self::Withheld { .. } => "withheld",
        }
    }

    /// Whether the team's ref has it.
    #[must_use]
    pub const fn is_published(&self) -> bool {
        matches!(self, Self::Published { .. })
    }

    /// The sentences about what was done.
    #[must_use]
    pub fn about(&self, act: Act) -> About<'_> {
        About { outcome: self, act }
    }
}

/// An outcome of one act, as it is told.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    outcome: &'a Outcome,
    act: Act,
}

impl Act {
    /// How things stand where the team has not heard of it.
    const fn here(self) -> &'static str {
        match self {
            Self::Write => {
                "Saved on this machine, where every agent in this repository and its worktrees can read it; the team cannot see it yet."
            }
            Self::Forget => {
                "Forgotten on this machine, in this repository and its worktrees; where the team has the note, it still sees it."
            }
            Self::Purge => "Nothing was purged.",
            Self::Meet => {
                "The notes of this machine and of the team were not brought together; what was written here stays saved here."
            }
        }
    }

    /// What happens to it next.
    const fn next(self) -> &'static str {
        match self {
            Self::Write | Self::Forget => {
                "It is sent with the next note, and while notes are used here."
            }
            Self::Purge => "Try it again later.",
            Self::Meet => "It is tried again with the next note, and while notes are used here.",
        }
    }
}

impl fmt::Display for About<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (here, next) = (self.act.here(), self.act.next());
        match self.outcome {
            Outcome::DryRun => f.write_str("Nothing was written: this is what would be."),
            Outcome::Draft { reviewed: false } => f.write_str(
                "Kept on this machine as a draft: nobody finds it, and it is not sent, before it is promoted.",
            ),
            Outcome::Draft { reviewed: true } => f.write_str(
                "Kept on this machine as a draft: this team reviews its notes, so nobody finds it, and it is not sent, \
                 before a person promotes it. They see it with: majordomus notes pending",
            ),
            Outcome::Rejected => f.write_str(
                "The draft is given up: nobody finds it, and it is not sent. To take it up again, promote it.",
            ),
            Outcome::Published { remote } => match self.act {
                Act::Write => write!(
                    f,
                    "Saved and published: everybody who can read the notes at the remote `{remote}` can see it."
                ),
                Act::Forget => write!(
                    f,
                    "Forgotten, and published: nobody who meets the notes at the remote `{remote}` finds it any more. Their \
                     history keeps its text. To take it out of there too: majordomus notes purge ID"
                ),
                Act::Purge => write!(
                    f,
                    "Purged: the note is in the history of the notes no more, neither here nor at the remote `{remote}`. Every other \
                     clone refuses that until it says: majordomus sync --adopt. Copies that others or the host made are theirs to remove."
                ),
                Act::Meet => write!(
                    f,
                    "The notes of this machine and those of the team at the remote `{remote}` are the same."
                ),
            },
            Outcome::TakenIn { remote } => write!(
                f,
                "What the team has written down at the remote `{remote}` is here. Nothing was sent."
            ),
            Outcome::NoRemote | Outcome::NotShared { .. } if self.act == Act::Purge => f.write_str(
                "Purged on this machine, in this repository and its worktrees: the note is in the history of the notes here no more. Nothing was sent anywhere.",
            ),
            Outcome::NoRemote => write!(
                f,
                "{here} This repository has no remote to send it to. To have one: git remote add origin URL, then majordomus notes share"
            ),
            Outcome::NotShared { why, hint } => {
                write!(f, "{here} Nothing is sent anywhere: {why}. To share notes: {hint}")
            }
            Outcome::HandedToHost => write!(
                f,
                "{here} This client's hooks send it, since MAJORDOMUS_SYNC is off here."
            ),
            Outcome::Deferred => write!(
                f,
                "{here} Another process of this repository is talking to the remote. {next}"
            ),
            Outcome::TimedOut => write!(
                f,
                "{here} The remote has not answered yet; the work goes on, and may still succeed by itself."
            ),
            Outcome::Failed { why, hint, .. } => {
                write!(f, "{here} It did not get there: {why}. {next} To find out more: {hint}")
            }
            Outcome::Withheld { id, what } => write!(
                f,
                "Kept on this machine as a draft, and nothing of it was sent: it seems to hold a secret ({what}). To take it out: \
                 majordomus notes edit {id}, then majordomus notes promote {id}. If it is none, a person says so with: majordomus notes acknowledge {id}"
            ),
            Outcome::Rewritten => write!(
                f,
                "{here} The team's notes were removed or rewritten on the remote, and nothing is put back into them: ask \
                 whoever did it. If it was meant, `majordomus sync --adopt` takes what is there now, and sends what was not published."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Act, Outcome};

    /// What a model relays is worded on purpose: a change of it is a change of this file.
    #[test]
    fn every_outcome_says_what_the_golden_file_says() {
        let text = |word: &str| word.to_owned();
        let all = [
            Outcome::DryRun,
            Outcome::Draft { reviewed: false },
            Outcome::Draft { reviewed: true },
            Outcome::Rejected,
            Outcome::Published {
                remote: text("origin"),
            },
            Outcome::NoRemote,
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
            Outcome::Withheld {
                id: text("ID"),
                what: text("github-token in line 3 of memory/00/ID.md: ghp_…"),
            },
        ];
        let acts = [
            ("write", Act::Write),
            ("forget", Act::Forget),
            ("purge", Act::Purge),
            ("meet", Act::Meet),
        ];
        let said = acts.map(|(name, act)| {
            let lines = all.iter().map(|outcome| {
                let word = outcome.word();
                let published = if outcome.is_published() {
                    " (published)"
                } else {
                    ""
                };
                format!("{word}{published}: {}\n", outcome.about(act))
            });
            format!("# {name}\n{}", lines.collect::<String>())
        });
        assert_eq!(said.concat(), include_str!("outcome.golden"));
    }
}
