//! The requests of a session: each runs to its end, whether or not its connection lasts.

use std::future::pending;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use serde_json::Value;
use tokio::time::timeout;

use super::legacy_streams::naming;
use super::live::{Live, Route};
use super::{answer, events};
use crate::floor::jsonrpc::{Frame, Id, Kind};
use crate::floor::limits::STREAM_AFTER;
use crate::http::problem::causes;
use crate::http::state::{Http, Living};
use crate::mcp::batch::{self, Answers};
use crate::mcp::{ErrorCode, Reply, Request, Revision, failure};
use crate::registry::Delivery;

/// How a request ended.
pub(super) enum Ran {
    Answered(Reply),
    /// The client cancelled it.
    Cancelled,
    /// The server is leaving.
    Aborted,
}

/// Starts one request, which runs to its end whether or not its connection lasts.
pub(super) fn start(
    http: &Arc<Http>,
    live: &Arc<Live>,
    id: Id,
    frame: Frame,
    streams: bool,
) -> (Route, impl Future<Output = Option<Ran>> + Send + use<>) {
    let begun = live.begin(id);
    let (number, cancelled, ongoing) = (begun.number, begun.cancelled, begun.ongoing);
    let asked = live.session.begin(number);
    if !streams {
        asked.mute();
    }
    let (serving, live) = (Arc::clone(http), Arc::clone(live));
    let running = http.work().run(async move {
        let engine = &serving.parts().engine;
        let request = Request {
            frame,
            number,
            delivery: Delivery::New,
            key: None,
        };
        let reply = tokio::select! {
            biased;
            () = cancelled.cancelled() => {
                live.session.cancel(number);
                None
            }
            reply = engine.turns().run(engine.handle(&live.session, request)) => reply,
        };
        if reply.as_ref().is_some_and(|reply| reply.keep.is_some()) {
            // What a bridge would replay, the client of a session says to no other owner.
            serving.sessions().keep(&live).await;
        }
        drop((asked, ongoing));
        reply.map_or(Ran::Cancelled, Ran::Answered)
    });
    (begun.route, running)
}

/// Answers in one body if nothing is said before it and it comes within a second, else with a stream: what a call says
/// that ends at once is heard too, and one that lets its client go gives it an event to come back with.
pub(super) async fn sooner_or_later(
    http: &Http,
    live: &Live,
    route: Route,
    running: impl Future<Output = Option<Ran>> + Send + 'static,
    living: Living,
) -> Response {
    let mut running = Box::pin(running);
    tokio::select! {
        biased;
        ran = running.as_mut() => return match ran.unwrap_or(Ran::Aborted) {
            Ran::Answered(reply) if route.queue.has_unread() => {
                // From its beginning to its end: nobody has to come back for what is there.
                let (reader, naming) = (route.queue.reader(Some(0)), naming(live, route.number));
                route.end(Some(reply.json));
                events::response(reader, Box::pin(pending()), Some(naming), living)
            }
            ran => respond(ran),
        },
        _ = timeout(STREAM_AFTER, route.queue.ready()) => {}
    }
    let (reader, naming) = (route.queue.reader(None), naming(live, route.number));
    // The answer goes into the stream whether or not its connection lasts: a client may come back for it.
    let ending = http.work().run(async move {
        match running.await {
            Some(Ran::Answered(reply)) => route.end(Some(reply.json)),
            _ => route.end(None),
        }
    });
    drop(ending);
    events::response(reader, Box::pin(pending()), Some(naming), living)
}

pub(super) fn respond(ran: Ran) -> Response {
    match ran {
        Ran::Answered(reply) => {
            let status = match reply.error {
                Some(ErrorCode::NotOwner) => StatusCode::SERVICE_UNAVAILABLE,
                Some(ErrorCode::UnsupportedRevision | ErrorCode::InvalidRequest) => {
                    StatusCode::BAD_REQUEST
                }
                _ => StatusCode::OK,
            };
            answer::json(status, reply.json)
        }
        // A cancelled request gets no response, and its POST still has to end.
        Ran::Cancelled => answer::accepted(),
        Ran::Aborted => causes::LEAVING.fill(&[]).into_response(),
    }
}

/// Runs the frames of a batch beside each other; only 2025-03-26 knows batches.
pub(super) async fn run_batch(http: &Arc<Http>, live: &Arc<Live>, items: Vec<Bytes>) -> Response {
    if let Some(error) = batch::objection(live.session.revision()) {
        return answer::json(StatusCode::BAD_REQUEST, error.answer());
    }
    let mut answers = Answers::default();
    let mut running = Vec::new();
    for item in items {
        match batch::item(item, running.len()) {
            Ok(frame) => match frame.kind() {
                Kind::Request { id, .. } if !live.has_room() => {
                    let refused = failure::CROWDED_SESSION.fill(&[]);
                    let refused = refused.answer(Some(id), Revision::V20250326);
                    answers.push(Some(id), &refused);
                }
                Kind::Request { id, .. } => {
                    let id = id.clone();
                    running.push((id.clone(), start(http, live, id, frame, false).1));
                }
                Kind::Notification { method } if &**method == "notifications/cancelled" => {
                    cancel(live, &frame);
                }
                Kind::Response { .. } => live.session.heard(&frame),
                Kind::Notification { .. } | Kind::Batch(_) => {}
            },
            Err(error) => answers.push(error.id.as_ref(), &error.answer()),
        }
    }
    for (id, running) in running {
        match running.await {
            Some(Ran::Answered(reply)) => answers.push(Some(&id), &reply.json),
            Some(Ran::Cancelled) => {}
            _ => return respond(Ran::Aborted),
        }
    }
    match answers.render() {
        Some(answers) => answer::json(StatusCode::OK, answers),
        None => answer::accepted(),
    }
}

pub(super) fn cancel(live: &Live, frame: &Frame) {
    let params = frame.params();
    let named = params.get("requestId").map(Value::to_string);
    let probe = named.map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":""}}"#));
    let frame = probe.and_then(|text| Frame::parse(Bytes::from(text)).ok());
    if let Some(id) = frame.as_ref().and_then(Frame::request_id) {
        live.cancel(id);
    }
}
