//! One entry of a scope: validated and normalised.

use super::glob::{Automaton, Meet};
use crate::floor::limits::{SCOPE_CHARS, SCOPE_ENTRIES};
use crate::floor::text::is_hidden;
use crate::registry::refusal::{self, Reason};

/// What makes an entry a pattern.
const PATTERN: [char; 4] = ['*', '?', '[', '{'];
/// Pairs of states that one comparison may visit.
const STEPS: usize = 4096;

/// A path or glob below the repository's root, in its normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    text: String,
    /// Where its first pattern character stands, or its end.
    literal: usize,
}

/// What comparing entries may still cost in one answer, in states made and pairs of them visited; past it, what could meet is named.
#[derive(Debug, Clone, Copy)]
pub struct Effort(usize);

impl Default for Effort {
    fn default() -> Self {
        Self(50_000)
    }
}

/// Why an entry was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEntry {
    /// More entries than [`SCOPE_ENTRIES`].
    #[error("argument `scope` has {0} entries: expected at most {SCOPE_ENTRIES}")]
    TooMany(usize),
    /// Nothing in it.
    #[error("argument `scope[{0}]` is empty: expected a path or glob")]
    Empty(usize),
    /// Longer than any path should be.
    #[error("argument `scope[{0}]` is too long: expected at most {SCOPE_CHARS} characters")]
    TooLong(usize),
    /// A control character.
    #[error("argument `scope[{0}]` has a control character: expected a path or glob")]
    Control(usize),
    /// Not relative.
    #[error("argument `scope[{0}]` is absolute: expected a path relative to the repository's root")]
    Absolute(usize),
    /// A backslash.
    #[error("argument `scope[{0}]` has a backslash: expected `/` between the parts of a path")]
    Backslash(usize),
    /// Leads out of the repository.
    #[error("argument `scope[{0}]` leads out of the repository")]
    Outside(usize),
    /// `..` after a pattern, which names nothing certain.
    #[error("argument `scope[{0}]` has `..` after a pattern: expected a path or glob without it")]
    UpFromPattern(usize),
}

impl BadEntry {
    /// Returns which entry it is; of too many, the first one that is.
    #[must_use]
    pub fn index(&self) -> usize {
        match self {
            Self::TooMany(_) => SCOPE_ENTRIES,
            Self::Empty(index)
            | Self::TooLong(index)
            | Self::Control(index)
            | Self::Absolute(index)
            | Self::Backslash(index)
            | Self::Outside(index)
            | Self::UpFromPattern(index) => *index,
        }
    }

    /// Returns the refusal of an announcement that has it.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match self {
            Self::TooMany(_) => refusal::MANY_ENTRIES,
            Self::Empty(_) => refusal::EMPTY_ENTRY,
            Self::TooLong(_) => refusal::LONG_ENTRY,
            Self::Control(_) => refusal::CONTROL_ENTRY,
            Self::Absolute(_) => refusal::ABSOLUTE_ENTRY,
            Self::Backslash(_) => refusal::BACKSLASH_ENTRY,
            Self::Outside(_) => refusal::OUTSIDE_ENTRY,
            Self::UpFromPattern(_) => refusal::UP_ENTRY,
        }
    }
}

/// Parses a whole scope: normalised, without duplicates, in the order given.
///
/// # Errors
/// The first [`BadEntry`], with its index.
pub fn parse<S: AsRef<str>>(scope: &[S]) -> Result<Vec<Entry>, BadEntry> {
    if scope.len() > SCOPE_ENTRIES {
        return Err(BadEntry::TooMany(scope.len()));
    }
    let mut entries: Vec<Entry> = Vec::with_capacity(scope.len());
    for (index, text) in scope.iter().enumerate() {
        let entry = Entry::parse(text.as_ref(), index)?;
        if !entries.iter().any(|known| known == &entry) {
            entries.push(entry);
        }
    }
    Ok(entries)
}

impl Entry {
    fn parse(text: &str, index: usize) -> Result<Self, BadEntry> {
        if text.chars().count() > SCOPE_CHARS {
            return Err(BadEntry::TooLong(index));
        }
        if text.chars().any(is_hidden) {
            return Err(BadEntry::Control(index));
        }
        let text = text.trim();
        if text.is_empty() {
            return Err(BadEntry::Empty(index));
        }
        if text.contains('\\') {
            return Err(BadEntry::Backslash(index));
        }
        let drive = text.get(1..3) == Some(":/");
        if text.starts_with('/') || drive {
            return Err(BadEntry::Absolute(index));
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => match parts.pop() {
                    None => return Err(BadEntry::Outside(index)),
                    Some(part) if part.contains(PATTERN) => {
                        return Err(BadEntry::UpFromPattern(index));
                    }
                    Some(_) => {}
                },
                part => parts.push(part),
            }
        }
        let text = if parts.is_empty() {
            ".".to_owned()
        } else {
            parts.join("/")
        };
        let literal = text.find(PATTERN).unwrap_or(text.len());
        Ok(Self { text, literal })
    }

    /// Returns the normal form: no `./`, no doubled or trailing slash; `.` is the whole repository.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What stands before the first pattern character: every path of it begins so.
    fn literal(&self) -> &str {
        self.text.get(..self.literal).unwrap_or(&self.text)
    }

    /// What every path of it begins with: two entries can meet only where one's beginning begins with the other's.
    pub fn beginning(&self) -> &str {
        if self.text == "." { "" } else { self.literal() }
    }

    /// Whether their beginnings let them meet.
    pub fn could_meet(&self, other: &Self) -> bool {
        let (one, two) = (self.beginning(), other.beginning());
        one.starts_with(two) || two.starts_with(one)
    }

    fn is_pattern(&self) -> bool {
        self.literal < self.text.len()
    }

    /// Whether some path belongs to both.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.meets_within(other, &mut Effort::default())
    }

    /// Whether some path belongs to both, as far as `effort` can tell; if it cannot, they do.
    pub fn meets_within(&self, other: &Self, effort: &mut Effort) -> bool {
        if self.text == "." || other.text == "." {
            return true;
        }
        if !self.could_meet(other) {
            return false;
        }
        if !self.is_pattern() && !other.is_pattern() {
            return contains(&self.text, &other.text) || contains(&other.text, &self.text);
        }
        let bound = effort.0.min(STEPS);
        if bound == 0 {
            return true;
        }
        let (one, two) = (Automaton::new(&self.text), Automaton::new(&other.text));
        let (met, visited) = one.meet(&two, bound);
        let made = self.text.len() + other.text.len();
        effort.0 = effort.0.saturating_sub(visited + made);
        met != Meet::Nowhere
    }
}

/// Whether `inner` is `outer` or below it.
fn contains(outer: &str, inner: &str) -> bool {
    inner
        .strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::{BadEntry, parse};

    fn one(text: &str) -> Result<String, BadEntry> {
        parse(&[text]).map(|entries| entries[0].as_str().to_owned())
    }

    #[test]
    fn entries_are_normalised() {
        for (given, kept) in [
            ("./src//a/", "src/a"),
            ("src/../a", "a"),
            ("  src ", "src"),
            (".", "."),
            ("a/..", "."),
            ("src/**/", "src/**"),
            ("...", "..."),
            ("-n", "-n"),
        ] {
            assert_eq!(one(given).as_deref(), Ok(kept), "{given}");
        }
        assert_eq!(parse(&["a", "./a", "a/"]).unwrap().len(), 1);
    }

    #[test]
    fn entries_that_name_no_path_of_the_repository_are_refused() {
        for (given, fault) in [
            ("", BadEntry::Empty(0)),
            ("  ", BadEntry::Empty(0)),
            ("/etc/passwd", BadEntry::Absolute(0)),
            ("C:/x", BadEntry::Absolute(0)),
            ("..", BadEntry::Outside(0)),
            ("a/../../b", BadEntry::Outside(0)),
            ("*/../b", BadEntry::UpFromPattern(0)),
            ("a\nb", BadEntry::Control(0)),
            ("a\\b", BadEntry::Backslash(0)),
        ] {
            assert_eq!(one(given), Err(fault), "{given}");
        }
        assert_eq!(one(&"a".repeat(513)), Err(BadEntry::TooLong(0)));
        assert!(one(&"a".repeat(512)).is_ok());
        assert_eq!(parse(&vec!["a"; 65]), Err(BadEntry::TooMany(65)));
        assert!(parse(&vec!["a"; 64]).is_ok());
    }

    #[test]
    fn plain_paths_meet_by_component() {
        let meet = |a: &str, b: &str| {
            let (a, b) = (parse(&[a]).unwrap(), parse(&[b]).unwrap());
            assert_eq!(a[0].meets(&b[0]), b[0].meets(&a[0]));
            a[0].meets(&b[0])
        };
        assert!(meet("src", "src/a"));
        assert!(meet("src/a", "src/a"));
        assert!(meet(".", "anything"));
        assert!(!meet("src", "srcs"));
        assert!(!meet("src/a", "src/b"));
        assert!(meet("src/", "src/*.rs"));
        // Past the bound the literal beginning decides, toward naming.
        let many = "*a".repeat(200);
        assert!(meet(&format!("x/{many}"), &format!("x/{many}b")));
    }
}
