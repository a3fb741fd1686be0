//! What a capability declares.

use std::fmt;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;

use serde_json::Value;

use super::call::{Answer, Call};
use super::schema::Schema;

/// What a capability does to the world; method and annotations follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Executed, read-only: GET.
    Query,
    /// Read under a URI: GET, and `resources/read`.
    Resource,
    /// Words for a model that a person asks for by name, read-only: GET, and `prompts/get`.
    Prompt,
    /// Executed, changes something: POST.
    Command,
}

impl Kind {
    /// The word shown in the reference: `query`, `resource`, `prompt`, `command`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
            Self::Command => "command",
        }
    }

    /// The HTTP method that follows from the kind.
    #[must_use]
    pub fn method(self) -> &'static str {
        match self {
            Self::Query | Self::Resource | Self::Prompt => "GET",
            Self::Command => "POST",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a resend after an owner's abnormal death may do (I6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Retry {
    /// Run again.
    Safe,
    /// Effect and key in one transaction; a resend returns the first result.
    Keyed,
    /// Every step is compare-and-set under an id derived from the key; a rerun resumes.
    Converging,
    /// Never resent: the client is told that the outcome is unknown.
    Once,
}

impl Retry {
    /// Every retry class.
    pub const ALL: [Self; 4] = [Self::Safe, Self::Keyed, Self::Converging, Self::Once];

    /// The word shown in the reference and sent over the wire: `safe`, `keyed`, `converging`, `once`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Keyed => "keyed",
            Self::Converging => "converging",
            Self::Once => "once",
        }
    }
}

impl fmt::Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no retry class.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown retry class `{0}`: known are `safe`, `keyed`, `converging` and `once`")]
pub struct UnknownRetry(pub String);

impl FromStr for Retry {
    type Err = UnknownRetry;

    fn from_str(word: &str) -> Result<Self, UnknownRetry> {
        Self::ALL
            .into_iter()
            .find(|retry| retry.as_str() == word)
            .ok_or_else(|| UnknownRetry(word.to_owned()))
    }
}

/// Under which names a capability appears. Empty means: only through `call ID`.
#[derive(Debug, Clone, Default)]
pub struct Exposure {
    /// MCP tool name, `majordomus_…`.
    pub tool: Option<&'static str>,
    /// MCP resource URI, such as `majordomus://…`.
    pub resource: Option<&'static str>,
    /// MCP prompt name; its arguments are the input's properties, all strings.
    pub prompt: Option<&'static str>,
    /// HTTP path below the server's root, `/api/v1/…`; the method follows from the kind.
    pub route: Option<&'static str>,
    /// Words of the CLI command, such as `["peers"]`.
    pub cli: Option<&'static [&'static str]>,
}

/// What an answer is on MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Data: structured content, or JSON text of a resource.
    Data,
    /// [`super::content::Contents`]: blocks that are shown as they are. A resource's first block is its content.
    Content {
        /// The media type of a resource.
        media: &'static str,
    },
}

impl Form {
    /// The media type of a resource of this form.
    #[must_use]
    pub fn media(self) -> &'static str {
        match self {
            Self::Data => "application/json",
            Self::Content { media } => media,
        }
    }
}

/// A worked call, shown in the reference and run by a test.
#[derive(Debug, Clone)]
pub struct Example {
    /// What it shows.
    pub title: &'static str,
    /// The arguments, valid against the input schema.
    pub arguments: Value,
}

/// Under which slot a bridge keeps the frame of a successful call, to replay it to the next owner.
///
/// A later call with the same slot replaces the earlier one. The capability gives the slot's local part from the
/// arguments; `None` means that this call leaves nothing to keep.
pub type RetainSlot = fn(&Value) -> Option<String>;

/// A future that a task handler returns.
pub type AnswerFuture = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// The code behind a capability.
#[derive(Clone)]
pub enum Handler {
    /// Microseconds, no I/O: run where the frame was read.
    Inline(Arc<dyn Fn(&Call) -> Answer + Send + Sync>),
    /// Anything that waits: run as a task of its own. Blocking work inside goes to `tokio::task::spawn_blocking`.
    Task(Arc<dyn Fn(Call) -> AnswerFuture + Send + Sync>),
}

impl Handler {
    /// Wraps a function that answers at once.
    pub fn inline(f: impl Fn(&Call) -> Answer + Send + Sync + 'static) -> Self {
        Self::Inline(Arc::new(f))
    }

    /// Wraps a function that returns a future.
    pub fn task<F>(f: impl Fn(Call) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        Self::Task(Arc::new(move |call| Box::pin(f(call))))
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inline(_) => "Inline",
            Self::Task(_) => "Task",
        })
    }
}

/// A resource of those that a template stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its URI, which fits the template.
    pub uri: String,
    /// What it is called, for a program.
    pub name: String,
    /// What it is called, for a person.
    pub title: String,
}

/// A future of the members of a template.
pub type MembersFuture = Pin<Box<dyn Future<Output = Vec<Member>> + Send>>;

/// Which resources a template stands for now, as far as a client is to list them: asked at every `resources/list`.
#[derive(Clone)]
pub struct Members(Arc<dyn Fn() -> MembersFuture + Send + Sync>);

impl Members {
    /// Wraps a function that returns a future.
    pub fn new<F>(f: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Vec<Member>> + Send + 'static,
    {
        Self(Arc::new(move || Box::pin(f())))
    }

    /// Asks.
    #[must_use]
    pub fn ask(&self) -> MembersFuture {
        (self.0)()
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Members")
    }
}

/// One typed declaration (I9).
#[derive(Debug, Clone)]
pub struct Capability {
    /// `namespace.local`, unique.
    pub id: &'static str,
    /// What it does to the world.
    pub kind: Kind,
    /// A few words for people.
    pub title: &'static str,
    /// What a model is told: when to use it and what comes back.
    pub description: &'static str,
    /// JSON Schema 2020-12 of the arguments; root type `object`; definitions under `$defs`.
    pub input: Schema,
    /// JSON Schema 2020-12 of the answer; root type `object`; definitions under `$defs`.
    pub output: Schema,
    /// What its answer is on MCP.
    pub form: Form,
    /// It writes log messages to its client, so the server offers to set their level.
    pub logs: bool,
    /// What a resend may do.
    pub retry: Retry,
    /// Under which names it appears.
    pub exposure: Exposure,
    /// Worked calls.
    pub examples: Vec<Example>,
    /// Which resources its template stands for now; none where they are not listed.
    pub members: Option<Members>,
    /// What a bridge keeps of a successful call.
    pub retain: Option<RetainSlot>,
    /// The code.
    pub handler: Handler,
}
