//! Values that are assigned to a name which says that they are secret: `password = "…"`, `API_KEY=…`, `token: …`,
//! `Authorization: Bearer …`; and the passwords of URLs.

use std::ops::Range;

use super::value::{Around, is_secret};

/// What the name of a secret ends with, in lower case and without what joins words.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "accountkey",
    "masterkey",
    "authkey",
    "credential",
    "credentials",
    "authorization",
];
/// The longest name that is looked at, in bytes.
const LONGEST_NAME: usize = 64;

/// The longest value that is looked at, with what stands before it, in bytes.
const LONGEST_VALUE: usize = 2048;

/// A value that is one, and what it is called.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Assigned<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// Where its value stands.
    pub(super) value: Range<usize>,
}

/// The secrets that one line assigns.
pub(super) fn in_line(line: &str) -> Vec<Assigned<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = line.get(from..).and_then(|rest| rest.find(['=', ':'])) {
        let at = from + at;
        from = at + 1;
        let Some(name) = name_before(line, at) else {
            continue;
        };
        let Some((value, around)) = value_after(line, at, name.start) else {
            continue;
        };
        let text = line.get(value.clone()).unwrap_or_default();
        if is_secret(text, around) {
            from = value.end;
            let name = line.get(name).unwrap_or_default();
            found.push(Assigned { name, value });
        }
    }
    found
}

/// The passwords of the URLs of one line: `scheme://user:password@host`.
pub(super) fn in_urls(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, mark) in line.match_indices("://") {
        let from = at + mark.len();
        let rest = line.get(from..).unwrap_or_default();
        let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '`' | '<' | '>');
        let authority = rest.split(ends).next().unwrap_or_default();
        let Some((user_and_password, _host)) = authority.rsplit_once('@') else {
            continue;
        };
        let Some((user, password)) = user_and_password.split_once(':') else {
            continue;
        };
        if is_secret(password, Around::Quotes) {
            let begin = from + user.len() + 1;
            found.push(begin..begin + password.len());
        }
    }
    found
}

/// The secret's name that ends before `at`, where what is assigned is one.
fn name_before(line: &str, at: usize) -> Option<Range<usize>> {
    let from = line.floor_char_boundary(at.saturating_sub(2 * LONGEST_NAME));
    let window = line.get(from..at)?;
    let before = window.trim_end_matches([' ', '\t', '"', '\'', '`', '*', ':', '?', ']']);
    let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    let length = before
        .chars()
        .rev()
        .take_while(|c| joins(*c))
        .take(LONGEST_NAME)
        .count();
    // What joins is ASCII, so characters are bytes.
    let name = before.get(before.len() - length..)?;
    let folded: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let is_named = NAMES.iter().any(|word| folded.ends_with(word));
    if !is_named {
        return None;
    }
    // Of a sentence only its last two words.
    let words = name.trim_start();
    let short = match words.rsplitn(3, ' ').nth(2) {
        Some(others) => words.get(others.len() + 1..)?,
        None => words,
    };
    let end = from + before.len();
    Some(end - short.len()..end)
}

/// The value that begins behind `at`.
fn value_after(line: &str, at: usize, name: usize) -> Option<(Range<usize>, Around)> {
    let window = line.get(..line.floor_char_boundary(at + LONGEST_VALUE))?;
    let rest = window.get(at..)?;
    let value = rest.trim_start_matches(['=', ':', '>', '~', '?', ' ', '\t', '*', '`']);
    let value = ["Bearer ", "bearer ", "Basic ", "basic ", "token "]
        .into_iter()
        .find_map(|scheme| value.strip_prefix(scheme))
        .unwrap_or(value);
    // `name: Type = value`.
    let value = match value.split_once(" = ") {
        Some((kind, value)) if kind.bytes().all(|byte| byte.is_ascii_alphanumeric()) => value,
        _ => value,
    };
    let begin = window.len() - value.len();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    if let Some(quote) = quote {
        let inner = value.get(1..)?;
        let end = inner.find(quote)?;
        let text = inner.get(..end)?;
        // A secret has no spaces: what has is a sentence.
        let holds = !text.contains(char::is_whitespace);
        return holds.then_some((begin + 1..begin + 1 + end, Around::Quotes));
    }
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | '&' | '|');
    let text = value.split(ends).next()?;
    let text = text.trim_end_matches(['.', ')', '*', '!', '?']);
    let end = begin + text.len();
    let starts_line = line
        .get(..name)?
        .chars()
        .all(|c| c.is_whitespace() || matches!(c, '-' | '*' | '>' | '"' | '\'' | '`' | '$'));
    let starts_line = starts_line || line.trim_start().starts_with("export ");
    let behind = line.get(end..)?;
    let closes = |c: char| c.is_whitespace() || matches!(c, '`' | '*' | '"' | ',' | ';');
    let ends_line = behind.len() <= LONGEST_NAME && behind.chars().all(closes);
    let around = if starts_line && ends_line {
        Around::Line
    } else {
        Around::Prose
    };
    Some((begin..end, around))
}
