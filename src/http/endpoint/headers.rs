//! The header fields of Streamable HTTP.
//!
//! | field | era | holds |
//! |---|---|---|
//! | `Mcp-Session-Id` | legacy | the session |
//! | `Last-Event-ID` | legacy | the last event that the client saw |
//! | `MCP-Protocol-Version` | both | the revision; modern: equal to the frame's `_meta` |
//! | `Mcp-Method` | modern | the frame's `method` |
//! | `Mcp-Name` | modern | `params.name` or `params.uri`, plain or as `=?base64?…?=` |
//! | `Mcp-Param-…` | modern | an argument whose schema asks for it: see [`super::parameters`] |
//!
//! Names are compared without case, values with it.

use std::borrow::Cow;

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::floor::jsonrpc::Frame;
use crate::mcp::Revision;
use crate::mcp::failure::{self, Failure};

/// Carries a legacy session's id.
pub(crate) const SESSION: &str = "mcp-session-id";
/// Names the last event that a client saw.
pub(crate) const LAST_EVENT: &str = "last-event-id";
/// Carries the revision.
pub(crate) const REVISION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// Returns a header field's only value; `None` where it is absent, stands twice or is not ASCII.
pub(crate) fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?.trim_matches([' ', '\t']);
    values.next().is_none().then_some(value)
}

/// Says whether `MCP-Protocol-Version` names a revision without sessions.
pub(crate) fn names_modern(headers: &HeaderMap) -> bool {
    only(headers, REVISION)
        .and_then(Revision::parse)
        .is_some_and(Revision::is_modern)
}

/// What a modern frame's `params` hold that this transport looks at.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Mirrored {
    /// `params.name` or `params.uri`, for the methods that mirror it.
    pub(crate) name: Option<String>,
    /// `_meta` says what the client can do, as it must.
    pub(crate) complete: bool,
}

#[derive(Deserialize, Default)]
struct Params<'a> {
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
}

/// Reads what the headers of a modern frame repeat.
pub(crate) fn mirrored(frame: &Frame) -> Mirrored {
    #[derive(Deserialize)]
    struct Only<'a> {
        #[serde(borrow, default)]
        params: Option<&'a RawValue>,
    }
    let only: Option<Only<'_>> = serde_json::from_slice(frame.raw()).ok();
    let params = only.and_then(|only| only.params).map(RawValue::get);
    let params: Params<'_> = params
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let meta: Meta<'_> = params
        .meta
        .and_then(|meta| serde_json::from_str(meta.get()).ok())
        .unwrap_or_default();
    let source = match frame.method() {
        Some("tools/call" | "prompts/get") => params.name,
        Some("resources/read") => params.uri,
        _ => None,
    };
    Mirrored {
        name: source.and_then(|raw| serde_json::from_str(raw.get()).ok()),
        complete: meta
            .capabilities
            .is_some_and(|raw| raw.get().starts_with('{')),
    }
}

/// Holds the headers of a modern frame to its body; the error says which field does not match.
pub(crate) fn check(
    headers: &HeaderMap,
    frame: &Frame,
    mirrored: &Mirrored,
) -> Result<(), Failure> {
    if only(headers, REVISION) != frame.revision() {
        return Err(mismatch("MCP-Protocol-Version", "`_meta`"));
    }
    if only(headers, METHOD) != frame.method() {
        return Err(mismatch("Mcp-Method", "`method`"));
    }
    let Some(name) = &mirrored.name else {
        return Ok(());
    };
    match only(headers, NAME).and_then(decoded) {
        Some(value) if value == name.as_str() => Ok(()),
        _ => Err(mismatch("Mcp-Name", "`params`")),
    }
}

pub(super) fn mismatch(field: &str, source: &str) -> Failure {
    failure::OTHER_HEADER.fill(&[&field, &source])
}

/// Takes the Base64 sentinel off a value; `None` for one that is broken.
pub(super) fn decoded(value: &str) -> Option<Cow<'_, str>> {
    let Some(encoded) = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    else {
        return Some(Cow::Borrowed(value));
    };
    let bytes = BASE64_STANDARD.decode(encoded).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn values_are_decoded_as_the_specification_shows() {
        for (header, value) in [
            ("us-west1", "us-west1"),
            ("=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界"),
            ("=?base64?IHBhZGRlZCA=?=", " padded "),
            ("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?="),
            ("=?BASE64?eA==?=", "=?BASE64?eA==?="),
            ("=?base64?eA==", "=?base64?eA=="),
        ] {
            assert_eq!(decoded(header).as_deref(), Some(value), "{header}");
        }
        for broken in ["=?base64?eA?=", "=?base64?*?=", "=?base64?/w==?="] {
            assert_eq!(decoded(broken), None, "{broken}");
        }
    }
}
