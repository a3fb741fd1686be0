//! What sharing the notes would come to, before anybody agrees: which remote, what is written, who could read it.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::error::{ShareError, TrustError};
use super::{Draft, draft, identity, share, trust, wanted};
use crate::floor::git;
use crate::floor::hex;
use crate::memory::remote::{Openness, openness};

/// Where the notes would go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The remote's identity.
    pub identity: String,
    /// The ref's full name.
    pub reference: String,
    /// What the tracked file becomes.
    pub draft: Draft,
    /// Whether strangers can read the remote.
    pub openness: Openness,
    review: bool,
}

/// Why nothing is proposed, or what was proposed not done.
#[derive(Debug, thiserror::Error)]
pub enum ProposalError {
    /// The user has no such remote.
    #[error("git has no remote `{0}` here")]
    NoRemote(String),
    /// Its address has no name that a team could agree on.
    #[error("the address of the remote `{0}` has no name that a team could agree on")]
    Nameless(String),
    /// The file cannot be written so.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// What was agreed to cannot be kept.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

/// Proposes to send the notes to a ref of one of the user's remotes. Asks over the network whether strangers can read it; with
/// strangers about, or where `review` says so, a person will have to promote each note.
///
/// # Errors
/// [`ProposalError`] but `Trust`.
pub fn propose(
    checkout_root: &Path,
    remote: &str,
    reference: &str,
    review: bool,
) -> Result<Proposal, ProposalError> {
    let url =
        address(checkout_root, remote).ok_or_else(|| ProposalError::NoRemote(remote.to_owned()))?;
    let identity = identity(&url).ok_or_else(|| ProposalError::Nameless(remote.to_owned()))?;
    let openness =
        led(checkout_root, remote).map_or(Openness::Unknown, |url| openness(&url, &identity));
    let review = review || openness == Openness::Open;
    Ok(Proposal {
        draft: draft(checkout_root, &identity, reference, review)?,
        reference: reference.to_owned(),
        identity,
        openness,
        review,
    })
}

impl Proposal {
    /// Short for all that is proposed: who gives it back has seen this very proposal.
    #[must_use]
    pub fn code(&self) -> String {
        let whole = format!(
            "{}\n{}\n{}",
            self.identity, self.reference, self.draft.after
        );
        hex::encode(&Sha256::digest(whole)[..4])
    }

    /// Does what was proposed: writes the file, and accepts its place for this repository.
    ///
    /// # Errors
    /// `Share` and `Trust`.
    pub fn carry_out(&self, checkout_root: &Path, common_dir: &Path) -> Result<(), ProposalError> {
        share(checkout_root, &self.identity, &self.reference, self.review)?;
        let review = wanted(checkout_root).is_some_and(|wanted| wanted.review);
        trust(common_dir, &self.identity, &self.reference, review)?;
        Ok(())
    }
}

/// The address of a remote, as it stands in the configuration.
fn address(root: &Path, remote: &str) -> Option<String> {
    let key = format!("remote.{remote}.url");
    said(root, &["config", "--get", &key])
}

/// Where git goes for it.
fn led(root: &Path, remote: &str) -> Option<String> {
    said(root, &["ls-remote", "--get-url", "--", remote])
}

fn said(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = git::command(root).args(arguments).output().ok()?;
    let url = String::from_utf8(output.stdout).ok()?;
    let url = url.trim();
    (!url.is_empty()).then(|| url.to_owned())
}
