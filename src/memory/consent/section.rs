//! `[memory]` in `.ai/majordomus.toml`: where the team wants its notes to go. Tracked, so anybody's words.

use std::ops::Range;
use std::path::{Path, PathBuf};

use gix_ref::FullName;
use toml_edit::{Document, Item, TableLike};

use super::error::{BadReference, ShareError, Unreadable};
use super::identity;
use crate::floor::fs::{FileError, read_plain, rewrite};

/// The ref where the file names none.
pub const DEFAULT_REFERENCE: &str = "refs/majordomus/memory";
/// The longest file that is read, in bytes.
const LONGEST: usize = 64 * 1024;
/// The longest name of a ref, in bytes.
const LONGEST_REFERENCE: usize = 200;
/// The longest key that is repeated, in bytes.
const LONGEST_KEY: usize = 32;
/// Mode of a new file: it is tracked.
const MODE: u32 = 0o644;

/// The pair that the file names, normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    /// The remote's identity.
    pub(super) remote: String,
    /// The ref's full name.
    pub(super) reference: String,
    /// Whether a person reads each note before the team gets it.
    pub(super) review: bool,
}

/// What [`share`] makes of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Its text before; `None` where there is no file.
    pub before: Option<String>,
    /// Its text after.
    pub after: String,
}

/// Reads the section; `None` where there is none.
pub(super) fn read(root: &Path) -> Result<Option<Section>, Unreadable> {
    match text(root)? {
        None => Ok(None),
        Some(text) => parse(&text),
    }
}

/// Whether notes may go to this ref: below `refs/majordomus/` or `refs/heads/majordomus/`, so that no file that somebody
/// else wrote makes us move a branch, a tag, or what a host builds or merges by itself.
pub(super) fn reference(name: &str) -> Result<(), BadReference> {
    let sound = name.len() <= LONGEST_REFERENCE
        && name.bytes().all(|byte| byte.is_ascii_graphic())
        && FullName::try_from(name).is_ok();
    let below = ["refs/majordomus/", "refs/heads/majordomus/"];
    match sound {
        false => Err(BadReference::Name),
        true if below.iter().any(|folder| name.starts_with(folder)) => Ok(()),
        true => Err(BadReference::Elsewhere),
    }
}

/// Says what [`share`] would make of the file, and writes nothing.
///
/// # Errors
/// Every [`ShareError`] but [`ShareError::Write`].
pub fn draft(
    checkout_root: &Path,
    remote: &str,
    name: &str,
    review: bool,
) -> Result<Draft, ShareError> {
    reference(name).map_err(ShareError::Reference)?;
    let before = text(checkout_root).map_err(ShareError::Unreadable)?;
    // Who asks for no review leaves the one that is there.
    let reviewed = before.as_deref().map(parse);
    let reviewed = matches!(reviewed, Some(Ok(Some(Section { review: true, .. }))));
    let wanted = Section {
        remote: identity::parse(remote).ok_or(ShareError::Remote)?,
        reference: name.to_owned(),
        review: review || reviewed,
    };
    let after = put(before.as_deref().unwrap_or_default(), &wanted)?;
    match parse(&after) {
        Ok(Some(section)) if section == wanted && after.len() <= LONGEST => {
            Ok(Draft { before, after })
        }
        Ok(_) => Err(ShareError::Entangled),
        Err(error) => Err(ShareError::Unreadable(error)),
    }
}

/// Writes the pair into `[memory]` of `.ai/majordomus.toml`, with every other byte as it was; a file that is not there is
/// made. It is not accepted by that ([`super::trust`]).
///
/// # Errors
/// [`ShareError`]; the file is then as it was.
pub fn share(
    checkout_root: &Path,
    remote: &str,
    name: &str,
    review: bool,
) -> Result<Draft, ShareError> {
    let draft = draft(checkout_root, remote, name, review)?;
    if draft.before.as_ref() != Some(&draft.after) {
        std::fs::create_dir_all(checkout_root.join(".ai")).map_err(ShareError::Write)?;
        let path = path(checkout_root).map_err(ShareError::Unreadable)?;
        rewrite(&path, draft.after.as_bytes(), MODE, &path).map_err(ShareError::Write)?;
    }
    Ok(draft)
}

/// The file, which nothing leads out of the checkout.
fn path(root: &Path) -> Result<PathBuf, Unreadable> {
    let folder = root.join(".ai");
    if let (Ok(real), Ok(root)) = (folder.canonicalize(), root.canonicalize())
        && !real.starts_with(root)
    {
        return Err(Unreadable::Escape);
    }
    Ok(folder.join("majordomus.toml"))
}

fn text(root: &Path) -> Result<Option<String>, Unreadable> {
    match read_plain(&path(root)?, LONGEST) {
        Ok((bytes, _)) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| Unreadable::Encoding),
        Err(FileError::Absent) => Ok(None),
        Err(error) => Err(Unreadable::File(error)),
    }
}

fn document(text: &str) -> Result<Document<&str>, Unreadable> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let before = text.bytes().take(at).filter(|byte| *byte == b'\n');
        Unreadable::Syntax(before.count() + 1)
    })
}

fn parse(text: &str) -> Result<Option<Section>, Unreadable> {
    let document = document(text)?;
    let Some(memory) = document.as_table().get("memory") else {
        return Ok(None);
    };
    let memory = memory.as_table_like().ok_or(Unreadable::Shape)?;
    let unknown = memory
        .iter()
        .find(|(key, _)| !matches!(*key, "remote" | "ref" | "review"));
    if let Some((key, _)) = unknown {
        return Err(Unreadable::Unknown(shown(key)));
    }
    let remote = word(memory, "remote")?.ok_or(Unreadable::Missing)?;
    let name = word(memory, "ref")?.unwrap_or(DEFAULT_REFERENCE);
    reference(name).map_err(Unreadable::Reference)?;
    Ok(Some(Section {
        remote: identity::parse(remote).ok_or(Unreadable::Remote)?,
        reference: name.to_owned(),
        review: match memory.get("review") {
            None => false,
            Some(item) => item.as_bool().ok_or(Unreadable::Flag("review"))?,
        },
    }))
}

fn word<'a>(memory: &'a dyn TableLike, key: &'static str) -> Result<Option<&'a str>, Unreadable> {
    match memory.get(key) {
        None => Ok(None),
        Some(item) => item.as_str().map(Some).ok_or(Unreadable::Kind(key)),
    }
}

/// A key that is repeated to a reader, who may be a model: a word, or nothing of it.
fn shown(key: &str) -> String {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if key.len() <= LONGEST_KEY && key.bytes().all(is_word) {
        key.to_owned()
    } else {
        "another key".to_owned()
    }
}

fn put(text: &str, wanted: &Section) -> Result<String, ShareError> {
    let document = document(text).map_err(ShareError::Unreadable)?;
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    // What is neither ASCII nor free of quotes was refused before.
    let mut values = vec![("remote", format!("\"{}\"", wanted.remote))];
    let item = document.as_table().get("memory");
    let has_reference = item
        .and_then(Item::as_table_like)
        .is_some_and(|memory| memory.contains_key("ref"));
    if has_reference || wanted.reference != DEFAULT_REFERENCE {
        values.push(("ref", format!("\"{}\"", wanted.reference)));
    }
    if wanted.review {
        values.push(("review", "true".to_owned()));
    }
    let line = |(key, value): &(&str, String)| format!("{key} = {value}{end}");
    let Some(item) = item else {
        let lines: String = values.iter().map(line).collect();
        let gap = match text {
            "" => "",
            text if text.ends_with('\n') => end,
            _ => &end.repeat(2),
        };
        return Ok(format!("{text}{gap}[memory]{end}{lines}"));
    };
    let memory = item
        .as_table_like()
        .ok_or(ShareError::Unreadable(Unreadable::Shape))?;
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut missing = String::new();
    for value in &values {
        match memory.get(value.0) {
            None => missing.push_str(&line(value)),
            Some(there) => {
                let span = there.span().ok_or(ShareError::Entangled)?;
                edits.push((span, value.1.clone()));
            }
        }
    }
    if !missing.is_empty() {
        // Behind the header, which only a table of its own has.
        let header = item
            .as_table()
            .filter(|table| !table.is_dotted())
            .and_then(toml_edit::Table::span)
            .ok_or(ShareError::Entangled)?;
        let rest = text.get(header.start..).unwrap_or_default();
        let (at, gap) = match rest.find('\n') {
            Some(length) => (header.start + length + 1, ""),
            None => (text.len(), end),
        };
        edits.push((at..at, format!("{gap}{missing}")));
    }
    // From the end, so that no edit moves another one's place.
    edits.sort_by_key(|(range, _)| range.start);
    let mut after = text.to_owned();
    for (range, with) in edits.into_iter().rev() {
        if after.get(range.clone()).is_none() {
            return Err(ShareError::Entangled);
        }
        after.replace_range(range, &with);
    }
    Ok(after)
}
