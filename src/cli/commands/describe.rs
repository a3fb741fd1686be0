//! `majordomus describe ID`: one capability with its schemas and examples. Needs no server.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::cli::arguments::Json;
use crate::cli::commands::capabilities;
use crate::cli::context::Context;
use crate::cli::offline;
use crate::cli::report::{Exit, Outcome};
use crate::cli::screen::{Mark, Screen};
use crate::registry::capability::Capability;
use crate::registry::words;

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The capability, such as the ones that `majordomus capabilities` lists
    #[arg(value_name = "ID")]
    pub id: String,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Describes the capability.
///
/// # Errors
/// When there is none of that id, or the registry is invalid.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let registry = offline::registry(context.site()?.as_ref())?;
    let capability = offline::by_id(&registry, &args.id)?;
    if args.form.json {
        context.screen.json(&whole(capability))?;
    } else {
        context.screen.print(&render(capability, context.screen))?;
    }
    Ok(Exit::Done)
}

/// One capability with everything that it declares.
#[must_use]
pub fn whole(capability: &Capability) -> Value {
    let mut value = capabilities::brief(capability);
    let examples: Vec<Value> = capability
        .examples
        .iter()
        .map(|example| json!({ "title": example.title, "arguments": example.arguments }))
        .collect();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("description".to_owned(), capability.description.into());
        fields.insert("input".to_owned(), Value::clone(&capability.input));
        fields.insert("output".to_owned(), Value::clone(&capability.output));
        fields.insert("examples".to_owned(), examples.into());
    }
    value
}

fn render(capability: &Capability, screen: Screen) -> String {
    let exposure = &capability.exposure;
    let mut text = String::new();
    let facts = [
        ("kind", Some(capability.kind.as_str().to_owned())),
        ("retry", Some(capability.retry.as_str().to_owned())),
        ("tool", exposure.tool.map(str::to_owned)),
        ("resource", exposure.resource.map(str::to_owned)),
        (
            "route",
            exposure
                .route
                .map(|route| format!("{} {route}", capability.kind.method())),
        ),
        (
            "cli",
            exposure
                .cli
                .map(|words| format!("majordomus {}", words.join(" "))),
        ),
    ];
    // Writing to a String cannot fail.
    for (name, fact) in facts {
        if let Some(fact) = fact {
            let _ = writeln!(
                text,
                "{} {fact}",
                screen.mark(Mark::Dim, &format!("{name:<9}"))
            );
        }
    }
    text.push_str(&words::section(capability));
    text
}
