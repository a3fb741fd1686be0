//! `majordomus capabilities`: everything that this build can do, under which names. Needs no server.

use serde_json::{Value, json};

use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::offline;
use crate::cli::report::{Exit, Outcome};
use crate::cli::screen::columns;
use crate::registry::capability::Capability;

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Lists the capabilities.
///
/// # Errors
/// When the registry is invalid.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let registry = offline::registry(context.site()?.as_ref())?;
    if args.form.json {
        let list: Vec<Value> = registry.all().iter().map(brief).collect();
        context.screen.json(&json!({ "capabilities": list }))?;
    } else {
        context.screen.print(&columns(&rows(registry.all())))?;
    }
    Ok(Exit::Done)
}

/// One capability without its schemas.
#[must_use]
pub fn brief(capability: &Capability) -> Value {
    let exposure = &capability.exposure;
    json!({
        "id": capability.id,
        "kind": capability.kind.as_str(),
        "title": capability.title,
        "retry": capability.retry.as_str(),
        "tool": exposure.tool,
        "resource": exposure.resource,
        "method": exposure.route.map(|_| capability.kind.method()),
        "route": exposure.route,
        "cli": exposure.cli.map(|words| words.join(" ")),
    })
}

/// The exposure table, a heading first.
#[must_use]
pub fn rows(capabilities: &[Capability]) -> Vec<Vec<String>> {
    let heading = ["ID", "KIND", "TOOL", "RESOURCE", "ROUTE", "CLI"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for capability in capabilities {
        let exposure = &capability.exposure;
        let or_dash = |words: Option<String>| words.unwrap_or_else(|| "-".to_owned());
        rows.push(vec![
            capability.id.to_owned(),
            capability.kind.as_str().to_owned(),
            or_dash(exposure.tool.map(str::to_owned)),
            or_dash(exposure.resource.map(str::to_owned)),
            or_dash(
                exposure
                    .route
                    .map(|route| format!("{} {route}", capability.kind.method())),
            ),
            or_dash(exposure.cli.map(|words| words.join(" "))),
        ]);
    }
    rows
}
