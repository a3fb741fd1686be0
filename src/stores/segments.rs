//! Segments: immutable files of registers, under zstd, with a hash at the end and one grammar.
//!
//! A file is lines of JSON: a [`Head`], any number of [`Line`]s, and `{"sha256":"…"}` over every byte before that line. It
//! is read whole or not at all. Its name is `<incarnation>-<number>.seg`: 16 hexadecimal digits, 8 decimal ones.
//!
//! A *base* takes the place of all that its device wrote before. Its parts are segments too, each with the things of one
//! range of buckets, named `<incarnation>-b<bits><range>-<hash>.seg` by a hash of its lines: 2 decimal digits, 4 and 16
//! hexadecimal ones. A part in which nothing changed keeps its name, so it is neither written nor carried again.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::clock::{Device, MOST_MS};
use super::registers::{Edge, Ends, Insight};
use super::schema::is_column;
use crate::floor::hex;

/// What the first line of a segment says it is.
const FORMAT: &str = "majordomus-store";
/// The only version of the grammar.
const VERSION: u32 = 1;
/// The bytes of a segment file that is read, at most.
pub const FILE_BYTES: usize = 16 * 1024 * 1024;
/// The bytes of its lines, at most.
const TEXT_BYTES: u64 = 64 * 1024 * 1024;
/// After how many bytes of lines the next segment begins.
pub const FULL_BYTES: usize = 8 * 1024 * 1024;
/// Columns of one insight, at most.
const COLUMNS: usize = 64;
/// The bytes of what is known of one thing, at most: a segment ends after the first line with which it is full.
pub const LINE_BYTES: usize = 4 * 1024 * 1024;
/// The bytes of an id or a type, at most.
pub const ID_BYTES: usize = 256;
/// How hard zstd tries.
const LEVEL: i32 = 6;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// What it is.
    pub format: String,
    /// Of its grammar.
    pub version: u32,
    /// The store's name.
    pub store: String,
    /// Who wrote it.
    pub device: Device,
    /// What people call that machine.
    pub label: String,
    /// When, in milliseconds since 1970.
    pub written_ms: u64,
    /// Its number; that of the last segment which it takes the place of, where it is part of a base.
    pub number: u64,
    /// The number of the last segment that its writer read, a device.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub read: BTreeMap<Device, u64>,
    /// The devices that somebody retired: nobody writes under their ids again.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub retired: BTreeSet<Device>,
}

impl Head {
    /// The head of a segment of today.
    #[must_use]
    pub fn new(store: &str, device: Device, label: &str, written_ms: u64) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            store: store.to_owned(),
            device,
            label: label.to_owned(),
            written_ms,
            number: 0,
            read: BTreeMap::new(),
            retired: BTreeSet::new(),
        }
    }
}

/// One thing that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Line {
    /// An insight.
    #[serde(rename = "insight")]
    Insight(String, Insight),
    /// An edge.
    #[serde(rename = "edge")]
    Edge(Ends, Edge),
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tail {
    sha256: String,
}

/// Why a file is no segment.
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    /// It is cut off, or not zstd.
    #[error("cannot be unpacked")]
    Packed(#[source] std::io::Error),
    /// The hash is of something else.
    #[error("is not what was written")]
    Hash,
    /// A line is not of the grammar.
    #[error("has a line that is not of its grammar")]
    Grammar,
    /// It is another store's, another device's or another version's.
    #[error("is not what its place says")]
    Misplaced,
}

/// Puts a segment together.
///
/// # Errors
/// Never in practice: what is serialised and packed lies in memory.
pub fn render(head: &Head, lines: &[String]) -> Result<Vec<u8>, std::io::Error> {
    let mut text = serde_json::to_string(head)?;
    text.push('\n');
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    let sha256 = hex::encode(&Sha256::digest(text.as_bytes()));
    text.push_str(&serde_json::to_string(&Tail { sha256 })?);
    text.push('\n');
    let mut packer = zstd::Encoder::new(Vec::new(), LEVEL)?;
    packer.write_all(text.as_bytes())?;
    packer.finish()
}

/// Reads a segment that lies where those of `device` of `store` do.
///
/// # Errors
/// Every variant of [`SegmentError`].
pub fn parse(bytes: &[u8], store: &str, device: Device) -> Result<(Head, Vec<Line>), SegmentError> {
    let mut text = String::new();
    let unpacker = zstd::Decoder::new(bytes).map_err(SegmentError::Packed)?;
    let mut bounded = unpacker.take(TEXT_BYTES);
    bounded
        .read_to_string(&mut text)
        .map_err(SegmentError::Packed)?;
    let body = text.strip_suffix('\n').ok_or(SegmentError::Hash)?;
    let at = body.rfind('\n').map_or(0, |at| at + 1);
    let (told, tail) = body.split_at(at);
    let tail: Tail = serde_json::from_str(tail).map_err(|_| SegmentError::Hash)?;
    if hex::encode(&Sha256::digest(told.as_bytes())) != tail.sha256 {
        return Err(SegmentError::Hash);
    }
    let mut lines = told.lines();
    let head = lines
        .next()
        .and_then(|line| serde_json::from_str(line).ok());
    let head: Head = head.ok_or(SegmentError::Grammar)?;
    let is_here = head.format == FORMAT && head.version == VERSION;
    if !is_here || head.store != store || head.device != device {
        return Err(SegmentError::Misplaced);
    }
    let lines = lines.map(|line| {
        let line = serde_json::from_str(line).ok().filter(is_sound);
        line.ok_or(SegmentError::Grammar)
    });
    Ok((head, lines.collect::<Result<_, _>>()?))
}

/// The condition on an insight of a shadow that [`parse`] takes it: what it does not take may not be written, as the whole
/// segment would be lost with it. No register of a column is shorter than 64 bytes.
#[must_use]
pub fn insight_fits() -> String {
    let short = COLUMNS * 64;
    format!(
        "octet_length(id) BETWEEN 1 AND {ID_BYTES} AND octet_length(known) <= {LINE_BYTES}
         AND (octet_length(known) <= {short} OR (SELECT count(*) FROM json_each(known, '$.c')) <= {COLUMNS})"
    )
}

/// The same of an edge.
#[must_use]
pub fn edge_fits() -> String {
    let id = |name| format!("octet_length({name}) BETWEEN 1 AND {ID_BYTES}");
    let ids = ["source", "target", "kind"].map(id).join(" AND ");
    format!("{ids} AND octet_length(known) <= {LINE_BYTES}")
}

fn is_sound(line: &Line) -> bool {
    let is_id = |id: &String| (1..=ID_BYTES).contains(&id.len());
    match line {
        Line::Insight(id, insight) => {
            is_id(id)
                && insight.columns.len() <= COLUMNS
                && insight.columns.keys().all(|column| is_column(column))
                && insight.stamps().all(|stamp| stamp.ms <= MOST_MS)
        }
        Line::Edge(ends, edge) => {
            [&ends.source, &ends.target, &ends.kind]
                .into_iter()
                .all(is_id)
                && edge.stamp.ms <= MOST_MS
        }
    }
}

/// The name of a segment.
#[must_use]
pub fn name(incarnation: &str, number: u64) -> String {
    format!("{incarnation}-{number:08}.seg")
}

/// The name of a part of a base: the `range`th of two to the power of `bits`.
#[must_use]
pub fn name_of_part(incarnation: &str, bits: u32, range: u32, lines: &[String]) -> String {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    let hash: Vec<u8> = hash.finalize().iter().take(8).copied().collect();
    format!(
        "{incarnation}-b{bits:02}{range:04x}-{}.seg",
        hex::encode(&hash)
    )
}

/// Whether a file's name is one of a segment. Conflict copies and temporary files of what carries the folder are not.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let Some((incarnation, rest)) = name
        .strip_suffix(".seg")
        .and_then(|stem| stem.split_once('-'))
    else {
        return false;
    };
    is_hex(incarnation, 16) && (is_number(rest, 8) || is_part(name))
}

/// Whether a segment's name is one of a part of a base.
#[must_use]
pub fn is_part(name: &str) -> bool {
    let mut words = name.strip_suffix(".seg").unwrap_or(name).split('-').skip(1);
    let (Some(range), Some(hash), None) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    let range = range
        .strip_prefix('b')
        .and_then(|range| range.split_at_checked(2));
    range.is_some_and(|(bits, range)| is_number(bits, 2) && is_hex(range, 4)) && is_hex(hash, 16)
}

fn is_hex(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_number(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{Device, Head, Line, is_name, is_part, name, name_of_part, parse, render};
    use crate::stores::registers::Insight;

    /// Gaps 25, 29, 30 and 31: what is torn, flipped, or called something else is not merged.
    #[test]
    fn what_is_not_as_it_was_written_is_no_segment() {
        let device = Device([7; 16]);
        let line = Line::Insight("a".to_owned(), Insight::default());
        let lines = [serde_json::to_string(&line).unwrap()];
        let bytes = render(&Head::new("work", device, "here", 1), &lines).unwrap();
        assert_eq!(parse(&bytes, "work", device).unwrap().1, [line]);
        assert!(parse(&bytes, "other", device).is_err());
        assert!(parse(&bytes, "work", Device([8; 16])).is_err());
        for at in 0..bytes.len() {
            assert!(parse(&bytes[..at], "work", device).is_err(), "cut at {at}");
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            if let Ok((head, lines)) = parse(&flipped, "work", device) {
                assert_eq!(
                    (head, lines),
                    parse(&bytes, "work", device).unwrap(),
                    "flipped at {at}"
                );
            }
        }
        let foreign = r#"{"insight":["a",{"c":{"x\" --":{"s":{"k":"e","m":1,"n":0,"d":"07070707070707070707070707070707"},"v":"n"}}}]}"#;
        let bytes = render(&Head::new("work", device, "here", 1), &[foreign.to_owned()]).unwrap();
        assert!(parse(&bytes, "work", device).is_err());
    }

    #[test]
    fn only_names_of_segments_are_names_of_segments() {
        assert!(is_name(&name("0123456789abcdef", 12)));
        let part = name_of_part("0123456789abcdef", 2, 3, &["line".to_owned()]);
        assert!(is_name(&part) && is_part(&part), "{part}");
        assert!(!is_part(&name("0123456789abcdef", 12)));
        for other in [
            "0123456789abcdef-00000012.sync-conflict-20260101-000000-ABCDEFG.seg",
            ".syncthing.0123456789abcdef-00000012.seg.tmp",
            "0123456789abcdef-00000012 2.seg",
            "0123456789abcdef-b020003-0123456789abcdef-00.seg",
            "0123456789abcdef-b020003-0123456789abcde.seg",
            "a' AS q;\n.shell touch PWNED\nSELECT '.seg",
            "",
        ] {
            assert!(!is_name(other), "{other}");
        }
    }
}
