//! What every request passes before any route sees it (I14).
//!
//! Loopback is no border by itself: any web page can make the browser of this machine send requests here, and any
//! name can be made to resolve to 127.0.0.1. So, on *every* route and in this order: the peer's address is loopback;
//! `Host` names this machine (a rebinding page still sends its own name); `Origin`, if there is one, is a page of
//! this server; a browser that says it acts for another site may only follow a link to a page. Tools are not
//! browsers: a request without `Origin` passes, also with `sec-fetch-mode: cors`, which node's fetch sends.
//!
//! `/.well-known/*` answers 404 at once, because clients look there for an OAuth server. There is no CORS header
//! anywhere and no cookie: cookies ignore ports.
//!
//! *Origin of this server*: `http` on a loopback name with the port that this connection came in at, or with the very
//! authority that `Host` names (a forwarded port). ADR 0005 says why.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::connections::Place;
use super::liveness;
use super::problem::{Problem, causes};
use super::server::Arrival;
use super::state::Http;
use super::upgrade;

/// The policy of an answer that is no page: nothing may be loaded, framed or run.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'; sandbox";
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Guards one request and puts the security headers on its answer, whatever it is.
pub(crate) async fn guard(State(http): State<Arc<Http>>, request: Request, next: Next) -> Response {
    let mut response = match admit(&request) {
        Ok(()) if is_always_served(&request) => next.run(request).await,
        Ok(()) => match http.permit() {
            Some(_permit) => next.run(request).await,
            None => causes::MANY_REQUESTS.fill(&[]).into_response(),
        },
        Err(problem) => problem.into_response(),
    };
    harden(response.headers_mut());
    response
}

/// Decides about a request by its connection and its header alone.
fn admit(request: &Request) -> Result<(), Problem> {
    let Some(arrival) = request.extensions().get::<Arrival>() else {
        return Err(causes::NO_PEER.fill(&[]));
    };
    if !is_loopback(arrival.peer.ip()) {
        return Err(causes::OTHER_MACHINE.fill(&[]));
    }
    let headers = request.headers();
    let host = host(headers, request.uri())?;
    if request.uri().path().starts_with("/.well-known/") {
        return Err(causes::NOTHING_PUBLISHED.fill(&[]));
    }
    if let Some(origin) = single(headers, &ORIGIN)? {
        if !is_own_origin(origin, host, arrival.local.port()) {
            return Err(causes::OTHER_ORIGIN.fill(&[]));
        }
    }
    sent_by_this_site(request.method(), headers)?;
    let overflow = arrival
        .desk
        .as_ref()
        .is_some_and(|desk| desk.place() == Place::Overflow);
    if overflow && !is_always_served(request) {
        return Err(causes::MANY_CONNECTIONS.fill(&[]).closing());
    }
    Ok(())
}

/// What takes no place among the requests and connections that are bounded: the liveness probe, which must answer when
/// everything is busy, and a bridge that opens its link, which does not stay a connection of HTTP.
fn is_always_served(request: &Request) -> bool {
    request.uri().path() == liveness::PATH || upgrade::asks(request)
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Returns the authority that the client meant, once it is known to be this machine.
fn host<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Result<&'a str, Problem> {
    let foreign = || causes::OTHER_HOST.fill(&[]);
    // An absolute request target overrides `Host` (RFC 9112, 3.2.2), so both must be ours.
    if let Some(authority) = uri.authority() {
        if !is_loopback_authority(authority.as_str()) {
            return Err(foreign());
        }
    }
    let host = single(headers, &HOST)?.ok_or_else(|| causes::NO_HOST.fill(&[]))?;
    if is_loopback_authority(host) {
        Ok(host)
    } else {
        Err(foreign())
    }
}

/// Returns the one value of a header field that may stand once at most.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Problem> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    match value.to_str() {
        Ok(text) if values.next().is_none() => Ok(Some(text)),
        _ => Err(causes::UNCLEAR_FIELD.fill(&[name])),
    }
}

/// Says whether `authority` is a loopback name with any port.
fn is_loopback_authority(authority: &str) -> bool {
    let (name, port) = match authority.rfind(':') {
        Some(colon) if !authority.ends_with(']') => authority.split_at(colon),
        _ => (authority, ""),
    };
    let port_fits = match port.strip_prefix(':') {
        None => true,
        Some(digits) => digits.bytes().all(|b| b.is_ascii_digit()) && digits.parse::<u16>().is_ok(),
    };
    port_fits && (name == "127.0.0.1" || name == "[::1]" || name.eq_ignore_ascii_case("localhost"))
}

/// Says whether a page of `origin` is one of this server.
fn is_own_origin(origin: &str, host: &str, port: u16) -> bool {
    let Some(authority) = origin.strip_prefix("http://") else {
        return false;
    };
    if !is_loopback_authority(authority) {
        return false;
    }
    let named = authority
        .rsplit_once(':')
        .and_then(|(_, digits)| digits.parse::<u16>().ok());
    named == Some(port) || authority.eq_ignore_ascii_case(host)
}

/// Refuses what a browser sends for another site, but for a click on a link to a page.
fn sent_by_this_site(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    let site = headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes);
    if !matches!(site, Some(b"cross-site" | b"same-site")) {
        return Ok(());
    }
    let followed = headers
        .get(SEC_FETCH_MODE)
        .is_some_and(|mode| mode == "navigate")
        && method == Method::GET;
    if followed {
        return Ok(());
    }
    Err(causes::OTHER_SITE.fill(&[]))
}

/// Puts the headers on an answer that keep a browser from making more of it than it is.
fn harden(headers: &mut HeaderMap) {
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(NOTHING));
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::{is_loopback_authority, is_own_origin};

    /// Guards I14.
    #[test]
    fn only_loopback_names_are_this_machine() {
        for good in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:65535",
            "[::1]",
            "[::1]:8080",
        ] {
            assert!(is_loopback_authority(good), "{good}");
        }
        for evil in [
            "",
            "evil.example",
            "localhost.",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "127.1",
            "127.0.0.2",
            "0.0.0.0",
            "::1",
            "[::1",
            "[::1]x",
            "localhost:",
            "localhost:x",
            "localhost:80:80",
            "user@localhost",
            "localhost:99999",
            "[::ffff:127.0.0.1]",
            "2130706433",
            "localhost/evil",
            " localhost",
        ] {
            assert!(!is_loopback_authority(evil), "{evil}");
        }
    }

    /// Guards I14.
    #[test]
    fn only_pages_of_this_server_are_its_origin() {
        let own = |origin| is_own_origin(origin, "127.0.0.1:20123", 20123);
        assert!(own("http://127.0.0.1:20123"));
        assert!(own("http://localhost:20123"));
        assert!(own("http://[::1]:20123"));
        for evil in [
            "null",
            "",
            "https://127.0.0.1:20123",
            "http://evil.example",
            "http://localhost",
            "http://localhost:20124",
            "http://evil.example:20123",
            "HTTP://LOCALHOST:20123/",
            "http://127.0.0.1:20123.evil.example",
            "http://localhost:20123/",
            "file://",
        ] {
            assert!(!own(evil), "{evil}");
        }
        assert!(
            is_own_origin("http://localhost:9000", "localhost:9000", 20123),
            "forwarded port"
        );
    }
}
