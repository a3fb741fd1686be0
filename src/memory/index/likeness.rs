//! Whether two notes say nearly the same.
//!
//! They do when most of their words are the same ([`ALIKE`]), and all that turns a sentence into another one with a single
//! word is: numbers, identifiers, paths, and how often something is denied. What belongs to the latter is one number, by
//! which the index finds it; the words are numbers too, so that the index still holds no text.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};
use sha2::{Digest as _, Sha256};

use super::words::{self, Piece};
use super::{HIT, Hit, hit, search};
use crate::memory::note::Note;

/// What two notes must share, as a share of the words of both.
const ALIKE: f64 = 0.6;
/// How many words of one note are kept: of a longer one those with the lowest numbers, which are a fair sample.
const KEPT: usize = 512;
/// How much of a note is looked for, in bytes.
const LOOKED_FOR: usize = 2000;
/// How many are named.
const MOST: usize = 3;

/// What of a note is compared.
pub(super) struct Likeness {
    /// Stands for all that must be equal.
    pub(super) strict: i64,
    /// The words, each a number, in ascending order.
    said: Vec<u32>,
}

impl Likeness {
    pub(super) fn of(note: &Note) -> Self {
        let text = format!("{}\n{}", note.title, note.body);
        let mut strict = Sha256::new();
        for mark in marks(&text) {
            strict.update(mark.as_bytes());
            strict.update([0]);
        }
        strict.update(denials(&text).to_le_bytes());
        let digest: [u8; 32] = strict.finalize().into();
        let strict = digest
            .iter()
            .take(8)
            .fold(0, |all, byte| all << 8 | i64::from(*byte));
        Self {
            strict,
            said: said(&text),
        }
    }

    /// The words as the index keeps them.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.said
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect()
    }

    /// The share of the words of both that stand in both; `bytes` are those of the other one.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a few hundred words are far below what a float counts exactly"
    )]
    fn shared(&self, bytes: &[u8]) -> f64 {
        let (words, _) = bytes.as_chunks();
        let other: BTreeSet<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let both = self.said.iter().filter(|word| other.contains(word)).count();
        let either = self.said.len() + other.len() - both;
        both as f64 / either.max(1) as f64
    }
}

/// The words of a text, as far as they say something, in the form from which they come.
fn said(text: &str) -> Vec<u32> {
    let mut all = BTreeSet::new();
    words::pieces(text, |piece| {
        match piece {
            Piece::Word(word) | Piece::Name(word) => {
                let stem = words::stem(word);
                if !words::holds_together(&word.to_lowercase()) {
                    all.insert(hashed(&stem));
                }
            }
            Piece::Pair(pair) => {
                all.insert(hashed(pair));
            }
            Piece::Part(_) | Piece::Last(_) => {}
        }
        true
    });
    all.into_iter().take(KEPT).collect()
}

/// FNV-1a: the same in every version and on every machine.
fn hashed(word: &str) -> u32 {
    word.bytes().fold(0x811C_9DC5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// The numbers, identifiers and paths of a text.
fn marks(text: &str) -> BTreeSet<String> {
    text.split(|each: char| {
        each.is_whitespace()
            || words::is_dense(each)
            || "`\"'()[]{}<>,;:!?*|=、。「」".contains(each)
    })
    .map(|token| token.trim_matches(|each: char| ".-…/".contains(each)))
    .filter(|token| is_mark(token))
    .map(str::to_lowercase)
    .collect()
}

fn is_mark(token: &str) -> bool {
    let characters: Vec<char> = token.chars().collect();
    let rises = characters
        .windows(2)
        .any(|pair| pair[0].is_lowercase() && pair[1].is_uppercase());
    rises
        || characters.iter().any(|each| each.is_numeric())
        || token.contains(['/', '_', '.', '\\', '@', '#'])
}

/// How often something is denied in a text.
fn denials(text: &str) -> u32 {
    const WORDS: [&str; 22] = [
        "not", "no", "never", "none", "nothing", "nobody", "nor", "neither", "cannot", "without",
        "t", "nicht", "kein", "keine", "keinen", "keinem", "keiner", "keines", "nie", "niemals",
        "nichts", "ohne",
    ];
    let mut count = 0;
    words::pieces(text, |piece| {
        // Of `isn't` there is `t`, as of every word that is shortened so.
        let denies = match piece {
            Piece::Word(word) => WORDS.contains(&word.to_lowercase().as_str()),
            Piece::Pair(pair) => matches!(pair, "ない" | "なく" | "なし" | "無し" | "せん"),
            _ => false,
        };
        count += u32::from(denies);
        true
    });
    count
}

/// The notes of the same kind, in force, that say nearly the same as this one, the most alike first.
pub(super) fn twins(connection: &Connection, note: &Note) -> rusqlite::Result<Vec<Hit>> {
    let likeness = Likeness::of(note);
    let text = format!("{}\n{}", note.title, note.body);
    let wanted = words::asked(&text[..text.floor_char_boundary(LOOKED_FOR)]);
    let (expression, from) = search::rarest(connection, &wanted)?;
    if expression.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT {HIT}, said FROM (SELECT rowid AS number FROM words WHERE words MATCH ?1 AND rowid >= ?2)
         JOIN note USING (number) JOIN likeness ON likeness.note = number
         WHERE kind = ?3 AND strict = ?4 AND id <> ?5"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![
        expression,
        from,
        note.kind.as_str(),
        likeness.strict,
        note.id.to_string()
    ])?;
    let mut found: Vec<(f64, Hit)> = Vec::new();
    while let Some(row) = rows.next()? {
        let hit = hit(row)?;
        let shared = likeness.shared(row.get_ref("said")?.as_blob()?);
        if shared >= ALIKE && !hit.superseded && !note.supersedes.contains(&hit.id) {
            found.push((shared, hit));
        }
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.id.cmp(&one.1.id)));
    Ok(found.into_iter().take(MOST).map(|(_, hit)| hit).collect())
}

#[cfg(test)]
mod tests;
