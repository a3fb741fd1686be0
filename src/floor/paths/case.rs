//! One name for a folder where the file system takes `Repo` and `repo` for the same: the one that its folder lists. Such a
//! file system tells a process whichever name was used last, so two processes of one checkout would not agree.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Returns a canonical path with each name as it is listed; the path as it is where nothing can be listed.
pub(super) fn as_listed(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for name in path {
        let found = if whole.as_os_str().is_empty() {
            None
        } else {
            listed(&whole, name)
        };
        whole.push(found.as_deref().unwrap_or(name));
    }
    whole
}

/// The name under which a folder lists `name`, where it takes names of another case for it.
fn listed(folder: &Path, name: &OsStr) -> Option<OsString> {
    let same = |one: &Path| {
        let found = fs::symlink_metadata(one).ok()?;
        Some((found.dev(), found.ino()))
    };
    let other = other_case(name)?;
    let ours = same(&folder.join(name))?;
    // The price where names are told apart, which is nearly everywhere: one look for a file that is not there.
    if same(&folder.join(&other))? != ours {
        return None;
    }
    let names = fs::read_dir(folder).ok()?;
    let mut names = names.flatten().map(|entry| entry.file_name());
    names.find(|one| one.eq_ignore_ascii_case(name))
}

/// The name with each letter of ASCII in the other case; `None` where it has none.
fn other_case(name: &OsStr) -> Option<OsString> {
    let turned: Vec<u8> = name
        .as_bytes()
        .iter()
        .map(|byte| {
            if byte.is_ascii_lowercase() {
                byte.to_ascii_uppercase()
            } else {
                byte.to_ascii_lowercase()
            }
        })
        .collect();
    (turned != name.as_bytes()).then(|| OsString::from_vec(turned))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{as_listed, other_case};

    #[test]
    fn names_that_are_told_apart_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["Repo", "rEPO", "123"] {
            fs::create_dir(root.join(name)).unwrap();
            assert_eq!(as_listed(&root.join(name)), root.join(name));
        }
        assert_eq!(as_listed(Path::new("/")), Path::new("/"));
        assert_eq!(other_case("aB1".as_ref()), Some("Ab1".into()));
        assert_eq!(other_case("123".as_ref()), None);
    }
}
