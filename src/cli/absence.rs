//! Why there is no owner to ask: not an error of anybody's, and each reason has something that helps.

use std::fmt;

use super::report::{Exit, Failure};
use crate::floor::paths::{Site, SiteError};
use crate::lease::document::{Document, Reading, State};

/// Why there is no owner to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absence {
    /// There is no lease document.
    NoDocument,
    /// The document cannot be understood.
    Unreadable(String),
    /// It was written in another checkout, and came along when that one was copied or moved.
    OtherCheckout,
    /// It was written under another kernel, or in another container.
    OtherScope,
    /// Its process has not published an address.
    NotReady(State),
    /// Nothing answers at the published address.
    Unreachable(String),
    /// Something answers, but does not know the checkout's token.
    Unproven,
    /// The connection stands, but no answer comes from this process.
    Silent(u32),
    /// The checkout has no token that this user can read, and why.
    NoToken {
        /// Why.
        reason: String,
        /// What helps.
        hint: String,
    },
}

impl Absence {
    /// The machine word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NoDocument => "absent",
            Self::Unreadable(_) => "unreadable",
            Self::OtherCheckout => "copied",
            Self::OtherScope => "foreign",
            Self::NotReady(State::Draining) => "draining",
            Self::NotReady(_) => "starting",
            Self::Unreachable(_) => "stale",
            Self::Unproven => "unproven",
            Self::Silent(_) => "silent",
            Self::NoToken { .. } => "no_token",
        }
    }

    /// What helps.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NoToken { hint, .. } => hint.clone(),
            Self::Silent(pid) => format!("ps -o pid,stat,args -p {pid}"),
            Self::OtherCheckout => SiteError::Gone.hint(),
            Self::OtherScope => "run the command where the server runs".to_owned(),
            _ => "majordomus serve, or open an MCP client in this checkout".to_owned(),
        }
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDocument => f.write_str("no server runs in this checkout"),
            Self::Unreadable(reason) => {
                write!(f, "no server runs in this checkout: server.json {reason}")
            }
            Self::OtherCheckout => f.write_str(
                "the checkout was moved or copied: its server.json is of where it was written, and no server runs here",
            ),
            Self::OtherScope => f.write_str(
                "the checkout's server runs under another kernel or in another container",
            ),
            Self::NotReady(State::Draining) => {
                f.write_str("the checkout's last server has left, and none has taken over yet")
            }
            Self::NotReady(_) => f.write_str("the checkout's server is starting"),
            Self::Unreachable(reason) => write!(
                f,
                "server.json is left over: nothing answers at its address ({reason})"
            ),
            Self::Unproven => f.write_str(
                "server.json is left over: what answers at its address is not this checkout's server",
            ),
            Self::Silent(pid) => write!(
                f,
                "the checkout's server, process {pid}, does not answer; it may be stopped"
            ),
            Self::NoToken { reason, .. } => f.write_str(reason),
        }
    }
}

impl From<Absence> for Failure {
    fn from(absence: Absence) -> Self {
        Self::new(Exit::Failed, absence.to_string()).hint(absence.hint())
    }
}

/// Reads the lease document as far as it names an owner of this scope.
///
/// # Errors
/// Why it names none.
pub fn read(site: &Site) -> Result<Document, Absence> {
    let document = match Reading::at(&site.lease_document()) {
        Reading::Document(document) => *document,
        Reading::Absent => return Err(Absence::NoDocument),
        Reading::Empty => return Err(Absence::Unreadable("is empty".to_owned())),
        Reading::Corrupt(fault) => return Err(Absence::Unreadable(fault.to_string())),
    };
    if document.root_id != site.root_id() {
        return Err(Absence::OtherCheckout);
    }
    if document.scope != site.scope() {
        return Err(Absence::OtherScope);
    }
    if document.state != State::Ready {
        return Err(Absence::NotReady(document.state));
    }
    Ok(document)
}
