//! `majordomus notes acknowledge`: a person says that what looks like a secret is none.

use serde_json::json;
use uuid::Uuid;

use super::change::{self, One};
use super::is_id;
use crate::cli::commands::sync;
use crate::cli::context::Context;
use crate::cli::errand;
use crate::cli::report::{Exit, Outcome, failures};
use crate::floor::error::Chain;
use crate::memory::author;
use crate::memory::team::{Team, TeamError};

/// Shows what is held back of a note, and sends it where somebody agrees. No server does so: agents reach servers.
///
/// # Errors
/// Where nothing is held back of it, nobody agrees, or what was written cannot be read or written.
pub(super) fn acknowledge(args: &One, context: &Context) -> Outcome {
    let site = context.checkout()?;
    is_id(&args.id)?;
    let id: Uuid = args.id.parse().unwrap_or_default();
    let unread = |error: TeamError| failures::UNREAD_NOTES.fill(&[&Chain(&error)]);
    let mut team = Team::at(&site.notes_dir(), site.writes());
    let held = team.withheld().map_err(unread)?;
    let held: Vec<_> = held.iter().filter(|held| held.note == id).collect();
    if held.is_empty() {
        return Err(failures::NOT_WITHHELD.fill(&[&id]));
    }
    if !args.form.json {
        for held in held {
            context.screen.print(&format!("{held}\n"))?;
        }
    }
    change::agree("this is no secret, and goes to the team?", args, context)?;
    let (name, _) = author::of(site.root());
    if !team.acknowledge(id, &name).map_err(unread)? {
        return Err(failures::NOT_WITHHELD.fill(&[&id]));
    }
    let answer = errand::run(sync::WORDS, &json!({ "direction": "push" }), context)?;
    change::print(&answer, args.form, context)?;
    Ok(Exit::Done)
}
