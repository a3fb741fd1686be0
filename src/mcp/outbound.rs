//! Where what the server says by itself leaves a session: the carrier's end of it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

/// A message from the server to the client.
#[derive(Debug, Clone)]
pub struct Message {
    /// The number of the request that it is about; 0 for none.
    pub about: u64,
    /// What it says that a later message with the same key makes obsolete, such as a resource's URI. Under pressure a
    /// carrier may keep only the newest of a key.
    pub coalesce: Option<String>,
    /// The JSON-RPC notification or request.
    pub json: Bytes,
}

/// Where a session's messages leave. The carrier's function returns at once, bounds what waits, and says whether it
/// took the message: one that it did not take reaches nobody.
#[derive(Clone)]
pub struct Outbound {
    send: Arc<dyn Fn(Message) -> bool + Send + Sync>,
    disconnect: Arc<dyn Fn(u64, Duration) + Send + Sync>,
}

impl Outbound {
    /// Sends through `f`.
    pub fn to(f: impl Fn(Message) -> bool + Send + Sync + 'static) -> Self {
        Self {
            send: Arc::new(f),
            disconnect: Arc::new(|_, _| {}),
        }
    }

    /// Has `f` let go of the connection of the request with that number, whose client comes back after that time. A
    /// carrier without it holds no connection for a single request.
    #[must_use]
    pub fn disconnecting(self, f: impl Fn(u64, Duration) + Send + Sync + 'static) -> Self {
        Self {
            disconnect: Arc::new(f),
            ..self
        }
    }

    /// Drops every message: for carriers without a way back.
    #[must_use]
    pub fn none() -> Self {
        Self::to(|_| false)
    }

    /// Says something that is worth nothing to a client that does not hear it.
    pub(super) fn send(&self, message: Message) {
        let _taken = self.takes(message);
    }

    /// Says something, and whether it is on its way.
    pub(super) fn takes(&self, message: Message) -> bool {
        (self.send)(message)
    }

    /// Lets the client of a request go until it comes back.
    pub(super) fn disconnect(&self, about: u64, wait: Duration) {
        (self.disconnect)(about, wait);
    }
}

impl fmt::Debug for Outbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outbound")
    }
}
