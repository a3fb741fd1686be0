//! Texts with gaps: what is said stands once, in a table, with a [`GAP`] for each thing that only the moment knows.

use std::fmt::Display;

/// Stands in a text for what only the moment knows.
pub const GAP: char = '…';

/// Fills the gaps of `text` in their order. One value for each gap, no more and no fewer: anything else is a mistake of
/// the caller, which a debug build ends with.
#[must_use]
pub fn fill(text: &str, values: &[&dyn Display]) -> String {
    debug_assert_eq!(
        text.matches(GAP).count(),
        values.len(),
        "each gap of {text:?} takes a value"
    );
    let mut pieces = text.split(GAP);
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    let mut values = values.iter();
    for piece in pieces {
        filled.extend(values.next().map(ToString::to_string));
        filled.push_str(piece);
    }
    filled
}

/// What somebody else has said, where `text` describes it: anything else is a mistake of the caller, which a debug build
/// ends with.
#[must_use]
pub fn told(text: &str, said: String) -> String {
    debug_assert!(fits(text, &said), "{said:?} is not {text:?}");
    said
}

/// Whether `filled` is `text` with something in its gaps.
#[must_use]
pub fn fits(text: &str, filled: &str) -> bool {
    let (first, pieces) = text.split_once(GAP).unwrap_or((text, ""));
    let Some(mut rest) = filled.strip_prefix(first) else {
        return false;
    };
    if first == text {
        return rest.is_empty();
    }
    let (middle, last) = pieces.rsplit_once(GAP).unwrap_or(("", pieces));
    for piece in middle.split(GAP) {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Declares a table of what can go wrong: the type of its rows, which nobody else makes, and lists of rows, each a constant.
///
/// ```text
/// gaps::table! {
///     /// One reason to refuse a call.
///     Reason { code: RefusalCode }
///
///     /// Every reason, in the order of the reference.
///     ALL {
///         NO_NOTE = NotFound, "there is no note `…`", "majordomus notes lists those there are";
///     }
/// }
/// ```
///
/// The word behind a name is one of the row's first field; the two texts are what it says, lower case and without a full
/// stop, with a [`GAP`] for what only the moment knows, and what helps.
macro_rules! table {
    (
        $(#[$about:meta])*
        $row:ident { $key:ident: $code:ty }
        $(
            $(#[$doc:meta])*
            $list:ident {
                $($name:ident = $word:ident, $text:literal, $hint:literal;)*
            }
        )*
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $row {
            $key: $code,
            text: &'static str,
            hint: &'static str,
        }

        impl $row {
            /// Returns the word under which it stands in the table.
            #[must_use]
            pub fn $key(self) -> $code {
                self.$key
            }

            /// Returns what it says, with a gap for what only the moment knows.
            #[must_use]
            pub fn text(self) -> &'static str {
                self.text
            }

            /// Returns what helps, where the moment knows nothing better.
            #[must_use]
            pub fn hint(self) -> &'static str {
                self.hint
            }
        }

        $(
            $(
                #[doc = $text]
                pub const $name: $row = $row { $key: <$code>::$word, text: $text, hint: $hint };
            )*

            $(#[$doc])*
            pub const $list: &[$row] = &[$($name),*];
        )*
    };
}

pub(crate) use table;

/// What holds for the rows of every such table: text and hint.
///
/// # Panics
///
/// Where a row is not like that: it is a test's.
#[cfg(test)]
pub fn holds_for<'a>(rows: impl IntoIterator<Item = (&'a str, &'a str)>) {
    let mut seen = std::collections::HashSet::new();
    for (text, hint) in rows {
        let open = text == GAP.to_string();
        assert!(seen.insert(text) || open, "{text} stands twice");
        assert!(!text.starts_with(char::is_uppercase), "{text}");
        assert!(!text.ends_with('.'), "{text}");
        assert!(!hint.is_empty() && !hint.ends_with('.'), "{text}: {hint}");
        assert!(!hint.contains(GAP), "{text}: {hint}");
    }
    assert!(!seen.is_empty());
}

#[cfg(test)]
mod tests {
    use super::{fill, fits};

    #[test]
    fn gaps_are_filled_in_their_order() {
        assert_eq!(fill("cannot write …: …", &[&"a", &7]), "cannot write a: 7");
        assert_eq!(fill("nothing to say", &[]), "nothing to say");
        assert_eq!(fill("…", &[&"all"]), "all");
    }

    #[test]
    #[should_panic(expected = "takes a value")]
    fn a_gap_that_nothing_fills_is_a_mistake() {
        let _text = fill("cannot write …: …", &[&"a"]);
    }

    #[test]
    fn a_text_fits_what_it_says_and_nothing_else() {
        for (text, filled) in [
            ("cannot write …: …", "cannot write a: no: room"),
            ("… is stale", "a is stale is stale"),
            ("… …, and stays", "a b, and stays"),
            ("…", "anything"),
            ("plain", "plain"),
        ] {
            assert!(fits(text, filled), "{text:?} {filled:?}");
        }
        for (text, filled) in [
            ("… is stale", "a is stale now"),
            ("cannot write …: …", "cannot read a: no room"),
            ("cannot write …: …", "cannot write a"),
            ("plain", "plain and more"),
        ] {
            assert!(!fits(text, filled), "{text:?} {filled:?}");
        }
    }
}
