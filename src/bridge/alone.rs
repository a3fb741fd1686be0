//! Why a bridge serves its client alone (I3, I5b).

use std::fmt;

use crate::lease::AloneReason;

/// Why this client is served alone, in one line.
#[derive(Debug)]
pub enum Alone {
    /// It was asked for.
    Asked,
    /// The folder is no checkout, so there is nothing to share and nowhere to write.
    NoCheckout,
    /// The owner went silent while a request waited.
    Stalled {
        /// The process that the document names.
        pid: Option<u32>,
    },
    /// It was elected, and its host could not serve.
    Host(String),
    /// The election could not be held, or its winner does not answer.
    Unshared(AloneReason),
}

impl fmt::Display for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.write_str("serving this client alone, as asked"),
            Self::NoCheckout => {
                f.write_str("there is no checkout here, so this client is served alone")
            }
            Self::Stalled { pid: Some(pid) } => {
                write!(
                    f,
                    "the shared server (process {pid}) is stalled: it holds the lease and is silent"
                )
            }
            Self::Stalled { pid: None } => {
                f.write_str("the shared server is stalled: it holds the lease and is silent")
            }
            Self::Host(cause) => write!(f, "this process cannot serve others: {cause}"),
            Self::Unshared(reason) => reason.fmt(f),
        }
    }
}

impl Alone {
    /// Whether an owner lives that would have to agree to a command: then commands are refused (I5b).
    #[must_use]
    pub fn has_holder(&self) -> bool {
        matches!(
            self,
            Self::Stalled { .. }
                | Self::Unshared(AloneReason::Held { .. } | AloneReason::HeldElsewhere { .. })
        )
    }
}
