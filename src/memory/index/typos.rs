//! Words of the index that are one edit away from one that nobody wrote.

use std::collections::HashSet;

use rusqlite::{Connection, params};

/// The shortest word that is taken for a mistyped one, in characters: shorter ones have too many neighbours.
const SHORTEST: usize = 5;
/// How many words of the index are looked at.
const LOOKED_AT: usize = 20_000;
/// How many words of one transaction are remembered, so that the database need not be asked for each of them.
const REMEMBERED: usize = 200_000;
/// How many neighbours are taken.
const MOST: usize = 4;

/// The words that are one edit away: one letter more, less or other, or two that changed places. They begin with the first or
/// the second letter of this one; to find what has another first letter would be a look at all there are.
pub(super) fn near(connection: &Connection, word: &str) -> rusqlite::Result<Vec<String>> {
    let mistyped: Vec<char> = word.chars().map(fold).collect();
    let mut found = Vec::new();
    if !may_be_mistyped(&mistyped) {
        return Ok(found);
    }
    let mut begins = mistyped[..2].to_vec();
    begins.dedup();
    for begin in begins {
        let mut statement = connection
            .prepare_cached("SELECT word FROM spelling WHERE word >= ?1 AND word < ?2 LIMIT ?3")?;
        let end = format!("{begin}\u{10ffff}");
        let mut rows = statement.query(params![begin.to_string(), end, LOOKED_AT])?;
        while let Some(row) = rows.next()? {
            let word = row.get_ref(0)?.as_str()?;
            let letters: Vec<char> = word.chars().collect();
            if is_one_edit(&mistyped, &letters) {
                found.push(word.to_owned());
                if found.len() == MOST {
                    return Ok(found);
                }
            }
        }
    }
    Ok(found)
}

/// Whether a word is of letters, and of enough of them.
fn may_be_mistyped(letters: &[char]) -> bool {
    letters.len() >= SHORTEST && letters.iter().all(|each| each.is_alphabetic())
}

/// Keeps the spelling of words, each once; `known` are those that were kept in the same transaction. A word stays when its
/// last note goes: it is then found here, and in no note.
pub(super) fn keep<'a>(
    tx: &Connection,
    words: impl Iterator<Item = &'a String>,
    known: &mut HashSet<String>,
) -> rusqlite::Result<()> {
    for word in words {
        let letters: Vec<char> = word.chars().map(fold).collect();
        let folded: String = letters.iter().collect();
        if letters.len() + 1 >= SHORTEST
            && letters.iter().all(|each| each.is_alphabetic())
            && !known.contains(&folded)
        {
            tx.prepare_cached("INSERT OR IGNORE INTO spelling (word) VALUES (?1)")?
                .execute([&folded])?;
            if known.len() < REMEMBERED {
                known.insert(folded);
            }
        }
    }
    Ok(())
}

/// A letter without its accent, as SQLite's tokenizer keeps it.
fn fold(letter: char) -> char {
    match letter {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => 'a',
        'ç' => 'c',
        'è' | 'é' | 'ê' | 'ë' => 'e',
        'ì' | 'í' | 'î' | 'ï' => 'i',
        'ñ' => 'n',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' => 'o',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        other => other,
    }
}

/// Whether one edit leads from one word to the other.
fn is_one_edit(one: &[char], other: &[char]) -> bool {
    if one.len().abs_diff(other.len()) > 1 {
        return false;
    }
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[same..], &other[same..]);
    match (one, other) {
        ([], []) => false,
        _ if one.len() > other.len() => one[1..] == *other,
        _ if one.len() < other.len() => *one == other[1..],
        ([a, b, one @ ..], [c, d, other @ ..]) if a == d && b == c && one == other => true,
        _ => one[1..] == other[1..],
    }
}

#[cfg(test)]
mod tests {
    use super::is_one_edit;

    #[test]
    fn one_edit_is_one_letter_more_less_other_or_moved() {
        let is = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|word| word.chars().collect::<Vec<_>>());
            assert_eq!(is_one_edit(&one, &other), is_one_edit(&other, &one));
            is_one_edit(&one, &other)
        };
        for other in [
            "ledgr", "leddger", "ledxer", "legder", "ledgre", "ledge", "ledgers",
        ] {
            assert!(is("ledger", other), "{other}");
        }
        for other in [
            "ledger", "ledg", "legdre", "lexxer", "ldegre", "ledgerss", "",
        ] {
            assert!(!is("ledger", other), "{other}");
        }
    }
}
