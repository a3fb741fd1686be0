//! The merge that stores are usually given, as a model to measure beside: whole files are carried, the newer row wins by the
//! text of its date, and edges are only ever added.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::Outcome;

/// Writes the store's snapshot, as long as the store's file is newer than the last one; says whether it did.
pub(crate) fn export(store: &Path, snapshot: &Path) -> Outcome<bool> {
    let changed = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
    if changed(snapshot) >= changed(store) {
        return Ok(false);
    }
    let aside = snapshot.with_extension("tmp");
    let name = aside.display().to_string();
    Connection::open(store)?.execute("VACUUM INTO ?", [name])?;
    std::fs::rename(&aside, snapshot)?;
    Ok(true)
}

/// Merges a snapshot into a store, in one transaction; says how long it held the write lock.
pub(crate) fn import(store: &Path, snapshot: &Path) -> Outcome<Duration> {
    let db = Connection::open(store)?;
    db.busy_timeout(Duration::from_secs(5))?;
    db.execute("ATTACH ? AS peer", [snapshot.display().to_string()])?;
    db.execute_batch("PRAGMA foreign_keys=ON; BEGIN IMMEDIATE")?;
    let held = Instant::now();
    let merged = db.execute_batch(
        "INSERT INTO insights SELECT * FROM peer.insights WHERE 1
         ON CONFLICT(id) DO UPDATE SET content=excluded.content, category=excluded.category,
           importance=excluded.importance, tags=excluded.tags, entities=excluded.entities, source=excluded.source,
           access_count=excluded.access_count, created_at=excluded.created_at, updated_at=excluded.updated_at,
           deleted_at=excluded.deleted_at, last_accessed_at=excluded.last_accessed_at, embedding=excluded.embedding,
           effective_importance=excluded.effective_importance
         WHERE excluded.updated_at > insights.updated_at;
         INSERT OR IGNORE INTO edges SELECT * FROM peer.edges;
         DELETE FROM edges WHERE source_id IN (SELECT id FROM insights WHERE deleted_at IS NOT NULL)
           OR target_id IN (SELECT id FROM insights WHERE deleted_at IS NOT NULL);
         COMMIT",
    );
    if merged.is_err() {
        // What does not fit takes everything else of that snapshot with it.
        db.execute_batch("ROLLBACK")?;
    }
    Ok(held.elapsed())
}

/// One value of a store, as text.
pub(crate) fn value(store: &Path, query: &str) -> Outcome<String> {
    let query = format!("SELECT CAST(({query}) AS TEXT)");
    let found: Option<Option<String>> = Connection::open(store)?
        .query_row(&query, params![], |row| row.get(0))
        .optional()?;
    Ok(found.flatten().unwrap_or_else(|| "-".to_owned()))
}
