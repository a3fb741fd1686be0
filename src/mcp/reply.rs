//! The answer to one request, and what its carrier has to do with it.

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value};

use super::error_code::ErrorCode;
use super::failure::{self, Failure};
use super::revision::Revision;
use crate::floor::jsonrpc::{self, FrameError, Id};
use crate::floor::limits::FRAME_BYTES;

/// What a bridge does with the frame that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// Keeps it under this slot, in place of what the slot held, and replays it to the next owner.
    Slot(String),
    /// Empties this slot.
    Forget(String),
}

/// The one answer to a request.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The JSON-RPC response.
    pub json: Bytes,
    /// What a bridge keeps.
    pub keep: Option<Keep>,
    /// Whether the request's once-key can go when the answer has arrived.
    pub receipt: bool,
    /// The error, if the response is one; decides the HTTP status.
    pub error: Option<ErrorCode>,
    /// The revision that an `initialize` negotiated.
    pub negotiated: Option<Revision>,
}

/// What handling a method comes to: a result object, or a protocol error.
pub(super) type Outcome = Result<Success, Failure>;

/// A result object, as it is rendered.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Body {
    Json(Value),
    Tool(ToolResult),
}

/// The result of `tools/call`, which is written without building it first: every call pays for it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolResult {
    pub(super) content: Vec<Block>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) structured_content: Option<Value>,
    pub(super) is_error: bool,
    /// What results of the revision carry beside their own.
    #[serde(flatten)]
    pub(super) common: Map<String, Value>,
}

/// A content block.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Block {
    Text(Text),
    /// One that a capability made.
    Shown(Value),
}

impl Block {
    pub(super) fn text(text: String) -> Self {
        Self::Text(Text { text })
    }
}

/// A text block.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "text")]
pub(super) struct Text {
    text: String,
}

/// A result and its consequences.
#[derive(Debug)]
pub(super) struct Success {
    pub(super) result: Body,
    pub(super) keep: Option<Keep>,
    pub(super) receipt: bool,
    pub(super) negotiated: Option<Revision>,
}

impl Success {
    pub(super) fn new(result: Value) -> Self {
        Self::of(Body::Json(result))
    }

    pub(super) fn of(result: Body) -> Self {
        Self {
            result,
            keep: None,
            receipt: false,
            negotiated: None,
        }
    }

    pub(super) fn keep(mut self, keep: Keep) -> Self {
        self.keep = Some(keep);
        self
    }
}

impl Reply {
    /// Renders it; a result past the frame's bound becomes an error for that request alone (I15).
    pub(super) fn render(id: &Id, revision: Revision, outcome: Outcome) -> Self {
        match outcome {
            Ok(success) => {
                let json = jsonrpc::result(id, &success.result);
                let fits = json.len() <= FRAME_BYTES;
                let failure = failure::LARGE_ANSWER.fill(&[]);
                Self {
                    json: if fits {
                        json
                    } else {
                        failure.answer(Some(id), revision)
                    },
                    keep: success.keep,
                    receipt: success.receipt,
                    error: (!fits).then_some(ErrorCode::Internal),
                    negotiated: success.negotiated,
                }
            }
            Err(failure) => Self::failed(Some(id), revision, &failure),
        }
    }

    /// An error, which a carrier may make by itself, before or instead of handling.
    #[must_use]
    pub fn failed(id: Option<&Id>, revision: Revision, failure: &Failure) -> Self {
        Self::error(failure.answer(id, revision), failure.code())
    }

    /// The answer to what is no request.
    pub(super) fn no_frame(error: &FrameError) -> Self {
        Self::error(error.answer(), ErrorCode::InvalidRequest)
    }

    fn error(json: Bytes, code: ErrorCode) -> Self {
        Self {
            json,
            keep: None,
            receipt: false,
            error: Some(code),
            negotiated: None,
        }
    }
}
