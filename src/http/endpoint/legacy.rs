//! Frames with sessions: `initialize`, then whatever carries the id that it got.

use std::future::pending;
use std::sync::Arc;

use axum::http::request::Parts as Head;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::events::{Last, Naming};
use super::headers::{self, LAST_EVENT, REVISION, SESSION};
use super::live::{Live, OWN, Route, Streaming};
use super::session_id::SessionId;
use super::sessions::Found;
use super::{answer, events};
use crate::floor::clock;
use crate::floor::jsonrpc::{Frame, Id, Kind};
use crate::floor::limits::STREAM_AFTER;
use crate::http::problem::{Code, Problem};
use crate::http::server::Arrival;
use crate::http::state::{Http, Living};
use crate::mcp::batch::{self, Answers};
use crate::mcp::{ErrorCode, Reply, Request, Revision, Session};
use crate::registry::{Caller, Delivery, PeerId, Transport};

/// Answers one POST.
pub(crate) async fn answer(
    http: &Arc<Http>,
    headers: &HeaderMap,
    frame: Frame,
    living: Living,
) -> Response {
    if frame.method() == Some("initialize") && frame.request_id().is_some() {
        return initialize(http, frame).await;
    }
    let live = match session(http, headers, &frame).await {
        Ok(live) => live,
        Err(response) => return response,
    };
    match frame.kind() {
        Kind::Request { id, .. } => {
            let id = id.clone();
            let streams = events::accepted(headers);
            let (route, running) = start(http, &live, id, frame, streams);
            if streams {
                sooner_or_later(http, &live, route, running, living).await
            } else {
                respond(running.await.unwrap_or(Ran::Aborted))
            }
        }
        Kind::Notification { method } => {
            if &**method == "notifications/cancelled" {
                cancel(&live, &frame);
            }
            answer::accepted()
        }
        Kind::Response { .. } => {
            live.session.heard(&frame);
            answer::accepted()
        }
        Kind::Batch(items) => run_batch(http, &live, items.clone()).await,
    }
}

/// Ends the session that a DELETE names, for this owner and every later one: a process that lost the lease cannot say so
/// for the next, and leaves it to that one.
pub(crate) async fn end(http: &Http, headers: &HeaderMap) -> Response {
    let Some(text) = headers::only(headers, SESSION) else {
        return missing(None);
    };
    match find(http, text).await {
        Found::Live(_) if !http.serving() => refuse(&Found::NotServing, None),
        Found::Live(_) => {
            let presence = http.parts().engine.presence();
            http.sessions().end(text, &**presence);
            http.sessions().kept().await;
            if http.serving() {
                StatusCode::NO_CONTENT.into_response()
            } else {
                refuse(&Found::NotServing, None)
            }
        }
        other => refuse(&other, None),
    }
}

async fn initialize(http: &Http, frame: Frame) -> Response {
    let engine = &http.parts().engine;
    if !http.sessions().has_room(&**engine.presence()) {
        return refuse(&Found::Full, frame.request_id());
    }
    let peer = PeerId::mint();
    let caller = Caller {
        peer: Some(peer),
        transport: Transport::Http,
        name: None,
        version: None,
    };
    let routes = http.sessions().routes();
    let session = Session::new(caller, routes.outbound());
    let request = Request {
        frame,
        number: 0,
        delivery: Delivery::New,
        key: None,
    };
    let Some(reply) = engine.handle(&session, request).await else {
        return answer::accepted();
    };
    let Some(revision) = reply.negotiated else {
        return respond(Ran::Answered(reply));
    };
    let id = SessionId {
        caller: session.caller(),
        peer,
        revision,
        created_ms: clock::now_ms(),
    };
    let text = id.seal(&http.parts().secrets);
    let live = http.sessions().add(&text, &id, session, routes);
    http.sessions().keep(&live).await;
    let mut response = respond(Ran::Answered(reply));
    let value = HeaderValue::try_from(text).expect("an id is visible ASCII");
    response.headers_mut().insert(SESSION, value);
    response
}

/// Finds the session of a POST and holds its version header to what is spoken.
async fn session(http: &Http, headers: &HeaderMap, frame: &Frame) -> Result<Arc<Live>, Response> {
    let id = frame.request_id();
    if let Some(named) = headers.get(REVISION) {
        let named = named.to_str().unwrap_or_default().trim();
        if Revision::parse(named).is_none() {
            let supported: Vec<_> = Revision::ALL.into_iter().map(Revision::as_str).collect();
            return Err(answer::refused(
                StatusCode::BAD_REQUEST,
                id,
                ErrorCode::UnsupportedRevision,
                "this protocol version is not spoken here",
                Some(&json!({ "supported": supported, "requested": named })),
            ));
        }
    }
    let text = headers::only(headers, SESSION).ok_or_else(|| missing(id))?;
    match find(http, text).await {
        Found::Live(live) => Ok(live),
        other => Err(refuse(&other, id)),
    }
}

async fn find(http: &Http, text: &str) -> Found {
    let secrets = &http.parts().secrets;
    let presence = http.parts().engine.presence();
    http.sessions()
        .find(
            text,
            |text| SessionId::open(secrets, text),
            || http.serving(),
            &**presence,
        )
        .await
}

/// How a request ended.
enum Ran {
    Answered(Reply),
    /// The client cancelled it.
    Cancelled,
    /// The server is leaving.
    Aborted,
}

/// Starts one request, which runs to its end whether or not its connection lasts.
fn start(
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
            reply = engine.handle(&live.session, request) => reply,
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
/// that ends at once is heard too.
async fn sooner_or_later(
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
                let (reader, naming) = (route.queue.reader(None), naming(live, route.number));
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

/// The names of a stream's events. An empty first one came with 2025-11-25, and earlier clients fail on it.
fn naming(live: &Live, stream: u64) -> Naming {
    Naming {
        prefix: live.event_prefix(stream),
        primed: live.session.revision() >= Some(Revision::V20251125),
    }
}

/// Opens the session's own stream, or goes on behind the last event that the client saw on any of its streams.
pub(crate) async fn stream(http: &Arc<Http>, head: &Head, living: Living) -> Response {
    let headers = &head.headers;
    let arrival = head.extensions.get::<Arrival>();
    let stopping = arrival
        .map(|arrival| arrival.stopping.clone())
        .unwrap_or_default();
    let Some(text) = headers::only(headers, SESSION) else {
        return missing(None);
    };
    let live = match find(http, text).await {
        Found::Live(live) => live,
        other => return refuse(&other, None),
    };
    if !events::accepted(headers) {
        let status = StatusCode::NOT_ACCEPTABLE;
        let message = "a session's stream is one of events: send `Accept: text/event-stream`";
        return answer::refused(status, None, ErrorCode::InvalidRequest, message, None);
    }
    let seen = headers::only(headers, LAST_EVENT);
    if let Some((number, reader)) = seen.and_then(|event| live.stream_behind(event)) {
        let naming = Naming {
            primed: false,
            ..naming(&live, number)
        };
        if number != OWN {
            return events::response(reader, Box::pin(pending()), Some(naming), living);
        }
        let last = news(http, &live, stopping, true);
        return events::response(reader, last, Some(naming), living);
    }
    // What an earlier owner said, and what was said to nobody, is not known here.
    let missed = live.missed() | seen.is_some();
    let (reader, naming) = (live.own_stream(), naming(&live, OWN));
    let last = news(http, &live, stopping, missed);
    events::response(reader, last, Some(naming), living)
}

/// Tells a session the news for as long as it and this server last.
fn news(http: &Http, live: &Arc<Live>, stopping: CancellationToken, missed: bool) -> Last {
    let mut news = http.parts().engine.changes().listen();
    if missed {
        live.session.missed();
    }
    let live = Streaming::new(live);
    Box::pin(async move {
        loop {
            tokio::select! {
                biased;
                () = live.ended().cancelled() => return None,
                () = stopping.cancelled() => return None,
                heard = news.recv() => match heard {
                    Ok(news) => live.session.hear(&news),
                    Err(RecvError::Lagged(_)) => live.session.missed(),
                    Err(RecvError::Closed) => return None,
                },
            }
        }
    })
}

fn respond(ran: Ran) -> Response {
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
        Ran::Aborted => Problem::new(Code::NotServing, "the server is leaving").into_response(),
    }
}

/// Runs the frames of a batch beside each other; only 2025-03-26 knows batches.
async fn run_batch(http: &Arc<Http>, live: &Arc<Live>, items: Vec<Bytes>) -> Response {
    if let Some(error) = batch::objection(live.session.revision()) {
        let code = ErrorCode::InvalidRequest;
        return answer::refused(StatusCode::BAD_REQUEST, None, code, &error.message, None);
    }
    let mut answers = Answers::default();
    let mut running = Vec::new();
    for item in items {
        match batch::item(item, running.len()) {
            Ok(frame) => match frame.kind() {
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

fn cancel(live: &Live, frame: &Frame) {
    let params = frame.params();
    let named = params.get("requestId").map(Value::to_string);
    let probe = named.map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":""}}"#));
    let frame = probe.and_then(|text| Frame::parse(Bytes::from(text)).ok());
    if let Some(id) = frame.as_ref().and_then(Frame::request_id) {
        live.cancel(id);
    }
}

fn missing(id: Option<&Id>) -> Response {
    answer::refused(
        StatusCode::BAD_REQUEST,
        id,
        ErrorCode::InvalidRequest,
        "`Mcp-Session-Id` is missing: send `initialize` first",
        None,
    )
}

fn refuse(found: &Found, id: Option<&Id>) -> Response {
    let code = ErrorCode::InvalidRequest;
    match found {
        Found::Live(_) | Found::Unknown => answer::refused(
            StatusCode::NOT_FOUND,
            id,
            code,
            "there is no such session: send `initialize` again",
            None,
        ),
        Found::Full => answer::refused(
            StatusCode::SERVICE_UNAVAILABLE,
            id,
            code,
            "too many sessions are open",
            None,
        ),
        Found::NotServing => answer::refused(
            StatusCode::SERVICE_UNAVAILABLE,
            id,
            ErrorCode::NotOwner,
            "this server has lost its lease and takes no sessions any more",
            None,
        ),
    }
}
