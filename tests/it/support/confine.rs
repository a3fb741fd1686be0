//! Making a folder read-only or a disk full for one process, as root and as a user.
//!
//! Root ignores permission bits, so for root a private mount namespace does it; a user changes the bits. Where mounts
//! are refused, a file size limit of zero stands for the full disk: every write to a file then fails.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::command::hermetic;

/// Words to put before a command, and how they work, for the reader of a failed test.
#[derive(Debug)]
pub(crate) struct Confinement {
    pub(crate) wrapper: Vec<OsString>,
    pub(crate) how: &'static str,
}

/// Mounts each `$0`-listed folder read-only, then becomes the command.
const BIND_READ_ONLY: &str =
    r#"mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@""#;
/// Puts a tiny, already full file system on the folder, then becomes the command.
const FULL_TMPFS: &str = r#"mount -t tmpfs -o size=16k,mode=700 none "$0" && { dd if=/dev/zero of="$0/filler" bs=4k count=64 2>/dev/null; exec "$@"; }"#;
/// Lets every write to a file fail, as a full disk does, then becomes the command.
const NO_FILE_BYTES: &str = r#"trap "" XFSZ; ulimit -f 0; exec "$@""#;

/// Whether this process may do as it likes with files.
pub(crate) fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Whether `arguments` of unshare give a mount namespace in which a mount succeeds.
fn mounts(arguments: &[&str], folder: &Path) -> bool {
    hermetic("unshare", folder, folder)
        .args(arguments)
        .args(["sh", "-c", r#"mount -t tmpfs -o size=16k none "$0""#])
        .arg(folder)
        .output()
        .is_ok_and(|output| output.status.success())
}

fn words(first: &[&str], script: &str, folder: &Path) -> Vec<OsString> {
    let mut words: Vec<OsString> = first.iter().map(OsString::from).collect();
    words.extend(["sh".into(), "-c".into(), script.into(), folder.into()]);
    words
}

/// Makes `folder` read-only for the process it will start.
#[track_caller]
pub(crate) fn read_only(folder: &Path) -> Confinement {
    if !is_root() {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
        return Confinement {
            wrapper: Vec::new(),
            how: "permission bits",
        };
    }
    if mounts(&["-m"], folder) {
        return Confinement {
            wrapper: words(&["unshare", "-m"], BIND_READ_ONLY, folder),
            how: "read-only bind mount",
        };
    }
    // Root without the right to mount: become nobody, to whom the folder of root is closed.
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    for above in folder
        .ancestors()
        .take_while(|above| *above != Path::new("/tmp"))
    {
        drop(fs::set_permissions(
            above,
            fs::Permissions::from_mode(0o755),
        ));
    }
    Confinement {
        wrapper: [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ]
        .map(OsString::from)
        .to_vec(),
        how: "another user",
    }
}

/// Makes the disk under `folder` full for the process it will start.
pub(crate) fn full_disk(folder: &Path) -> Confinement {
    for arguments in [&["-m"][..], &["-rm"][..]] {
        if mounts(arguments, folder) {
            let mut first = vec!["unshare"];
            first.extend(arguments);
            return Confinement {
                wrapper: words(&first, FULL_TMPFS, folder),
                how: "full tmpfs",
            };
        }
    }
    no_file_bytes()
}

/// Makes every write to a file fail for the process it will start.
pub(crate) fn no_file_bytes() -> Confinement {
    Confinement {
        wrapper: ["sh", "-c", NO_FILE_BYTES, "sh"]
            .map(OsString::from)
            .to_vec(),
        how: "file size limit of zero",
    }
}
