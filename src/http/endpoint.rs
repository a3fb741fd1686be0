//! `/mcp`.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};

use super::auth;
use super::problem::{Code, Problem};
use super::state::Http;
use super::upgrade;

/// Where MCP is spoken.
pub(crate) const PATH: &str = "/mcp";

/// Answers one request to [`PATH`].
pub(crate) async fn mcp(State(http): State<Arc<Http>>, request: Request) -> Response {
    if upgrade::asks(&request) {
        return upgrade::accept(&http, request);
    }
    if let Err(problem) = auth::credential(&http, request.headers()) {
        return problem.into_response();
    }
    Problem::new(Code::MethodNotAllowed, "not yet")
        .allow("POST, DELETE")
        .into_response()
}
