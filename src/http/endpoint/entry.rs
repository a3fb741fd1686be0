//! Tells apart what comes to `/mcp`: links, posts of either era, the end of a session.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::{answer, headers, legacy, legacy_streams, modern};
use crate::floor::jsonrpc::Frame;
use crate::http::body::{self, Bound};
use crate::http::problem::causes;
use crate::http::state::{Http, Living};
use crate::http::{auth, upgrade};

/// Where MCP is spoken.
pub(crate) const PATH: &str = "/mcp";

/// Answers one request to [`PATH`].
pub(crate) async fn mcp(State(http): State<Arc<Http>>, request: Request) -> Response {
    if upgrade::asks(&request) {
        return upgrade::accept(&http, request);
    }
    let credential = match auth::credential(&http, request.headers()) {
        Ok(credential) => credential,
        Err(problem) => return problem.into_response(),
    };
    let modern = headers::names_modern(request.headers());
    match *request.method() {
        Method::POST => post(&http, request, &credential, http.live()).await,
        Method::GET if !modern => {
            let (head, _) = request.into_parts();
            legacy_streams::stream(&http, &head, http.live()).await
        }
        Method::DELETE if !modern => legacy::end(&http, request.headers()).await,
        _ => causes::POSTED_MESSAGES
            .fill(&[])
            .allow(if modern { "POST" } else { "GET, POST, DELETE" })
            .into_response(),
    }
}

async fn post(
    http: &Arc<Http>,
    request: Request,
    credential: &auth::Credential,
    living: Living,
) -> Response {
    let (head, body) = request.into_parts();
    let limits = http.parts().limits;
    let bound = Bound {
        bytes: limits.body_bytes,
        time: limits.body_time,
    };
    if let Err(problem) = body::expect_json(&head.headers) {
        return problem.into_response();
    }
    let raw = match body::read(body, bound).await {
        Ok(raw) => raw,
        Err(problem) => return problem.into_response(),
    };
    let frame = match Frame::parse(raw) {
        Ok(frame) => frame,
        Err(error) => return answer::json(StatusCode::BAD_REQUEST, error.answer()),
    };
    if frame.revision().is_some() || bare_modern(&frame, &head.headers) {
        return modern::answer(http, &head, frame, credential, living).await;
    }
    legacy::answer(http, &head.headers, frame, living).await
}

/// Says whether the header declares a modern frame whose `_meta` names no revision. `initialize` is legacy always.
fn bare_modern(frame: &Frame, headers: &HeaderMap) -> bool {
    headers::names_modern(headers)
        && frame.request_id().is_some()
        && frame.method() != Some("initialize")
}
