//! Log messages for a client: how much of them it wants.
//!
//! A legacy client says it for its session, a modern one for each request, and hears nothing if it does not say it.

use serde_json::{Map, Value, json};

use super::engine::{Engine, Turn};
use super::failure::{self, Failure};
use super::outbound::Message;
use super::reply::{Keep, Outcome, Success};
use super::session::Session;
use crate::floor::jsonrpc;
use crate::registry::Level;

const META_LEVEL: &str = "/_meta/io.modelcontextprotocol~1logLevel";

impl Engine {
    /// Whether a capability logs; else there is no level to set.
    pub(super) fn logs(&self) -> bool {
        self.registry.all().iter().any(|capability| capability.logs)
    }

    pub(super) fn set_level(turn: &Turn<'_>) -> Outcome {
        let level = turn.params.get("level").and_then(Value::as_str);
        let Some(level) = level.and_then(Level::parse) else {
            return Err(failure::NO_LEVEL.fill(&[]));
        };
        turn.session.state().level = Some(level);
        let keep = Keep::Slot("logging/setLevel".to_owned());
        Ok(Success::new(Value::Object(Map::new())).keep(keep))
    }
}

/// The least level that this request's client wants to hear; `None` for nothing at all.
pub(super) fn wanted(turn: &Turn<'_>) -> Result<Option<Level>, Failure> {
    if !turn.revision.is_modern() {
        return Ok(Some(turn.session.state().level.unwrap_or(Level::Info)));
    }
    match turn.params.pointer(META_LEVEL) {
        None => Ok(None),
        Some(level) => match level.as_str().and_then(Level::parse) {
            None => Err(failure::NO_LOG_LEVEL.fill(&[])),
            level => Ok(level),
        },
    }
}

/// Tells the client of request `about`.
pub(super) fn tell(session: &Session, about: u64, logger: &str, level: Level, data: &Value) {
    let params = json!({ "level": level.as_str(), "logger": logger, "data": data });
    session.outbound.send(Message {
        about,
        coalesce: None,
        json: jsonrpc::notification("notifications/message", &params),
    });
}
