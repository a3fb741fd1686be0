//! What a text is found by: its words as they are written, what they consist of, and what they come from.
//!
//! | in the text | words |
//! |---|---|
//! | `Deploys` | `deploys`, `deploy` |
//! | `parseHttpRequest` | `parsehttprequest`, `parse`, `http`, `request` and their stems |
//! | `src/http/body_limit.rs` | `src`, `http`, `body`, `limit`, `body_limit`, `rs` |
//! | `東京駅` | `東京`, `京駅` |
//!
//! Accents are folded by SQLite's tokenizer, which sees nothing but these words with blanks between them.

use std::collections::HashSet;

use rust_stemmers::{Algorithm, Stemmer};

/// The longest word, in characters: what is longer is no word, and is cut.
const LONGEST: usize = 64;
/// The most words of one text.
const MOST: usize = 20_000;

/// The words of a text, each once, in the order in which they come first. None of them holds a quote or a blank.
pub(super) fn of(text: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut words = Words::default();
    for run in text.split(|each: char| !each.is_alphanumeric() && each != '_') {
        if words.list.len() >= MOST {
            break;
        }
        for piece in scripts(run) {
            if piece.starts_with(is_dense) {
                bigrams(piece, &mut words);
                continue;
            }
            let parts = parts(piece);
            for word in [piece].into_iter().chain(parts.iter().copied()) {
                let word: String = word.trim_matches('_').chars().take(LONGEST).collect();
                let word = word.to_lowercase();
                if word.is_ascii() {
                    let stem = stemmer.stem(&word).into_owned();
                    words.add(word);
                    words.add(stem);
                } else {
                    words.add(word);
                }
            }
        }
    }
    words.list
}

#[derive(Default)]
struct Words {
    list: Vec<String>,
    known: HashSet<String>,
}

impl Words {
    fn add(&mut self, word: String) {
        if !word.is_empty() && !self.known.contains(&word) {
            self.known.insert(word.clone());
            self.list.push(word);
        }
    }
}

/// Whether a character is of a script that puts no blanks between words.
fn is_dense(each: char) -> bool {
    matches!(each,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// The pieces of a run that are each of a dense script, or not.
fn scripts(run: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    let mut before = None;
    for (at, each) in run.char_indices() {
        let dense = is_dense(each);
        if before.is_some_and(|before| before != dense) {
            pieces.push(&run[begin..at]);
            begin = at;
        }
        before = Some(dense);
    }
    if begin < run.len() {
        pieces.push(&run[begin..]);
    }
    pieces
}

/// Each two neighbours; a single character is a word by itself.
fn bigrams(piece: &str, words: &mut Words) {
    let characters: Vec<char> = piece.chars().collect();
    if let [one] = characters[..] {
        words.add(one.to_string());
    }
    for pair in characters.windows(2) {
        words.add(pair.iter().collect());
    }
}

/// The parts of an identifier: between underscores, where a small letter or digit meets a capital, and before the last
/// capital of several. None where there is only one.
fn parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for plain in word.split('_').filter(|part| !part.is_empty()) {
        let mut begin = 0;
        let characters: Vec<(usize, char)> = plain.char_indices().collect();
        for (number, (at, each)) in characters.iter().enumerate().skip(1) {
            let before = characters[number - 1].1;
            let after = characters.get(number + 1).map(|(_, after)| *after);
            let rises = each.is_uppercase()
                && (!before.is_uppercase() || after.is_some_and(char::is_lowercase));
            let counts = each.is_numeric() != before.is_numeric();
            if rises || counts {
                parts.push(&plain[begin..*at]);
                begin = *at;
            }
        }
        parts.push(&plain[begin..]);
    }
    // A single letter says nothing.
    parts.retain(|part| part.chars().nth(1).is_some());
    parts.retain(|part| part.len() < word.len());
    parts
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn a_word_is_found_by_what_it_is_and_what_it_comes_from() {
        for (text, words) in [
            ("Deploys", &["deploys", "deploy"][..]),
            ("it's \"here\"", &["it", "s", "here"]),
            (
                "parseHTTPRequest",
                &[
                    "parsehttprequest",
                    "parsehttprequest",
                    "parse",
                    "pars",
                    "http",
                    "request",
                ],
            ),
            ("body_limit", &["body_limit", "body", "bodi", "limit"]),
            ("sha256sum", &["sha256sum", "sha", "256", "sum"]),
            ("Größe", &["größe"]),
            ("在東京駅で", &["在東", "東京", "京駅", "駅で"]),
            ("APIの版", &["api", "の版"]),
            ("版", &["版"]),
            ("", &[]),
            ("\0\u{1b}* OR NEAR(", &["or", "near"]),
        ] {
            let found = of(text);
            let mut expected: Vec<&str> = words.to_vec();
            expected.dedup();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn hostile_text_has_few_short_words() {
        let many: String =
            (0..100_000).fold(String::new(), |all, number| all + &format!("w{number} "));
        assert!(of(&many).len() <= super::MOST + 8);
        let long = of(&"x".repeat(1_000_000));
        assert!(
            long.iter()
                .all(|word| word.chars().count() <= super::LONGEST)
        );
        assert!(
            of("\"\" '' \" a\"b")
                .iter()
                .all(|word| !word.contains(['"', ' ']))
        );
    }
}
