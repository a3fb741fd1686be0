//! Errors of the layers below, as failures of a command.

use super::Failure;
use super::failures;
use crate::floor::fs::is_exhausted;
use crate::floor::paths::SiteError;
use crate::host::HostError;
use crate::lease::secret::SecretError;

impl From<&SiteError> for Failure {
    fn from(error: &SiteError) -> Self {
        match error {
            // What `--repo` names is known to who typed it.
            SiteError::Start { .. } => failures::NO_FOLDER.told(error),
            SiteError::Make { .. } => failures::UNMADE_FOLDER.told(error).hint(error.hint()),
            SiteError::Gone => failures::MOVED.told(error),
            SiteError::Escape { .. } => failures::ESCAPING_FOLDER.told(error).hint(error.hint()),
        }
    }
}

impl From<&SecretError> for Failure {
    fn from(error: &SecretError) -> Self {
        let kind = match error {
            SecretError::Absent { .. } => failures::NO_TOKEN,
            SecretError::Unreadable { .. } => failures::UNREAD_TOKEN,
            SecretError::Owner { .. } => failures::FOREIGN_TOKEN,
            SecretError::Mode { .. } => failures::OPEN_TOKEN,
            SecretError::Damaged { .. } => failures::DAMAGED_TOKEN,
            SecretError::Make { .. } => failures::UNMADE_TOKEN,
        };
        kind.told(error).hint(error.hint())
    }
}

/// Why nothing could be served.
impl From<&HostError> for Failure {
    fn from(error: &HostError) -> Self {
        match error {
            HostError::Runtime(cause) if is_exhausted(cause) => {
                failures::NO_RUNTIME.told(error).hint("ulimit -n")
            }
            HostError::Runtime(_) => failures::NO_RUNTIME.told(error).hint("ulimit -u"),
            HostError::Stdio(_) => failures::NO_STDIO.told(error),
            HostError::Clock => failures::OLD_CLOCK.told(error),
            HostError::Bind(_) => failures::NO_PORT.told(error),
            HostError::Registry(_) => failures::BAD_REGISTRY.told(error),
            HostError::Token(cause) => failures::TOKEN_UNUSABLE.told(error).hint(cause.hint()),
            HostError::Publish(_) => failures::UNPUBLISHED.told(error),
            HostError::Alone(_) => failures::NOT_SHARED.told(error),
            HostError::NoCheckout => failures::NOTHING_TO_SERVE.told(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::Failure;
    use crate::floor::fs::FileError;
    use crate::floor::paths::SiteError;
    use crate::host::HostError;
    use crate::lease::LeaseError;
    use crate::lease::secret::SecretError;

    fn no() -> io::Error {
        io::Error::other("no")
    }

    /// What is said is what the table says: each of these would end the test otherwise.
    #[test]
    fn every_error_of_the_layers_below_stands_in_the_table() {
        let path = || "a".to_owned();
        let secrets = || {
            [
                SecretError::Absent { path: path() },
                SecretError::Unreadable {
                    path: path(),
                    source: FileError::Io(no()),
                },
                SecretError::Owner {
                    path: path(),
                    owner: 1,
                    user: 2,
                },
                SecretError::Mode {
                    path: path(),
                    mode: 0o644,
                },
                SecretError::Damaged { path: path() },
                SecretError::Make {
                    path: path(),
                    source: no(),
                },
            ]
        };
        let sites = [
            SiteError::Start {
                path: "a".into(),
                source: no(),
            },
            SiteError::Make {
                path: path(),
                source: no(),
            },
            SiteError::Gone,
            SiteError::Escape { path: path() },
        ];
        let hosts = [
            HostError::Runtime(no()),
            HostError::Stdio(no()),
            HostError::Clock,
            HostError::Bind(no()),
            HostError::Publish(LeaseError::Lost),
            HostError::Alone(path()),
            HostError::NoCheckout,
        ];
        let hosts = hosts
            .into_iter()
            .chain(secrets().map(HostError::Token))
            .map(|error| Failure::from(&error));
        let failures = secrets()
            .map(|error| Failure::from(&error))
            .into_iter()
            .chain(sites.map(|error| Failure::from(&error)))
            .chain(hosts);
        for failure in failures {
            assert!(!failure.hints().concat().is_empty(), "{failure:?}");
        }
    }
}
