//! The owner's life, and the one place where everything is wired.
//!
//! A `majordomus mcp` process runs its bridge on the main thread ([`run`]). When the bridge is elected, a *host* is
//! started on a thread of its own with a runtime of its own ([`hosting`], [`life`]), and the bridge reaches it through a link in
//! memory: the two fail apart. When the host ends (demoted, or its lock file was removed), the bridge just stands for
//! election again. `majordomus serve` runs a host without a bridge ([`fn@serve`]).
//!
//! Release order (I4): stop reading links; let running calls finish or abort them; send answers; `drain`; close the
//! listener and the links; release the lock. No task outlives it.
//!
//! Absent: a daemon, a process without a client (I11), any timer that looks at a disk (I12).

mod alone;
mod conversation;
mod door;
mod hosting;
mod life;
mod links;
mod messages;
mod parent;
mod port;
mod process;
mod serve;
mod signals;
mod status;
mod watchdog;
mod wiring;

pub use port::preferred as preferred_port;
pub use process::run;
pub use serve::{Served, serve};

use std::path::PathBuf;

use crate::capabilities::Provider;
use crate::floor::paths::Site;
use crate::http::Auth;
use crate::link::handshake::Stores;

/// How the process was asked to serve.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The checkout; `None` in a folder that is none.
    pub site: Option<Site>,
    /// A port in place of the checkout's own.
    pub port: Option<u16>,
    /// Whether requests need the token.
    pub auth: Auth,
    /// Serve alone and write nothing.
    pub standalone: bool,
    /// Which capabilities are served.
    pub provider: Provider,
    /// A folder whose web files replace the embedded ones.
    pub share: Option<PathBuf>,
    /// Whether this process's client has hooks of its own that meet the team's notes.
    pub hooked: bool,
    /// Where this process's client has its stores.
    pub stores: Option<Stores>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// In order.
    Done,
    /// By this signal, of which the caller now dies.
    Signal(i32),
}

/// Why nothing could be served.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The runtime, a thread or the signals.
    #[error("the system gives no runtime")]
    Runtime(#[source] std::io::Error),
    /// Standard input or output.
    #[error("standard input or output cannot be used")]
    Stdio(#[source] std::io::Error),
    /// HTTP dates every answer, and has no date before 1970.
    #[error("the clock stands before 1970, where HTTP has no dates")]
    Clock,
    /// Loopback is refused.
    #[error("no port of 127.0.0.1 can be listened on")]
    Bind(#[source] std::io::Error),
    /// The declarations are wrong: a bug.
    #[error("the registry does not hold")]
    Registry(#[source] crate::registry::RegistryError),
    /// The token.
    #[error("the token cannot be read or made")]
    Token(#[source] crate::lease::secret::SecretError),
    /// The document.
    #[error("the lease cannot be published")]
    Publish(#[source] crate::lease::LeaseError),
    /// Another checkout's server, or nobody, could be shared with.
    #[error("{0}")]
    Alone(String),
    /// `serve` needs one.
    #[error("there is no checkout here")]
    NoCheckout,
}

impl Settings {
    /// Whether the site may be written to at all.
    #[must_use]
    pub fn shares(&self) -> bool {
        self.site.is_some() && !self.standalone
    }
}
