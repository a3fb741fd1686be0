//! Secrets in what is about to be published.
//!
//! A note goes to everybody who can read the team's remote, and its history keeps it. So a text is looked through before it
//! leaves, by one rule after the other: keys that say themselves what they are (by prefix, letters and length), private keys
//! and signed tokens by their frame, and values that stand behind a name such as `password` or `api_key`. A note may well
//! *speak* of secrets; what is found has to be a value, and a random one where only the words around it speak for it.
//!
//! *Finding*: a rule's name, a line and a masked preview. No more of a secret than its issuer's prefix is ever repeated, so
//! a finding may be shown, sent and logged.
//!
//! Absent: asking an issuer whether a key is alive, and rules of somebody else's ([ADR-0018]).
//!
//! [ADR-0018]: ../../../docs/adr/0018-secrets-in-notes.md

mod assigned;
mod table;
mod value;

use std::ops::Range;

use memchr::memmem;

use table::{FORMS, Form, Letters, OPEN};
use value::is_random;

/// The most that one text is told of: whoever is told of these will look through it.
const MOST: usize = 32;
/// The longest name in a preview, in characters.
const SHOWN: usize = 32;
/// How far behind its header a private key begins, past headers of its own, in bytes.
const KEY_WITHIN: usize = 400;
/// The shortest line of a private key's, in bytes.
const KEY_LINE: usize = 40;
/// The shortest part of a signed token, in bytes.
const TOKEN_PART: usize = 10;

/// Something that should not be published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it, a word such as `github-token`.
    pub rule: &'static str,
    /// The line, from 1.
    pub line: usize,
    /// What it looks like, with nothing of it that is secret.
    pub preview: String,
}

/// Looks through a text; what is found stands in the order of the text, at most 32 of it.
#[must_use]
pub fn scan(text: &str) -> Vec<Finding> {
    let mut found: Vec<(Range<usize>, &'static str, String)> = Vec::new();
    let mut take = |range: Range<usize>, rule, preview| {
        let is_new = found
            .iter()
            .all(|(other, _, _)| range.end <= other.start || other.end <= range.start);
        if is_new {
            found.push((range, rule, preview));
        }
    };
    for range in private_keys(text) {
        let header = text.get(range.clone()).unwrap_or_default();
        take(range, "private-key", format!("{header}…"));
    }
    for range in signed_tokens(text) {
        take(range, "signed-token", "eyJ…".to_owned());
    }
    for form in FORMS {
        for range in keys(text, form) {
            take(range, form.rule, format!("{}…", form.prefix));
        }
    }
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let place = |range: Range<usize>| start + range.start..start + range.end;
        for range in assigned::in_urls(line) {
            take(place(range), "password-in-url", "://…:…@".to_owned());
        }
        for secret in assigned::in_line(line) {
            let name: String = secret.name.chars().take(SHOWN).collect();
            take(
                place(secret.value),
                "assigned-secret",
                format!("{name} = …"),
            );
        }
        start += line.len();
    }
    found.sort_by_key(|(range, _, _)| range.start);
    let mut line = 1;
    let mut at = 0;
    let numbered = found.into_iter().take(MOST);
    numbered
        .map(|(range, rule, preview)| {
            let passed = text.as_bytes().get(at..range.start).unwrap_or_default();
            line += memchr::memchr_iter(b'\n', passed).count();
            at = range.start;
            Finding {
                rule,
                line,
                preview,
            }
        })
        .collect()
}

/// The keys of one form.
fn keys(text: &str, form: &Form) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let all = memmem::find_iter(bytes, form.prefix.as_bytes());
    all.filter_map(|at| {
        let begin = at + form.prefix.len();
        let length = run(bytes, begin, form.letters);
        let end = begin + length;
        let value = text.get(begin..end)?;
        let ends = bytes
            .get(end)
            .is_none_or(|byte| !byte.is_ascii_alphanumeric());
        let fits = (form.least..=form.most).contains(&length) && ends;
        (fits && stands_alone(bytes, at) && is_random(value)).then_some(at..end)
    })
    .collect()
}

/// `-----BEGIN … PRIVATE KEY…-----`, with a key behind it: a page may name the line.
fn private_keys(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, mark) in text.match_indices("-----BEGIN ") {
        let rest = text.get(at + mark.len()..).unwrap_or_default();
        let Some((kind, body)) = rest.split_once("-----") else {
            continue;
        };
        let is_kind = kind
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
        if !is_kind || !kind.contains("PRIVATE KEY") {
            continue;
        }
        let near = body.as_bytes().get(..KEY_WITHIN).unwrap_or(body.as_bytes());
        let is_base64 =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        if near
            .split(|byte| !is_base64(byte))
            .any(|line| line.len() >= KEY_LINE)
        {
            let end = at + mark.len() + kind.len() + "-----".len();
            found.push(at..end);
        }
    }
    found
}

/// JSON Web Tokens: two parts of JSON and a signature. *Source:* RFC 7519, section 3.
fn signed_tokens(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let part =
        |at: usize| Some(run(bytes, at, Letters::Url)).filter(|length| *length >= TOKEN_PART);
    let all = memmem::find_iter(bytes, b"eyJ");
    all.filter_map(|at| {
        let second = at + part(at)? + 1;
        let third = second + part(second)? + 1;
        let end = third + part(third)?;
        let dots = bytes.get(second - 1) == Some(&b'.') && bytes.get(third - 1) == Some(&b'.');
        let is_json = bytes.get(second..)?.starts_with(b"eyJ");
        (dots && is_json && stands_alone(bytes, at)).then_some(at..end)
    })
    .collect()
}

/// How many letters stand from `at` on, as far as it matters.
fn run(bytes: &[u8], at: usize, letters: Letters) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let letters = rest.iter().take_while(|byte| letters.holds(**byte));
    letters.take(OPEN + 1).count()
}

/// Whether nothing stands before it that it would be the end of; `\n` of a quoted text is no letter.
fn stands_alone(bytes: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| bytes.get(at)).copied();
    match before(1) {
        Some(b'n' | b'r' | b't') if before(2) == Some(b'\\') => true,
        Some(byte) => !byte.is_ascii_alphanumeric(),
        None => true,
    }
}

#[cfg(test)]
mod tests;
