//! A connection that becomes a link: one `Upgrade` to a version of it, then its bytes belong to the host.
//!
//! A bridge offers every version that it speaks, and the newest that this build speaks too is taken. Where there is
//! none, the answer names ours. *Source:* RFC 9110, sections 7.8 and 15.5.22; ADR-0013.
//!
//! The link proves both sides by challenge and response, so it needs no bearer token; the token never travels on it.
//! A browser cannot send `Upgrade`, and a request with `Origin` is refused here all the same.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONNECTION, ORIGIN, UPGRADE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tracing::debug;

use super::problem::causes;
use super::state::Http;
use super::stream::{LinkStream, Stream};
use crate::floor::error::Chain;
use crate::link::handshake::{Offered, offer};

/// Says whether a request asks for a link.
pub(crate) fn asks(request: &Request) -> bool {
    request.method() == Method::GET
        && offered(request.headers()) != Offered::Nothing
        && lists(request.headers(), &CONNECTION, "upgrade")
}

/// Switches protocols and hands the connection to the host.
pub(crate) fn accept(http: &Http, mut request: Request) -> Response {
    if request.headers().contains_key(ORIGIN) {
        return causes::BROWSERS_LINK.fill(&[]).into_response();
    }
    let Offered::Common(_, protocol) = offered(request.headers()) else {
        let ours = env!("CARGO_PKG_VERSION");
        return causes::OTHER_LINK
            .fill(&[&ours])
            .upgrade(&offer())
            .into_response();
    };
    let upgrade = hyper::upgrade::on(&mut request);
    let door = Arc::clone(&http.parts().link);
    let handing = http.work().run(async move {
        match upgrade.await {
            Ok(upgraded) => {
                if let Some(link) = into_link(upgraded) {
                    door(link);
                }
            }
            Err(error) => debug!(error = %Chain(&error), "a link was not opened"),
        }
    });
    // The task goes on by itself: the upgrade happens after this answer.
    drop(handing);
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static(protocol));
    response
}

/// Finds our own stream below hyper's; there is no other.
fn into_link(upgraded: Upgraded) -> Option<LinkStream> {
    let parts = upgraded.downcast::<TokioIo<Stream>>().ok()?;
    Some(parts.io.into_inner().into_link(parts.read_buf))
}

fn offered(headers: &HeaderMap) -> Offered {
    let values = headers.get_all(UPGRADE).iter();
    let values: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    Offered::read(&values.join(","))
}

fn lists(headers: &HeaderMap, name: &axum::http::HeaderName, word: &str) -> bool {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|item| item.trim().eq_ignore_ascii_case(word))
}
