//! Frames of 2026-07-28: each POST for itself.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::{answer, headers};
use crate::floor::jsonrpc::{Frame, Kind};
use crate::http::api;
use crate::http::auth::Credential;
use crate::http::state::Http;
use crate::mcp::{ErrorCode, Outbound, Request, Session};
use crate::registry::{Caller, Delivery, Transport};

/// The number of the only request of its session.
const ONLY: u64 = 1;

/// Answers one modern frame.
pub(crate) async fn answer(
    http: &Arc<Http>,
    headers: &HeaderMap,
    frame: Frame,
    credential: &Credential,
) -> Response {
    let bad = |code, message: &str| {
        answer::refused(
            StatusCode::BAD_REQUEST,
            frame.request_id(),
            code,
            message,
            None,
        )
    };
    if frame.revision().is_none() {
        return bad(
            ErrorCode::InvalidParams,
            "`_meta` needs `io.modelcontextprotocol/protocolVersion`",
        );
    }
    let mirrored = headers::mirrored(&frame);
    match frame.kind() {
        Kind::Request { method, .. } => {
            if let Err(message) = headers::check(headers, &frame, &mirrored) {
                return bad(ErrorCode::HeaderMismatch, &message);
            }
            if &**method == "subscriptions/listen" {
                let message = "`subscriptions/listen` is not served over HTTP yet";
                let code = ErrorCode::MethodNotFound;
                let id = frame.request_id();
                return answer::refused(StatusCode::NOT_FOUND, id, code, message, None);
            }
        }
        // Nothing is defined that a modern client could notify of over HTTP.
        _ => return answer::accepted(),
    }
    let key = match api::idempotency_key(headers) {
        Ok(key) => key.map(|key| format!("http:{}:{key}", credential.scope())),
        Err(problem) => return problem.into_response(),
    };
    let caller = Caller {
        peer: None,
        transport: Transport::Http,
        name: None,
        version: None,
    };
    let session = Session::new(caller, Outbound::none());
    let request = Request {
        frame,
        number: ONLY,
        delivery: Delivery::New,
        key,
    };
    // Dropped with the connection, which is the cancellation.
    let _gone = Gone(Arc::clone(&session));
    let Some(reply) = http.parts().engine.handle(&session, request).await else {
        return answer::accepted();
    };
    let status = match reply.error {
        Some(ErrorCode::MethodNotFound) => StatusCode::NOT_FOUND,
        Some(ErrorCode::UnsupportedRevision | ErrorCode::HeaderMismatch) => StatusCode::BAD_REQUEST,
        Some(ErrorCode::InvalidParams) if !mirrored.complete => StatusCode::BAD_REQUEST,
        Some(ErrorCode::NotOwner) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    };
    answer::json(status, reply.json)
}

/// Cancels the request whose connection dropped; does nothing to one that is answered.
struct Gone(Arc<Session>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.cancel(ONLY);
    }
}
