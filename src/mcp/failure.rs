//! Every protocol error that a method answers with, in one table: its code, what it says and what helps.
//!
//! The reference prints them from here. No method can fail in any other words, since only a [`Fault`] or a refused call
//! makes a [`Failure`], and only this file makes a [`Fault`].

use std::fmt::Display;

use serde_json::{Value, json};

use super::error_code::ErrorCode;
use crate::floor::gaps;
use crate::registry::{Refusal, RefusalCode};

/// One way for a method to fail.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    code: ErrorCode,
    text: &'static str,
    hint: &'static str,
}

impl Fault {
    /// Returns the code.
    #[must_use]
    pub fn code(self) -> ErrorCode {
        self.code
    }

    /// Returns the cause, with a [`gaps::GAP`] for what only the moment knows.
    #[must_use]
    pub fn text(self) -> &'static str {
        self.text
    }

    /// Returns what helps.
    #[must_use]
    pub fn hint(self) -> &'static str {
        self.hint
    }

    /// Fails with the text, its gaps filled in their order.
    pub(super) fn fill(self, values: &[&dyn Display]) -> Failure {
        self.told(gaps::fill(self.text, values))
    }

    /// Fails with a cause that the text describes.
    pub(super) fn told(self, message: String) -> Failure {
        Failure {
            code: self.code,
            message: gaps::told(self.text, message),
            data: None,
        }
    }
}

/// A protocol error.
#[derive(Debug)]
pub(super) struct Failure {
    code: ErrorCode,
    message: String,
    data: Option<Value>,
}

impl Failure {
    /// Fails as the call that was refused.
    pub(super) fn refused(refusal: &Refusal) -> Self {
        let code = match refusal.code() {
            RefusalCode::InvalidInput => ErrorCode::InvalidParams,
            RefusalCode::NotFound => ErrorCode::ResourceNotFound,
            RefusalCode::Conflict
            | RefusalCode::Refused
            | RefusalCode::Unavailable
            | RefusalCode::OutcomeUnknown
            | RefusalCode::Internal => ErrorCode::Internal,
        };
        Self {
            code,
            message: refusal.message.clone(),
            data: Some(json!({ "code": refusal.code().as_str(), "hint": refusal.hint })),
        }
    }

    /// Adds what machines read.
    pub(super) fn data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// Returns code, message and data.
    pub(super) fn into_parts(self) -> (ErrorCode, String, Option<Value>) {
        (self.code, self.message, self.data)
    }
}

macro_rules! faults {
    ($($name:ident = $code:ident, $text:literal, $hint:literal;)*) => {
        $(
            #[doc = $text]
            pub const $name: Fault = Fault { code: ErrorCode::$code, text: $text, hint: $hint };
        )*

        /// Every fault, in the order of the reference.
        pub const ALL: &[Fault] = &[$($name),*];
    };
}

#[rustfmt::skip]
faults! {
    UNKNOWN_METHOD = MethodNotFound, "unknown method `…`", "docs/MCP.md has the methods of each revision";
    UNSUPPORTED = UnsupportedRevision, "this protocol version is not spoken here", "ask in one of the revisions in `supported`";
    UNREAD = InvalidParams, "`params` cannot be read: …", "send `params` as the protocol's schema of the method has them";
    NO_VERSION = InvalidParams, "`…` needs `_meta` with `io.modelcontextprotocol/protocolVersion`", "send it, or initialize first";
    NO_ABILITIES = InvalidParams, "`_meta` needs `io.modelcontextprotocol/clientCapabilities`, an object", "send it, `{}` for none";
    NO_SESSIONS = NotOwner, "this server has lost its lease and takes no sessions any more", "ask again: another process takes over";
    NO_COMMANDS = NotOwner, "this server has lost its lease and takes no commands any more", "ask again: another process takes over";
    NO_NAME = InvalidParams, "`name` is missing or not a string", "tools/list and prompts/list have the names";
    NO_ARGUMENTS = InvalidParams, "`arguments` is not an object", "majordomus describe ID shows the schema and examples";
    UNKNOWN_TOOL = InvalidParams, "unknown tool `…`\nhint: tools/list names the tools of the server that serves now", "tools/list names the tools of the server that serves now";
    UNKNOWN_PROMPT = InvalidParams, "unknown prompt `…`", "prompts/list names the prompts of the server that serves now";
    UNKNOWN_TEMPLATE = InvalidParams, "unknown resource template `…`", "resources/templates/list has those of the server that serves now";
    NO_MESSAGES = InvalidParams, "the prompt has no messages", "majordomus bug-report, and report it with what was asked";
    NO_REFERENCE = InvalidParams, "`ref` names no prompt and no resource template", "prompts/list and resources/templates/list have the names";
    NO_ARGUMENT = InvalidParams, "`argument` needs `name` and `value`, both strings", "send both; the value may be empty";
    NO_URI = InvalidParams, "`uri` is missing or not a string", "resources/list, or majordomus capabilities";
    NO_RESOURCE = ResourceNotFound, "no such resource", "resources/list, or majordomus capabilities";
    NO_CURSOR = InvalidParams, "`cursor` is not a string", "list without it for the first page";
    FOREIGN_CURSOR = InvalidParams, "`cursor` is none that this server gave", "list without it for the first page";
    NO_LEVEL = InvalidParams, "`level` is no log level", "send one of debug, info, notice, warning, error, critical, alert, emergency";
    NO_LOG_LEVEL = InvalidParams, "`io.modelcontextprotocol/logLevel` is no log level", "send one of debug, info, notice, warning, error, critical, alert, emergency";
    UNABLE = MissingCapability, "this needs a client with the capability `…`", "declare it, or ask for something else";
    FOREIGN_STATE = InvalidParams, "`requestState` is none that this request got", "call without it, and answer what is asked then";
    NO_RESPONSES = InvalidParams, "`inputResponses` is not an object", "send an object with an answer under each key of `inputRequests`";
    MANY_LISTENS = InvalidRequest, "… subscriptions are open already: cancel one", "cancel one with notifications/cancelled, then listen again";
    LARGE_ANSWER = Internal, "the answer is larger than a frame may be, ask for less", "page through it, or name fewer things";
    NO_FILTER = InvalidParams, "`notifications` is missing or not an object", "send an object with what to hear of";
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
