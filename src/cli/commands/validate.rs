//! `majordomus validate`: builds the registry and every projection of it, and names all that is wrong at once.

use serde_json::json;

use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::offline;
use crate::cli::reference::contract;
use crate::cli::report::{Exit, Outcome, failures};

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Validates.
///
/// # Errors
/// With [`Exit::Contract`] and every violation.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let site = context.site()?;
    let (violations, count) = match offline::registry(site.as_ref()) {
        Ok(registry) => (contract::violations(&registry), registry.all().len()),
        Err(failure) => (failure.causes, 0),
    };
    if args.form.json {
        context.screen.json(&json!({
            "valid": violations.is_empty(),
            "capabilities": count,
            "violations": violations,
        }))?;
        return Ok(if violations.is_empty() {
            Exit::Done
        } else {
            Exit::Contract
        });
    }
    if violations.is_empty() {
        context.screen.print(&format!(
            "valid: {count} capabilities and every projection\n"
        ))?;
        return Ok(Exit::Done);
    }
    Err(failures::CONTRACT.each(violations))
}
