//! The whole server as one router.
//!
//! | path | token | what |
//! |---|---|---|
//! | `/`, `/docs/*`, `/web/*`, `/favicon.ico` | no | static files |
//! | `/lease` | no | liveness, outside every pool |
//! | `/api/v1/sign-in` | a code | a page's token |
//! | `/openapi.json` | yes | the description of the API |
//! | `/api/v1/*` | yes | the capabilities |
//! | `/mcp` | yes, a link proves itself | MCP |
//!
//! Anything else is 404, with or without a token: clients that meet a 401 look for an OAuth server next.

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use bytes::Bytes;

use super::api::{self, RouteTaken};
use super::pages::Pages;
use super::problem::causes;
use super::state::Http;
use super::{auth, endpoint, guards, liveness, openapi, pages, sign_in_routes};

/// Where `OpenAPI` is.
pub(crate) const OPENAPI: &str = "/openapi.json";

/// Projects the registry and the server's own routes into one router, guarded as a whole.
///
/// # Errors
/// A capability declares one of the server's own paths.
pub fn router(http: &Arc<Http>) -> Result<Router, RouteTaken> {
    let own = [
        OPENAPI,
        endpoint::entry::PATH,
        liveness::PATH,
        sign_in_routes::EXCHANGE,
        sign_in_routes::RENEW,
        sign_in_routes::CODES,
    ];
    let private = api::routes(http, &own)?
        .route(OPENAPI, any(description(http)))
        .route(
            sign_in_routes::RENEW,
            any(sign_in_routes::renew).with_state(Arc::clone(http)),
        )
        .route(
            sign_in_routes::CODES,
            any(sign_in_routes::codes).with_state(Arc::clone(http)),
        )
        .route_layer(from_fn_with_state(Arc::clone(http), auth::require));
    let public = files(http)
        .route(
            liveness::PATH,
            any(liveness::lease).with_state(Arc::clone(http)),
        )
        .route(
            sign_in_routes::EXCHANGE,
            any(sign_in_routes::exchange).with_state(Arc::clone(http)),
        )
        .route(
            endpoint::entry::PATH,
            any(endpoint::entry::mcp).with_state(Arc::clone(http)),
        );
    Ok(public
        .merge(private)
        .fallback(|| async { causes::NOTHING_HERE.fill(&[]).into_response() })
        .layer(from_fn_with_state(Arc::clone(http), guards::guard)))
}

/// The static files.
fn files(http: &Http) -> Router {
    let pages = Arc::new(Pages::new(http.parts().share.as_deref()));
    let file = move |request: Request| {
        let pages = Arc::clone(&pages);
        async move { pages.answer(&request) }
    };
    let mut router = Router::new()
        .route(
            "/docs",
            any(|request: Request| async move { pages::to_docs(&request) }),
        )
        .route("/docs/{*file}", any(file.clone()));
    for path in Pages::paths() {
        router = router.route(path, any(file.clone()));
    }
    router
}

/// Describes the API; rendered for its first reader, since a takeover waits for nobody to read it.
fn description(
    http: &Arc<Http>,
) -> impl Fn(Request) -> std::future::Ready<Response> + Clone + Send + Sync + 'static {
    let http = Arc::clone(http);
    let document = Arc::new(OnceLock::new());
    move |request| {
        let document: &Bytes =
            document.get_or_init(|| Bytes::from(openapi::document(&http).to_string()));
        std::future::ready(described(&request, document.clone()))
    }
}

fn described(request: &Request, document: Bytes) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return causes::READ_DESCRIPTION
            .fill(&[])
            .allow("GET, HEAD")
            .into_response();
    }
    let mut response = Response::new(Body::from(document));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
