//! What is written into the tracked file.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use super::{Place, REPO, URL};
use crate::memory::consent::{DEFAULT_REFERENCE, ShareError, share};

#[test]
fn sharing_changes_the_pair_and_no_other_byte() {
    let branch = "refs/heads/majordomus/memory";
    for (before, reference, after) in [
        ("", DEFAULT_REFERENCE, "[memory]\nremote = \"a.org/b\"\n"),
        (
            "# x\n",
            branch,
            "# x\n\n[memory]\nremote = \"a.org/b\"\nref = \"refs/heads/majordomus/memory\"\n",
        ),
        (
            "x = 1",
            DEFAULT_REFERENCE,
            "x = 1\n\n[memory]\nremote = \"a.org/b\"\n",
        ),
        (
            "x = 1\r\n",
            DEFAULT_REFERENCE,
            "x = 1\r\n\r\n[memory]\r\nremote = \"a.org/b\"\r\n",
        ),
        (
            "[memory]  # ours\r\n  remote = 'c.org/d'  # why\r\n\r\n[z]\r\ny=[ 1,2 ]",
            DEFAULT_REFERENCE,
            "[memory]  # ours\r\n  remote = \"a.org/b\"  # why\r\n\r\n[z]\r\ny=[ 1,2 ]",
        ),
        (
            "[memory]\nref = \"refs/majordomus/old\"\n# tail\n",
            DEFAULT_REFERENCE,
            "[memory]\nremote = \"a.org/b\"\nref = \"refs/majordomus/memory\"\n# tail\n",
        ),
        (
            "[memory]",
            branch,
            "[memory]\nremote = \"a.org/b\"\nref = \"refs/heads/majordomus/memory\"\n",
        ),
        (
            "[memory]\nremote = 3\n",
            DEFAULT_REFERENCE,
            "[memory]\nremote = \"a.org/b\"\n",
        ),
        (
            "memory = { remote = \"c.org/d\" }\n",
            DEFAULT_REFERENCE,
            "memory = { remote = \"a.org/b\" }\n",
        ),
        (
            "memory.remote = \"c.org/d\"\n",
            DEFAULT_REFERENCE,
            "memory.remote = \"a.org/b\"\n",
        ),
        (
            "\u{feff}[memory]\nremote=\"c.org/d\"\n",
            DEFAULT_REFERENCE,
            "\u{feff}[memory]\nremote=\"a.org/b\"\n",
        ),
    ] {
        let place = Place::of(URL);
        if !before.is_empty() {
            place.says(before);
        }
        let shared = share(&place.root(), "A.org/b.git", reference, false).unwrap();
        assert_eq!(shared.after, after);
        assert_eq!(shared.before.unwrap_or_default(), before);
        assert_eq!(fs::read_to_string(place.file()).unwrap(), after);
        let inode = fs::metadata(place.file()).unwrap().ino();
        let again = share(&place.root(), "a.org/b", reference, false).unwrap();
        assert_eq!(again.after, after);
        assert_eq!(
            fs::metadata(place.file()).unwrap().ino(),
            inode,
            "nothing to write"
        );
        assert_eq!(fs::read_dir(place.root().join(".ai")).unwrap().count(), 1);
    }
}

#[test]
fn what_cannot_be_changed_by_sharing_is_left_alone() {
    let branch = "refs/heads/majordomus/memory";
    let place = Place::of(URL);
    for before in [
        "memory = { remote = \"c.org/d\" }\n",
        "memory.remote = \"c.org/d\"\n",
        "memory = 3\n",
        "[[memory]]\n",
        "[memory]\nremote = \"c.org/d\"\nother = 1\n",
        "[memory\n",
    ] {
        place.says(before);
        assert!(
            share(&place.root(), REPO, branch, false).is_err(),
            "{before}"
        );
        assert_eq!(fs::read_to_string(place.file()).unwrap(), before);
    }
    for remote in [URL, "origin", "-x/y", "user@github.com/org/repo"] {
        let refused = share(&place.root(), remote, branch, false);
        assert!(matches!(refused, Err(ShareError::Remote)), "{remote}");
    }
}
