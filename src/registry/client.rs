//! What a capability may ask its client while it runs, and tell it: free of any transport.
//!
//! A handler asks and awaits, and reads the same in both eras: a legacy client is sent a request; a modern one gets the
//! question as the result of its own request and sends that again with the answers, so the handler runs from its start
//! once more. What it did before it asked is therefore done again.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::refusal::{self, Refusal};

/// What a client can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// An answer of its user.
    Elicitation,
    /// Words of its model.
    Sampling,
    /// The folders that it works in.
    Roots,
}

impl Wish {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Elicitation, Self::Sampling, Self::Roots];

    /// The method that asks for it.
    #[must_use]
    pub fn method(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation/create",
            Self::Sampling => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }

    /// The capability that a client must have declared.
    #[must_use]
    pub fn capability(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }
}

/// One question.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Names the answer; one key, one question in the whole call.
    pub key: &'static str,
    /// What is wished for.
    pub wish: Wish,
    /// The parameters, as the specification gives them.
    pub params: Value,
}

/// How much a log message matters. *Source:* RFC 5424, section 6.2.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For who looks for a mistake.
    Debug,
    /// The ordinary course.
    Info,
    /// Worth a look.
    Notice,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// A part does not work.
    Critical,
    /// Somebody must act.
    Alert,
    /// Nothing works.
    Emergency,
}

impl Level {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Debug, "debug"),
        (Self::Info, "info"),
        (Self::Notice, "notice"),
        (Self::Warning, "warning"),
        (Self::Error, "error"),
        (Self::Critical, "critical"),
        (Self::Alert, "alert"),
        (Self::Emergency, "emergency"),
    ];

    /// Reads the word of a level.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let known = Self::ALL.into_iter().find(|(_, known)| *known == word);
        known.map(|(level, _)| level)
    }

    /// The word that goes over the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let known = Self::ALL.into_iter().find(|(level, _)| *level == self);
        known.map_or("info", |(_, word)| word)
    }
}

/// A future with the answers by their keys.
pub type Answers = Pin<Box<dyn Future<Output = Result<Map<String, Value>, Refusal>> + Send>>;

/// Filled by `mcp`: the way to one call's client.
pub trait Port: Send + Sync {
    /// Whether the client declared that it can be asked for this.
    fn can(&self, wish: Wish) -> bool;

    /// Asks, and resolves when every question is answered.
    fn ask(&self, asks: Vec<Ask>) -> Answers;

    /// Tells, if the client wants messages of this level.
    fn log(&self, level: Level, data: &Value);

    /// Lets the client go until it comes back after `wait`, where it can.
    fn disconnect(&self, wait: Duration);
}

/// The client of one call.
#[derive(Clone)]
pub struct Client(Option<Arc<dyn Port>>);

impl Client {
    /// One that can be asked nothing: plain HTTP, the command line.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// One behind `port`.
    #[must_use]
    pub fn at(port: Arc<dyn Port>) -> Self {
        Self(Some(port))
    }

    /// Whether it can be asked for this.
    #[must_use]
    pub fn can(&self, wish: Wish) -> bool {
        self.0.as_ref().is_some_and(|port| port.can(wish))
    }

    /// Asks one question.
    ///
    /// # Errors
    /// A refusal to hand on as the call's own: the client cannot be asked, or has yet to answer.
    pub async fn ask(&self, ask: Ask) -> Result<Value, Refusal> {
        let key = ask.key;
        let mut answers = self.ask_all(vec![ask]).await?;
        Ok(answers.remove(key).unwrap_or_default())
    }

    /// Asks several questions at once.
    ///
    /// # Errors
    /// As for [`Self::ask`].
    pub async fn ask_all(&self, asks: Vec<Ask>) -> Result<Map<String, Value>, Refusal> {
        match &self.0 {
            Some(port) => port.ask(asks).await,
            None => Err(refusal::UNASKABLE.fill(&[])),
        }
    }

    /// Tells it something, if it wants to hear it.
    pub fn log(&self, level: Level, data: &Value) {
        if let Some(port) = &self.0 {
            port.log(level, data);
        }
    }

    /// Lets go of its connection while the call goes on: the client comes back after `wait` for what is said from now on,
    /// the answer included. For a call that takes its time and would hold a connection for nothing. Does nothing where no
    /// connection is held for one call (stdio), or its client could not come back (plain HTTP, revisions without it).
    /// *Source:* MCP 2025-11-25 `basic/transports`, "Sending Messages to the Server"; SEP-1699.
    pub fn disconnect(&self, wait: Duration) {
        if let Some(port) = &self.0 {
            port.disconnect(wait);
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}
