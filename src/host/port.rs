//! Which port a checkout's server listens on.
//!
//! The preferred port follows from the checkout and the user, so that a URL stays good from owner to owner. It lies
//! outside the ephemeral range: a client that reconnects in a loop to a dead ephemeral port is given that very port as
//! its own end, and then talks to itself.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use nix::unistd::Uid;
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::floor::limits::PORT_RETRY;
use crate::floor::paths::Site;

/// First preferred port.
const FIRST: u16 = 20_000;
/// How many there are.
const COUNT: u64 = 10_000;

/// How often a taken port is tried again.
const PAUSE: Duration = Duration::from_millis(500);

/// The port that this checkout prefers.
#[must_use]
pub fn preferred(site: &Site) -> u16 {
    use std::os::unix::ffi::OsStrExt as _;
    let digest = Sha256::new()
        .chain_update(site.root().as_os_str().as_bytes())
        .chain_update(Uid::current().as_raw().to_be_bytes())
        .finalize();
    let number = digest
        .iter()
        .take(8)
        .fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
    FIRST + u16::try_from(number % COUNT).unwrap_or_default()
}

/// Listens on the preferred port, or on a free one where it is taken.
///
/// # Errors
/// The system's own, where there is no port at all.
pub(super) async fn listen(preferred: u16) -> io::Result<TcpListener> {
    match bind(preferred).await {
        Ok(listener) => Ok(listener),
        Err(error) => {
            tracing::warn!(port = preferred, %error, "the port is taken, a free one is used");
            bind(0).await
        }
    }
}

/// Waits for a taken port to become free, at most [`PORT_RETRY`]; `None` where it does not, or the host leaves before.
pub(super) async fn freed(port: u16, closing: &CancellationToken) -> Option<TcpListener> {
    let until = Instant::now() + PORT_RETRY;
    while Instant::now() < until {
        tokio::select! {
            () = sleep(PAUSE) => {}
            () = closing.cancelled() => return None,
        }
        if let Ok(listener) = bind(port).await {
            return Some(listener);
        }
    }
    tracing::warn!(port, "the preferred port stays taken");
    None
}

/// Binds a port of 127.0.0.1; 0 for any. `localhost` may be `::1` for one side and not for the other.
///
/// # Errors
/// The system's own: `AddrInUse`, or `PermissionDenied` in a sandbox without loopback.
async fn bind(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;
    use tokio_util::sync::CancellationToken;

    use super::{bind, freed};

    /// Guards I15.
    #[tokio::test(start_paused = true)]
    async fn a_port_that_stays_taken_is_given_up() {
        let taken = bind(0).await.unwrap();
        let port = taken.local_addr().unwrap().port();
        let (begin, staying) = (Instant::now(), CancellationToken::new());
        assert!(freed(port, &staying).await.is_none());
        assert_eq!(begin.elapsed(), Duration::from_secs(10));
    }
}
