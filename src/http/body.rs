//! Bodies, bounded in size, time and depth (I15).

use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Body as _;
use serde::Deserialize as _;
use serde_json::Value;
use tokio::time::timeout;

use super::problem::{Problem, causes};
use crate::floor::json::Plain;
use crate::floor::limits::JSON_DEPTH;

/// What one body may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    /// Its size.
    pub(crate) bytes: usize,
    /// From its first byte to its last.
    pub(crate) time: Duration,
}

/// Reads a body to its end.
///
/// # Errors
/// [`causes::LARGE_BODY`] (at once where the length is declared), [`causes::SLOW_BODY`], [`causes::BROKEN_BODY`] for a body
/// that is broken off. The first two close the connection behind the answer.
pub(crate) async fn read(body: Body, bound: Bound) -> Result<Bytes, Problem> {
    let too_large = || causes::LARGE_BODY.fill(&[&bound.bytes]);
    if body.size_hint().lower() > bound.bytes as u64 {
        return Err(too_large());
    }
    let whole = Limited::new(body, bound.bytes).collect();
    match timeout(bound.time, whole).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(causes::BROKEN_BODY.fill(&[]).closing()),
        Err(_) => Err(causes::SLOW_BODY.fill(&[&bound.time.as_secs()])),
    }
}

/// Refuses a body that is declared as something other than JSON, or as packed: what is small packed may be huge.
pub(crate) fn expect_json(headers: &HeaderMap) -> Result<(), Problem> {
    let packed = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .any(|packing| !packing.as_bytes().eq_ignore_ascii_case(b"identity"));
    if packed {
        return Err(causes::PACKED_BODY.fill(&[]));
    }
    let Some(declared) = headers.get(CONTENT_TYPE) else {
        return Ok(());
    };
    let declared = declared.to_str().unwrap_or_default();
    let media_type = declared.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(causes::OTHER_MEDIA.fill(&[]))
}

/// Parses JSON, at most [`JSON_DEPTH`] deep.
///
/// # Errors
/// [`causes::DEEP_BODY`] or [`causes::UNREAD_BODY`].
pub(crate) fn parse(raw: &[u8]) -> Result<Value, Problem> {
    if depth(raw) > JSON_DEPTH {
        return Err(causes::DEEP_BODY.fill(&[&JSON_DEPTH]));
    }
    let bad = |error: serde_json::Error| causes::UNREAD_BODY.fill(&[&error]);
    let mut deserializer = serde_json::Deserializer::from_slice(raw);
    // The depth is known by now; serde_json's own bound is one lower.
    deserializer.disable_recursion_limit();
    let Plain(value) = Plain::deserialize(&mut deserializer).map_err(bad)?;
    deserializer.end().map_err(bad)?;
    Ok(value)
}

/// Renders an answer: one body, so that it leaves in one write.
pub(crate) fn json(value: &Value) -> Response {
    let mut response = Response::new(Body::from(value.to_string()));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Counts how deep JSON is nested, without recursion; what is no JSON has some depth too.
fn depth(raw: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in raw {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::{JSON_DEPTH, expect_json, parse};
    use crate::http::problem::Code;
    use axum::http::{HeaderMap, HeaderValue};

    fn nested(depth: usize) -> String {
        format!("{}{}", "[".repeat(depth), "]".repeat(depth))
    }

    /// Guards I15.
    #[test]
    fn json_is_bounded_in_depth_at_the_edge_and_past_it() {
        assert!(parse(nested(JSON_DEPTH).as_bytes()).is_ok());
        for deep in [JSON_DEPTH + 1, 10_000, 1_000_000] {
            let problem = parse(nested(deep).as_bytes()).unwrap_err();
            assert_eq!(problem.code(), Code::BadJson);
        }
        assert!(parse(br#"{"text":"[[[[[[\"[[[["}"#).is_ok());
        assert!(parse("[".repeat(10).as_bytes()).is_err());
        assert!(parse(b"{} {}").is_err());
        assert!(parse(b"\"\xff\"").is_err());
    }

    #[test]
    fn only_json_is_read() {
        let declared = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("content-type", HeaderValue::from_static(value));
            expect_json(&headers).is_ok()
        };
        assert!(declared("application/json"));
        assert!(declared("Application/JSON; charset=utf-8"));
        assert!(!declared("text/plain"));
        assert!(!declared("application/x-www-form-urlencoded"));
        assert!(expect_json(&HeaderMap::new()).is_ok());
    }
}
