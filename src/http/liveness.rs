//! `/lease`: who serves here, answered without a token, at any load, and without asking anybody.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use super::problem::{Code, Problem};
use super::state::{Auth, Http};

/// Where it is asked.
pub(crate) const PATH: &str = "/lease";

/// Answers with instance, root id, epoch, whether this process admits, and whether a token is needed.
pub(crate) async fn lease(State(http): State<Arc<Http>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Problem::new(Code::MethodNotAllowed, "the liveness probe is read")
            .allow("GET, HEAD")
            .into_response();
    }
    let auth = match http.parts().auth {
        Auth::Bearer => "bearer",
        Auth::Off => "off",
    };
    let body = json!({
        "instance": http.parts().owner.instance(),
        "root_id": http.parts().owner.root_id(),
        "epoch": http.parts().owner.epoch(),
        "serving": http.serving(),
        "auth": auth,
    });
    let mut response = Response::new(Body::from(body.to_string()));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
