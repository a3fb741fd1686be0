//! What this device writes into its folder: a segment for what is new, and now and then a base for all that it wrote.
//!
//! | step | dies here | what the next one finds |
//! |---|---|---|
//! | record, write | between the two | a recorded segment that is not there: all is sent again |
//! | record the parts of a base, write them | between | the same |
//! | call the rest superseded, remove it | between | it is removed then; others read the same from the base |

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::params;

use super::{names, record, recorded};
use crate::floor::fs::{replace, sweep};
use crate::stores::error::StoreError;
use crate::stores::progress;
use crate::stores::segments::{self, FULL_BYTES, Head};
use crate::stores::session::Session;

/// A base is written after so many segments, at the latest.
const MOST_SEGMENTS: usize = 32;
/// Fewer are a reason where they are larger than the base, and than [`LEAST_BYTES`].
const FEW_SEGMENTS: usize = 8;
/// See [`FEW_SEGMENTS`].
const LEAST_BYTES: u64 = 1024 * 1024;
/// The bytes of lines in a part of a base, at most on average.
const PART_BYTES: u64 = 4 * 1024 * 1024;
/// A base has at most two to this power of parts.
const MOST_BITS: u32 = 12;

/// What would be sent of insights: what its tags keep here is not, unless it was sent before they did.
const MEANT: &str = "unsent AND NOT (local AND number=0)";

/// The insights to be sent: those of [`MEANT`] that a segment takes.
fn insights() -> String {
    format!("{MEANT} AND {}", segments::insight_fits())
}

/// The same of edges, none of which leads to what stays here.
fn edges() -> String {
    let fits = segments::edge_fits();
    format!(
        "unsent AND {fits} AND NOT EXISTS
         (SELECT 1 FROM insight kept WHERE kept.local AND kept.number=0 AND kept.id IN (edge.source, edge.target))"
    )
}

/// Writes what is not sent yet into this device's own folder.
pub(in crate::stores) fn send(
    session: &mut Session,
    folder: &Path,
    now_ms: u64,
) -> Result<(), StoreError> {
    let own = own_folder(session, folder);
    is_read_by_others(&own)?;
    remove_superseded(session, &own)?;
    take_back(session, &own)?;
    let (there, written) = (names(&own).0, recorded(session, session.device())?);
    if there.difference(&written).next().is_some() {
        session.report.troubles.push("another machine writes under this one's id, as a copy of it does: this one takes a new id".to_owned());
        session.take_new_id()?;
    } else {
        let gone: Vec<_> = written.difference(&there).cloned().collect();
        if !gone.is_empty() {
            // Somebody removed segments, or died before writing them: whoever did not read them gets them again, once.
            session.shadow.run("BEGIN IMMEDIATE")?;
            session.shadow.all_unsent()?;
            miss(session, &gone)?;
            session.shadow.run("COMMIT")?;
        }
    }
    tell_of_what_stays(session)?;
    let own = own_folder(session, folder);
    let (insights, edges) = (insights(), edges());
    if session.shadow.bytes_of(&insights, &edges)? > FULL_BYTES as u64 {
        // As much as this is sent as parts of a base at once.
        let count = |table, condition| session.shadow.count(&format!("{table} WHERE {condition}"));
        let sent = count("insight", &insights)? + count("edge", &edges)?;
        fs::create_dir_all(&own).map_err(StoreError::io(&own))?;
        let number = session.shadow.number("number")? + 1;
        session.shadow.set("number", number)?;
        base(session, &own, now_ms)?;
        session.report.sent += sent;
        return mark_sent(session, number);
    }
    let mut at = (0, 0);
    loop {
        let (lines, last) = unsent(session, at)?;
        if lines.is_empty() {
            break;
        }
        fs::create_dir_all(&own).map_err(StoreError::io(&own))?;
        let number = session.shadow.number("number")? + 1;
        let name = segments::name(&incarnation(session)?, number);
        // Recorded first: a segment of ours that is not recorded would be a copy's.
        session.shadow.run("BEGIN IMMEDIATE")?;
        session.shadow.set("number", number)?;
        record(session, session.device(), &name)?;
        session.shadow.run("COMMIT")?;
        put(session, &own.join(&name), &lines, now_ms)?;
        session.report.sent += lines.len() as u64;
        at = last;
    }
    if at != (0, 0) {
        mark_sent(session, session.shadow.number("number")?)?;
        if is_worth_a_base(&own) {
            base(session, &own, now_ms)?;
        }
    }
    Ok(())
}

/// Names what no segment takes: everything beside it is sent.
fn tell_of_what_stays(session: &mut Session) -> Result<(), StoreError> {
    let insights = format!("{MEANT} AND NOT ({})", segments::insight_fits());
    let edges = format!("unsent AND NOT ({})", segments::edge_fits());
    let count = session.shadow.count(&format!("insight WHERE {insights}"))?
        + session.shadow.count(&format!("edge WHERE {edges}"))?;
    if count > 0 {
        session.report.troubles.push(format!(
            "{count} insights or edges stay on this machine: an id has 1 to {} bytes, and all of one at most {} MiB",
            segments::ID_BYTES,
            segments::LINE_BYTES / (1024 * 1024)
        ));
    }
    Ok(())
}

fn mark_sent(session: &Session, number: u64) -> Result<(), StoreError> {
    let (insights, edges) = (insights(), edges());
    session.shadow.run(&format!(
        "BEGIN IMMEDIATE;
         UPDATE edge SET unsent=0, number={number} WHERE {edges};
         UPDATE insight SET unsent=0, number={number} WHERE {insights};
         COMMIT;"
    ))
}

fn own_folder(session: &Session, folder: &Path) -> PathBuf {
    folder.join(session.device().to_string())
}

fn incarnation(session: &Session) -> Result<String, StoreError> {
    Ok(session.shadow.meta("incarnation")?.unwrap_or_default())
}

/// Writes one segment, recorded already.
fn put(
    session: &mut Session,
    path: &Path,
    lines: &[String],
    now_ms: u64,
) -> Result<(), StoreError> {
    let head = Head {
        number: session.shadow.number("number")?,
        read: session.shadow.numbers_read()?,
        retired: session.shadow.retired()?,
        ..Head::new(
            &session.place.name,
            session.device(),
            &session.place.label,
            now_ms,
        )
    };
    let bytes = segments::render(&head, lines).map_err(StoreError::io(path))?;
    sweep(path);
    replace(path, &bytes).map_err(StoreError::io(path))?;
    session.report.segments_written += 1;
    Ok(())
}

/// The lines of the next segment, after these rows, and after which ones the one after it begins.
fn unsent(session: &Session, after: (i64, i64)) -> Result<(Vec<String>, (i64, i64)), StoreError> {
    let (mut lines, mut bytes, mut last) = (Vec::new(), 0, after);
    let (insights, edges) = (insights(), edges());
    let mut read = || -> rusqlite::Result<()> {
        let db = &session.shadow.db;
        let mut select = db.prepare(&format!(
            "SELECT rowid, id, known FROM insight INDEXED BY insight_unsent WHERE {insights} AND rowid>? ORDER BY rowid"
        ))?;
        let mut found = select.query([after.0])?;
        while bytes < FULL_BYTES
            && let Some(row) = found.next()?
        {
            last.0 = row.get(0)?;
            lines.push(insight_line(row.get(1)?, row.get_ref(2)?.as_str()?));
            bytes += lines.last().map_or(0, String::len);
        }
        let mut select = db.prepare(&format!(
            "SELECT rowid, source, target, kind, known FROM edge INDEXED BY edge_unsent WHERE {edges} AND rowid>? ORDER BY rowid"
        ))?;
        let mut found = select.query([after.1])?;
        while bytes < FULL_BYTES
            && let Some(row) = found.next()?
        {
            last.1 = row.get(0)?;
            let ends = [row.get(1)?, row.get(2)?, row.get(3)?];
            lines.push(edge_line(ends, row.get_ref(4)?.as_str()?));
            bytes += lines.last().map_or(0, String::len);
        }
        Ok(())
    };
    read().map_err(StoreError::shadow)?;
    Ok((lines, last))
}

fn insight_line(id: String, known: &str) -> String {
    let id = serde_json::Value::String(id);
    format!(r#"{{"insight":[{id},{known}]}}"#)
}

fn edge_line([source, target, kind]: [String; 3], known: &str) -> String {
    let ends = serde_json::json!({ "source": source, "target": target, "kind": kind });
    format!(r#"{{"edge":[{ends},{known}]}}"#)
}

/// Whether there are so many segments beside the base, or so large ones, that a new one should take their place.
fn is_worth_a_base(own: &Path) -> bool {
    let (there, _) = names(own);
    let size = |name: &String| {
        own.join(name)
            .symlink_metadata()
            .map_or(0, |found| found.len())
    };
    let (parts, plain): (Vec<_>, Vec<_>) = there.iter().partition(|name| segments::is_part(name));
    let sum = |names: Vec<&String>| -> u64 { names.into_iter().map(size).sum() };
    let count = plain.len();
    let is_large = count >= FEW_SEGMENTS && sum(plain) > sum(parts).max(LEAST_BYTES);
    count > MOST_SEGMENTS || is_large
}

/// Writes a base of all that was sent and all that is to be, in the place of what was written before.
fn base(session: &mut Session, own: &Path, now_ms: u64) -> Result<(), StoreError> {
    let (there, _) = names(own);
    let [insights, edges] = known();
    let bytes = session.shadow.bytes_of(&insights, &edges)?;
    let bits = (0..MOST_BITS)
        .find(|bits| bytes >> bits <= PART_BYTES)
        .unwrap_or(MOST_BITS);
    let incarnation = incarnation(session)?;
    let (mut base, mut put_in) = (BTreeSet::new(), 0);
    for range in 0..1_u32 << bits {
        // The edges of one insight are of one range, however many they are.
        for lines in pieces(part(session, bits, range)?) {
            let name = segments::name_of_part(&incarnation, bits, range, &lines);
            if !there.contains(&name) {
                record(session, session.device(), &name)?;
                put(session, &own.join(&name), &lines, now_ms)?;
            }
            base.insert(name);
            for _ in &lines {
                put_in += 1;
                progress::step(&session.place.name, "put into a base", put_in);
            }
        }
    }
    let superseded: Vec<_> = there.difference(&base).collect();
    session
        .shadow
        .set("superseded", serde_json::to_string(&superseded)?)?;
    remove_superseded(session, own)
}

/// The conditions on what a base has: all that was sent, and all that is to be.
fn known() -> [String; 2] {
    let (insights, edges) = (insights(), edges());
    let (insight_fits, edge_fits) = (segments::insight_fits(), segments::edge_fits());
    [
        format!("(number>0 AND {insight_fits} OR {insights})"),
        format!("(number>0 AND {edge_fits} OR {edges})"),
    ]
}

/// Lines by as many as a segment takes.
fn pieces(lines: Vec<String>) -> Vec<Vec<String>> {
    let (mut pieces, mut bytes) = (Vec::<Vec<String>>::new(), FULL_BYTES);
    for line in lines {
        if bytes >= FULL_BYTES {
            pieces.push(Vec::new());
            bytes = 0;
        }
        bytes += line.len();
        if let Some(piece) = pieces.last_mut() {
            piece.push(line);
        }
    }
    pieces
}

/// The lines of one part of a base, in an order that does not depend on when they were written.
fn part(session: &Session, bits: u32, range: u32) -> Result<Vec<String>, StoreError> {
    let (first, last) = (range << (16 - bits), ((range + 1) << (16 - bits)) - 1);
    let [is_insight, is_edge] = known();
    let read = || -> rusqlite::Result<Vec<String>> {
        let db = &session.shadow.db;
        let mut lines = Vec::new();
        let mut insights = db.prepare_cached(&format!(
            "SELECT id, known FROM insight WHERE bucket BETWEEN ? AND ? AND {is_insight} ORDER BY id"
        ))?;
        let mut found = insights.query([first, last])?;
        while let Some(row) = found.next()? {
            lines.push(insight_line(row.get(0)?, row.get_ref(1)?.as_str()?));
        }
        let mut edges = db.prepare_cached(&format!(
            "SELECT source, target, kind, known FROM edge
             WHERE bucket BETWEEN ? AND ? AND {is_edge} ORDER BY source, target, kind"
        ))?;
        let mut found = edges.query([first, last])?;
        while let Some(row) = found.next()? {
            let ends = [row.get(0)?, row.get(1)?, row.get(2)?];
            lines.push(edge_line(ends, row.get_ref(3)?.as_str()?));
        }
        Ok(lines)
    };
    read().map_err(StoreError::shadow)
}

/// Removes what a base took the place of.
fn remove_superseded(session: &Session, own: &Path) -> Result<(), StoreError> {
    let Some(superseded) = session.shadow.meta("superseded")? else {
        return Ok(());
    };
    let superseded: Vec<String> = serde_json::from_str(&superseded)?;
    if superseded.is_empty() {
        return Ok(());
    }
    for name in superseded.iter().filter(|name| segments::is_name(name)) {
        let path = own.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io(&path)(error));
            }
            _ => {}
        }
    }
    session.shadow.run("BEGIN IMMEDIATE")?;
    forget(session, &superseded)?;
    session.shadow.set("superseded", "[]")?;
    session.shadow.run("COMMIT")
}

/// A link is read by nobody, so nothing is written behind one.
fn is_read_by_others(own: &Path) -> Result<(), StoreError> {
    match own.symlink_metadata() {
        Ok(found) if !found.is_dir() => Err(StoreError::Strange {
            path: own.to_owned(),
            why: "is no folder, and others read nothing in it".to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Whom segments are recorded under that this device wrote and that are not there.
fn missing(session: &Session) -> String {
    format!("{} missing", session.device())
}

/// Records that segments of this device are not there. They may come back, as with a disk that was away.
fn miss(session: &Session, names: &[String]) -> Result<(), StoreError> {
    forget(session, names)?;
    for name in names {
        let miss = "INSERT OR IGNORE INTO segment VALUES(?,?)";
        let missed = session
            .shadow
            .db
            .execute(miss, params![missing(session), name]);
        missed.map_err(StoreError::shadow)?;
    }
    Ok(())
}

/// Records again what was missing and is there: it is this device's, and no copy's.
fn take_back(session: &Session, own: &Path) -> Result<(), StoreError> {
    for name in names(own).0 {
        let back = "UPDATE OR REPLACE segment SET device=? WHERE device=? AND name=?";
        let values = params![session.device().to_string(), missing(session), name];
        let taken = session.shadow.db.execute(back, values);
        taken.map_err(StoreError::shadow)?;
    }
    Ok(())
}

/// Takes segments of this device out of the record.
fn forget(session: &Session, names: &[String]) -> Result<(), StoreError> {
    for name in names {
        let values = params![session.device().to_string(), name];
        let forget = "DELETE FROM segment WHERE device=? AND name=?";
        let forgotten = session.shadow.db.execute(forget, values);
        forgotten.map_err(StoreError::shadow)?;
    }
    Ok(())
}
