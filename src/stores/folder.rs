//! The folder that something else carries to the other machines: who writes where, and what is read.
//!
//! `<folder>/<store>/<device>/<incarnation>-<number>.seg`. A device writes in its own folder only. Whatever is no plain file,
//! or has another name, is not read; a segment that cannot be read is named, and tried again next time.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rusqlite::params;

use super::clock::Device;
use super::error::StoreError;
use super::segments::{self, FILE_BYTES, FULL_BYTES, Head, Line};
use super::session::Session;
use crate::floor::error::Chain;
use crate::floor::fs::{FileError, read_plain, replace, sweep};

/// The devices that have a folder here, and whether each is a real one.
fn devices(folder: &Path) -> Vec<Device> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let real = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found: Vec<_> = real
        .filter_map(|entry| Device::parse(entry.file_name().to_str()?))
        .collect();
    found.sort_unstable();
    found
}

/// The names in a device's folder: segments, and how many others.
fn names(folder: &Path) -> (BTreeSet<String>, usize) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    // What begins with a dot is on its way.
    let (segments, others): (BTreeSet<_>, BTreeSet<_>) = names
        .filter(|name| !name.starts_with('.'))
        .partition(|name| segments::is_name(name));
    (segments, others.len())
}

/// Joins every segment that was not read yet.
pub(super) fn take_in(session: &mut Session, folder: &Path) -> Result<(), StoreError> {
    let own = session.device();
    let others = devices(folder).into_iter().filter(|device| *device != own);
    for device in others {
        let theirs = folder.join(device.to_string());
        let (found, strange) = names(&theirs);
        if strange > 0 {
            let what = format!(
                "{strange} files in the folder of device {device} are no segments and are not read"
            );
            session.report.troubles.push(what);
        }
        let read_before = recorded(session, device)?;
        for name in found.difference(&read_before) {
            match read(&theirs.join(name), &session.place.name, device) {
                Ok((head, lines)) => {
                    session.report.segments_read += 1;
                    for line in &lines {
                        session.report.taken_in += u64::from(session.join(line)?);
                    }
                    record(session, device, name)?;
                    session
                        .shadow
                        .set(&format!("label {device}"), &head.label)?;
                    session
                        .shadow
                        .set(&format!("heard {device}"), head.written_ms)?;
                }
                Err(why) => session
                    .report
                    .troubles
                    .push(format!("the segment {device}/{name} {why}")),
            }
        }
    }
    Ok(())
}

fn read(path: &Path, store: &str, device: Device) -> Result<(Head, Vec<Line>), String> {
    let (bytes, _) =
        read_plain(path, FILE_BYTES).map_err(|error: FileError| Chain(&error).to_string())?;
    segments::parse(&bytes, store, device).map_err(|error| Chain(&error).to_string())
}

fn recorded(session: &Session, device: Device) -> Result<BTreeSet<String>, StoreError> {
    let read = || -> rusqlite::Result<BTreeSet<String>> {
        let mut statement = session
            .shadow
            .db
            .prepare("SELECT name FROM segment WHERE device=?")?;
        statement
            .query_map([device.to_string()], |row| row.get(0))?
            .collect()
    };
    read().map_err(StoreError::shadow)
}

fn record(session: &Session, device: Device, name: &str) -> Result<(), StoreError> {
    let values = params![device.to_string(), name];
    let insert = "INSERT OR IGNORE INTO segment VALUES(?,?)";
    session
        .shadow
        .db
        .execute(insert, values)
        .map(drop)
        .map_err(StoreError::shadow)
}

/// Writes what is not sent yet into this device's own folder.
pub(super) fn send(session: &mut Session, folder: &Path, now_ms: u64) -> Result<(), StoreError> {
    let own = folder.join(session.device().to_string());
    let (there, written) = (names(&own).0, recorded(session, session.device())?);
    if there.difference(&written).next().is_some() {
        session.report.troubles.push("another machine writes under this one's id, as a copy of it does: this one takes a new id".to_owned());
        session.shadow.begin_again()?;
        session.clock.device = session.shadow.clock()?.device;
        session.report.device = session.device().to_string();
    } else if written.difference(&there).next().is_some() {
        // Somebody removed segments: whoever did not read them gets them again.
        session.shadow.all_unsent()?;
    }
    let own = folder.join(session.device().to_string());
    let mut at = (0, 0);
    loop {
        let (lines, last) = unsent(session, at)?;
        if lines.is_empty() {
            break;
        }
        fs::create_dir_all(&own).map_err(StoreError::io(&own))?;
        let number = session.shadow.number("number")? + 1;
        let incarnation = session.shadow.meta("incarnation")?.unwrap_or_default();
        let name = segments::name(&incarnation, number);
        let path = own.join(&name);
        let head = Head::new(
            &session.place.name,
            session.device(),
            &session.place.label,
            now_ms,
        );
        let bytes = segments::render(&head, &lines).map_err(StoreError::io(&path))?;
        // Recorded first: a segment of ours that is not recorded would be a copy's.
        session.shadow.run("BEGIN IMMEDIATE")?;
        session.shadow.set("number", number)?;
        record(session, session.device(), &name)?;
        session.shadow.run("COMMIT")?;
        sweep(&path);
        replace(&path, &bytes).map_err(StoreError::io(&path))?;
        session.report.segments_written += 1;
        session.report.sent += lines.len() as u64;
        at = last;
    }
    session
        .shadow
        .run("UPDATE insight SET unsent=0 WHERE unsent; UPDATE edge SET unsent=0 WHERE unsent;")
}

/// The lines of the next segment, after these rows, and after which ones the one after it begins.
fn unsent(session: &Session, after: (i64, i64)) -> Result<(Vec<String>, (i64, i64)), StoreError> {
    let (mut lines, mut bytes, mut last) = (Vec::new(), 0, after);
    let mut read = || -> rusqlite::Result<()> {
        let db = &session.shadow.db;
        let mut insights = db.prepare(
            "SELECT rowid, id, known FROM insight WHERE unsent AND rowid>? ORDER BY rowid",
        )?;
        let mut found = insights.query([after.0])?;
        while bytes < FULL_BYTES
            && let Some(row) = found.next()?
        {
            last.0 = row.get(0)?;
            let id = serde_json::Value::String(row.get(1)?);
            lines.push(format!(
                r#"{{"insight":[{id},{}]}}"#,
                row.get::<_, String>(2)?
            ));
            bytes += lines.last().map_or(0, String::len);
        }
        let mut edges = db.prepare("SELECT rowid, source, target, kind, known FROM edge WHERE unsent AND rowid>? ORDER BY rowid")?;
        let mut found = edges.query([after.1])?;
        while bytes < FULL_BYTES
            && let Some(row) = found.next()?
        {
            last.1 = row.get(0)?;
            let ends = serde_json::json!({
                "source": row.get::<_, String>(1)?, "target": row.get::<_, String>(2)?, "kind": row.get::<_, String>(3)?,
            });
            lines.push(format!(
                r#"{{"edge":[{ends},{}]}}"#,
                row.get::<_, String>(4)?
            ));
            bytes += lines.last().map_or(0, String::len);
        }
        Ok(())
    };
    read().map_err(StoreError::shadow)?;
    Ok((lines, last))
}

#[cfg(test)]
mod tests {
    use super::devices;

    #[test]
    fn only_folders_of_devices_are_looked_into() {
        let folder = tempfile::tempdir().unwrap();
        let id = "0123456789abcdef0123456789abcdef";
        std::fs::create_dir(folder.path().join(id)).unwrap();
        std::fs::create_dir(folder.path().join("desktop")).unwrap();
        std::os::unix::fs::symlink("/", folder.path().join(id.replace('0', "f"))).unwrap();
        let found: Vec<_> = devices(folder.path())
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, [id]);
    }
}
