//! How a command ends: the table of exit codes, the table of failures, and the one place that prints an error.
//!
//! *Failure*: a lower-case cause, more causes where several things are wrong at once, and commands that help. It is
//! printed as `error: <cause>` and `hint: <command>` on standard error. Colour marks, and never carries meaning.

pub mod failures;
mod layers;

use std::process::ExitCode;

use self::failures::Kind;
use crate::registry::{Refusal, RefusalCode};

/// What the caller's shell is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    /// Done.
    Done,
    /// It failed.
    Failed,
    /// The command line is wrong.
    Usage,
    /// A conflict with somebody else's work was found.
    Conflict,
    /// A contract does not hold: a stale generated file, an invalid registry.
    Contract,
}

impl Exit {
    /// Every exit, in the order of the reference.
    pub const ALL: &'static [Self] = &[
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Conflict,
        Self::Contract,
    ];

    /// The number.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Conflict => 3,
            Self::Contract => 10,
        }
    }

    /// What it means, for the reference.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed, or there is no server to ask; standard error says why",
            Self::Usage => "the command line is wrong",
            Self::Conflict => "a conflict with somebody else's work",
            Self::Contract => {
                "a contract is not met: `validate`, `generate --check`, `mcp --inspect`"
            }
        }
    }

    /// The exit of a refused call.
    #[must_use]
    pub const fn of(code: RefusalCode) -> Self {
        match code {
            RefusalCode::Conflict => Self::Conflict,
            _ => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// What a command returns.
pub type Outcome = Result<Exit, Failure>;

/// Why a command did not do what it was asked, and what helps.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Failure {
    /// How the process ends.
    pub exit: Exit,
    /// The causes, lower case, without a full stop.
    pub causes: Vec<String>,
    /// Commands or actions that help, if this failure knows better than what always does.
    hints: Vec<String>,
    /// What helps where `hints` names nothing better.
    general: &'static str,
}

impl Failure {
    /// Fails for these causes, which are of one kind.
    fn because(kind: Kind, causes: Vec<String>) -> Self {
        Self {
            exit: kind.exit(),
            causes,
            hints: Vec::new(),
            general: kind.hint(),
        }
    }

    /// Fails as a server said, in its own words.
    pub fn said_by_server(exit: Exit, cause: String, hint: Option<String>) -> Self {
        Self {
            exit,
            causes: vec![cause],
            hints: hint.into_iter().collect(),
            general: "majordomus status",
        }
    }

    /// Says too where a person's text is that came to nothing.
    pub fn kept_in(mut self, file: &std::path::Path) -> Self {
        if let Some(cause) = self.causes.last_mut() {
            *cause = format!("{cause} (your text is in {})", file.display());
        }
        self
    }

    /// Names something that helps, in place of what always does.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// What helps: what this failure names, else what always does.
    #[must_use]
    pub fn hints(&self) -> Vec<String> {
        if self.hints.is_empty() {
            vec![self.general.to_owned()]
        } else {
            self.hints.clone()
        }
    }

    /// Renders the lines for standard error; `mark` colours the word before the colon.
    #[must_use]
    pub fn render(&self, mark: impl Fn(&str) -> String) -> String {
        let mut text = String::new();
        for cause in &self.causes {
            text.push_str(&mark("error"));
            text.push_str(": ");
            text.push_str(cause);
            text.push('\n');
        }
        for hint in self.hints() {
            text.push_str(&mark("hint"));
            text.push_str(": ");
            text.push_str(&hint);
            text.push('\n');
        }
        text
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self {
            exit: Exit::of(refusal.code()),
            general: refusal.code().hint(),
            causes: vec![refusal.message],
            hints: refusal.hint.into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Exit, Failure, failures};
    use crate::registry::{Refusal, RefusalCode};

    #[test]
    fn exit_codes_are_the_documented_ones_and_distinct() {
        let codes: Vec<_> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes, [0, 1, 2, 3, 10]);
        let meanings: BTreeSet<_> = Exit::ALL.iter().map(|exit| exit.meaning()).collect();
        assert_eq!(meanings.len(), codes.len());
    }

    #[test]
    fn a_failure_prints_every_cause_and_every_hint() {
        let causes = ["a is stale", "b is stale"].map(str::to_owned).to_vec();
        let failure = failures::STALE_FILE.each(causes).hint("c").hint("d");
        assert_eq!(
            failure.render(str::to_owned),
            "error: a is stale\nerror: b is stale\nhint: c\nhint: d\n"
        );
    }

    #[test]
    fn a_failure_that_names_nothing_that_helps_names_what_always_does() {
        let refused = Failure::from(Refusal::new(RefusalCode::Unavailable, "busy"));
        assert!(refused.render(str::to_owned).contains("\nhint: call again"));
    }

    #[test]
    fn only_a_conflict_exits_with_three() {
        let refused = |code| Failure::from(Refusal::new(code, "no")).exit;
        assert_eq!(refused(RefusalCode::Conflict), Exit::Conflict);
        assert_eq!(refused(RefusalCode::InvalidInput), Exit::Failed);
    }
}
