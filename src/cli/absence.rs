//! Why there is no owner to ask: not an error of anybody's, and each reason has something that helps.

use std::fmt;
use std::io::ErrorKind;

use super::report::{Failure, failures};
use crate::floor::paths::Site;
use crate::lease::document::{Document, Fault, Reading, State};
use crate::lease::sign;

/// Why there is no owner to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absence {
    /// There is no lease document.
    NoDocument,
    /// The document cannot be understood.
    Unreadable(String),
    /// The document is somebody else's, who does not let this user read it.
    Forbidden,
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
    NoToken(Failure),
}

impl Absence {
    /// The machine word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NoDocument => "absent",
            Self::Unreadable(_) | Self::Forbidden => "unreadable",
            Self::OtherCheckout => "copied",
            Self::OtherScope => "foreign",
            Self::NotReady(State::Draining) => "draining",
            Self::NotReady(_) => "starting",
            Self::Unreachable(_) => "stale",
            Self::Unproven => "unproven",
            Self::Silent(_) => "silent",
            Self::NoToken(_) => "no_token",
        }
    }

    /// As a failure of the command that needs an owner.
    pub fn failure(&self) -> Failure {
        match self {
            Self::NoDocument => failures::ABSENT.fill(&[]),
            Self::Unreadable(reason) => failures::UNREADABLE.fill(&[reason]),
            Self::Forbidden => failures::FORBIDDEN_DOCUMENT.fill(&[]),
            Self::OtherCheckout => failures::COPIED.fill(&[]),
            Self::OtherScope => failures::FOREIGN.fill(&[]),
            Self::NotReady(State::Draining) => failures::DRAINING.fill(&[]),
            Self::NotReady(_) => failures::STARTING.fill(&[]),
            Self::Unreachable(reason) => failures::STALE.fill(&[reason]),
            Self::Unproven => failures::UNPROVEN.fill(&[]),
            Self::Silent(pid) => failures::SILENT
                .fill(&[pid])
                .hint(format!("ps -o pid,stat,args -p {pid}")),
            Self::NoToken(failure) => failure.clone(),
        }
    }

    /// What helps.
    #[must_use]
    pub fn hint(&self) -> String {
        self.failure().hints().concat()
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.failure().causes.concat())
    }
}

impl From<Absence> for Failure {
    fn from(absence: Absence) -> Self {
        absence.failure()
    }
}

/// Reads the lease document as far as it names an owner of this scope.
///
/// # Errors
/// Why it names none.
pub fn read(site: &Site) -> Result<Document, Absence> {
    let document = match sign::read(site).reading {
        Reading::Document(document) => *document,
        Reading::Absent => return Err(Absence::NoDocument),
        Reading::Empty => return Err(Absence::Unreadable("is empty".to_owned())),
        Reading::Corrupt(Fault::Unreadable(ErrorKind::PermissionDenied)) => {
            return Err(Absence::Forbidden);
        }
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
