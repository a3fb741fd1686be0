//! `majordomus store diff` and `retire`: the other machines of a store.

use std::fmt::Write as _;

use serde_json::json;

use super::live::sentence;
use super::{Peer, Retire, chosen, print};
use crate::cli::context::Context;
use crate::cli::report::{Exit, Failure, Outcome, failures};
use crate::floor::clock::now_ms;
use crate::stores::place::{Place, Surroundings};
use crate::stores::session::{Plan, Session};

/// The store that is meant: the only one, where none is named.
fn one(name: Option<&str>, around: &Surroundings) -> Result<Place, Failure> {
    let mut places = chosen(name, around)?;
    match (places.pop(), places.is_empty()) {
        (Some(place), true) => Ok(place),
        _ => Err(failures::WHICH_STORE.fill(&[])),
    }
}

/// Prints what two machines do not have of each other.
///
/// # Errors
/// Where no machine or more than one is called so, or a file cannot be used.
pub(super) fn diff(other: &Peer, context: &Context, around: &Surroundings) -> Outcome {
    let place = one(other.store.as_deref(), around)?;
    let diff = Session::open(&place)?.diff(&other.peer)?;
    let mut text = format!(
        "{}: {} of {} ({}) not taken in here; {} not acknowledged there\n",
        diff.store,
        diff.theirs.len(),
        diff.label,
        diff.peer,
        diff.ours.len()
    );
    for (mark, side) in [('<', &diff.theirs), ('>', &diff.ours)] {
        for what in side {
            let _ = writeln!(text, "  {mark} {what}");
        }
    }
    for trouble in &diff.troubles {
        let _ = writeln!(text, "  {trouble}");
    }
    print(&json!(diff), &text, other.form, context)?;
    Ok(if diff.troubles.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// Retires a machine.
///
/// # Errors
/// Where no machine or more than one is called so, or a file cannot be used.
pub(super) fn retire(retire: &Retire, context: &Context, around: &Surroundings) -> Outcome {
    let plan = Plan {
        import: true,
        export: true,
        dry_run: retire.dry_run,
        now_ms: now_ms(),
    };
    let place = one(retire.which.store.as_deref(), around)?;
    let report = Session::open(&place)?.retire(&retire.which.peer, plan)?;
    let answer = json!({ "dry_run": retire.dry_run, "stores": [report] });
    print(
        &answer,
        &sentence(&json!(report), retire.dry_run),
        retire.which.form,
        context,
    )?;
    Ok(if report.troubles.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    })
}
