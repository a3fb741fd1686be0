//! `majordomus notes share` and `notes trust`: where the team's notes may go.
//!
//! `share` names a remote of the user's in the tracked `.ai/majordomus.toml`, for the whole team, and accepts it here;
//! `trust` accepts what somebody else has named there. `share` asks the remote whether strangers can read it.

use std::path::Path;

use serde_json::json;

use crate::cli::agree;
use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::report::{Exit, Failure, Outcome, failures};
use crate::cli::screen::clean;
use crate::floor::paths::Site;
use crate::memory::consent::{self, Consent, DEFAULT_REFERENCE, Proposal, ProposalError};
use crate::memory::remote::Openness;

/// The file that names the place, relative to the checkout's root.
const FILE: &str = ".ai/majordomus.toml";

/// What may be typed after `share`.
#[derive(Debug, clap::Args)]
pub struct Share {
    /// The remote, as git calls it here
    #[arg(long, value_name = "NAME", default_value = "origin")]
    pub remote: String,

    /// The ref of the notes on the remote
    #[arg(long = "ref", value_name = "REF", default_value = DEFAULT_REFERENCE)]
    pub reference: String,

    /// A person promotes each note that an agent writes before the team gets it
    #[arg(long, conflicts_with = "unreviewed")]
    pub review: bool,

    /// Nobody does, also where strangers can read the remote
    #[arg(long)]
    pub unreviewed: bool,

    /// Do not ask
    #[arg(long)]
    pub yes: bool,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// What may be typed after `trust`.
#[derive(Debug, clap::Args)]
pub struct Trust {
    /// Do not ask
    #[arg(long)]
    pub yes: bool,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Names a remote for the team's notes, and accepts it.
///
/// # Errors
/// Where there is no such remote, it has no name that a team could agree on, nobody agrees, or a file cannot be written.
pub(super) fn share(args: &Share, context: &Context) -> Outcome {
    let site = context.checkout()?;
    let common = common_dir(&site)?;
    let refused = |error: ProposalError| match error {
        ProposalError::NoRemote(name) => failures::NO_REMOTE.fill(&[&clean(&name)]),
        ProposalError::Nameless(name) => failures::NAMELESS_REMOTE.fill(&[&clean(&name)]),
        ProposalError::Share(error) => failures::UNSHARED.told(&error).hint(error.hint()),
        ProposalError::Trust(error) => failures::UNSHARED.told(&error).hint(error.hint()),
    };
    let review = match (args.review, args.unreviewed) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    let proposal =
        consent::propose(site.root(), &args.remote, &args.reference, review).map_err(refused)?;
    if !args.form.json {
        let before = proposal.draft.before.as_deref().unwrap_or_default();
        let diff = agree::diff(FILE, before, &proposal.draft.after, context.screen);
        context.screen.print(&diff)?;
    }
    if !args.yes && !agree::agreed(&question(&proposal), context)? {
        return Err(failures::NOT_AGREED.fill(&[]));
    }
    proposal.carry_out(site.root(), common).map_err(refused)?;
    said(args.form, &proposal.identity, SHARED, context)
}

/// Offers to share the notes, once: at a terminal, in a checkout that names no place for them and has an `origin`. Whoever
/// just presses enter agrees where strangers cannot read it.
///
/// # Errors
/// Where the answer cannot be read, or a file not be written.
pub fn offer(site: &Site, context: &Context) -> Result<(), Failure> {
    let Some(checkout) = site.checkout() else {
        return Ok(());
    };
    let found = consent::consent(site.root(), &checkout.common_dir);
    if !matches!(found, Consent::Unconfigured) || !agree::is_somebody_there() {
        return Ok(());
    }
    // Without an `origin` that could be shared there is nothing to ask.
    let Ok(proposal) = consent::propose(site.root(), "origin", DEFAULT_REFERENCE, None) else {
        return Ok(());
    };
    let is_private = proposal.openness == Openness::Closed;
    if !agree::agreed_or(&question(&proposal), is_private, context)? {
        context
            .screen
            .note("notes stay on this machine; later: majordomus notes share");
        return Ok(());
    }
    proposal
        .carry_out(site.root(), &checkout.common_dir)
        .map_err(|error| failures::UNSHARED.told(&error))?;
    context.screen.note(&format!(
        "notes go to {}; {SHARED}",
        clean(&proposal.identity)
    ));
    Ok(())
}

/// What is left to do.
const SHARED: &str = "commit .ai/majordomus.toml, so that the team's other checkouts know of it; then: majordomus sync";

fn question(proposal: &Proposal) -> String {
    let readers = match proposal.openness {
        Openness::Open => {
            "STRANGERS CAN READ IT; unless --unreviewed says otherwise, a person has to promote each note that an agent writes"
        }
        Openness::Closed => "strangers cannot read it",
        Openness::Unknown => "whether strangers can read it is not known",
    };
    format!(
        "send this repository's notes, also those written before, to {}, where all who can read it can read them ({readers})?",
        clean(&proposal.identity)
    )
}

/// Accepts the place that the checkout names.
///
/// # Errors
/// Where it names none that can be accepted, nobody agrees, or the file cannot be written.
pub(super) fn trust(args: &Trust, context: &Context) -> Outcome {
    let site = context.checkout()?;
    let common = common_dir(&site)?;
    let Some(wanted) = consent::wanted(site.root()) else {
        let found = consent::consent(site.root(), common);
        let hint = found.hint().unwrap_or("majordomus notes share");
        return Err(failures::UNSHARED.fill(&[&found]).hint(hint));
    };
    let (identity, reference) = (wanted.identity, wanted.reference);
    let question = format!(
        "send this repository's notes to {identity} at {reference}, where all who can read it can read them?"
    );
    if !args.yes && !agree::agreed(&question, context)? {
        return Err(failures::NOT_AGREED.fill(&[]));
    }
    accept(common, &identity, &reference, wanted.review)?;
    match consent::consent(site.root(), common) {
        Consent::Given { .. } => said(args.form, &identity, "majordomus sync", context),
        // It is accepted, and something else is in the way.
        other => Err(failures::UNSHARED
            .fill(&[&other])
            .hint(other.hint().unwrap_or("git remote -v"))),
    }
}

fn common_dir(site: &Site) -> Result<&Path, Failure> {
    let checkout = site.checkout();
    checkout
        .map(|checkout| &*checkout.common_dir)
        .ok_or_else(|| failures::NO_GIT.fill(&[]))
}

fn accept(common: &Path, identity: &str, reference: &str, review: bool) -> Result<(), Failure> {
    consent::trust(common, identity, reference, review)
        .map_err(|error| failures::UNSHARED.told(&error).hint(error.hint()))
}

fn said(form: Json, identity: &str, next: &str, context: &Context) -> Outcome {
    if form.json {
        context.screen.json(&json!({ "remote": identity }))?;
    } else {
        context
            .screen
            .print(&format!("notes go to {} from here\n", clean(identity)))?;
        context.screen.note(next);
    }
    Ok(Exit::Done)
}
