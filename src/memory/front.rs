//! Front matter: the YAML between two lines `---` at the beginning of a note.
//!
//! It is read by a YAML parser and cut into *entries*, one a key, each with the very text that it was written in. So what
//! this version does not know is kept byte for byte, and so is what it cannot understand. What is not a mapping in block
//! style at the margin is no front matter, but part of the body.

use std::fmt::Write as _;

use saphyr_parser::{Event, Parser};

/// The line that begins and ends front matter.
const FENCE: &str = "---";

/// One key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The value, as far as it is of a form that a note uses.
    pub value: Value,
    /// The key, the value and what stands behind them up to the next key, as it was written; ends with a line break. A
    /// comment above the first key belongs to none.
    pub raw: String,
}

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing, or `null`.
    Nothing,
    /// A scalar.
    Text(String),
    /// A sequence of scalars.
    List(Vec<String>),
    /// Anything else: mappings, aliases, tags, sequences within sequences.
    Other,
}

/// Cuts a note into its entries and its body. A note without front matter is all body.
#[must_use]
pub fn split(text: &str) -> (Vec<Entry>, &str) {
    let whole = text.strip_prefix('\u{feff}').unwrap_or(text);
    fenced(whole)
        .and_then(|(front, body)| Some((entries(front)?, body)))
        .unwrap_or((Vec::new(), text))
}

/// The text between the fences, and what comes after them without its first blank line.
fn fenced(text: &str) -> Option<(&str, &str)> {
    let mut begin = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_fence = line.trim_end_matches(['\n', '\r']) == FENCE;
        match begin {
            None if is_fence => begin = Some(at + line.len()),
            None => return None,
            Some(begin) if is_fence => {
                let body = &text[at + line.len()..];
                let blank = ["\n", "\r\n"].into_iter().find(|end| body.starts_with(end));
                return Some((&text[begin..at], &body[blank.map_or(0, str::len)..]));
            }
            Some(_) => {}
        }
        at += line.len();
    }
    None
}

/// The entries of one block mapping at the margin; `None` for anything else, and for what is no YAML.
fn entries(front: &str) -> Option<Vec<Entry>> {
    let mut events = Parser::new_from_str(front);
    let mut next = || events.next()?.ok();
    let mut keys: Vec<(usize, String, Value)> = Vec::new();
    loop {
        let (event, span) = next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(false) | Event::DocumentEnd => {}
            // Nothing between the fences.
            Event::StreamEnd => break,
            Event::Scalar(..) if keys.is_empty() && front.trim().is_empty() => {}
            Event::MappingStart(0, None) if keys.is_empty() && span.start.col() == 0 => {
                loop {
                    let (event, span) = next()?;
                    match event {
                        Event::MappingEnd => break,
                        Event::Scalar(key, _, 0, None)
                            if span.start.col() == 0 && !key.is_empty() =>
                        {
                            let value = value(&mut next)?;
                            keys.push((span.start.index(), key.into_owned(), value));
                        }
                        _ => return None,
                    }
                }
                if keys.is_empty() {
                    return None;
                }
            }
            _ => return None,
        }
    }
    Some(cut(front, keys))
}

/// Reads one value to its end.
fn value<'a>(next: &mut impl FnMut() -> Option<(Event<'a>, saphyr_parser::Span)>) -> Option<Value> {
    let mut depth = 0_usize;
    let mut list = None;
    let mut other = false;
    loop {
        let (event, _) = next()?;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                if depth == 0 {
                    return Some(if anchor != 0 || tag.is_some() {
                        Value::Other
                    } else if style == saphyr_parser::ScalarStyle::Plain
                        && matches!(&*text, "" | "~" | "null" | "Null" | "NULL")
                    {
                        Value::Nothing
                    } else {
                        Value::Text(text.into_owned())
                    });
                }
                other |= anchor != 0 || tag.is_some() || depth > 1;
                if let Some(list) = &mut list {
                    Vec::push(list, text.into_owned());
                }
            }
            Event::SequenceStart(anchor, tag) => {
                other |= anchor != 0 || tag.is_some() || depth > 0;
                depth += 1;
                list = list.or(Some(Vec::new()));
            }
            Event::MappingStart(..) => {
                other = true;
                depth += 1;
            }
            Event::Alias(_) => {
                other = true;
                if depth == 0 {
                    return Some(Value::Other);
                }
            }
            Event::SequenceEnd | Event::MappingEnd => {
                depth -= 1;
                if depth == 0 {
                    return Some(match list {
                        Some(list) if !other => Value::List(list),
                        _ => Value::Other,
                    });
                }
            }
            _ => return None,
        }
    }
}

/// Gives each key the text from its first character to that of the next one; indices are in characters.
fn cut(front: &str, keys: Vec<(usize, String, Value)>) -> Vec<Entry> {
    let mut offsets = front
        .char_indices()
        .map(|(at, _)| at)
        .enumerate()
        .peekable();
    let mut byte_of = |index: usize| {
        while offsets.next_if(|(count, _)| *count < index).is_some() {}
        offsets.peek().map_or(front.len(), |(_, at)| *at)
    };
    let starts: Vec<usize> = keys.iter().map(|key| byte_of(key.0)).collect();
    let ends: Vec<usize> = starts
        .iter()
        .skip(1)
        .copied()
        .chain([front.len()])
        .collect();
    keys.into_iter()
        .enumerate()
        .map(|(at, (_, key, value))| {
            let mut raw = front[starts[at]..ends[at]].to_owned();
            if !raw.ends_with('\n') {
                raw.push('\n');
            }
            Entry { key, value, raw }
        })
        .collect()
}

/// Puts entries and body together again, so that [`split`] gives them back.
#[must_use]
pub fn join<'a>(entries: impl IntoIterator<Item = &'a str>, body: &str) -> String {
    let mut text = format!("{FENCE}\n");
    for raw in entries {
        text.push_str(raw);
    }
    text.push_str(FENCE);
    text.push_str("\n\n");
    text.push_str(body);
    text
}

/// Renders one entry with a scalar.
#[must_use]
pub fn text(key: &str, value: &str) -> String {
    format!("{key}: {}\n", quoted(value))
}

/// Renders one entry with a list.
#[must_use]
pub fn list(key: &str, values: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let values: Vec<String> = values
        .into_iter()
        .map(|value| quoted(value.as_ref()))
        .collect();
    format!("{key}: [{}]\n", values.join(", "))
}

/// Renders a scalar: bare where it can mean nothing else, in double quotes else.
fn quoted(value: &str) -> String {
    let is_bare = value.starts_with(|first: char| first.is_ascii_alphabetic())
        && value.ends_with(|last: char| last.is_ascii_alphanumeric())
        && value.chars().all(|each| {
            each.is_ascii_alphanumeric() || matches!(each, ' ' | '-' | '_' | '.' | '/')
        })
        && !matches!(
            value.to_ascii_lowercase().as_str(),
            "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
        );
    if is_bare {
        return value.to_owned();
    }
    let mut text = String::from('"');
    for each in value.chars() {
        match each {
            '"' | '\\' => text.extend(['\\', each]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            // What an editor shows as nothing, or as the end of a line, or turns around.
            _ if each.is_control() || is_invisible(each) => {
                // Writing to a String cannot fail.
                let _ = write!(text, "\\U{:08X}", u32::from(each));
            }
            _ => text.push(each),
        }
    }
    text.push('"');
    text
}

/// Format characters: joiners and marks of direction, separators of lines, the byte order mark, and no characters at all.
const fn is_invisible(each: char) -> bool {
    matches!(
        each,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{ffff}'
    )
}
