//! Answers of `/mcp`: JSON-RPC in one body, and the status that goes with it.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;

use crate::floor::jsonrpc::Id;
use crate::mcp::Revision;
use crate::mcp::failure::Failure;

/// Renders a JSON body.
pub(crate) fn json(status: StatusCode, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// Refuses a frame with an error that this transport makes by itself.
pub(crate) fn refused(status: StatusCode, id: Option<&Id>, failure: &Failure) -> Response {
    json(status, failure.answer(id, Revision::NEWEST_LEGACY))
}

/// What a notification or a response gets: it was taken, and there is nothing to say.
pub(crate) fn accepted() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}
