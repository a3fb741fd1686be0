//! Every way for bytes to be no frame, in one table: the code, what is said and what helps.
//!
//! The reference prints them from here. No frame can be refused in any other words, since only a [`Fault`] makes a
//! [`FrameError`], and only this file makes a [`Fault`].

use std::fmt::Display;

use bytes::Bytes;

use super::{Id, error};
use crate::floor::gaps;

/// Why bytes are no frame. The answer to give is [`FrameError::answer`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FrameError {
    /// JSON-RPC error code: -32700 (not JSON) or -32600 (not a request).
    pub code: i64,
    /// The id, where it could be read.
    pub id: Option<Id>,
    // Known to nobody else, so nobody else makes one.
    message: String,
}

impl FrameError {
    /// Says it of the request that has this id.
    #[must_use]
    pub fn about(mut self, id: Option<Id>) -> Self {
        self.id = id;
        self
    }

    /// Renders the JSON-RPC error response.
    #[must_use]
    pub fn answer(&self) -> Bytes {
        error(self.id.as_ref(), self.code, &self.message, None)
    }
}

/// What a frame's error code says. *Source:* JSON-RPC 2.0, section 5.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// Not JSON.
    Parse = -32700,
    /// JSON that is no request.
    Invalid = -32600,
}

impl Fault {
    /// Says so of no request in particular, the gaps of the text filled in their order.
    #[must_use]
    pub fn fill(self, values: &[&dyn Display]) -> FrameError {
        FrameError {
            code: self.code as i64,
            id: None,
            message: gaps::fill(self.text, values),
        }
    }
}

#[rustfmt::skip]
gaps::table! {
    /// One way to be no frame.
    Fault { code: Code }

    /// Every fault, in the order of the reference.
    ALL {
        NOT_TEXT = Parse, "not UTF-8", "send each message in UTF-8";
        NOT_JSON = Parse, "not JSON: …", "send one JSON-RPC 2.0 message a line";
        TOO_DEEP = Parse, "nested deeper than …", "nest less deep: docs/reference/limits.md has every limit";
        TOO_LARGE = Invalid, "the message is larger than 16 MiB", "send less at a time: docs/reference/limits.md has every limit";
        NO_OBJECT = Invalid, "a message is a JSON object", "send one JSON-RPC 2.0 message a line";
        NO_MESSAGE = Invalid, "not a JSON-RPC message: …", "send a message with the members of JSON-RPC 2.0, each of its type";
        NO_VERSION = Invalid, "`jsonrpc` is not \"2.0\"", "send `\"jsonrpc\": \"2.0\"` in each message";
        BAD_ID = Invalid, "an id is a string or a number", "send a string or a number as `id`, or none to notify";
        BAD_METHOD = Invalid, "`method` is not a string", "send the method's name as a string";
        NO_METHOD = Invalid, "neither a method nor a result", "send `method` to ask, `result` or `error` to answer";
        EMPTY_BATCH = Invalid, "an empty batch", "send one message at least";
        NO_BATCH = Invalid, "a batch is not taken here: send one message at a time", "send one message at a time";
        LARGE_BATCH = Invalid, "a batch may ask for … things, and this one is past that", "send what is past that in a batch of its own";
        NOT_IN_A_BATCH = Invalid, "this cannot stand in a batch", "send it as a message of its own";
    }
}

#[cfg(test)]
mod tests {
    use super::ALL;
    use crate::floor::gaps;

    #[test]
    fn every_row_is_as_a_row_is() {
        gaps::holds_for(ALL.iter().map(|fault| (fault.text, fault.hint)));
    }
}
