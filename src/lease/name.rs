//! A checkout's name among the kernel's abstract sockets: the second lock.
//!
//! It is bound for an owner's life and exists in one network namespace, which is just who can reach our loopback address. It
//! keeps a second owner out where file locks exclude nobody (some shared folders of virtual machines) and in the moment after
//! an `rm -rf`, when a new lock file stands at the path and the old owner has not noticed yet. It holds no data, and nobody
//! talks to it.
//!
//! Any user may bind any name. One that a *stranger* sits on, told by the kernel, is done without: the file's lock decides.
//! Other systems than Linux have no abstract sockets.

use crate::floor::paths::Site;

/// The bound name; dropping it frees it.
#[derive(Debug)]
pub(super) struct Name {
    #[cfg(target_os = "linux")]
    _listener: std::os::unix::net::UnixListener,
}

/// What a name is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The second lock, beside the file's.
    Second,
    /// The lock itself, where the file system has none.
    Lock,
}

/// Why the name is not ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameError {
    /// A process of this user has it.
    Busy,
    /// There are no such names here, or a stranger has it.
    Unusable,
}

#[cfg(not(target_os = "linux"))]
impl Name {
    pub(super) fn take(_site: &Site, _purpose: Purpose) -> Result<Self, NameError> {
        Err(NameError::Unusable)
    }

    pub(super) fn trial() -> bool {
        false
    }
}

#[cfg(target_os = "linux")]
impl Name {
    pub(super) fn take(site: &Site, purpose: Purpose) -> Result<Self, NameError> {
        use std::io::ErrorKind;
        use std::os::linux::net::SocketAddrExt as _;
        use std::os::unix::net::{SocketAddr, UnixListener};

        let name = text(site, purpose);
        let bound = SocketAddr::from_abstract_name(&name)
            .and_then(|address| UnixListener::bind_addr(&address));
        match bound {
            Ok(listener) => Ok(Self {
                _listener: listener,
            }),
            Err(error) if error.kind() == ErrorKind::AddrInUse => match holder(&name) {
                Some(user) if user != nix::unistd::geteuid().as_raw() => {
                    tracing::warn!(user, "another user sits on this checkout's socket name");
                    Err(NameError::Unusable)
                }
                _ => Err(NameError::Busy),
            },
            Err(error) => {
                tracing::debug!(%error, "no abstract socket here");
                Err(NameError::Unusable)
            }
        }
    }

    /// Whether any such name can be taken: tried on one that is nobody's.
    pub(super) fn trial() -> bool {
        use std::os::linux::net::SocketAddrExt as _;
        use std::os::unix::net::{SocketAddr, UnixListener};

        let name = format!("majordomus/trial/{}", uuid::Uuid::new_v4().simple());
        SocketAddr::from_abstract_name(name)
            .and_then(|address| UnixListener::bind_addr(&address))
            .is_ok()
    }
}

#[cfg(target_os = "linux")]
fn text(site: &Site, purpose: Purpose) -> String {
    let suffix = match purpose {
        Purpose::Second => "",
        Purpose::Lock => "/lock",
    };
    format!(
        "majordomus/{}/{}{suffix}",
        site.root_id(),
        nix::unistd::geteuid()
    )
}

/// Asks the kernel whose process listens at an abstract name, without waiting; `None` if it cannot be told now.
#[cfg(target_os = "linux")]
fn holder(name: &str) -> Option<u32> {
    use nix::sys::socket::{
        AddressFamily, SockFlag, SockType, UnixAddr, connect, getsockopt, socket, sockopt,
    };
    use std::os::fd::AsRawFd as _;

    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let asking = socket(AddressFamily::Unix, SockType::Stream, flags, None).ok()?;
    let address = UnixAddr::new_abstract(name.as_bytes()).ok()?;
    connect(asking.as_raw_fd(), &address).ok()?;
    Some(getsockopt(&asking, sockopt::PeerCredentials).ok()?.uid())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{Name, NameError, Purpose, holder, text};
    use crate::floor::paths::{Explicit, Site};

    /// Guards I1.
    #[test]
    fn a_name_has_one_holder_who_is_known_and_is_free_when_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let site = Site::discover(folder.path(), Explicit::Yes)
            .unwrap()
            .unwrap();
        let name = Name::take(&site, Purpose::Second).unwrap();
        assert_eq!(
            Name::take(&site, Purpose::Second).unwrap_err(),
            NameError::Busy
        );
        let user = nix::unistd::geteuid().as_raw();
        assert_eq!(holder(&text(&site, Purpose::Second)), Some(user));
        assert!(Name::take(&site, Purpose::Lock).is_ok(), "another name");
        drop(name);
        assert_eq!(holder(&text(&site, Purpose::Second)), None);
        assert!(Name::take(&site, Purpose::Second).is_ok());
    }
}
