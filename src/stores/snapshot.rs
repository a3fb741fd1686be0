//! Snapshots that mnemon-sync leaves in the folder: a whole store a machine, `<folder>/<store>/<host>.db`.
//!
//! A snapshot has no stamps, so nothing in it is an edit: each value has its row's own `updated_at` at the lowest rank, of
//! the lowest device. One that was read is known by its digest and not read again.
//!
//! Nothing in it is trusted. A plain file of a strict name is copied aside and opened there, so SQLite writes nothing beside
//! it, and nobody changes it meanwhile; its own tables are read by the names that ours have, and no view or trigger is.

use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::clock::{Device, Stamp};
use super::error::StoreError;
use super::observe::{self, Look, Row};
use super::registers::{Edge, Insight, Payload, Value};
use super::schema::Live;
use super::segments::Line;
use super::session::Session;
use crate::floor::error::Chain;
use crate::floor::fs::read_plain;
use crate::floor::hex;

/// The bytes of a snapshot that is read, at most.
const FILE_BYTES: usize = 1024 * 1024 * 1024;
/// The bytes of one row, at most.
const ROW_BYTES: usize = 1024 * 1024;
/// The bytes of an id or a type, at most, as in a segment.
const ID_BYTES: usize = 256;
/// Columns of one row, at most, as in a segment.
const COLUMNS: usize = 64;

/// Whether mnemon-sync would have called a snapshot so. Conflict copies are not.
fn is_name(name: &str) -> bool {
    name.strip_suffix(".db").is_some_and(|host| {
        (1..=64).contains(&host.len())
            && host
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    })
}

/// Joins every snapshot that was not read yet. One that cannot be read is named, and holds up no other.
pub(super) fn take_in(session: &mut Session, folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<_> = names.filter(|name| is_name(name)).collect();
    names.sort_unstable();
    for name in names {
        if let Err(error) = one(session, &folder.join(&name), &name) {
            let what = format!("the snapshot {name} is not read: {}", Chain(&error));
            session.report.troubles.push(what);
        }
    }
}

fn one(session: &mut Session, path: &Path, name: &str) -> Result<(), StoreError> {
    let read = read_plain(path, FILE_BYTES);
    let (bytes, _) = read.map_err(|error| super::place::refused(path, error))?;
    let digest = hex::encode(&Sha256::digest(&bytes));
    let key = format!("snapshot {name}");
    if session.shadow.meta(&key)?.as_ref() == Some(&digest) {
        return Ok(());
    }
    let aside = tempfile::TempDir::with_prefix_in("snapshot-", &session.place.state);
    let aside = aside.map_err(StoreError::io(&session.place.state))?;
    let copy = aside.path().canonicalize();
    let copy = copy
        .map_err(StoreError::io(aside.path()))?
        .join("mnemon.db");
    fs::write(&copy, bytes).map_err(StoreError::io(&copy))?;
    let live = Live::open(&copy)?;
    let check = "PRAGMA quick_check(1)";
    let sound: String = live
        .connection
        .query_row(check, [], |row| row.get(0))
        .map_err(StoreError::live)?;
    if sound != "ok" {
        return Err(StoreError::Strange {
            path: path.to_owned(),
            why: "is damaged".to_owned(),
        });
    }
    let nobody = Device([0; 16]);
    let look = Look {
        stamp: Stamp::adopted(None, nobody),
        is_first: true,
    };
    let reading = live.reading(nobody)?;
    let pruned = reading.pruned()?;
    let mut refused = reading.rows(None, |id, row| {
        if !is_sound(&id, &row) {
            return Ok(());
        }
        let known = session.shadow.insight::<Insight, Row>(&id)?;
        let mut insight = known.map(|entry| entry.known).unwrap_or_default();
        if observe::row(&mut insight, None, &row, pruned.contains(&id), &look) {
            take(session, &Line::Insight(id, insight))?;
        }
        Ok(())
    })?;
    refused += reading.edges(None, |ends, payload| {
        let is_id = |id: &String| (1..=ID_BYTES).contains(&id.len());
        if ![&ends.source, &ends.target, &ends.kind]
            .into_iter()
            .all(is_id)
        {
            return Ok(());
        }
        let known = session.shadow.edge::<Edge, Payload>(&ends)?;
        let known = known.map(|entry| entry.known);
        match observe::edge(known.as_ref(), None, Some(&payload), true, &look) {
            Some(edge) => take(session, &Line::Edge(ends, edge)),
            None => Ok(()),
        }
    })?;
    if refused > 0 {
        let what = format!("{refused} rows of the snapshot {name} cannot be read");
        session.report.troubles.push(what);
    }
    session.report.segments_read += 1;
    session.shadow.set(&key, digest)
}

/// Joins what a snapshot says, and sends it on: not everybody sees the folder of mnemon-sync.
fn take(session: &mut Session, line: &Line) -> Result<(), StoreError> {
    if !session.join(line)? {
        return Ok(());
    }
    session.report.taken_in += 1;
    let db = &session.shadow.db;
    let marked = match line {
        Line::Insight(id, _) => db.execute("UPDATE insight SET unsent=1 WHERE id=?", [id]),
        Line::Edge(ends, _) => db.execute(
            "UPDATE edge SET unsent=1 WHERE source=? AND target=? AND kind=?",
            [&ends.source, &ends.target, &ends.kind],
        ),
    };
    marked.map(drop).map_err(StoreError::shadow)
}

fn is_sound(id: &str, row: &Row) -> bool {
    let bytes = |value: &Value| match value {
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        _ => 8,
    };
    (1..=ID_BYTES).contains(&id.len())
        && row.len() <= COLUMNS
        && row.values().map(bytes).sum::<usize>() <= ROW_BYTES
}
