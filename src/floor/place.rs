//! A place for a file: its folder, held open, and its name there.
//!
//! A path is walked anew by each call, so somebody who may write in a checkout can put a link in a folder's place between the
//! look and the write, and the write lands where the link leads. A folder that is open stays the one that was looked at.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use nix::libc;

/// How far a file of ours lies below the folder that holds all of them.
const DEEPEST: usize = 8;

/// Where a file is or shall be. As a path it is good for as long as it lives, and for this process alone.
#[derive(Debug)]
pub struct Place {
    path: PathBuf,
    /// Keeps the path good.
    _folder: Option<File>,
}

impl Place {
    /// Opens the folder of `path`, and sees that it lies in one of `within`, which nobody else may move.
    ///
    /// Where the kernel names no open folders, the path is taken as it is.
    ///
    /// # Errors
    /// The system's, and [`io::ErrorKind::PermissionDenied`] for a folder somewhere else.
    pub fn of(path: &Path, within: &[&Path]) -> io::Result<Self> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let Some((folder, named)) = open(parent)? else {
            let path = path.to_owned();
            return Ok(Self {
                path,
                _folder: None,
            });
        };
        let same =
            |one: &Metadata, other: &Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
        let tops: Vec<_> = within
            .iter()
            .filter_map(|top| top.metadata().ok())
            .collect();
        // Upwards by the kernel's own `..`, not by names: where case is ignored, it tells whichever name was used last.
        let mut above = named.clone();
        for _ in 0..DEEPEST {
            let found = above.metadata()?;
            if tops.iter().any(|top| same(top, &found)) {
                return Ok(Self {
                    path: named.join(name),
                    _folder: Some(folder),
                });
            }
            above.push("..");
        }
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "its folder was replaced by a link out of the checkout",
        ))
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }
}

impl Deref for Place {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl AsRef<Path> for Place {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

/// Opens a folder, and returns with it the name that the kernel has for what is open.
#[cfg(target_os = "linux")]
fn open(folder: &Path) -> io::Result<Option<(File, PathBuf)>> {
    use std::os::fd::AsRawFd as _;

    let open = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_DIRECTORY)
        .open(folder)?;
    let named = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
    // Without `/proc` there are no such names.
    Ok(named.is_dir().then_some((open, named)))
}

#[cfg(not(target_os = "linux"))]
fn open(folder: &Path) -> io::Result<Option<(File, PathBuf)>> {
    let _options = OpenOptions::new().custom_flags(libc::O_DIRECTORY);
    folder.metadata().map(|_| None)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::ErrorKind;
    use std::os::unix::fs::symlink;

    use super::Place;

    #[test]
    fn a_place_stays_where_it_was_and_lies_within() {
        let folder = tempfile::tempdir().unwrap();
        let (top, out) = (folder.path().join("top"), folder.path().join("out"));
        let ours = top.join("a/b");
        fs::create_dir_all(&ours).unwrap();
        fs::create_dir_all(out.join("b")).unwrap();
        let place = Place::of(&ours.join("file"), &[&top]).unwrap();

        fs::rename(top.join("a"), top.join("moved")).unwrap();
        symlink(&out, top.join("a")).unwrap();
        let refused = Place::of(&ours.join("file"), &[&top]).unwrap_err();
        if cfg!(target_os = "linux") {
            fs::write(&place, "x").unwrap();
            assert!(top.join("moved/b/file").exists() && !out.join("b/file").exists());
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
        }
        let none = Place::of(&top.join("none/file"), &[&top]).unwrap_err();
        assert_eq!(none.kind(), ErrorKind::NotFound);

        // A link that stays within is somebody's own choice.
        fs::remove_file(top.join("a")).unwrap();
        symlink("moved", top.join("a")).unwrap();
        assert!(Place::of(&ours.join("file"), &[&top]).is_ok());
    }
}
