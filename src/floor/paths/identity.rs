//! What names a checkout, and what names those who can reach each other in it.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::floor::hex;

pub(super) fn root_id(root: &Path, device: u64, inode: u64) -> String {
    let mut hash = Sha256::new();
    hash.update(b"majordomus root\0");
    hash.update(device.to_le_bytes());
    hash.update(inode.to_le_bytes());
    hash.update(root.as_os_str().as_bytes());
    hex::encode(&hash.finalize()[..16])
}

/// Where the kernel does not tell (macOS), all processes of the machine are one scope; a container there is a Linux of its own.
pub(super) fn scope() -> String {
    let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let mut hash = Sha256::new();
    hash.update(b"majordomus scope\0");
    hash.update(boot.trim_ascii());
    let network = fs::read_link("/proc/self/ns/net").unwrap_or_default();
    hash.update(b"\0");
    hash.update(network.as_os_str().as_bytes());
    hex::encode(&hash.finalize()[..8])
}
