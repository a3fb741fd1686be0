//! One call of a capability and its answer, free of any transport.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::caller::{Caller, PeerId, Transport};
use super::capability::{Capability, Retry};
use super::client::Client;
use super::refusal::{self, Refusal};

/// Identifies one request across owners: (peer, seq), checked against a digest of the frame (I6).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OnceKey {
    /// Who asks: a peer's id, or [`OnceKey::HTTP`] and what only who has token and `Idempotency-Key` can make of the two.
    pub scope: String,
    /// The bridge's sequence number; of no meaning for HTTP.
    pub seq: u64,
    /// SHA-256 of the frame, lower-case hex.
    pub digest: String,
}

impl OnceKey {
    /// How the scope of a client's own key begins.
    pub const HTTP: &str = "http:";

    /// Whether a client made it, and may use it for anything; a bridge numbers its frames.
    #[must_use]
    pub fn is_of_client(&self) -> bool {
        Self::is_scope_of_client(&self.scope)
    }

    /// The same of its scope alone.
    #[must_use]
    pub fn is_scope_of_client(scope: &str) -> bool {
        scope.starts_with(Self::HTTP)
    }
}

/// Refuses an `Idempotency-Key` where it would be a promise that nobody can keep.
///
/// # Errors
/// `invalid_input` for a capability whose effect and key cannot be kept together.
pub fn takes_key(capability: &Capability) -> Result<(), Refusal> {
    if capability.retry != Retry::Once {
        return Ok(());
    }
    Err(refusal::NO_KEY.fill(&[&capability.id]))
}

/// How a call arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// For the first time.
    New,
    /// An earlier owner may have run it and died.
    Resent,
    /// It was answered long ago; only its soft state is wanted, no answer will be sent.
    Replayed,
}

/// Where progress goes: `(progress, total, message)`. Does nothing when the client asked for none.
#[derive(Clone)]
pub struct Progress(Option<Arc<ProgressSink>>);

type ProgressSink = dyn Fn(f64, Option<f64>, Option<&str>) + Send + Sync;

impl Progress {
    /// Reports nowhere.
    #[must_use]
    pub const fn none() -> Self {
        Self(None)
    }

    /// Reports to `f`.
    pub fn to(f: impl Fn(f64, Option<f64>, Option<&str>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(f)))
    }

    /// Reports that `progress` of `total` is done.
    pub fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        if let Some(sink) = &self.0 {
            sink(progress, total, message);
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}

/// One call.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who calls.
    pub caller: Arc<Caller>,
    /// The arguments: an object, valid against the input schema.
    pub arguments: Value,
    /// How it arrived.
    pub delivery: Delivery,
    /// Its identity across owners; `None` where nobody can resend it.
    pub key: Option<OnceKey>,
    /// Set when the client cancels or is gone.
    pub cancel: CancellationToken,
    /// Where progress goes.
    pub progress: Progress,
    /// Whom to ask.
    pub client: Client,
}

impl Call {
    /// A call by plain HTTP or by a command: no peer, and nobody to report progress to or to ask.
    #[must_use]
    pub fn plain(arguments: Value, key: Option<OnceKey>) -> Self {
        Self {
            caller: Arc::new(Caller {
                peer: None,
                transport: Transport::Api,
                name: None,
                version: None,
                hooked: false,
            }),
            arguments,
            delivery: Delivery::New,
            key,
            cancel: CancellationToken::new(),
            progress: Progress::none(),
            client: Client::none(),
        }
    }

    /// The peer that calls, if link or session proves one.
    #[must_use]
    pub fn peer(&self) -> Option<PeerId> {
        self.caller.peer
    }
}

/// Why a call was refused; the machine word of an error, the same on every transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalCode {
    /// The arguments do not fit. HTTP 422, tool result `isError`.
    InvalidInput,
    /// What was named does not exist. HTTP 404.
    NotFound,
    /// It would overwrite what another one did. HTTP 409.
    Conflict,
    /// Not allowed here, for example a write in `--standalone`. HTTP 403.
    Refused,
    /// Cannot be done now, try later. HTTP 503.
    Unavailable,
    /// Whether it took effect is not known (I6). HTTP 500.
    OutcomeUnknown,
    /// A bug, or a disk that failed. HTTP 500, JSON-RPC -32603.
    Internal,
}

impl RefusalCode {
    /// Every code, in the order of the reference.
    pub const ALL: [Self; 7] = [
        Self::InvalidInput,
        Self::NotFound,
        Self::Conflict,
        Self::Refused,
        Self::Unavailable,
        Self::OutcomeUnknown,
        Self::Internal,
    ];

    /// What it tells a caller, for the reference.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::InvalidInput => "the arguments do not fit",
            Self::NotFound => "what was named does not exist",
            Self::Conflict => "it would overwrite what another one did",
            Self::Refused => "not allowed here, such as a write in `--standalone`",
            Self::Unavailable => "cannot be done now; try later",
            Self::OutcomeUnknown => "whether it took effect is not known",
            Self::Internal => "a bug, or a disk that failed",
        }
    }

    /// What helps where the refusal itself names nothing better.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            Self::InvalidInput => "majordomus describe ID shows the schema and examples",
            Self::NotFound => "majordomus peers, or majordomus capabilities, lists what there is",
            Self::Conflict => "majordomus peers names whom to ask",
            Self::Refused => "majordomus status says how this server was started",
            Self::Unavailable => "call again in a moment; majordomus doctor if it stays so",
            Self::OutcomeUnknown => "look whether it took effect before you call again",
            Self::Internal => "majordomus bug-report, and report it with what was called",
        }
    }

    /// The machine word: `invalid_input`, `not_found` …
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidInput => "invalid_input",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::Internal => "internal",
        }
    }
}

/// What a capability returns: an object valid against its output schema, or a refusal.
pub type Answer = Result<Value, Refusal>;
