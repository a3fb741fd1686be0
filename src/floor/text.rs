//! One rule for words that people are shown and other people chose: names, intents, paths.

/// Whether a character moves the cursor of whoever reads it, cannot be seen, or turns the line around: controls, the
/// ends of lines and paragraphs, marks of direction, what has no width, and tags.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// A stranger's word as people are shown it: without what is hidden, and cut to `most` characters.
#[must_use]
pub fn shown(word: &str, most: usize) -> String {
    word.chars().filter(|c| !is_hidden(*c)).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::{is_hidden, shown};

    #[test]
    fn what_deceives_a_reader_is_hidden_and_no_script_is() {
        for c in "\n\u{1b}\u{7f}\u{85}\u{ad}\u{200b}\u{200d}\u{200f}\u{2028}\u{202e}\u{2060}\u{2066}\u{2069}\u{feff}\u{e0041}".chars() {
            assert!(is_hidden(c), "{c:?}");
        }
        for c in " aß漢עبक✓🦀…’".chars() {
            assert!(!is_hidden(c), "{c:?}");
        }
        assert_eq!(shown("a\u{202e}b\ncd", 3), "abc");
    }
}
