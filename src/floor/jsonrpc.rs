//! JSON-RPC frames: `id`, `method` and era parsed, everything else passed on byte for byte.
//!
//! *Frame*: the bytes of one JSON-RPC message as a client wrote them, without the newline. Fields that we do not know
//! are never dropped, because they are never parsed: only results that we make are rendered.
//!
//! Bounds: the size is the reader's to hold ([`crate::floor::limits::FRAME_BYTES`]); depth is held here, before any
//! recursive parser sees the bytes.

pub mod faults;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use memchr::memmem;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

pub use self::faults::FrameError;
use super::json::Plain;
use super::limits::JSON_DEPTH;

/// The `_meta` key that makes a frame modern: its era is a property of the frame, never of the process.
const META_REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// A request id, as the client spelled it. Two ids are equal when their JSON texts are.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Id(Arc<str>);

impl Id {
    /// The JSON text: a string with its quotes, or a number.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }

    fn parse(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        let first = text.bytes().next()?;
        (first == b'"' || first == b'-' || first.is_ascii_digit()).then(|| Self(text.into()))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a frame is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Wants exactly one answer.
    Request {
        /// The client's id.
        id: Id,
        /// The method.
        method: Box<str>,
    },
    /// Wants none.
    Notification {
        /// The method.
        method: Box<str>,
    },
    /// Answers a request of the server.
    Response {
        /// The server's id; `None` where the client could not tell it.
        id: Option<Id>,
    },
    /// An array of frames, which only revision 2025-03-26 knows.
    Batch(Vec<Bytes>),
}

/// One JSON-RPC message: its bytes, and the few things that routing needs. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame(Arc<Parsed>);

#[derive(Debug, PartialEq, Eq)]
struct Parsed {
    raw: Bytes,
    kind: Kind,
    revision: Option<Box<str>>,
    /// A part of `raw`: `params`, or the `result` of a response.
    body: Option<Bytes>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Keeps `null` apart from absent, which `Option` alone does not.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl Frame {
    /// Reads one frame.
    ///
    /// # Errors
    /// -32700 for bytes that are not JSON, or nested deeper than [`JSON_DEPTH`]; -32600 for JSON that is no message.
    pub fn parse(raw: Bytes) -> Result<Self, FrameError> {
        check_depth(&raw)?;
        // A skipped field is never decoded, so its bytes are checked here.
        let text = std::str::from_utf8(&raw).map_err(|_| faults::NOT_TEXT.fill(&[]))?;
        let first = raw.iter().copied().find(|byte| !byte.is_ascii_whitespace());
        if first == Some(b'[') {
            let items: Vec<&RawValue> =
                serde_json::from_str(text).map_err(|error| faults::NOT_JSON.fill(&[&error]))?;
            if items.is_empty() {
                return Err(faults::EMPTY_BATCH.fill(&[]));
            }
            let items = items
                .iter()
                .map(|item| raw.slice_ref(item.get().as_bytes()))
                .collect();
            return Ok(Self(Arc::new(Parsed {
                raw,
                kind: Kind::Batch(items),
                revision: None,
                body: None,
            })));
        }
        if first != Some(b'{') {
            serde_json::from_str::<&RawValue>(text)
                .map_err(|error| faults::NOT_JSON.fill(&[&error]))?;
            return Err(faults::NO_OBJECT.fill(&[]));
        }
        let envelope: Envelope<'_> = match serde_json::from_str(text) {
            Ok(envelope) => envelope,
            Err(error) if error.is_data() => {
                return Err(faults::NO_MESSAGE.fill(&[&error]));
            }
            Err(error) => return Err(faults::NOT_JSON.fill(&[&error])),
        };
        let (kind, revision) = classify(&envelope)?;
        let body = match kind {
            Kind::Response { .. } => envelope.result,
            _ => envelope.params,
        };
        let body = body.map(|body| raw.slice_ref(body.get().as_bytes()));
        Ok(Self(Arc::new(Parsed {
            raw,
            kind,
            revision,
            body,
        })))
    }

    /// The bytes, as they came.
    #[must_use]
    pub fn raw(&self) -> &Bytes {
        &self.0.raw
    }

    /// What the frame is.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// The method of a request or notification.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        match &self.0.kind {
            Kind::Request { method, .. } | Kind::Notification { method } => Some(method),
            Kind::Response { .. } | Kind::Batch(_) => None,
        }
    }

    /// The id of a request.
    #[must_use]
    pub fn request_id(&self) -> Option<&Id> {
        match &self.0.kind {
            Kind::Request { id, .. } => Some(id),
            _ => None,
        }
    }

    /// The revision that the frame's own `_meta` names; `Some` makes it a modern frame.
    #[must_use]
    pub fn revision(&self) -> Option<&str> {
        self.0.revision.as_deref()
    }

    /// Parses `params`; `Value::Null` where there are none that can be read.
    #[must_use]
    pub fn params(&self) -> Value {
        self.read_params().unwrap_or_default()
    }

    /// Parses `params`; `Value::Null` where there are none.
    ///
    /// # Errors
    /// What cannot be read: a number past all bounds, half a surrogate pair, a member that stands twice.
    pub fn read_params(&self) -> Result<Value, String> {
        match self.0.kind {
            Kind::Response { .. } => Ok(Value::Null),
            _ => self.read_body("params"),
        }
    }

    /// Parses the `result` of a response; `Value::Null` where there is none, such as in one with an error.
    ///
    /// # Errors
    /// As for [`Self::read_params`].
    pub fn read_result(&self) -> Result<Value, String> {
        match self.0.kind {
            Kind::Response { .. } => self.read_body("result"),
            _ => Ok(Value::Null),
        }
    }

    fn read_body(&self, name: &str) -> Result<Value, String> {
        let Some(body) = &self.0.body else {
            return Ok(Value::Null);
        };
        let mut deserializer = serde_json::Deserializer::from_slice(body);
        // The depth was checked when the frame was read; serde_json's own bound is one lower, and would lose the
        // arguments of a frame at the edge.
        deserializer.disable_recursion_limit();
        match Plain::deserialize(&mut deserializer) {
            Ok(body) => Ok(body.0),
            Err(error) => Err(format!("`{name}` cannot be read: {error}")),
        }
    }
}

fn classify(envelope: &Envelope<'_>) -> Result<(Kind, Option<Box<str>>), FrameError> {
    let id = match envelope.id {
        None => None,
        Some(raw) => match Id::parse(raw) {
            Some(id) => Some(id),
            None if envelope.method.is_none() && raw.get() == "null" => None,
            None => {
                return Err(faults::BAD_ID.fill(&[]));
            }
        },
    };
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        return Err(faults::NO_VERSION.fill(&[]).about(id));
    }
    let Some(method) = envelope.method else {
        if envelope.result.is_some() || envelope.error.is_some() {
            return Ok((Kind::Response { id }, None));
        }
        return Err(faults::NO_METHOD.fill(&[]).about(id));
    };
    let Ok(method) = serde_json::from_str::<Box<str>>(method.get()) else {
        return Err(faults::BAD_METHOD.fill(&[]).about(id));
    };
    let revision = envelope.params.and_then(revision_of);
    Ok((
        match id {
            Some(id) => Kind::Request { id, method },
            None => Kind::Notification { method },
        },
        revision,
    ))
}

/// Finds the revision in `params._meta`; anything of another shape has none.
fn revision_of(params: &RawValue) -> Option<Box<str>> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, rename = "_meta")]
        meta: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
        revision: Option<Box<str>>,
    }
    // A cheap look first: most legacy frames carry no `_meta` at all.
    memmem::find(params.get().as_bytes(), META_REVISION.as_bytes())?;
    let params: Params<'_> = serde_json::from_str(params.get()).ok()?;
    let meta: Meta = serde_json::from_str(params.meta?.get()).ok()?;
    meta.revision
}

/// Refuses JSON nested deeper than the bound, in one pass and without recursion.
fn check_depth(raw: &[u8]) -> Result<(), FrameError> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in raw {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                if depth > JSON_DEPTH {
                    return Err(faults::TOO_DEEP.fill(&[&JSON_DEPTH]));
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// Renders a result for `id`: anything that is made of JSON values.
#[must_use]
pub fn result(id: &Id, result: &impl Serialize) -> Bytes {
    let mut text = Vec::with_capacity(256);
    text.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    text.extend_from_slice(id.as_json().as_bytes());
    text.extend_from_slice(b",\"result\":");
    render(&mut text, result);
    text.push(b'}');
    Bytes::from(text)
}

/// Renders an error for `id`, or for none where it could not be read.
#[must_use]
pub fn error(id: Option<&Id>, code: i64, message: &str, data: Option<&Value>) -> Bytes {
    let mut body = json!({ "code": code, "message": message });
    if let (Some(data), Some(body)) = (data, body.as_object_mut()) {
        body.insert("data".to_owned(), data.clone());
    }
    let id = id.map_or("null", Id::as_json);
    let mut text = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":").into_bytes();
    render(&mut text, &body);
    text.push(b'}');
    Bytes::from(text)
}

/// Renders a message as it is.
#[must_use]
pub fn message(message: &Value) -> Bytes {
    let mut text = Vec::with_capacity(128);
    render(&mut text, message);
    Bytes::from(text)
}

/// Renders a notification.
#[must_use]
pub fn notification(method: &str, params: &Value) -> Bytes {
    message(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

fn render(into: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(into, value).expect("a JSON value renders into memory without failing");
}

#[cfg(test)]
mod tests;
