//! What a machine with both a sync folder and a remote carries from one to the other: segments that it has read itself.
//!
//! A device that has a ref of its own is at home there, and goes into the folder. Any other that is in the folder is at
//! home in the folder, unless this machine put it there, and goes into this device's ref.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use gix_hash::ObjectId;

use super::{folders, is_carried, peers};
use crate::floor::fs::{read_plain, replace, sweep};
use crate::stores::clock::Device;
use crate::stores::error::StoreError;
use crate::stores::folder;
use crate::stores::segments::FILE_BYTES;
use crate::stores::session::Session;

fn is_put_here(session: &Session, device: Device) -> Result<bool, StoreError> {
    Ok(session.shadow.meta(&format!("bridged {device}"))?.is_some())
}

/// The devices whose segments belong into this device's ref: its own, and those it is the bridge of.
pub(super) fn outward(
    session: &Session,
    found: &BTreeMap<Device, ObjectId>,
    home: &Path,
) -> Result<Vec<Device>, StoreError> {
    let own = session.device();
    let mut chosen = vec![own];
    for device in folder::devices(home) {
        if device != own && !found.contains_key(&device) && !is_put_here(session, device)? {
            chosen.push(device);
        }
    }
    Ok(chosen)
}

/// Lays into the sync folder what it does not have and refs do.
pub(super) fn inward(
    session: &mut Session,
    found: &BTreeMap<Device, ObjectId>,
) -> Result<(), StoreError> {
    let Some(home) = session.place.sync_folder()? else {
        return Ok(());
    };
    let own = session.device();
    let laid_out = folders(&session.place);
    let devices: BTreeSet<Device> = laid_out
        .iter()
        .flat_map(|path| folder::devices(path))
        .collect();
    for device in devices.into_iter().filter(|device| *device != own) {
        let target = home.join(device.to_string());
        let has_ref = found.contains_key(&device);
        let is_there = target.symlink_metadata().is_ok();
        if is_there && !is_put_here(session, device)? {
            continue;
        }
        let key = |name: &str| format!("bridged {device} {name}");
        let (there, read) = (folder::names(&target).0, folder::recorded(session, device)?);
        // A device's own ref knows best; of one that has none, whoever carries it.
        let own_ref = peers(&session.place).join(device.to_string());
        let sources = if has_ref {
            vec![own_ref]
        } else {
            laid_out.clone()
        };
        let mut offered = BTreeSet::new();
        for source in sources {
            let source = source.join(device.to_string());
            for name in folder::names(&source).0 {
                // What was there once and is not any more was removed by who wrote it.
                let was_there = is_there && session.shadow.meta(&key(&name))?.is_some();
                let is_new = !there.contains(&name) && !offered.contains(&name) && !was_there;
                if is_new && is_carried(&name) && read.contains(&name) {
                    copy(session, &source.join(&name), &target, &name)?;
                    session.shadow.set(&format!("bridged {device}"), 1)?;
                    session.shadow.set(&key(&name), "put")?;
                }
                offered.insert(name);
            }
        }
        // What the device itself put into the folder is the device's.
        for name in there.difference(&offered).filter(|_| has_ref) {
            if session.shadow.meta(&key(name))?.is_some() {
                let _gone = fs::remove_file(target.join(name));
            }
        }
    }
    Ok(())
}

fn copy(session: &mut Session, from: &Path, folder: &Path, name: &str) -> Result<(), StoreError> {
    let path = folder.join(name);
    match read_plain(from, FILE_BYTES) {
        Ok((bytes, _)) => {
            fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
            sweep(&path);
            replace(&path, &bytes)
                .map(drop)
                .map_err(StoreError::io(&path))
        }
        Err(error) => {
            let what = format!("the segment {} {error}", from.display());
            session.report.troubles.push(what);
            Ok(())
        }
    }
}
