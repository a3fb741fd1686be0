//! What one look came to.

use serde_json::{Value, json};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli::commands) enum Verdict {
    /// As it should be.
    Good,
    /// It works, and a person may want to know.
    Note,
    /// Somebody is not served, or not together with the others.
    Problem,
}

impl Verdict {
    /// The word for people and programs.
    pub(in crate::cli::commands) const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

/// A verdict, one sentence without its full stop, and a command where one helps. It holds no absolute path and no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli::commands) struct Finding {
    /// What was looked at, in one word.
    pub(in crate::cli::commands) check: &'static str,
    pub(in crate::cli::commands) verdict: Verdict,
    pub(in crate::cli::commands) text: String,
    pub(in crate::cli::commands) hint: Option<String>,
}

impl Finding {
    pub(super) fn good(check: &'static str, text: impl Into<String>) -> Self {
        Self::of(check, Verdict::Good, text)
    }

    pub(super) fn note(check: &'static str, text: impl Into<String>) -> Self {
        Self::of(check, Verdict::Note, text)
    }

    pub(super) fn problem(check: &'static str, text: impl Into<String>) -> Self {
        Self::of(check, Verdict::Problem, text)
    }

    fn of(check: &'static str, verdict: Verdict, text: impl Into<String>) -> Self {
        Self {
            check,
            verdict,
            text: text.into(),
            hint: None,
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "check": self.check,
            "verdict": self.verdict.as_str(),
            "text": self.text,
            "hint": self.hint,
        })
    }
}
