//! The lock of a checkout whose file system has none, or one that excludes nobody (some network and shared file systems).
//!
//! It lies outside that file system: among the kernel's abstract sockets, or, where there are none or a stranger sits on
//! the name, as a locked file in a folder of this user's below `/tmp`, which is found without any environment variable.
//! Like a file's lock it goes with its process. No `rm -rf` of the checkout touches it.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::election::Locked;
use super::name::{Name, NameError, Purpose};
use crate::floor::fs::{PRIVATE_DIRECTORY, make_directory, open_plain};
use crate::floor::paths::Site;

/// Where a user's folder is made; every user may write here and nobody may replace another one's folder.
const COMMON: &str = "/tmp";

/// The held lock; dropping it frees it.
#[derive(Debug)]
pub(super) enum Elsewhere {
    Name { _name: Name },
    File { _file: File },
}

impl Elsewhere {
    /// Takes the lock, without waiting.
    pub(super) fn take(site: &Site) -> Result<Self, Locked> {
        match Name::take(site, Purpose::Lock) {
            Ok(name) => return Ok(Self::Name { _name: name }),
            Err(NameError::Busy) => return Err(Locked::Held),
            Err(NameError::Unusable) => {}
        }
        let user = nix::unistd::geteuid().as_raw();
        let folder = PathBuf::from(COMMON).join(format!("majordomus-{user}"));
        Self::take_file(
            &folder,
            &format!("{}.{}.lock", site.root_id(), site.scope()),
            user,
        )
    }

    fn take_file(folder: &Path, name: &str, user: u32) -> Result<Self, Locked> {
        let made = make_directory(folder, PRIVATE_DIRECTORY);
        let is_ours = std::fs::symlink_metadata(folder).is_ok_and(|found| {
            let open_to_others = found.permissions().mode() & 0o077;
            found.is_dir() && found.uid() == user && open_to_others == 0
        });
        if !is_ours {
            tracing::debug!(?made, "no folder of this user's for a lock");
            return Err(Locked::Unusable);
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = open_plain(&folder.join(name), &mut options).map_err(|_| Locked::Unusable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self::File { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Locked::Held),
            Err(TryLockError::Error(_)) => Err(Locked::Unusable),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::{Elsewhere, Locked};
    use crate::floor::paths::{Explicit, Site};

    /// Guards I1.
    #[test]
    fn one_holder_at_a_time_and_none_when_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let site = Site::discover(folder.path(), Explicit::Yes)
            .unwrap()
            .unwrap();
        let first = Elsewhere::take(&site).unwrap();
        assert_eq!(Elsewhere::take(&site).unwrap_err(), Locked::Held);
        drop(first);
        assert!(Elsewhere::take(&site).is_ok());
    }

    /// Guards I1 and I14: a folder that others could write holds no lock of ours.
    #[test]
    fn a_folder_that_is_not_this_users_own_is_not_used() {
        let user = nix::unistd::geteuid().as_raw();
        let common = tempfile::tempdir().unwrap();
        let folder = common.path().join("majordomus");
        let take = || Elsewhere::take_file(&folder, "a.lock", user);
        let first = take().unwrap();
        assert_eq!(take().unwrap_err(), Locked::Held);
        drop(first);
        assert!(take().is_ok());
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(take().unwrap_err(), Locked::Unusable);
        fs::remove_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(common.path(), &folder).unwrap();
        assert_eq!(take().unwrap_err(), Locked::Unusable);
    }
}
