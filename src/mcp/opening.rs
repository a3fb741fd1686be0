//! How a conversation opens: `initialize` in the legacy era, `server/discover` and `_meta` in the modern one.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::engine::{Engine, Standing, Turn};
use super::failure::{self, Failure};
use super::icons;
use super::kept::abilities;
use super::reply::{Keep, Outcome, Success};
use super::revision::Revision;
use super::session::Session;
use crate::floor::jsonrpc::Frame;
use crate::floor::limits::LABEL_CHARS;
use crate::floor::text::shown;

/// The slot under which a bridge keeps its client's `initialize`.
const SLOT: &str = "initialize";
/// How long a list may be cached: the registry does not change while a process lives.
pub(super) const LIST_TTL_MS: u64 = 300_000;

impl Engine {
    pub(super) fn initialize(&self, turn: &Turn<'_>) -> Outcome {
        if !self.about.admission.admits() {
            return Err(failure::NO_SESSIONS.fill(&[]));
        }
        let asked = turn.params.get("protocolVersion").and_then(Value::as_str);
        let revision = Revision::negotiate(asked);
        {
            let mut state = turn.session.state();
            state.revision = Some(revision);
            state.entered = true;
            introduce(
                Arc::make_mut(&mut state.caller),
                turn.params.get("clientInfo"),
            );
            state.can = abilities(turn.params.get("capabilities"));
        }
        let caller = turn.session.caller();
        self.presence.enter(&caller);
        let mut result = json!({
            "protocolVersion": revision.as_str(),
            "capabilities": self.capabilities(),
            "serverInfo": self.server_info(revision),
        });
        if let Some(icons) = icons::server(revision) {
            result["serverInfo"]["icons"] = icons;
        }
        result["instructions"] = Value::String(self.instructions(turn.session));
        let mut success = Success::new(result).keep(Keep::Slot(SLOT.to_owned()));
        success.negotiated = Some(revision);
        Ok(success)
    }

    pub(super) fn discover(&self, turn: &Turn<'_>) -> Success {
        let versions: Vec<&str> = Revision::ALL.into_iter().map(Revision::as_str).collect();
        // The instructions name the peers of this moment, so the answer is nobody else's and not for keeping.
        let mut result = Map::new();
        result.insert("supportedVersions".to_owned(), json!(versions));
        result.insert("capabilities".to_owned(), self.capabilities());
        result.insert(
            "instructions".to_owned(),
            json!(self.instructions(turn.session)),
        );
        let mut result = self.finish(turn.revision, result, Some((0, "private")));
        if let Some(icons) = icons::server(turn.revision) {
            result["_meta"]["io.modelcontextprotocol/serverInfo"]["icons"] = icons;
        }
        Success::new(result)
    }

    /// Checks the `_meta` of a modern frame and lets its peer onto the board, except for mere discovery.
    pub(super) fn meet(
        &self,
        session: &Session,
        frame: &Frame,
        method: &str,
    ) -> Result<(), Failure> {
        let params = frame.params();
        let meta = params.get("_meta").cloned().unwrap_or_default();
        let key = |name: &str| meta.get(format!("io.modelcontextprotocol/{name}"));
        if !key("clientCapabilities").is_some_and(Value::is_object) {
            return Err(failure::NO_ABILITIES.fill(&[]));
        }
        if method != "server/discover" && !session.state().entered && !self.about.admission.admits()
        {
            return Err(failure::NO_SESSIONS.fill(&[]));
        }
        let enters = {
            let mut state = session.state();
            introduce(Arc::make_mut(&mut state.caller), key("clientInfo"));
            let first = !state.entered && method != "server/discover";
            state.entered |= first;
            first
        };
        let caller = session.caller();
        if enters && caller.peer.is_some() {
            self.presence.enter(&caller);
        } else if let (Some(peer), true) = (caller.peer, method != "server/discover") {
            self.presence.seen(peer);
        }
        Ok(())
    }

    /// Adds what every modern result carries: `resultType`, the server's name, and how long it may be cached.
    pub(super) fn finish(
        &self,
        revision: Revision,
        mut result: Map<String, Value>,
        cache: Option<(u64, &str)>,
    ) -> Value {
        self.complete(revision, &mut result, cache);
        Value::Object(result)
    }

    /// [`Engine::finish`] in place.
    pub(super) fn complete(
        &self,
        revision: Revision,
        result: &mut Map<String, Value>,
        cache: Option<(u64, &str)>,
    ) {
        if let Some(note) = self.degraded() {
            let meta = result.entry("_meta").or_insert_with(|| json!({}));
            meta["majordomus/degraded"] = json!(note);
        }
        if revision.is_modern() {
            result.insert("resultType".to_owned(), json!("complete"));
            if let Some((ttl, scope)) = cache {
                result.insert("ttlMs".to_owned(), json!(ttl));
                result.insert("cacheScope".to_owned(), json!(scope));
            }
            let meta = result.entry("_meta").or_insert_with(|| json!({}));
            meta["io.modelcontextprotocol/serverInfo"] = self.server_info(revision);
        }
    }

    /// Why answers come from a server that is alone, if they do.
    pub(super) fn degraded(&self) -> Option<&str> {
        match &self.about.standing {
            Standing::Alone { reason, .. } => Some(reason),
            Standing::Owner | Standing::Standalone => None,
        }
    }

    /// What the server offers. Lists change when another build becomes the owner.
    fn capabilities(&self) -> Value {
        let mut offered = json!({
            "tools": { "listChanged": true },
            "resources": { "subscribe": true, "listChanged": true },
        });
        let mut all = self.registry.all().iter();
        if all.any(|capability| capability.exposure.prompt.is_some()) {
            offered["prompts"] = json!({ "listChanged": true });
            offered["completions"] = json!({});
        }
        if self.logs() {
            offered["logging"] = json!({});
        }
        offered
    }

    fn instructions(&self, session: &Session) -> String {
        let url = self.about.url.borrow().clone();
        let mut text = self.presence.greeting(&session.caller(), url.as_deref());
        if let Some(reason) = self.degraded() {
            text.push_str("\nThis server is alone for now: ");
            text.push_str(reason);
        }
        text
    }

    fn server_info(&self, revision: Revision) -> Value {
        let mut info = json!({ "name": "majordomus", "version": self.about.version });
        if revision >= Revision::V20250618 {
            info["title"] = json!("majordomus");
        }
        info
    }
}

/// Takes name and version from a `clientInfo`, bounded and without control characters.
fn introduce(caller: &mut crate::registry::caller::Caller, info: Option<&Value>) {
    let field = |name: &str| {
        let text = shown(info?.get(name)?.as_str()?, LABEL_CHARS);
        (!text.is_empty()).then_some(text)
    };
    if let Some(name) = field("name") {
        caller.name = Some(name);
    }
    if let Some(version) = field("version") {
        caller.version = Some(version);
    }
}
