//! Which notes are about the paths of a question.
//!
//! A note is about a path or a glob, and stands under its *place*: the path, or what comes before a glob's first pattern. It
//! fits a path that is its place, lies below it or leads to it.

use rusqlite::{Connection, params};

/// The place of a path or glob: without what is a pattern, and without a slash at its end.
pub(super) fn place(path: &str) -> &str {
    let literal = path
        .find(['*', '?', '[', '{'])
        .map_or(path, |at| &path[..at]);
    let folder = if literal.len() == path.len() {
        literal
    } else {
        literal.rsplit_once('/').map_or("", |(folder, _)| folder)
    };
    folder.trim_end_matches('/')
}

/// Puts the notes about some paths into `temp.asked`.
pub(super) fn remember(connection: &Connection, paths: &[String]) -> rusqlite::Result<()> {
    connection.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS asked (note INTEGER PRIMARY KEY); DELETE FROM temp.asked;",
    )?;
    for path in paths {
        let place = place(path);
        // One that is about everything is about nothing in particular.
        let mut above = Some(place);
        while let Some(here) = above.filter(|here| !here.is_empty()) {
            connection
                .prepare_cached(
                    "INSERT OR IGNORE INTO temp.asked SELECT note FROM about WHERE place = ?1",
                )?
                .execute([here])?;
            above = here.rsplit_once('/').map(|(folder, _)| folder);
        }
        if !place.is_empty() {
            // What begins with the path and a slash stands between these two.
            connection
                .prepare_cached("INSERT OR IGNORE INTO temp.asked SELECT note FROM about WHERE place > ?1 AND place < ?2")?
                .execute(params![format!("{place}/"), format!("{place}0")])?;
        }
    }
    Ok(())
}
