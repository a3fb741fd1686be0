//! Which remote and ref the team's notes may go to, and whether they may go anywhere.
//!
//! *Identity*: what a remote is called whichever protocol it is reached by, `github.com/org/repo`. *Pair*: an identity
//! and a ref. The checkout names a pair in a tracked file, so that a team agrees once ([`share`]); whoever can open a pull
//! request can name another one. So it counts only when two things hold that no pull request reaches: a remote of the
//! *user's own* git configuration is called so, and the user has *accepted* the pair for this repository ([`trust`]). Any
//! other or changed pair means that nothing goes over the network, and the words say what to do about it.
//!
//! The addresses that come out are the user's, as git goes to them (`url.<base>.insteadOf` is applied); nothing of the
//! tracked file ever reaches a command line. A disk or a plain `http` on loopback has no name that a team could agree on, or
//! is reached only where the user's own configuration leads there.
//!
//! Absent: asking anybody. Who asks, and how it is said that strangers can read a remote, is the caller's.

mod error;
mod identity;
mod pin;
mod proposal;
mod remotes;
mod section;

pub use error::{BadReference, ShareError, TrustError, Unreadable};
pub use identity::identity;
pub use pin::trust;
pub use proposal::{Proposal, ProposalError, propose};
pub use section::{DEFAULT_REFERENCE, Draft, draft, share};

use std::fmt;
use std::path::Path;
use std::process::Command;

use crate::floor::git;
use pin::Pinned;
use remotes::{Lookup, Remotes};

/// Where the team's notes may go from here.
#[must_use]
pub enum Consent {
    /// The checkout names no place.
    Unconfigured,
    /// There, and nowhere else.
    Given {
        /// Where to fetch from, as git goes there; it may hold the user's credentials, which `Debug` does not show.
        url: String,
        /// Where to push to; most often the same.
        push_url: String,
        /// The remote's name in the user's configuration.
        remote: String,
        /// The ref's full name.
        reference: String,
        /// The protocols of both addresses, in the words of `GIT_ALLOW_PROTOCOL`: `https`, `ssh`, `https:ssh`, or `http`
        /// and `file`, which nothing else is allowed to be.
        protocols: String,
    },
    /// Nowhere, although the checkout names a place.
    Untrusted {
        /// Why not.
        why: Distrust,
        /// The place: an identity and a ref, free of anything that could mislead a reader.
        wanted: String,
    },
    /// Nowhere, because what the checkout names is not understood.
    Unreadable(Unreadable),
}

/// Why a place is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// Nobody accepted it.
    #[error("nobody has accepted that here")]
    NotAccepted,
    /// Another pair was accepted.
    #[error("what was accepted here is {accepted}")]
    Changed {
        /// The pair that was.
        accepted: String,
    },
    /// What was accepted cannot be read, so nothing is.
    #[error("what was accepted here cannot be read any more")]
    Damaged,
    /// The user has no such remote.
    #[error("no remote in your own git configuration is called so")]
    NoRemote,
    /// The user's remote leads to an address of a kind that is not used.
    #[error("git would go to an address for it that notes are not sent to")]
    Led,
}

/// Says where the notes of the checkout at `checkout_root` may go; `common_dir` is git's folder that all worktrees share.
/// Starts one `git` where the checkout names a place, and touches no network.
pub fn consent(checkout_root: &Path, common_dir: &Path) -> Consent {
    decide(git::command(checkout_root), checkout_root, common_dir)
}

/// The place that the checkout names, whether or not it is accepted. `None` where it names none that is understood.
#[must_use]
pub fn wanted(checkout_root: &Path) -> Option<Wanted> {
    let section = section::read(checkout_root).ok()??;
    Some(Wanted {
        identity: section.remote,
        reference: section.reference,
        review: section.review,
    })
}

/// What the checkout wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The remote's identity.
    pub identity: String,
    /// The ref's full name.
    pub reference: String,
    /// Whether a person reads each note before the team gets it.
    pub review: bool,
}

/// Whether a person has to promote each note here: the checkout says so, or said so when its place was accepted. So no
/// branch that somebody checks out takes the review away; whoever accepts its place does.
#[must_use]
pub fn is_reviewed(checkout_root: &Path, common_dir: &Path) -> bool {
    let says = matches!(section::read(checkout_root), Ok(Some(section)) if section.review);
    says || matches!(pin::read(common_dir), Pinned::Pair(pin) if pin.review)
}

fn decide(git: Command, root: &Path, common_dir: &Path) -> Consent {
    let section = match section::read(root) {
        Ok(Some(section)) => section,
        Ok(None) => return Consent::Unconfigured,
        Err(error) => return Consent::Unreadable(error),
    };
    let untrusted = |why| Consent::Untrusted {
        why,
        wanted: pair(&section.remote, &section.reference),
    };
    let pinned = pin::read(common_dir);
    if let Pinned::Pair(pin) = &pinned
        && !pin.is(&section.remote, &section.reference)
    {
        let accepted = pair(&pin.remote, &pin.reference);
        return untrusted(Distrust::Changed { accepted });
    }
    let remotes = match Remotes::read(git, root, common_dir) {
        Ok(remotes) => remotes,
        Err(error) => return Consent::Unreadable(error),
    };
    let found = match remotes.find(&section.remote) {
        Lookup::Found(found) => found,
        Lookup::Led => return untrusted(Distrust::Led),
        Lookup::Absent => return untrusted(Distrust::NoRemote),
    };
    match pinned {
        Pinned::Nothing => untrusted(Distrust::NotAccepted),
        Pinned::Damaged => untrusted(Distrust::Damaged),
        Pinned::Pair(_) => {
            let mut protocols: Vec<_> = [&found.url, &found.push_url]
                .into_iter()
                .filter_map(|url| remotes::protocol(url))
                .collect();
            protocols.dedup();
            Consent::Given {
                protocols: protocols.join(":"),
                url: found.url,
                push_url: found.push_url,
                remote: found.name,
                reference: section.reference,
            }
        }
    }
}

fn pair(remote: &str, reference: &str) -> String {
    format!("`{remote}` at `{reference}`")
}

impl Consent {
    /// Returns the command to try next, where the notes go nowhere.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unconfigured => Some("majordomus notes share"),
            Self::Given { .. } => None,
            Self::Untrusted { .. } => Some("majordomus notes trust"),
            Self::Unreadable(error) => Some(error.hint()),
        }
    }
}

impl fmt::Display for Consent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unconfigured => f.write_str("the checkout names no place for the team's notes"),
            Self::Given { reference, .. } => {
                write!(
                    f,
                    "the team's notes go to a remote of yours, at `{reference}`"
                )
            }
            Self::Untrusted { why, wanted } => {
                write!(
                    f,
                    "the checkout wants the team's notes at {wanted}, but {why}"
                )
            }
            Self::Unreadable(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for Consent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unconfigured => f.write_str("Unconfigured"),
            Self::Given {
                url,
                remote,
                reference,
                protocols,
                push_url: _,
            } => f
                .debug_struct("Given")
                .field("identity", &identity(url))
                .field("remote", remote)
                .field("reference", reference)
                .field("protocols", protocols)
                .finish_non_exhaustive(),
            Self::Untrusted { why, wanted } => f
                .debug_struct("Untrusted")
                .field("why", why)
                .field("wanted", wanted)
                .finish(),
            Self::Unreadable(error) => f.debug_tuple("Unreadable").field(error).finish(),
        }
    }
}

#[cfg(test)]
mod tests;
