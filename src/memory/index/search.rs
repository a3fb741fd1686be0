//! Which words of a question are looked for, and in which order what they find stands.
//!
//! The rarest words find the notes ([`BUDGET`]); the others only say which of these come first. A note that has nothing of a
//! question but words that stand in many notes, and few of its words, is no answer to it ([`SHARE`]).

use std::cmp::Ordering;
use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::words::{self, Wanted};
use super::{HIT, Hit, IndexError, Question, about, hit, typos};
use crate::memory::note::Kind;

/// Notes in which the words of one question may stand together.
const BUDGET: usize = 1500;
/// Fewer hits than this are thin: words that only begin like those of the question count too.
const THIN: usize = 3;
/// The shortest word that another one may begin with, in characters.
const BEGINNING: usize = 4;
/// What a word counts in title, tags, paths and body.
const WEIGHTS: &str = "10.0, 6.0, 4.0, 1.0";
/// How many of the words that stand in too many notes say which of the notes that were found come first.
const COMMON: usize = 4;
/// What a note must have of a question, as a share of what its words weigh.
const SHARE: f64 = 0.3;
/// A word is rare that stands in one of this many notes, or in [`FEW`]: a note that has it needs no share.
const RARE: f64 = 0.01;
/// So few that a word in them is rare.
const FEW: f64 = 3.0;

/// A word of a question, as it is looked for.
struct Term {
    /// An expression of FTS5; empty where nothing is like the word.
    expression: String,
    /// One for what begins like the word; empty where that was looked for already, or the word is too short.
    wider: String,
    /// In how many notes it stands, up to [`BUDGET`].
    notes: usize,
    /// What it tells: much where few notes have it.
    weight: f64,
    rare: bool,
}

/// What a note has of a question.
#[derive(Default)]
struct Share {
    weight: f64,
    rare: bool,
    /// What words beyond the budget add to its rank.
    added: f64,
}

/// The notes that fit, the best first.
pub(super) fn ranked(
    connection: &Connection,
    question: &Question<'_>,
) -> Result<Vec<Hit>, IndexError> {
    about::remember(connection, question.paths)?;
    let wanted = words::asked(question.text);
    let mut terms = look_up(connection, &wanted)?;
    let hits = find(connection, &terms, question)?;
    if hits.len() >= THIN.min(question.limit) || !widen(connection, &mut terms)? {
        return Ok(hits);
    }
    let more = find(connection, &terms, question)?;
    let mut all = hits;
    for hit in more {
        if !all.contains(&hit) {
            all.push(hit);
        }
    }
    // Each half is in order; a note that another one took the place of stands behind both.
    all.sort_by_key(|hit| hit.superseded);
    all.truncate(question.limit);
    Ok(all)
}

fn as_written(wanted: &Wanted) -> String {
    any(&wanted.forms)
}

/// Words that begin like this one. A character of a dense script begins a word wherever it stands.
fn beginning(wanted: &Wanted) -> String {
    let word = &wanted.forms[0];
    if word.chars().count() >= BEGINNING || word.chars().all(words::is_dense) {
        format!("\"{word}\"*")
    } else {
        String::new()
    }
}

fn any(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    quoted.join(" OR ")
}

/// Looks for each word as it is written, then for what begins like it, then for what it may be mistyped for.
fn look_up(connection: &Connection, wanted: &[Wanted]) -> rusqlite::Result<Vec<Term>> {
    let newest: i64 = connection
        .prepare_cached("SELECT coalesce(max(number), 0) FROM note")?
        .query_row([], |row| row.get(0))?;
    let mut terms = Vec::with_capacity(wanted.len());
    for each in wanted {
        let mut expression = as_written(each);
        let mut notes = count(connection, &expression)?;
        let mut wider = beginning(each);
        if notes == 0 && !each.spare {
            expression = std::mem::take(&mut wider);
            notes = count(connection, &expression)?;
        }
        if notes == 0 && !each.spare {
            expression = any(&typos::near(connection, &each.forms[0])?);
            notes = count(connection, &expression)?;
        }
        if notes > 0 || !each.spare {
            let all = number(newest);
            let share = standing(connection, &expression, notes, newest)?;
            terms.push(Term {
                expression,
                wider,
                notes,
                weight: (1.0 + all / (share + 0.5)).ln(),
                rare: share <= FEW.max(all * RARE),
            });
        }
    }
    Ok(terms)
}

/// Makes what begins like a word count for it, too. Says whether that is more than was looked for.
fn widen(connection: &Connection, terms: &mut [Term]) -> rusqlite::Result<bool> {
    let mut widened = false;
    for term in terms {
        if term.wider.is_empty() {
            continue;
        }
        let notes = count(connection, &term.wider)?;
        if notes > term.notes {
            term.expression = std::mem::take(&mut term.wider);
            term.notes = notes;
            widened = true;
        }
    }
    Ok(widened)
}

/// In how many notes an expression stands, up to [`BUDGET`].
fn count(connection: &Connection, expression: &str) -> rusqlite::Result<usize> {
    if expression.is_empty() {
        return Ok(0);
    }
    connection
        .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 LIMIT ?2)")?
        .query_row(params![expression, BUDGET], |row| row.get(0))
}

/// In how many notes it stands; where that is more than were counted, about as many as the newest ones tell.
fn standing(
    connection: &Connection,
    expression: &str,
    notes: usize,
    newest: i64,
) -> rusqlite::Result<f64> {
    let counted = number(i64::try_from(notes).unwrap_or(i64::MAX));
    if notes < BUDGET {
        return Ok(counted);
    }
    let looked_at = i64::try_from(BUDGET).unwrap_or(i64::MAX);
    let here: i64 = connection
        .prepare_cached("SELECT count(*) FROM words WHERE words MATCH ?1 AND rowid > ?2")?
        .query_row(params![expression, newest - looked_at], |row| row.get(0))?;
    Ok((number(here) / number(looked_at) * number(newest)).max(counted))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a number of notes is far below what a float counts exactly"
)]
fn number(notes: i64) -> f64 {
    notes as f64
}

/// The notes that match, in their order. No words match nothing, but paths do.
fn find(
    connection: &Connection,
    terms: &[Term],
    question: &Question<'_>,
) -> rusqlite::Result<Vec<Hit>> {
    let whole: f64 = terms.iter().map(|term| term.weight).sum();
    let (chosen, common) = choose(terms);
    let expression = joined(&chosen);
    let from = first_of(connection, &chosen)?;

    let mut shares: HashMap<i64, Share> = HashMap::new();
    for term in &chosen {
        for note in notes_with(connection, &term.expression, from)? {
            let share = shares.entry(note).or_default();
            share.weight += term.weight;
            share.rare |= term.rare;
        }
    }
    for term in common.iter().take(COMMON) {
        let both = format!("({expression}) AND ({})", term.expression);
        for note in notes_with(connection, &both, from)? {
            let share = shares.entry(note).or_default();
            share.weight += term.weight;
            share.added += term.weight;
        }
    }
    let untold: f64 = common.iter().skip(COMMON).map(|term| term.weight).sum();
    let least = (whole - untold) * SHARE;

    let mut rows = candidates(connection, &expression, from)?;
    rows.retain(|row| {
        let share = shares.get(&row.number);
        row.asked || share.is_some_and(|share| share.rare || share.weight >= least)
    });
    for row in &mut rows {
        row.score -= shares.get(&row.number).map_or(0.0, |share| share.added);
    }
    rows.sort_by(Row::rank);
    best(connection, &rows, question)
}

/// The first notes of those that are in order, those last of which another one took the place.
fn best(
    connection: &Connection,
    rows: &[Row],
    question: &Question<'_>,
) -> rusqlite::Result<Vec<Hit>> {
    let sql = format!("SELECT {HIT} FROM note WHERE number = ?1 AND (?2 IS NULL OR kind = ?2)");
    let mut look = connection.prepare_cached(&sql)?;
    let kind = question.kind.map(Kind::as_str);
    let mut found: Vec<(&Row, Hit)> = Vec::new();
    let mut standing = 0;
    for row in rows {
        let last = found.last().map(|(row, _)| row);
        // Of those that fit as well as the last one the newest counts, so all of them are read.
        if standing >= question.limit && last.is_some_and(|last| last.rank(row).is_ne()) {
            break;
        }
        let hit = look.query_row(params![row.number, kind], hit).optional()?;
        if let Some(hit) = hit {
            standing += usize::from(!hit.superseded);
            found.push((row, hit));
        }
    }
    found.sort_by(|(one, first), (other, second)| {
        first
            .superseded
            .cmp(&second.superseded)
            .then(one.rank(other))
            .then(second.id.cmp(&first.id))
    });
    found.truncate(question.limit);
    Ok(found.into_iter().map(|(_, hit)| hit).collect())
}

/// Of the terms that stand in any note the rarest, as many as stand in [`BUDGET`] notes together, and one at least where
/// there is one; and the others, the rarest first.
fn choose(terms: &[Term]) -> (Vec<&Term>, Vec<&Term>) {
    let mut chosen: Vec<&Term> = terms.iter().filter(|term| term.notes > 0).collect();
    chosen.sort_by_key(|term| term.notes);
    let mut left = BUDGET;
    let mut within = 0;
    while let Some(term) = chosen.get(within)
        && (within == 0 || term.notes <= left)
    {
        left = left.saturating_sub(term.notes);
        within += 1;
    }
    let common = chosen.split_off(within);
    (chosen, common)
}

fn joined(terms: &[&Term]) -> String {
    let expressions: Vec<&str> = terms.iter().map(|term| term.expression.as_str()).collect();
    expressions.join(" OR ")
}

/// An expression for the rarest of some words, as they are written, and the number of the note from which on it is meant.
pub(super) fn rarest(
    connection: &Connection,
    wanted: &[Wanted],
) -> rusqlite::Result<(String, i64)> {
    let mut terms = Vec::with_capacity(wanted.len());
    for each in wanted {
        let expression = as_written(each);
        let notes = count(connection, &expression)?;
        terms.push(Term {
            expression,
            wider: String::new(),
            notes,
            weight: 0.0,
            rare: false,
        });
    }
    let (chosen, _) = choose(&terms);
    Ok((joined(&chosen), first_of(connection, &chosen)?))
}

/// The number of the note from which on: of a word that stands in too many, the newest notes count.
fn first_of(connection: &Connection, chosen: &[&Term]) -> rusqlite::Result<i64> {
    match chosen {
        [term] if term.notes >= BUDGET => connection
            .prepare_cached(
                "SELECT min(rowid) FROM
                 (SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rowid DESC LIMIT ?2)",
            )?
            .query_row(params![term.expression, BUDGET], |row| row.get(0)),
        _ => Ok(0),
    }
}

fn notes_with(connection: &Connection, expression: &str, from: i64) -> rusqlite::Result<Vec<i64>> {
    connection
        .prepare_cached("SELECT rowid FROM words WHERE words MATCH ?1 AND rowid >= ?2")?
        .query_map(params![expression, from], |row| row.get(0))?
        .collect()
}

/// A note that may be an answer.
struct Row {
    number: i64,
    /// Whether it is about the question's paths.
    asked: bool,
    /// The lower the better.
    score: f64,
}

impl Row {
    /// Less where it comes first.
    fn rank(&self, other: &Self) -> Ordering {
        let asked = other.asked.cmp(&self.asked);
        asked.then(self.score.total_cmp(&other.score))
    }
}

fn candidates(connection: &Connection, expression: &str, from: i64) -> rusqlite::Result<Vec<Row>> {
    let sql = if expression.is_empty() {
        "SELECT note, 1, 0.0 FROM temp.asked WHERE ?1 = '' AND note >= ?2".to_owned()
    } else {
        format!(
            "SELECT rowid, rowid IN (SELECT note FROM temp.asked), bm25(words, {WEIGHTS}) FROM words
             WHERE words MATCH ?1 AND rowid >= ?2"
        )
    };
    connection
        .prepare_cached(&sql)?
        .query_map(params![expression, from], |row| {
            Ok(Row {
                number: row.get(0)?,
                asked: row.get(1)?,
                score: row.get(2)?,
            })
        })?
        .collect()
}
