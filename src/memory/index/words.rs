//! What a text is found by: its words as they are written, what they consist of, and what they come from.
//!
//! | in the text | words |
//! |---|---|
//! | `Deploys` | `deploys`, `deploy` |
//! | `parseHttpRequest` | `parsehttprequest`, `parse`, `http`, `request` and their stems |
//! | `src/http/body_limit.rs` | `src`, `http`, `body`, `limit`, `body_limit`, `rs` |
//! | `東京駅` | `東京`, `京駅`, `駅`: each character begins a word |
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
    pieces(text, |piece| {
        match piece {
            Piece::Word(word) | Piece::Name(word) | Piece::Part(word) => {
                for form in forms(&stemmer, word) {
                    words.add(form);
                }
            }
            Piece::Pair(word) | Piece::Last(word) => words.add(word.to_owned()),
        }
        words.list.len() < MOST
    });
    words.list
}

/// A word that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    /// It stands in a note that holds one of these, the first of which is the word as it was written.
    pub(super) forms: Vec<String>,
    /// Whether it is only another spelling of words that are looked for beside it.
    pub(super) spare: bool,
}

/// The words of a question, each once. Those that only hold a sentence together count where there is nothing else.
pub(super) fn asked(text: &str) -> Vec<Wanted> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut all: Vec<(Wanted, bool)> = Vec::new();
    pieces(text, |piece| {
        let (forms, spare, holds) = match piece {
            Piece::Word(word) => {
                let forms = forms(&stemmer, word);
                let holds = forms.first().is_some_and(|word| holds_together(word));
                (forms, false, holds)
            }
            Piece::Part(word) => (forms(&stemmer, word), false, false),
            Piece::Name(word) => (forms(&stemmer, word), true, false),
            Piece::Pair(pair) => (vec![pair.to_owned()], false, false),
            Piece::Last(_) => (Vec::new(), true, false),
        };
        if !forms.is_empty() && all.iter().all(|(known, _)| known.forms != forms) {
            all.push((Wanted { forms, spare }, holds));
        }
        all.len() < MOST
    });
    if all.iter().any(|(_, holds)| !holds) {
        all.retain(|(_, holds)| !holds);
    }
    all.into_iter().map(|(wanted, _)| wanted).collect()
}

/// A piece of a text.
pub(super) enum Piece<'a> {
    /// A plain word.
    Word(&'a str),
    /// An identifier of several parts, which follow.
    Name(&'a str),
    /// One of its parts.
    Part(&'a str),
    /// Two neighbours of a dense script, or one that stands alone.
    Pair(&'a str),
    /// The last one of several, so that each of them begins a word.
    Last(&'a str),
}

/// Gives out the pieces of a text until enough is taken.
pub(super) fn pieces(text: &str, mut take: impl FnMut(Piece<'_>) -> bool) {
    for run in text.split(|each: char| !each.is_alphanumeric() && each != '_') {
        for piece in scripts(run) {
            let goes_on = if piece.starts_with(is_dense) {
                pairs(piece, &mut take)
            } else {
                let parts = parts(piece);
                let whole = if parts.is_empty() {
                    Piece::Word(piece)
                } else {
                    Piece::Name(piece)
                };
                take(whole) && parts.into_iter().all(|part| take(Piece::Part(part)))
            };
            if !goes_on {
                return;
            }
        }
    }
}

/// A word as it is written, and what it comes from.
fn forms(stemmer: &Stemmer, word: &str) -> Vec<String> {
    let word: String = word.trim_matches('_').chars().take(LONGEST).collect();
    let word = word.to_lowercase();
    if word.is_empty() {
        return Vec::new();
    }
    let stem = word.is_ascii().then(|| stemmer.stem(&word).into_owned());
    let mut forms = vec![word];
    forms.extend(stem.filter(|stem| *stem != forms[0] && !stem.is_empty()));
    forms
}

/// What a word comes from, in small letters.
pub(super) fn stem(word: &str) -> String {
    let forms = forms(&Stemmer::create(Algorithm::English), word);
    forms.into_iter().next_back().unwrap_or_default()
}

/// Whether a word, in small letters, only holds an English or German sentence together.
pub(super) fn holds_together(word: &str) -> bool {
    const WORDS: &str = " a about all am an and any anybody are as at be been but by can could did do does for from had has \
        have he her his how i if in into is it its let may me might must my no not of on one or our s shall she should so \
        some somebody t than that the their them then there these they this those to up us was we were what when where \
        which who whom whose why will with would you your \
        aber als am an auch auf aus bei bin bis da das dem den der des die durch ein eine einem einen einer er es für gibt \
        hat haben hier ich ihr im in ist ja kann man mein mit nach nicht noch nur ob oder sein sich sie sind so um und uns \
        unser vom von vor wann war warum was welche welchem welchen welcher welches wem wen wenn wer werden wie wird wir wo \
        wurde zu zum zur über ";
    WORDS.split_ascii_whitespace().any(|each| each == word)
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
pub(super) fn is_dense(each: char) -> bool {
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

/// Each two neighbours, and the last one; a single character is a word by itself.
fn pairs(piece: &str, take: &mut impl FnMut(Piece<'_>) -> bool) -> bool {
    let mut begins: Vec<usize> = piece.char_indices().map(|(at, _)| at).collect();
    let last = begins.last().map_or("", |at| &piece[*at..]);
    if begins.len() < 2 {
        return take(Piece::Pair(last));
    }
    begins.push(piece.len());
    begins
        .windows(3)
        .all(|at| take(Piece::Pair(&piece[at[0]..at[2]])))
        && take(Piece::Last(last))
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
    use super::{asked, of};

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
            ("在東京駅で", &["在東", "東京", "京駅", "駅で", "で"]),
            ("APIの版", &["api", "の版", "版"]),
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
    fn a_question_is_what_it_is_about_unless_it_is_about_nothing() {
        let first = |text: &str| -> Vec<String> {
            let all = asked(text);
            all.into_iter().map(|each| each.forms[0].clone()).collect()
        };
        assert_eq!(first("When do the deploys happen?"), ["deploys", "happen"]);
        assert_eq!(first("Wann ist der Umzug?"), ["umzug"]);
        assert_eq!(first("is it"), ["is", "it"]);
        assert_eq!(first("東京駅"), ["東京", "京駅"]);
        assert_eq!(first("駅"), ["駅"]);
        let names = asked("parseHttp");
        assert_eq!(names.iter().filter(|each| each.spare).count(), 1);
        assert_eq!(names.len(), 3);
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
