//! How a capability asks its client: a request of ours in the legacy era, a result that wants input in the modern one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::engine::{Engine, Turn};
use super::failure::{self, Failure};
use super::logging;
use super::reply::{Outcome, Success};
use super::session::Session;
use super::state;
use crate::registry::client::{Answers, Port};
use crate::registry::{Ask, Capability, Level, Refusal, Wish, refusal};

/// One call's way to its client.
pub(super) struct Asking {
    session: Arc<Session>,
    about: u64,
    logger: &'static str,
    modern: bool,
    /// The client comes back to a stream that was closed before its answer.
    polls: bool,
    /// What the client declared.
    can: Value,
    /// The least level that it wants to hear.
    level: Option<Level>,
    /// What a modern client has answered so far.
    given: Map<String, Value>,
    wanting: Mutex<Option<Wanting>>,
}

/// Why a call cannot go on yet.
enum Wanting {
    /// The client has to answer these first.
    Input(Vec<Ask>),
    /// The client did not declare that it can.
    Capability(Wish),
}

impl Asking {
    /// The way to the client of the frame in hand.
    pub(super) fn new(
        engine: &Engine,
        turn: &Turn<'_>,
        capability: &Capability,
    ) -> Result<Arc<Self>, Failure> {
        let modern = turn.revision.is_modern();
        let can = if modern {
            let declared = "/_meta/io.modelcontextprotocol~1clientCapabilities";
            turn.params.pointer(declared).cloned().unwrap_or_default()
        } else {
            turn.session.state().can.clone()
        };
        let given = if modern {
            given(engine, turn, capability.id)?
        } else {
            Map::new()
        };
        Ok(Arc::new(Self {
            session: Arc::clone(turn.session),
            about: turn.request.number,
            logger: capability.id,
            modern,
            polls: turn.revision.polls(),
            can,
            level: logging::wanted(turn)?,
            given,
            wanting: Mutex::new(None),
        }))
    }

    /// What the frame is answered with instead of the call's own answer, if the call could not go on.
    pub(super) fn early(&self, engine: &Engine, turn: &Turn<'_>) -> Option<Outcome> {
        match self.wanting().take()? {
            // A legacy client gets the refusal that the handler got.
            Wanting::Capability(_) if !self.modern => None,
            Wanting::Capability(wish) => {
                let name = wish.capability();
                let data = json!({ "requiredCapabilities": { name: {} } });
                Some(Err(failure::UNABLE.fill(&[&name]).data(data)))
            }
            Wanting::Input(asks) => {
                let mut requests = Map::new();
                for ask in asks {
                    let request = json!({ "method": ask.wish.method(), "params": ask.params });
                    requests.insert(ask.key.to_owned(), request);
                }
                let request = state::request(self.logger, &turn.params);
                let state = engine.about.seal.seal(request, self.given.clone());
                let mut result = Map::new();
                result.insert("inputRequests".to_owned(), Value::Object(requests));
                result.insert("requestState".to_owned(), json!(state));
                let mut result = engine.finish(turn.revision, result, None);
                result["resultType"] = json!("input_required");
                Some(Ok(Success::new(result)))
            }
        }
    }

    fn wanting(&self) -> std::sync::MutexGuard<'_, Option<Wanting>> {
        self.wanting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answers that are there, or a refusal that the engine replaces with the questions.
    fn answered(&self, asks: Vec<Ask>) -> Result<Map<String, Value>, Refusal> {
        let mut answers = Map::new();
        let mut open = Vec::new();
        for ask in asks {
            match self.given.get(ask.key) {
                Some(answer) => drop(answers.insert(ask.key.to_owned(), answer.clone())),
                None => open.push(ask),
            }
        }
        if open.is_empty() {
            return Ok(answers);
        }
        *self.wanting() = Some(Wanting::Input(open));
        Err(refusal::UNANSWERED.fill(&[]))
    }
}

impl Port for Asking {
    fn can(&self, wish: Wish) -> bool {
        self.can
            .get(wish.capability())
            .is_some_and(Value::is_object)
    }

    fn ask(&self, asks: Vec<Ask>) -> Answers {
        if let Some(ask) = asks.iter().find(|ask| !self.can(ask.wish)) {
            let name = ask.wish.capability();
            *self.wanting() = Some(Wanting::Capability(ask.wish));
            let refused = refusal::UNABLE.fill(&[&name]);
            return Box::pin(async { Err(refused) });
        }
        if self.modern {
            let answers = self.answered(asks);
            return Box::pin(async { answers });
        }
        let (session, about) = (Arc::clone(&self.session), self.about);
        Box::pin(async move {
            let mut asked = Vec::new();
            for ask in asks {
                let answer = session.ask(about, ask.wish.method(), &ask.params)?;
                asked.push((ask.key, answer));
            }
            let mut answers = Map::new();
            for (key, answer) in asked {
                answers.insert(key.to_owned(), answer.await?);
            }
            Ok(answers)
        })
    }

    fn log(&self, level: Level, data: &Value) {
        if self.level.is_some_and(|least| level >= least) {
            logging::tell(&self.session, self.about, self.logger, level, data);
        }
    }

    fn disconnect(&self, wait: Duration) {
        if self.polls {
            self.session.outbound.disconnect(self.about, wait);
        }
    }
}

/// What a modern client has answered: what its state carries, and what it answers now. Whatever is no answer is as if
/// it were not there, and is asked again.
fn given(engine: &Engine, turn: &Turn<'_>, id: &str) -> Result<Map<String, Value>, Failure> {
    let params = &turn.params;
    let mut given = match params.get("requestState") {
        None => Map::new(),
        Some(state) => state
            .as_str()
            .and_then(|state| {
                let request = state::request(id, params);
                engine.about.seal.open(&request, state)
            })
            .ok_or_else(|| failure::FOREIGN_STATE.fill(&[]))?,
    };
    match params.get("inputResponses") {
        None => {}
        Some(Value::Object(answers)) => {
            let answers = answers.iter().filter(|(_, answer)| answer.is_object());
            given.extend(answers.map(|(key, answer)| (key.clone(), answer.clone())));
        }
        Some(_) => return Err(failure::NO_RESPONSES.fill(&[])),
    }
    Ok(given)
}
