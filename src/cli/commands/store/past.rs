//! `majordomus store log` and `undo`: what was done with a store, and how it is taken back.

use std::fmt::Write as _;

use serde_json::json;

use super::live::sentence;
use super::{One, Undo, print};
use crate::cli::context::Context;
use crate::cli::report::{Exit, Outcome};
use crate::floor::clock::{now_ms, rfc3339};
use crate::stores::place::Surroundings;
use crate::stores::session::{Plan, Session};

/// Prints the runs of a store.
///
/// # Errors
/// Where the store is not enabled, or a file cannot be used.
pub(super) fn log(one: &One, context: &Context, around: &Surroundings) -> Outcome {
    let place = around.place(&one.store)?;
    let runs = Session::open(&place)?.log()?;
    let mut text = String::new();
    for run in &runs {
        let count = |key: &str| {
            run.report
                .get(key)
                .and_then(serde_json::Value::as_u64)
                .unwrap_or(0)
        };
        let _ = write!(
            text,
            "{} {}: {} changed here, {} taken in, {} written, {} sent",
            run.number,
            rfc3339(run.at_ms),
            count("changed_here"),
            count("taken_in"),
            count("written"),
            count("sent")
        );
        if let Some(undone) = run.report.get("undone").and_then(serde_json::Value::as_u64) {
            let _ = write!(text, "; took back run {undone}");
        }
        text.push('\n');
        let troubles = run
            .report
            .get("troubles")
            .and_then(serde_json::Value::as_array);
        for trouble in troubles
            .into_iter()
            .flatten()
            .filter_map(serde_json::Value::as_str)
        {
            let _ = writeln!(text, "  {trouble}");
        }
    }
    if runs.is_empty() {
        let _ = writeln!(text, "nothing was done with the store {} yet", one.store);
    }
    let answer = json!({ "store": one.store, "runs": runs });
    print(&answer, &text, one.form, context)
}

/// Takes a run back.
///
/// # Errors
/// Where there is none such, the store is not enabled, or a file cannot be used.
pub(super) fn undo(undo: &Undo, context: &Context, around: &Surroundings) -> Outcome {
    let plan = Plan {
        import: true,
        export: false,
        dry_run: undo.dry_run,
        now_ms: now_ms(),
    };
    let place = around.place(&undo.store)?;
    let report = Session::open(&place)?.undo(undo.run, plan)?;
    let answer = json!({ "dry_run": undo.dry_run, "stores": [report] });
    print(
        &answer,
        &sentence(&json!(report), undo.dry_run),
        undo.form,
        context,
    )?;
    Ok(if report.troubles.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    })
}
