//! Git as what carries segments: one ref a device, a single commit without parents, replaced by its only writer.
//!
//! *Outbox*: what this device has to send, laid out as the sync folder is; the sync folder itself where there is one too.
//! *Peer*: what another device's ref has, laid out as a sync folder of its own. So reading is [`super::folder`]'s, and this
//! module knows no register.
//!
//! A device's ref has its own segments and those that it carries out of its sync folder for devices that have no ref: that
//! makes it a *bridge*. What it finds in refs it lays into its sync folder. Only segments are carried over.
//!
//! What is in the way of the remote is in the report, and in nobody else's way: segments stay where they are, and the next
//! run sends what the remote has not.
//!
//! Absent: a remote that nobody named. The one of a checkout is never used.

mod carry;
mod repository;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;

use self::repository::{Files, Repository};
use super::clock::Device;
use super::error::StoreError;
use super::folder;
use super::place::Place;
use super::segments::{self, FILE_BYTES};
use super::session::Session;
use crate::floor::fs::{read_plain, replace, sweep};
use crate::floor::remote::RemoteError;

/// The most devices that one store is merged of.
const DEVICES: usize = 256;
/// What a copy of a machine is told.
const COPY: &str =
    "another machine writes under this one's id, as a copy of it does: this one takes a new id";
/// How often a push is tried that somebody else was faster than.
const ATTEMPTS: usize = 3;

/// Whether a file is carried from one transport to another.
fn is_carried(name: &str) -> bool {
    segments::is_name(name)
}

/// Holds that an address may be used.
///
/// # Errors
/// `Url`, with the address and without what stands in it for a password.
pub(super) fn hold(url: &str) -> Result<(), StoreError> {
    repository::hold(url).map_err(StoreError::Url)
}

/// Where this device puts its segments where there is no sync folder.
pub(super) fn outbox(place: &Place) -> PathBuf {
    place.state.join("git/outbox")
}

fn peers(place: &Place) -> PathBuf {
    place.state.join("git/peers")
}

/// The folders that were laid out of other devices' refs.
pub(super) fn folders(place: &Place) -> Vec<PathBuf> {
    let found = folder::devices(&peers(place));
    let folders = found
        .iter()
        .map(|device| peers(place).join(device.to_string()));
    folders.collect()
}

/// One meeting with the remote.
pub(super) struct Meeting {
    repository: Repository,
    /// Where the refs stand, as the remote says.
    found: BTreeMap<Device, ObjectId>,
}

impl Meeting {
    /// Meets the remote that the user named, if one was, and takes what is new there. What is in the way is in the report.
    pub(super) fn begin(session: &mut Session, is_dry: bool) -> Result<Option<Self>, StoreError> {
        let Some(url) = session.place.git()? else {
            return Ok(None);
        };
        let folder = session.place.state.join("git");
        super::place::private_folder(&folder)?;
        let lock = session.share_lock()?;
        let name = session.place.name.clone();
        let opened = Repository::open(&folder.join("repository.git"), &url, &name, lock);
        let listed = opened.and_then(|repository| {
            let found = repository.list()?;
            Ok(Self { repository, found })
        });
        match listed {
            Ok(mut meeting) => {
                meeting.take(session, is_dry)?;
                Ok(Some(meeting))
            }
            Err(error) => {
                session.report.troubles.push(trouble("the remote", &error));
                Ok(None)
            }
        }
    }

    /// Lays out every ref that moved. One that cannot be read is named, and holds up no other.
    fn take(&mut self, session: &mut Session, is_dry: bool) -> Result<(), StoreError> {
        if self.found.len() > DEVICES {
            let what = format!(
                "the remote has refs of more than {DEVICES} devices, and the rest is not read"
            );
            session.report.troubles.push(what);
        }
        let found: Vec<_> = self
            .found
            .iter()
            .map(|(device, tip)| (*device, *tip))
            .collect();
        for (device, tip) in found.into_iter().take(DEVICES) {
            if device == session.device() && (is_dry || self.is_own(session, tip)?) {
                continue;
            }
            if let Err(error) = self.lay_out(session, device, tip)? {
                let what = format!("the ref of device {device}");
                session.report.troubles.push(trouble(&what, &error));
            }
        }
        Ok(())
    }

    /// Whether this device's ref has what this device put there. Where it has not, this machine and another are copies of
    /// one: this one takes a new id, and the ref is another device's.
    fn is_own(&self, session: &mut Session, tip: ObjectId) -> Result<bool, StoreError> {
        let own = session.device();
        if laid(session, own)? == Some(tip) || tried(session, own)?.contains(&tip) {
            return Ok(true);
        }
        let there = self.repository.fetch(own);
        let there = there.and_then(|tip| self.repository.files(tip));
        let files = match there {
            Ok((files, _)) => files,
            Err(error) => {
                let what = format!("the ref of device {own}");
                session.report.troubles.push(trouble(&what, &error));
                // What cannot be read is replaced by what this device has.
                return Ok(true);
            }
        };
        let written = folder::recorded(session, own)?;
        let home = session.place.folder()?.join(own.to_string());
        let is_foreign = |(name, oid): (&String, &ObjectId)| {
            if !written.contains(name) {
                return true;
            }
            let here = read_plain(&home.join(name), FILE_BYTES);
            here.is_ok_and(|(bytes, _)| blob_id(&bytes) != Some(*oid))
        };
        let own = own.to_string();
        let mut names = files
            .iter()
            .filter(|((device, _), _)| *device == own)
            .map(|((_, name), oid)| (name, oid));
        if !names.any(is_foreign) {
            return Ok(true);
        }
        session.report.troubles.push(COPY.to_owned());
        session.take_new_id()?;
        Ok(false)
    }

    /// Lays a ref out, if it moved since it was laid out last.
    fn lay_out(
        &self,
        session: &mut Session,
        device: Device,
        tip: ObjectId,
    ) -> Result<Result<(), RemoteError>, StoreError> {
        let before = laid(session, device)?;
        if before == Some(tip) {
            return Ok(Ok(()));
        }
        // By what the old one had, as long as it is here.
        let old = before.and_then(|tip| self.repository.files(tip).ok());
        let old = old.unwrap_or_default().0;
        let target = peers(&session.place).join(device.to_string());
        let new = self.repository.fetch(device);
        let laid_out = new.and_then(|tip| {
            let (files, strange) = self.repository.files(tip)?;
            let long = self.place(&target, &old, &files)?;
            Ok((tip, strange, long))
        });
        let (tip, strange, long) = match laid_out {
            Ok(done) => done,
            Err(error) => return Ok(Err(error)),
        };
        if strange > 0 {
            let what = format!(
                "{strange} things in the ref of device {device} are no segments and are not read"
            );
            session.report.troubles.push(what);
        }
        for name in long {
            let what = format!(
                "the segment {name} in the ref of device {device} is longer than {FILE_BYTES} bytes and is not read"
            );
            session.report.troubles.push(what);
        }
        session.shadow.set(&format!("git {device}"), tip)?;
        Ok(Ok(()))
    }

    /// Makes a folder what a ref has; answers which files are too long.
    fn place(&self, target: &Path, old: &Files, new: &Files) -> Result<Vec<String>, RemoteError> {
        let refused = |error: &dyn std::fmt::Display| RemoteError::Other(error.to_string());
        let mut long = Vec::new();
        for ((device, name), oid) in new {
            let path = target.join(device).join(name);
            let key = (device.clone(), name.clone());
            let is_there = old.get(&key) == Some(oid) && path.symlink_metadata().is_ok();
            if is_there {
                continue;
            }
            let Some(bytes) = self.repository.read(*oid, FILE_BYTES)? else {
                long.push(format!("{device}/{name}"));
                continue;
            };
            fs::create_dir_all(target.join(device)).map_err(|error| refused(&error))?;
            sweep(&path);
            replace(&path, &bytes).map_err(|error| refused(&error))?;
        }
        for (device, name) in old.keys() {
            if !new.contains_key(&(device.clone(), name.clone())) {
                let _gone = fs::remove_file(target.join(device).join(name));
            }
        }
        Ok(long)
    }

    /// Sends what the remote has not.
    pub(super) fn send(mut self, session: &mut Session, now_ms: u64) -> Result<(), StoreError> {
        carry::inward(session, &self.found)?;
        for _ in 0..ATTEMPTS {
            match self.push(session)? {
                Ok(()) => return Ok(()),
                Err(RemoteError::Stale) => {}
                Err(error) => {
                    session.report.troubles.push(trouble("the remote", &error));
                    return Ok(());
                }
            }
            // Nobody but a copy of this machine writes this ref.
            match self.repository.list() {
                Ok(found) => self.found = found,
                Err(error) => {
                    session.report.troubles.push(trouble("the remote", &error));
                    return Ok(());
                }
            }
            self.take(session, false)?;
            let home = session.place.folder()?;
            folder::send(session, &home, now_ms)?;
        }
        session
            .report
            .troubles
            .push(trouble("the remote", &RemoteError::Stale));
        Ok(())
    }

    fn push(&self, session: &mut Session) -> Result<Result<(), RemoteError>, StoreError> {
        let own = session.device();
        let staged = self.staged(session)?;
        let expected = self.found.get(&own).copied();
        let pushed = staged.and_then(|files| {
            if files.is_empty() {
                return Ok(None);
            }
            Ok(Some(self.repository.commit(&files)?))
        });
        let tip = match pushed {
            Ok(Some(tip)) => tip,
            Ok(None) => return Ok(Ok(())),
            Err(error) => return Ok(Err(error)),
        };
        if expected != Some(tip) {
            // Noted first: a ref that this device moved is its own, also where it never heard that it did.
            let mut all = tried(session, own)?;
            all.push(tip);
            let all: Vec<String> = all.iter().map(ToString::to_string).collect();
            session
                .shadow
                .set(&format!("git tried {own}"), all.join(" "))?;
            if let Err(error) = self.repository.push(own, tip, expected) {
                return Ok(Err(error));
            }
        }
        session.shadow.set(&format!("git {own}"), tip)?;
        session.shadow.set(&format!("git tried {own}"), "")?;
        Ok(Ok(()))
    }

    /// What this device's ref is to have: each file by its blob.
    fn staged(&self, session: &Session) -> Result<Result<Files, RemoteError>, StoreError> {
        let own = session.device();
        let before = laid(session, own)?.and_then(|tip| self.repository.files(tip).ok());
        let before = before.unwrap_or_default().0;
        let home = session.place.folder()?;
        let mut files = Files::new();
        for device in carry::outward(session, &self.found, &home)? {
            let written = folder::recorded(session, device)?;
            for name in folder::names(&home.join(device.to_string())).0 {
                // Of somebody else's, what was read and held good.
                if !is_carried(&name) || !written.contains(&name) {
                    continue;
                }
                let key = (device.to_string(), name);
                let known = before.get(&key).filter(|oid| self.repository.has(**oid));
                let oid = if let Some(oid) = known {
                    *oid
                } else {
                    let path = home.join(&key.0).join(&key.1);
                    let Ok((bytes, _)) = read_plain(&path, FILE_BYTES) else {
                        continue;
                    };
                    match self.repository.write(&bytes) {
                        Ok(oid) => oid,
                        Err(error) => return Ok(Err(error)),
                    }
                };
                files.insert(key, oid);
            }
        }
        Ok(Ok(files))
    }
}

/// The commit that was laid out of a device's ref last; of this device's, the one that was pushed last.
fn laid(session: &Session, device: Device) -> Result<Option<ObjectId>, StoreError> {
    let text = session.shadow.meta(&format!("git {device}"))?;
    Ok(text.and_then(|text| ObjectId::from_hex(text.as_bytes()).ok()))
}

/// The commits that this device tried to push since the last one of which it heard that it arrived.
fn tried(session: &Session, device: Device) -> Result<Vec<ObjectId>, StoreError> {
    let text = session.shadow.meta(&format!("git tried {device}"))?;
    let text = text.unwrap_or_default();
    let ids = text
        .split(' ')
        .filter_map(|id| ObjectId::from_hex(id.as_bytes()).ok());
    Ok(ids.collect())
}

/// The id that git gives a file.
fn blob_id(bytes: &[u8]) -> Option<ObjectId> {
    gix_object::compute_hash(gix_hash::Kind::Sha1, gix_object::Kind::Blob, bytes).ok()
}

/// What is in the way, in words, and what helps.
fn trouble(what: &str, error: &RemoteError) -> String {
    format!(
        "{what}: {error}; nothing is lost, and the next run tries again (hint: {})",
        error.hint()
    )
}
