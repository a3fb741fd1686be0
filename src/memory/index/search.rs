//! Which words of a question are looked for, and in which order what they find stands.

use rusqlite::{Connection, params};

use super::{HIT, Hit, IndexError, Question, about, hit, words};
use crate::memory::note::Kind;

/// Notes in which the words of one question may stand together.
const BUDGET: usize = 1500;
/// Fewer hits than this are thin: words that only begin like those of the question count too.
const THIN: usize = 3;
/// The shortest word that another one may begin with, in characters.
const BEGINNING: usize = 4;
/// What a word counts in title, tags, paths and body.
const WEIGHTS: &str = "10.0, 6.0, 4.0, 1.0";

/// What is looked for.
struct Chosen {
    /// An expression of FTS5; empty where there is no word to look for.
    expression: String,
    /// The number of the note from which on: of words that stand in too many, the newest notes count.
    from: i64,
}

/// The notes that fit, the best first.
pub(super) fn ranked(
    connection: &Connection,
    question: &Question<'_>,
) -> Result<Vec<Hit>, IndexError> {
    about::remember(connection, question.paths)?;
    let terms = words::of(question.text);
    let exact: Vec<String> = terms.iter().map(|term| format!("\"{term}\"")).collect();
    let hits = find(connection, &choose(connection, &exact)?, question)?;
    if hits.len() >= THIN.min(question.limit) {
        return Ok(hits);
    }
    let long = terms
        .iter()
        .filter(|term| term.chars().count() >= BEGINNING);
    let beginnings: Vec<String> = long.map(|term| format!("\"{term}\"*")).collect();
    let more = find(connection, &choose(connection, &beginnings)?, question)?;
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

/// The rarest words, as many as stand in [`BUDGET`] notes together, and one at least.
fn choose(connection: &Connection, words: &[String]) -> rusqlite::Result<Chosen> {
    let mut counted = Vec::with_capacity(words.len());
    let mut count = connection.prepare_cached(
        "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 LIMIT ?2)",
    )?;
    for word in words {
        let notes: usize = count.query_row(params![word, BUDGET], |row| row.get(0))?;
        if notes > 0 {
            counted.push((notes, word.as_str()));
        }
    }
    counted.sort_unstable();
    let mut from = 0;
    if let Some((BUDGET, word)) = counted.first() {
        let newest = "SELECT min(rowid) FROM
            (SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rowid DESC LIMIT ?2)";
        from = connection
            .prepare_cached(newest)?
            .query_row(params![word, BUDGET], |row| row.get(0))?;
    }
    let mut left = BUDGET;
    let mut chosen = Vec::new();
    for (notes, word) in counted {
        if !chosen.is_empty() && notes > left {
            break;
        }
        left = left.saturating_sub(notes);
        chosen.push(word);
    }
    Ok(Chosen {
        expression: chosen.join(" OR "),
        from,
    })
}

/// The notes that match, in their order. No words match nothing, but paths do.
fn find(
    connection: &Connection,
    chosen: &Chosen,
    question: &Question<'_>,
) -> rusqlite::Result<Vec<Hit>> {
    let found = if chosen.expression.is_empty() {
        "SELECT note AS number, 0.0 AS score FROM temp.asked WHERE ?1 = '' AND note >= ?4"
            .to_owned()
    } else {
        format!(
            "SELECT rowid AS number, bm25(words, {WEIGHTS}) AS score FROM words
             WHERE words MATCH ?1 AND rowid >= ?4"
        )
    };
    connection
        .prepare_cached(&format!(
            "SELECT {HIT} FROM ({found}) AS found JOIN note USING (number)
             WHERE ?2 IS NULL OR kind = ?2
             ORDER BY old, number IN (SELECT note FROM temp.asked) DESC, score, id DESC LIMIT ?3"
        ))?
        .query_map(
            params![
                chosen.expression,
                question.kind.map(Kind::as_str),
                question.limit,
                chosen.from
            ],
            hit,
        )?
        .collect()
}
