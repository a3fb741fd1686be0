//! `majordomus notes purge`: what `forget` leaves in the history is taken out of it.

use serde_json::json;
use uuid::Uuid;

use super::is_id;
use crate::cli::agree;
use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::report::{Exit, Outcome, failures};
use crate::cli::screen::clean;
use crate::memory::outcome::{Act, Outcome as Became};
use crate::memory::sync;

/// What may be typed after `purge`.
#[derive(Debug, clap::Args)]
pub struct Purge {
    /// The note; it may be forgotten already
    #[arg(value_name = "ID")]
    pub id: String,

    /// The id once more, in place of typing it when asked
    #[arg(long, value_name = "ID")]
    pub confirm: Option<String>,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Rewrites the history of the notes without one of them, and says what came of it.
///
/// # Errors
/// Where that is no id, nobody confirms it, or there is no checkout.
pub(super) fn purge(args: &Purge, context: &Context) -> Outcome {
    let site = context.checkout()?;
    is_id(&args.id)?;
    let id: Uuid = args.id.parse().unwrap_or_default();
    let typed = match &args.confirm {
        Some(typed) => typed.clone(),
        None => agree::typed(
            "this rewrites the history of the notes for the whole team, and cannot be undone; type the id to do it:",
            context,
        )?,
    };
    if typed.parse() != Ok(id) {
        return Err(failures::NOT_PURGED.fill(&[]));
    }
    let became = sync::purge(&site, id);
    let said = became.about(Act::Purge).to_string();
    if args.form.json {
        context
            .screen
            .json(&json!({ "status": became.word(), "message": said }))?;
    } else {
        context.screen.print(&format!("{}\n", clean(&said)))?;
    }
    Ok(match became {
        Became::Published { .. } | Became::NoRemote | Became::NotShared { .. } => Exit::Done,
        _ => Exit::Failed,
    })
}
