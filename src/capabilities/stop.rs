//! Stopping the server, in order.

use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::declare::{answer, query, read};
use super::services::Services;
use crate::registry::{Answer, Call, Capability, Example, Exposure, Handler, Kind, Refusal, Retry};

/// Who is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// This server; with clients attached, one of their processes takes over (I11).
    Server,
    /// Every client's process in the checkout as well.
    Everyone,
}

/// Implemented by the host: begins the end and returns at once, so that the answer still gets out.
pub trait ServerControl: Send + Sync {
    /// Begins to end.
    ///
    /// # Errors
    /// `refused` where this server is not the host's to end: it serves one client alone.
    fn stop(&self, ending: Ending) -> Result<(), Refusal>;
}

/// How far to go.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Stop {
    /// End every client's process in this checkout as well.
    #[serde(default)]
    all: bool,
}

/// What has begun.
#[derive(Debug, Serialize, ToSchema)]
struct Stopping {
    /// The server that ends.
    instance: String,
    /// Bridges attached to it, which elect another one, or end with `all`.
    links: usize,
    all: bool,
}

/// Declares the group.
pub(super) fn capabilities(services: &Services) -> Vec<Capability> {
    let services = services.clone();
    let mut stop = query::<Stop, Stopping>(
        "server.stop",
        "Stop",
        "Ends this server in order. With clients attached it only gives ownership up, and one of their processes takes \
         over; with `all` every client's process ends.",
        Handler::inline(move |call| begin(&services, call)),
    );
    stop.kind = Kind::Command;
    // After the death of an owner there is nothing left to stop, and its successor must not be.
    stop.retry = Retry::Once;
    stop.exposure = Exposure {
        tool: None,
        prompt: None,
        resource: None,
        route: Some("/api/v1/server/stop"),
        cli: Some(&["stop"]),
    };
    stop.examples = vec![Example {
        title: "hand ownership over",
        arguments: json!({}),
    }];
    vec![stop]
}

fn begin(services: &Services, call: &Call) -> Answer {
    services.writes("server.stop")?;
    let asked: Stop = read(call.arguments.clone())?;
    let now = services.status.status();
    let ending = if asked.all {
        Ending::Everyone
    } else {
        Ending::Server
    };
    services.control.stop(ending)?;
    answer(&Stopping {
        instance: now.instance,
        links: now.links,
        all: asked.all,
    })
}
