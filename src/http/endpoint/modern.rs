//! Frames of 2026-07-28: each POST for itself.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::http::request::Parts as Head;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::headers::Mirrored;
use super::outbound::Queue;
use super::{answer, events, headers, parameters};
use crate::floor::jsonrpc::{self, Frame, Id, Kind};
use crate::floor::limits::STREAM_AFTER;
use crate::http::api;
use crate::http::auth::Credential;
use crate::http::server::Arrival;
use crate::http::state::{Http, Living};
use crate::mcp::failure::{self, Failure};
use crate::mcp::{Engine, ErrorCode, Reply, Request, Session};
use crate::registry::{Caller, Changes, Delivery, Registry, Transport};

/// The number of the only request of its session.
const ONLY: u64 = 1;
/// The method whose headers may repeat arguments.
const CALL: &str = "tools/call";
/// The method whose answer is a stream.
const LISTEN: &str = "subscriptions/listen";

/// Answers one modern frame.
pub(crate) async fn answer(
    http: &Arc<Http>,
    head: &Head,
    frame: Frame,
    credential: &Credential,
    living: Living,
) -> Response {
    let mirrored = headers::mirrored(&frame);
    let registry = http.parts().engine.registry();
    let (id, listens) = match admitted(head, &frame, &mirrored, registry) {
        Ok(Some((id, listens))) => (id, listens),
        Ok(None) => return answer::accepted(),
        Err(refusal) => return *refusal,
    };
    let key = match api::idempotency_key(&head.headers) {
        Ok(key) => key.map(|key| http.parts().secrets.once(&credential.scope(), key)),
        Err(problem) => return problem.into_response(),
    };
    let caller = Caller {
        peer: None,
        transport: Transport::Http,
        name: None,
        version: None,
        hooked: false,
    };
    let queue = Queue::default();
    let session = Session::new(caller, queue.outbound());
    let request = Request {
        frame,
        number: ONLY,
        delivery: Delivery::New,
        key: key.map(Into::into),
    };
    let stopping = head.extensions.get::<Arrival>();
    let conversation = Conversation {
        engine: Arc::clone(&http.parts().engine),
        gone: Gone(session),
        stopping: stopping
            .map(|arrival| arrival.stopping.clone())
            .filter(|_| listens)
            .unwrap_or_default(),
    };
    let mut running = Box::pin(conversation.run(request));
    let patience = match (events::accepted(&head.headers), listens) {
        (false, false) => {
            return running.await.map_or_else(answer::accepted, |reply| {
                answer::json(status(&reply, &mirrored), reply.json)
            });
        }
        (_, true) => Duration::ZERO,
        (true, false) => STREAM_AFTER,
    };
    tokio::select! {
        biased;
        reply = running.as_mut() => return match reply {
            Some(reply) => match status(&reply, &mirrored) {
                // What a call said that ended at once comes before its answer.
                StatusCode::OK if queue.has_unread() => {
                    let last = Box::pin(ready(Some(reply.json)));
                    events::response(queue.reader(None), last, None, living)
                }
                // An error's status says more than what was said before it.
                status => answer::json(status, reply.json),
            },
            None => answer::accepted(),
        },
        _ = timeout(patience, queue.ready()) => {}
    }
    let last = async move {
        match running.await {
            Some(reply) => Some(reply.json),
            None => listens.then(|| ended(&id)),
        }
    };
    events::response(queue.reader(None), Box::pin(last), None, living)
}

/// Holds a frame to what this transport asks; `None` for what gets no answer.
fn admitted(
    head: &Head,
    frame: &Frame,
    mirrored: &Mirrored,
    registry: &Registry,
) -> Result<Option<(Id, bool)>, Box<Response>> {
    let bad = |status, failure: &Failure| {
        Err(Box::new(answer::refused(
            status,
            frame.request_id(),
            failure,
        )))
    };
    if frame.revision().is_none() {
        return bad(StatusCode::BAD_REQUEST, &failure::NO_REVISION.fill(&[]));
    }
    let Kind::Request { id, method } = frame.kind() else {
        // Nothing is defined that a modern client could notify of over HTTP.
        return Ok(None);
    };
    let tool = mirrored.name.as_deref().filter(|_| &**method == CALL);
    let repeated = match tool.and_then(|name| registry.by_tool(name)) {
        Some(tool) => parameters::check(&head.headers, frame, &tool.input),
        None => Ok(()),
    };
    let checked = headers::check(&head.headers, frame, mirrored).and(repeated);
    if let Err(mismatch) = checked {
        return bad(StatusCode::BAD_REQUEST, &mismatch);
    }
    let listens = &**method == LISTEN;
    if listens && !events::accepted(&head.headers) {
        let failure = failure::NO_LISTEN_STREAM.fill(&[]);
        return bad(StatusCode::NOT_ACCEPTABLE, &failure);
    }
    Ok(Some((id.clone(), listens)))
}

/// One request, and what it hears of changes while it runs.
struct Conversation {
    engine: Arc<Engine>,
    gone: Gone,
    /// Cancelled when a subscription is to end in order.
    stopping: CancellationToken,
}

impl Conversation {
    /// Runs the request; `None` where it was ended without an answer.
    async fn run(self, request: Request) -> Option<Reply> {
        let session = &self.gone.0;
        let changes: &Changes = self.engine.changes();
        // Before the subscription is acknowledged, so that no news falls between.
        let mut news = changes.listen();
        let mut handling = Box::pin(
            self.engine
                .turns()
                .run(self.engine.handle(session, request)),
        );
        loop {
            tokio::select! {
                biased;
                reply = handling.as_mut() => return reply,
                () = self.stopping.cancelled() => return None,
                heard = news.recv() => match heard {
                    Ok(news) => session.hear(&news),
                    Err(RecvError::Lagged(_)) => session.missed(),
                    Err(RecvError::Closed) => return handling.await,
                },
            }
        }
    }
}

/// The status of an answer that is one body.
fn status(reply: &Reply, mirrored: &Mirrored) -> StatusCode {
    match reply.error {
        Some(ErrorCode::MethodNotFound) => StatusCode::NOT_FOUND,
        Some(
            ErrorCode::UnsupportedRevision
            | ErrorCode::HeaderMismatch
            | ErrorCode::MissingCapability,
        ) => StatusCode::BAD_REQUEST,
        Some(ErrorCode::InvalidParams) if !mirrored.complete => StatusCode::BAD_REQUEST,
        Some(ErrorCode::NotOwner) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    }
}

/// What a subscription is told that ends because the server does.
fn ended(id: &Id) -> Bytes {
    let value: Value = serde_json::from_str(id.as_json()).unwrap_or(Value::Null);
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": value });
    jsonrpc::result(id, &json!({ "resultType": "complete", "_meta": meta }))
}

/// Cancels the request whose connection dropped; does nothing to one that is answered.
struct Gone(Arc<Session>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.cancel(ONLY);
    }
}
