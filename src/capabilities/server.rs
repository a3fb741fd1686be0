//! The server about itself.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::book::Book;
use super::declare::{Nothing, answer, query};
use super::services::Services;
use crate::floor::clock;
use crate::registry::{Capability, Example, Exposure, Handler};

/// For whom a server serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It owns the checkout.
    Owner,
    /// It cannot share, serves its own client, and goes on trying (I3).
    Alone,
    /// It was asked to share nothing and to write nothing.
    Standalone,
}

/// What the host knows of itself.
#[derive(Debug, Clone)]
pub struct Status {
    /// 32 hex digits, new for each owner; empty where there is none.
    pub instance: String,
    /// The fence.
    pub epoch: u64,
    /// The process.
    pub pid: u32,
    /// Where it serves HTTP.
    pub url: Option<String>,
    /// For whom it serves.
    pub mode: Mode,
    /// Whether it is about to release.
    pub draining: bool,
    /// Bridges attached, its own one too.
    pub links: usize,
    /// Their versions, sorted, and how many bridges are of each.
    pub builds: Vec<(String, usize)>,
    /// When it began to serve, in milliseconds since the epoch of Unix: taken once, whatever the clock does since.
    pub started: u64,
    /// Since it began to serve.
    pub uptime: Duration,
    /// Every file that it touches, relative to the checkout ([`crate::floor::paths::Site::shown`]).
    pub files: Vec<String>,
}

/// Filled by the host: takes microseconds, waits for nothing.
pub trait ServerStatus: Send + Sync {
    /// How it is now.
    fn status(&self) -> Status;
}

/// Bridges of one version of the program.
#[derive(Debug, Serialize, ToSchema)]
struct BuildView {
    version: String,
    /// Bridges attached.
    links: usize,
}

/// The server now.
#[derive(Debug, Serialize, ToSchema)]
struct ServerView {
    /// Version of the program.
    version: &'static str,
    /// New for each owner.
    instance: String,
    /// Counts the owners of this checkout.
    epoch: u64,
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    url: Option<String>,
    mode: Mode,
    draining: bool,
    /// Bridges attached.
    links: usize,
    /// The same by the version that each runs.
    builds: Vec<BuildView>,
    /// Peers attached.
    peers: usize,
    started_at: String,
    uptime_seconds: u64,
    /// Digest of all declarations: the same for servers that serve the same.
    registry: String,
    /// About how many tokens `tools/list` costs a model.
    tool_tokens: usize,
    /// Every file that it touches, relative to the checkout.
    files: Vec<String>,
}

/// Declares the group.
pub(super) fn capabilities(services: &Services, book: &Arc<Book>) -> Vec<Capability> {
    let (services, book) = (services.clone(), Arc::clone(book));
    let mut status = query::<Nothing, ServerView>(
        "server.status",
        "Status",
        "The server of this checkout: address, process, epoch, who is attached and which build it runs, every file that it \
         touches.",
        Handler::inline(move |_| answer(&view(&services, &book))),
    );
    status.exposure = Exposure {
        tool: None,
        prompt: None,
        resource: None,
        route: Some("/api/v1/status"),
        cli: Some(&["status"]),
    };
    status.examples = vec![Example {
        title: "how is the server",
        arguments: json!({}),
    }];
    vec![status]
}

fn view(services: &Services, book: &Book) -> ServerView {
    let now = services.status.status();
    let registry = book.registry();
    let builds = now.builds.into_iter();
    ServerView {
        version: env!("CARGO_PKG_VERSION"),
        instance: now.instance,
        epoch: now.epoch,
        pid: now.pid,
        url: now.url,
        mode: now.mode,
        draining: now.draining,
        links: now.links,
        builds: builds
            .map(|(version, links)| BuildView { version, links })
            .collect(),
        peers: services.board.attached(),
        started_at: clock::rfc3339(now.started),
        uptime_seconds: now.uptime.as_secs(),
        registry: registry
            .as_ref()
            .map(|all| all.digest().to_string())
            .unwrap_or_default(),
        tool_tokens: registry.map_or(0, |all| all.tokens()),
        files: now.files,
    }
}
