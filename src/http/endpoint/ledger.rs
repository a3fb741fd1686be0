//! What a server keeps of its sessions for the next owner.

use std::pin::Pin;

use crate::registry::Refusal;

/// What a ledger knows of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Earlier {
    /// Nothing.
    Unknown,
    /// That it must stay ended: it was, or may have been.
    Ended,
    /// What it told an earlier owner.
    Told(String),
}

/// What is kept of a session, or why nobody can tell.
pub type Recall = Pin<Box<dyn Future<Output = Result<Earlier, Refusal>> + Send>>;

/// Whether something is kept.
pub type Receipt = Pin<Box<dyn Future<Output = Result<(), Refusal>> + Send>>;

/// Keeps sessions for the next owner. A session is named by its peer's public id, which opens nothing.
pub trait SessionLedger: Send + Sync {
    /// Keeps what a session told, in place of what it told before, until `until_ms` (milliseconds since the Unix epoch),
    /// when its id is too old by itself; a session that was ended stays ended. Returns at once.
    fn keep(&self, session: &str, told: String, until_ms: u64);

    /// Takes a session as ended until `until_ms`. Returns at once, and resolves when every later owner knows it, or to why
    /// none will; nobody has to wait for it.
    fn end(&self, session: &str, until_ms: u64) -> Receipt;

    /// Tells what is known of a session that began at `began_ms`; asked when one of an earlier owner comes. A session of
    /// which nobody can tell is neither ended nor taken over: it may be the one, and it may be the other.
    fn recall(&self, session: &str, began_ms: u64) -> Recall;

    /// Resolves when what was told so far is kept: a client that got its answer may rely on it.
    fn kept(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(std::future::ready(()))
    }
}
