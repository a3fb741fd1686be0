//! `majordomus notes share` and `notes trust`: where the team's notes may go.
//!
//! `share` names a remote of the user's in the tracked `.ai/majordomus.toml`, for the whole team, and accepts it here;
//! `trust` accepts what somebody else has named there. Neither goes over the network.

use std::path::Path;

use serde_json::json;

use crate::cli::agree;
use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::report::{Exit, Failure, Outcome, failures};
use crate::cli::screen::clean;
use crate::floor::git;
use crate::floor::paths::Site;
use crate::memory::consent::{self, Consent, DEFAULT_REFERENCE};

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
    let url = address(site.root(), &args.remote)
        .ok_or_else(|| failures::NO_REMOTE.fill(&[&clean(&args.remote)]))?;
    let identity = consent::identity(&url)
        .ok_or_else(|| failures::NAMELESS_REMOTE.fill(&[&clean(&args.remote)]))?;
    let draft = consent::draft(site.root(), &identity, &args.reference)
        .map_err(|error| failures::UNSHARED.told(&error).hint(error.hint()))?;
    if !args.form.json {
        let before = draft.before.as_deref().unwrap_or_default();
        context
            .screen
            .print(&agree::diff(FILE, before, &draft.after, context.screen))?;
    }
    let question = format!(
        "send this repository's notes to {identity}, where all who can read it can read them?"
    );
    if !args.yes && !agree::agreed(&question, context)? {
        return Err(failures::NOT_AGREED.fill(&[]));
    }
    consent::share(site.root(), &identity, &args.reference)
        .map_err(|error| failures::UNSHARED.told(&error).hint(error.hint()))?;
    accept(common, &identity, &args.reference)?;
    said(
        args.form,
        &identity,
        "commit .ai/majordomus.toml, so that the team's other checkouts know of it; then: majordomus sync",
        context,
    )
}

/// Accepts the place that the checkout names.
///
/// # Errors
/// Where it names none that can be accepted, nobody agrees, or the file cannot be written.
pub(super) fn trust(args: &Trust, context: &Context) -> Outcome {
    let site = context.checkout()?;
    let common = common_dir(&site)?;
    let Some((identity, reference)) = consent::wanted(site.root()) else {
        let found = consent::consent(site.root(), common);
        let hint = found.hint().unwrap_or("majordomus notes share");
        return Err(failures::UNSHARED.fill(&[&found]).hint(hint));
    };
    let question = format!(
        "send this repository's notes to {identity} at {reference}, where all who can read it can read them?"
    );
    if !args.yes && !agree::agreed(&question, context)? {
        return Err(failures::NOT_AGREED.fill(&[]));
    }
    accept(common, &identity, &reference)?;
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

fn accept(common: &Path, identity: &str, reference: &str) -> Result<(), Failure> {
    consent::trust(common, identity, reference)
        .map_err(|error| failures::UNSHARED.told(&error).hint(error.hint()))
}

/// The address of a remote, as it stands in the configuration.
fn address(root: &Path, remote: &str) -> Option<String> {
    let key = format!("remote.{remote}.url");
    let output = git::command(root)
        .args(["config", "--get", &key])
        .output()
        .ok()?;
    let url = String::from_utf8(output.stdout).ok()?;
    let url = url.trim();
    (!url.is_empty()).then(|| url.to_owned())
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
