//! The one table of JSON-RPC error codes.

use super::revision::Revision;

/// A JSON-RPC error. *Source:* JSON-RPC 2.0 section 5.1; MCP 2026-07-28 `basic`, error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCode {
    /// Not JSON: -32700.
    Parse,
    /// Not a request: -32600.
    InvalidRequest,
    /// -32601.
    MethodNotFound,
    /// -32602.
    InvalidParams,
    /// -32603.
    Internal,
    /// A header does not match the body: -32020.
    HeaderMismatch,
    /// The client did not declare what this needs: -32021, with `{requiredCapabilities}`.
    MissingCapability,
    /// -32022, with `{supported, requested}`.
    UnsupportedRevision,
    /// A resource that does not exist: -32002, and -32602 from 2026-07-28 on.
    ResourceNotFound,
    /// The request was not taken, since this server no longer admits (I1): -32603. A link gives it back instead.
    NotOwner,
}

impl ErrorCode {
    /// Every code, in the order of the reference.
    pub const ALL: [Self; 10] = [
        Self::Parse,
        Self::InvalidRequest,
        Self::MethodNotFound,
        Self::InvalidParams,
        Self::ResourceNotFound,
        Self::HeaderMismatch,
        Self::MissingCapability,
        Self::UnsupportedRevision,
        Self::NotOwner,
        Self::Internal,
    ];

    /// What it tells a client, for the reference.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Parse => "the frame is not JSON, or nested too deep",
            Self::InvalidRequest => "the frame is no request, or too large",
            Self::MethodNotFound => "no such method in this revision",
            Self::InvalidParams => {
                "the parameters do not fit, or the tool or prompt does not exist"
            }
            Self::Internal => "a bug, or an owner that died twice of this request",
            Self::HeaderMismatch => "an HTTP header does not say what the body says",
            Self::MissingCapability => {
                "the client cannot do what this asks of it; the data has `requiredCapabilities`"
            }
            Self::UnsupportedRevision => {
                "a revision that is not spoken; the data has `supported` and `requested`"
            }
            Self::ResourceNotFound => "no such resource",
            Self::NotOwner => "this server has just lost the lease; ask again",
        }
    }

    /// What helps.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            Self::Parse | Self::InvalidRequest => {
                "send one JSON-RPC 2.0 message, within the limits of docs/reference/limits.md"
            }
            Self::MethodNotFound => "docs/MCP.md has the methods of each revision",
            Self::InvalidParams => "majordomus describe ID shows the schema and examples",
            Self::ResourceNotFound => "resources/list, or majordomus capabilities",
            Self::HeaderMismatch => "send the header that the body asks for, or none",
            Self::MissingCapability => "declare it, or ask for something else",
            Self::UnsupportedRevision => "ask in one of the revisions in `supported`",
            Self::NotOwner => "ask again: another process takes over",
            Self::Internal => "majordomus bug-report, and report it with what was asked",
        }
    }

    /// The number, which for one of them depends on the revision.
    #[must_use]
    pub fn number(self, revision: Revision) -> i64 {
        match self {
            Self::Parse => -32700,
            Self::InvalidRequest => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams => -32602,
            Self::Internal | Self::NotOwner => -32603,
            Self::HeaderMismatch => -32020,
            Self::MissingCapability => -32021,
            Self::UnsupportedRevision => -32022,
            Self::ResourceNotFound if revision.is_modern() => -32602,
            Self::ResourceNotFound => -32002,
        }
    }
}
