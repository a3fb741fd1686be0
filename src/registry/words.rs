//! The reference: every capability in Markdown, made of nothing but its declaration.

use std::fmt::Write as _;

use serde_json::Value;

use super::capability::Capability;
use super::catalog::Registry;

impl Registry {
    /// Returns the reference of all capabilities: the exposure table, then a section each.
    #[must_use]
    pub fn reference(&self) -> String {
        let mut text = String::from("# Capabilities\n\n");
        // Writing to a string cannot fail.
        _ = writeln!(
            text,
            "`tools/list` costs a model about {} tokens for {} tools.\n",
            self.tokens(),
            self.tools().len()
        );
        text.push_str("| id | kind | tool | resource | prompt | route | CLI | retry |\n|---|---|---|---|---|---|---|---|\n");
        for capability in self.all() {
            text.push_str(&row(capability));
        }
        for capability in self.all() {
            text.push_str(&section(capability));
        }
        text
    }
}

fn row(capability: &Capability) -> String {
    let exposure = &capability.exposure;
    let code = |name: Option<String>| name.map_or_else(String::new, |name| format!("`{name}`"));
    format!(
        "| [`{id}`](#{anchor}) | {kind} | {tool} | {resource} | {prompt} | {route} | {cli} | {retry} |\n",
        id = capability.id,
        anchor = capability.id.replace('.', ""),
        kind = capability.kind,
        tool = code(exposure.tool.map(str::to_owned)),
        resource = code(exposure.resource.map(str::to_owned)),
        prompt = code(exposure.prompt.map(str::to_owned)),
        route = code(
            exposure
                .route
                .map(|route| format!("{} {route}", capability.kind.method()))
        ),
        cli = code(exposure.cli.map(|words| words.join(" "))),
        retry = capability.retry,
    )
}

/// The section of one capability; also what `describe` prints.
#[must_use]
pub fn section(capability: &Capability) -> String {
    let mut text = format!(
        "\n## {}\n\n{}. {}\n",
        capability.id, capability.title, capability.description
    );
    for (title, schema) in [
        ("Arguments", &capability.input),
        ("Answer", &capability.output),
    ] {
        _ = write!(text, "\n{title}:\n\n```json\n{}\n```\n", pretty(schema));
    }
    for example in &capability.examples {
        _ = write!(
            text,
            "\nExample: {}\n\n```sh\nmajordomus call {} --json '{}'\n```\n",
            example.title,
            capability.id,
            // A single quote inside single quotes is closed, escaped and opened again.
            example.arguments.to_string().replace('\'', r"'\''")
        );
    }
    text
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
