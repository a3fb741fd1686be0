//! Why a bridge serves its client alone (I3, I5b).

use std::fmt;

use crate::floor::gaps;
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

/// What a reason says, with gaps for what only the moment knows, and what helps.
type Row = (&'static str, &'static str);

const ASKED: Row = (
    "serving this client alone, as asked",
    "majordomus mcp, without --standalone",
);
const NO_CHECKOUT: Row = (
    "there is no checkout here, so this client is served alone",
    "majordomus --repo PATH, with a folder of a checkout",
);
const STALLED: Row = (
    "the shared server (process …) is stalled: it holds the lease and is silent",
    "ps -o pid,stat,args -p PID",
);
const STALLED_UNNAMED: Row = (
    "the shared server is stalled: it holds the lease and is silent",
    "majordomus doctor",
);
const NO_HOST: Row = ("this process cannot serve others: …", "majordomus doctor");
const NOT_READY: Row = (
    "… holds this checkout and is not ready yet",
    "majordomus status",
);
const NOT_REACHED: Row = ("… holds this checkout, but …", "majordomus status");
/// What an election runs into; the reason itself knows what helps.
const REFUSED: [Row; 9] = [
    ("cannot make …: …", "ls -ld PATH"),
    (
        "the checkout was moved or removed",
        "start its clients again in the folder where it is now",
    ),
    ("… is a symbolic link out of the checkout", "rm PATH"),
    (
        "file locks exclude nobody at …, and there is no lock outside its file system",
        "majordomus status",
    ),
    ("cannot lock …: …", "ls -l PATH"),
    ("… is removed as often as it is made", "majordomus status"),
    ("… is …", "rm -r PATH"),
    ("cannot write …: …", "df -h PATH"),
    ("this process may open no more files", "ulimit -n"),
];

impl fmt::Display for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.row().0;
        f.write_str(&match self {
            Self::Asked | Self::NoCheckout | Self::Stalled { pid: None } => text.to_owned(),
            Self::Stalled { pid: Some(pid) } => gaps::fill(text, &[pid]),
            Self::Host(cause) => gaps::fill(text, &[cause]),
            Self::Unshared(reason) => gaps::told(text, reason.to_string()),
        })
    }
}

impl Alone {
    /// Every reason, for the reference: what it says, and what helps.
    pub fn table() -> impl Iterator<Item = (&'static str, &'static str)> {
        [
            ASKED,
            NO_CHECKOUT,
            STALLED,
            STALLED_UNNAMED,
            NOT_READY,
            NOT_REACHED,
            NO_HOST,
        ]
        .into_iter()
        .chain(REFUSED)
    }

    fn row(&self) -> Row {
        match self {
            Self::Asked => ASKED,
            Self::NoCheckout => NO_CHECKOUT,
            Self::Stalled { pid: Some(_) } => STALLED,
            Self::Stalled { pid: None } => STALLED_UNNAMED,
            Self::Host(_) => NO_HOST,
            Self::Unshared(AloneReason::Held { failure: None, .. }) => NOT_READY,
            Self::Unshared(AloneReason::Held { .. }) => NOT_REACHED,
            Self::Unshared(AloneReason::Refused { what, hint: _ }) => {
                let known = REFUSED.into_iter().find(|row| gaps::fits(row.0, what));
                known.unwrap_or_default()
            }
        }
    }

    /// What helps.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Unshared(reason) => reason.hint().to_owned(),
            Self::Stalled { pid: Some(pid) } => format!("ps -o pid,stat,args -p {pid}"),
            _ => self.row().1.to_owned(),
        }
    }

    /// Whether an owner lives that would have to agree to a command: then commands are refused (I5b).
    #[must_use]
    pub fn has_holder(&self) -> bool {
        matches!(
            self,
            Self::Stalled { .. } | Self::Unshared(AloneReason::Held { .. })
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Alone;
    use crate::floor::gaps::fits;
    use crate::lease::{AloneReason, ProbeFailure};

    #[test]
    fn every_reason_says_what_its_row_says_and_what_helps() {
        let held = |failure| AloneReason::Held {
            pid: Some(7),
            failure,
        };
        let reasons = [
            Alone::Asked,
            Alone::NoCheckout,
            Alone::Stalled { pid: Some(7) },
            Alone::Stalled { pid: None },
            Alone::Host("no port".to_owned()),
            Alone::Unshared(held(None)),
            Alone::Unshared(held(Some(ProbeFailure::Timeout))),
            Alone::Unshared(AloneReason::Refused {
                what: "cannot make .ai: no room".to_owned(),
                hint: "df -h".to_owned(),
            }),
        ];
        for reason in reasons {
            let row = reason.row();
            assert!(fits(row.0, &reason.to_string()), "{row:?}: {reason}");
            assert!(Alone::table().any(|known| known == row), "{reason}");
            assert!(!reason.hint().is_empty(), "{reason}");
        }
    }
}
