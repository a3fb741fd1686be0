//! What kind of file system a path is on, as far as it matters: whether another kernel may have it too.

use std::path::Path;

/// Whether other kernels may use the file system at `path`, or at the nearest folder above that is there: their locks may not
/// be seen from here, and memory that is mapped from a file is not shared with them. What cannot be told counts as local.
#[cfg(target_os = "linux")]
pub fn is_shared(path: &Path) -> bool {
    let found = path
        .ancestors()
        .find_map(|folder| nix::sys::statfs::statfs(folder).ok());
    // The width of the number depends on the platform; its value is one of 32 bits.
    found.is_some_and(|found| is_shared_kind(i128::from(found.filesystem_type().0)))
}

/// Where the system does not tell, file systems count as local.
#[cfg(not(target_os = "linux"))]
pub fn is_shared(_path: &Path) -> bool {
    false
}

/// Source: statfs(2) and `linux/magic.h`; the last two are out of the kernel's tree.
#[cfg(target_os = "linux")]
fn is_shared_kind(magic: i128) -> bool {
    const SHARED: &[u32] = &[
        0x6969,      // NFS
        0x517b,      // SMB
        0xff53_4d42, // CIFS
        0xfe53_4d42, // SMB2
        0x0102_1997, // 9p
        0x6573_5546, // FUSE and virtiofs
        0x00c3_6400, // Ceph
        0x5346_414f, // AFS
        0x6b41_4653, // AFS of the kernel
        0x7375_7245, // Coda
        0x0116_1970, // GFS2
        0x7461_636f, // OCFS2
        0x786f_4256, // VirtualBox
        0x0bd0_0bd0, // Lustre
        0xbacb_acbc, // VMware
    ];
    // A negative number is the same bits, widened.
    u32::try_from(magic & 0xffff_ffff).is_ok_and(|magic| SHARED.contains(&magic))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::Path;

    use super::{is_shared, is_shared_kind};

    #[test]
    fn what_another_kernel_may_use_is_told_from_what_it_may_not() {
        for shared in [0x6969, 0x0102_1997, 0x6573_5546, -0x00ac_b2be] {
            assert!(is_shared_kind(shared), "{shared:x}");
        }
        // ext4, btrfs, xfs, tmpfs, overlay, proc.
        for local in [
            0xef53,
            0x9123_683e,
            0x5846_5342,
            0x0102_1994,
            0x794c_7630,
            0x9fa0,
        ] {
            assert!(!is_shared_kind(local), "{local:x}");
        }
        assert!(!is_shared(Path::new("/proc/nothing/is/here")));
    }
}
