//! Words of the index that are one edit away from one that nobody wrote.

use rusqlite::{Connection, params};

/// The shortest word that is taken for a mistyped one, in characters: shorter ones have too many neighbours.
const SHORTEST: usize = 5;
/// How many words of the index are looked at.
const LOOKED_AT: usize = 20_000;
/// How many neighbours are taken.
const MOST: usize = 4;

/// The words that begin with the same two letters and are one edit away: one letter more, less or other, or two that changed
/// places. Of a word whose first two letters are wrong nothing is found, since that would be a look at all there are.
pub(super) fn near(connection: &Connection, word: &str) -> rusqlite::Result<Vec<String>> {
    let mistyped: Vec<char> = word.chars().map(fold).collect();
    let [first, second, ..] = mistyped[..] else {
        return Ok(Vec::new());
    };
    if mistyped.len() < SHORTEST || mistyped.iter().any(|each| each.is_numeric()) {
        return Ok(Vec::new());
    }
    let begin = format!("{first}{second}");
    let mut statement = connection
        .prepare_cached("SELECT term FROM vocabulary WHERE term >= ?1 AND term < ?2 LIMIT ?3")?;
    let end = format!("{begin}\u{10ffff}");
    let mut rows = statement.query(params![begin, end, LOOKED_AT])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let term: Vec<char> = row.get_ref(0)?.as_str()?.chars().collect();
        if is_one_edit(&mistyped, &term) {
            found.push(term.into_iter().collect());
            if found.len() == MOST {
                break;
            }
        }
    }
    Ok(found)
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
