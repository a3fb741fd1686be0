//! Frames with sessions: `initialize`, then whatever carries the id that it got.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::headers::{self, REVISION, SESSION};
use super::legacy_calls::{Ran, cancel, respond, run_batch, sooner_or_later, start};
use super::live::Live;
use super::session_id::SessionId;
use super::sessions::Found;
use super::{answer, events};
use crate::floor::clock;
use crate::floor::jsonrpc::{Frame, Id, Kind};
use crate::http::problem::causes;
use crate::http::state::{Http, Living};
use crate::mcp::{Request, Revision, Session, failure};
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
            if !live.has_room() {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                return answer::refused(status, Some(&id), &failure::CROWDED_SESSION.fill(&[]));
            }
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

/// Ends the session that a DELETE names, for this owner and every later one: where that cannot be, it has
/// not ended, and its client may say it again.
pub(crate) async fn end(http: &Arc<Http>, headers: &HeaderMap) -> Response {
    let Some(text) = headers::only(headers, SESSION) else {
        return missing(None);
    };
    let live = match find(http, text).await {
        Found::Live(live) if http.serving() => live,
        Found::Live(_) => return refuse(&Found::NotServing, None),
        other => return refuse(&other, None),
    };
    let (serving, text) = (Arc::clone(http), text.to_owned());
    // A client that hangs up has said it all the same.
    let ending = http.work().run(async move {
        let presence = serving.parts().engine.presence();
        serving.sessions().end(&text, &live, &**presence).await
    });
    match ending.await {
        Some(Ok(())) => StatusCode::NO_CONTENT.into_response(),
        Some(Err(refusal)) => causes::NOT_ENDED.refused(refusal).into_response(),
        None => respond(Ran::Aborted),
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
        hooked: false,
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
        caller: Arc::unwrap_or_clone(session.caller()),
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
            let unsupported = failure::unsupported(named);
            return Err(answer::refused(StatusCode::BAD_REQUEST, id, &unsupported));
        }
    }
    let text = headers::only(headers, SESSION).ok_or_else(|| missing(id))?;
    match find(http, text).await {
        Found::Live(live) => Ok(live),
        other => Err(refuse(&other, id)),
    }
}

pub(super) async fn find(http: &Http, text: &str) -> Found {
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

pub(super) fn missing(id: Option<&Id>) -> Response {
    let failure = failure::NO_SESSION.fill(&[]);
    answer::refused(StatusCode::BAD_REQUEST, id, &failure)
}

pub(super) fn refuse(found: &Found, id: Option<&Id>) -> Response {
    let (status, failure) = match found {
        Found::Live(_) | Found::Unknown => {
            (StatusCode::NOT_FOUND, failure::UNKNOWN_SESSION.fill(&[]))
        }
        Found::Unsure(refusal) => (
            StatusCode::SERVICE_UNAVAILABLE,
            failure::UNSURE_SESSION
                .fill(&[&refusal.message])
                .explained(refusal),
        ),
        Found::Full => (
            StatusCode::SERVICE_UNAVAILABLE,
            failure::MANY_SESSIONS.fill(&[]),
        ),
        Found::NotServing => (
            StatusCode::SERVICE_UNAVAILABLE,
            failure::NO_SESSIONS.fill(&[]),
        ),
    };
    answer::refused(status, id, &failure)
}
