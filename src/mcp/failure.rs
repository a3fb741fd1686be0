//! Every protocol error that a request is answered with, by its method or by what carries it, in one table: its code,
//! what it says and what helps. Why bytes are no request at all stands in [`mod@crate::floor::jsonrpc::faults`].
//!
//! The reference prints them from here. No request can fail in any other words, since only a [`Fault`] or a refused call
//! makes a [`Failure`], and only this file makes a [`Fault`].

use std::fmt::Display;

use bytes::Bytes;
use serde_json::{Value, json};

use super::error_code::ErrorCode;
use super::revision::Revision;
use crate::floor::gaps;
use crate::floor::jsonrpc::{self, Id};
use crate::registry::{Refusal, RefusalCode};

impl Fault {
    /// Fails with the text, its gaps filled in their order.
    #[must_use]
    pub fn fill(self, values: &[&dyn Display]) -> Failure {
        self.told(gaps::fill(self.text, values))
    }

    /// Fails with a cause that the text describes.
    #[must_use]
    pub fn told(self, message: String) -> Failure {
        Failure {
            code: self.code,
            message: gaps::told(self.text, message),
            data: None,
        }
    }
}

/// A protocol error.
#[derive(Debug)]
pub struct Failure {
    code: ErrorCode,
    message: String,
    data: Option<Value>,
}

impl Failure {
    /// Fails as the call that was refused.
    #[must_use]
    pub fn refused(refusal: &Refusal) -> Self {
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
            data: Some(explained(refusal)),
        }
    }

    /// Adds the word and the hint of a refusal that the text tells of.
    #[must_use]
    pub fn explained(self, refusal: &Refusal) -> Self {
        self.data(explained(refusal))
    }

    /// Adds what machines read.
    pub(super) fn data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// Returns the code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// Renders the JSON-RPC error response to `id`, or to none where it could not be read.
    #[must_use]
    pub fn answer(&self, id: Option<&Id>, revision: Revision) -> Bytes {
        let number = self.code.number(revision);
        jsonrpc::error(id, number, &self.message, self.data.as_ref())
    }
}

/// Fails with the revisions that are spoken.
#[must_use]
pub fn unsupported(requested: &str) -> Failure {
    let supported: Vec<&str> = Revision::ALL.into_iter().map(Revision::as_str).collect();
    UNSUPPORTED
        .fill(&[])
        .data(json!({ "supported": supported, "requested": requested }))
}

fn explained(refusal: &Refusal) -> Value {
    json!({ "code": refusal.code().as_str(), "hint": refusal.hint })
}

#[rustfmt::skip]
gaps::table! {
    /// One way for a method to fail.
    Fault { code: ErrorCode }

    /// Every fault, in the order of the reference.
    ALL {
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
        LARGE_ANSWERS = Internal, "the answers to this batch are larger than a frame may be, ask for less", "send fewer requests in one batch";
        NO_FILTER = InvalidParams, "`notifications` is missing or not an object", "send an object with what to hear of";

        // What carries a request, on any transport.
        PANICKED = Internal, "the server failed on this request; this is a bug", "majordomus bug-report, and report it with what was asked";
        CROWDED = Internal, "too much of this client is waiting already; send it again when some of it is answered", "send it again when some of it is answered";
        DIED_TWICE = Internal, "two servers in a row died while this request ran; it is not tried again", "majordomus bug-report, and report it with what was asked";
        STOPPED = Internal, "the server was stopped for everybody", "majordomus serve, or open an MCP client in this checkout";
        UNANSWERED = Internal, "the server did not answer before the end of input was over", "keep the input open until everything is answered; majordomus doctor if it stays so";

        // What carries a request over HTTP.
        CROWDED_SESSION = Internal, "too many calls of this session are running: send it again when some of them are answered", "send it again when some of them are answered";
        NO_SESSION = InvalidRequest, "`Mcp-Session-Id` is missing: send `initialize` first", "send `initialize` first, then the id that it got";
        UNKNOWN_SESSION = InvalidRequest, "there is no such session: send `initialize` again", "send `initialize` again";
        UNSURE_SESSION = Internal, "nobody can tell whether the session has ended: …", "send it again in a moment; majordomus doctor if it stays so";
        MANY_SESSIONS = InvalidRequest, "too many sessions are open", "end one with DELETE, or send it again later";
        NO_STREAM = InvalidRequest, "a session's stream is one of events: send `Accept: text/event-stream`", "send `Accept: text/event-stream`";
        NO_LISTEN_STREAM = InvalidRequest, "a subscription is a stream: send `Accept: text/event-stream`", "send `Accept: text/event-stream`";
        NO_REVISION = InvalidParams, "`_meta` needs `io.modelcontextprotocol/protocolVersion`", "send it, or initialize first";
        OTHER_HEADER = HeaderMismatch, "header mismatch: `…` is missing or differs from the body's …", "send the header that the body asks for, or none";
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
