//! Other people's words as data: one line, bounded, nothing in them that could end the quotation or hide.

use crate::floor::text::is_hidden;

/// Quotes `text` in at most `bytes` bytes between the quotation marks.
pub(super) fn quoted(text: &str, bytes: usize) -> String {
    let mut line: String = text.chars().filter_map(harmless).collect();
    if line.len() > bytes {
        line.truncate(line.floor_char_boundary(bytes.saturating_sub('…'.len_utf8())));
        line.truncate(line.trim_end().len());
        line.push('…');
    }
    format!("\"{line}\"")
}

/// A character as it may stand in a quotation; `None` where it would be invisible or turn the line around.
fn harmless(c: char) -> Option<char> {
    match c {
        '"' | '\u{201c}' | '\u{201d}' | '\u{ab}' | '\u{bb}' => Some('\''),
        '\u{2028}' | '\u{2029}' => Some(' '),
        c if c.is_control() => Some(' '),
        c if is_hidden(c) => None,
        c => Some(c),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_quotation_stays_one_bounded_line_of_data() {
        assert_eq!(quoted("fix the parser", 40), "\"fix the parser\"");
        assert_eq!(quoted("a\n\"b\"\u{1b}[31m\u{202e}c", 40), "\"a 'b' [31mc\"");
        let cut = quoted(&"ä".repeat(200), 40);
        assert!(cut.len() <= 42 && cut.ends_with("…\""), "{cut}");
        assert_eq!(
            quoted(&"a".repeat(40), 40),
            format!("\"{}\"", "a".repeat(40))
        );
    }
}
