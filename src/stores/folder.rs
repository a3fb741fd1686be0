//! The folder that something else carries to the other machines: who writes where, and what is read.
//!
//! `<folder>/<store>/<device>/<incarnation>-<number>.seg`. A device writes in its own folder only. Whatever is no plain file,
//! or has another name, is not read; a segment that cannot be read is named, and tried again next time.

mod send;

pub(super) use send::send;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rusqlite::params;

use super::clock::Device;
use super::error::StoreError;
use super::progress;
use super::segments::{self, FILE_BYTES, Head, Line};
use super::session::Session;
use crate::floor::error::Chain;
use crate::floor::fs::{FileError, read_plain};

/// How much is kept of what a machine is called.
const LABEL_CHARS: usize = 64;

/// The devices that have a folder here, and whether each is a real one.
pub(in crate::stores) fn devices(folder: &Path) -> Vec<Device> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let real = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found: Vec<_> = real
        .filter_map(|entry| Device::parse(entry.file_name().to_str()?))
        .collect();
    found.sort_unstable();
    found
}

/// The names in a device's folder: segments, and how many others.
pub(in crate::stores) fn names(folder: &Path) -> (BTreeSet<String>, usize) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    // What begins with a dot is on its way.
    let (segments, others): (BTreeSet<_>, BTreeSet<_>) = names
        .filter(|name| !name.starts_with('.'))
        .partition(|name| segments::is_name(name));
    (segments, others.len())
}

/// Joins every segment that was not read yet.
pub(in crate::stores) fn take_in(session: &mut Session, folder: &Path) -> Result<(), StoreError> {
    let own = session.device();
    let others = devices(folder).into_iter().filter(|device| *device != own);
    for device in others {
        if session.shadow.retired()?.contains(&device) {
            continue;
        }
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
                        let is_news = session.join(line)?;
                        session.report.taken_in += u64::from(is_news);
                        if is_news {
                            let taken_in = session.report.taken_in;
                            progress::step(&session.place.name, "taken in", taken_in);
                        }
                    }
                    record(session, device, name)?;
                    heard(session, &head)?;
                }
                // Its writer put a base in its place meanwhile, which is read next time.
                Err(None) => {}
                Err(Some(why)) => session
                    .report
                    .troubles
                    .push(format!("the segment {device}/{name} {why}")),
            }
        }
    }
    if session.shadow.retired()?.contains(&own) {
        session
            .report
            .troubles
            .push("another machine retired this one: it goes on under a new id".to_owned());
        session.take_new_id()?;
    }
    Ok(())
}

/// Keeps what a segment says of its writer.
fn heard(session: &Session, head: &Head) -> Result<(), StoreError> {
    let (shadow, device) = (&session.shadow, head.device);
    let most = |key: &str, value: u64| -> Result<(), StoreError> {
        let key = format!("{key} {device}");
        shadow.set(&key, shadow.number(&key)?.max(value))
    };
    if head.written_ms >= shadow.number(&format!("heard {device}"))? {
        // It is shown: one short line, whatever was written.
        let label = head.label.chars().filter(|c| !c.is_control());
        let label: String = label.take(LABEL_CHARS).collect();
        shadow.set(&format!("label {device}"), label)?;
    }
    most("heard", head.written_ms)?;
    most("number", head.number)?;
    most(
        "ack",
        head.read.get(&session.device()).copied().unwrap_or(0),
    )?;
    let mut retired = shadow.retired()?;
    if !head.retired.is_subset(&retired) {
        retired.extend(&head.retired);
        shadow.set("retired", serde_json::to_string(&retired)?)?;
    }
    Ok(())
}

/// Reads a segment; says why it cannot be read, where it is still there.
pub(in crate::stores) fn read(
    path: &Path,
    store: &str,
    device: Device,
) -> Result<(Head, Vec<Line>), Option<String>> {
    let (bytes, _) = read_plain(path, FILE_BYTES).map_err(|error| match error {
        FileError::Absent => None,
        error => Some(Chain(&error).to_string()),
    })?;
    segments::parse(&bytes, store, device).map_err(|error| Some(Chain(&error).to_string()))
}

pub(in crate::stores) fn recorded(
    session: &Session,
    device: Device,
) -> Result<BTreeSet<String>, StoreError> {
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
