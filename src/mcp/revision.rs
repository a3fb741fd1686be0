//! The five revisions of MCP that are spoken.

/// A protocol revision. *Source:* MCP `basic/versioning`, 2026-07-28.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// 2024-11-05
    V20241105,
    /// 2025-03-26
    V20250326,
    /// 2025-06-18
    V20250618,
    /// 2025-11-25
    V20251125,
    /// 2026-07-28
    V20260728,
}

impl Revision {
    /// All of them, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V20241105,
        Self::V20250326,
        Self::V20250618,
        Self::V20251125,
        Self::V20260728,
    ];

    /// The newest revision with `initialize`.
    pub const NEWEST_LEGACY: Self = Self::V20251125;

    /// The date that names it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V20241105 => "2024-11-05",
            Self::V20250326 => "2025-03-26",
            Self::V20250618 => "2025-06-18",
            Self::V20251125 => "2025-11-25",
            Self::V20260728 => "2026-07-28",
        }
    }

    /// Reads the date that names a revision.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == text)
    }

    /// Whether it has no `initialize`.
    #[must_use]
    pub fn is_modern(self) -> bool {
        self == Self::V20260728
    }

    /// Whether a server may close a stream before its answer: its clients come back with the last event that they saw,
    /// and take a first one that is nothing but an id. *Source:* SEP-1699.
    #[must_use]
    pub fn polls(self) -> bool {
        self == Self::V20251125
    }

    /// The revision that answers an `initialize` asking for `asked`: the same if it is known and legacy, else our
    /// newest legacy one.
    #[must_use]
    pub fn negotiate(asked: Option<&str>) -> Self {
        asked
            .and_then(Self::parse)
            .filter(|revision| !revision.is_modern())
            .unwrap_or(Self::NEWEST_LEGACY)
    }
}

#[cfg(test)]
mod tests {
    use super::Revision;

    #[test]
    fn a_known_legacy_revision_is_kept_and_any_other_gets_our_newest() {
        for revision in Revision::ALL {
            assert_eq!(Revision::parse(revision.as_str()), Some(revision));
        }
        assert_eq!(Revision::negotiate(Some("2025-03-26")), Revision::V20250326);
        assert_eq!(Revision::negotiate(Some("2026-07-28")), Revision::V20251125);
        assert_eq!(Revision::negotiate(Some("1999-01-01")), Revision::V20251125);
        assert_eq!(Revision::negotiate(None), Revision::V20251125);
    }
}
