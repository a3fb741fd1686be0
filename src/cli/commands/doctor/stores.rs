//! The stores of mnemon: which are merged on this machine, and what was in the way of their last runs.

use super::finding::Finding;
use crate::cli::commands::store::live::{Row, rows};
use crate::cli::context::Context;

/// What the lines are about.
const CHECK: &str = "stores";

/// Says nothing where no store is enabled. What was in the way may name the person's folders, so it is not repeated here.
pub(super) fn look(context: &Context) -> Vec<Finding> {
    let finding = |row: Row| {
        if row.in_trouble.is_empty() {
            return Finding::good(CHECK, format!("the store {} is merged", row.store));
        }
        let which = row.in_trouble.join(" and the last ");
        let text = format!("the last {which} of the store {} was in trouble", row.store);
        Finding::problem(CHECK, text).hint("majordomus store status")
    };
    rows(context).into_iter().map(finding).collect()
}
