//! Who calls, as far as a capability may know it.

use std::fmt;

use uuid::{NoContext, Timestamp, Uuid};

use crate::floor::clock;

/// The public id of a peer: shown to others, never a handle (I14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerId(pub Uuid);

impl PeerId {
    /// Mints a new id (`UUIDv7`, so that ids sort by time; on a clock before 1970 they all count as of then).
    #[must_use]
    pub fn mint() -> Self {
        let (seconds, millis) = (clock::now_ms() / 1000, clock::now_ms() % 1000);
        let nanos = u32::try_from(millis).unwrap_or_default() * 1_000_000;
        Self(Uuid::new_v7(Timestamp::from_unix(
            NoContext, seconds, nanos,
        )))
    }
}

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How a peer reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// A client's stdio, through the bridge of the owner's process or of another one.
    Stdio,
    /// MCP over HTTP.
    Http,
    /// A plain HTTP request, the CLI or a page: not a peer by itself.
    Api,
}

impl Transport {
    /// The word shown in `peers.list`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Api => "api",
        }
    }
}

/// Who calls.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The peer, proven by link or session. `None` for modern and plain HTTP, which prove a peer by a secret handle
    /// among the arguments or not at all.
    pub peer: Option<PeerId>,
    /// How it reaches us.
    pub transport: Transport,
    /// `clientInfo.name`, once known; at most [`crate::floor::limits::LABEL_CHARS`] characters, no control characters.
    pub name: Option<String>,
    /// `clientInfo.version`, once known; bounded likewise.
    pub version: Option<String>,
    /// Whether its client's own hooks meet the team's notes: the server then starts nothing for it that goes over a network.
    pub hooked: bool,
}
