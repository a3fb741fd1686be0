//! What must hold of the registry and its projections, all violations named at once.

use std::collections::BTreeSet;

use clap::CommandFactory as _;
use serde_json::Value;

use crate::cli::arguments::Arguments;
use crate::http;
use crate::registry::catalog::Registry;

/// Tools that are served by default, at most (I10).
pub const TOOLS: usize = 12;

/// What `tools/list` may cost a model, in tokens of four bytes (I10).
pub const TOOL_TOKENS: usize = 4000;

/// The OpenAPI document of this build: nothing in it differs between two checkouts.
#[must_use]
pub fn openapi_document(registry: &Registry) -> Value {
    http::openapi::describe(registry, env!("CARGO_PKG_VERSION"))
}

/// Checks everything that building the registry has not checked already.
#[must_use]
pub fn violations(registry: &Registry) -> Vec<String> {
    let mut found = Vec::new();
    examples(registry, &mut found);
    commands(registry, &mut found);
    tools(registry, &mut found);
    resources(registry, &mut found);
    openapi(registry, &mut found);
    found
}

/// Every example fits its input schema.
fn examples(registry: &Registry, found: &mut Vec<String>) {
    for capability in registry.all() {
        for example in &capability.examples {
            if let Err(refusal) = registry.check_input(capability, &example.arguments) {
                found.push(format!(
                    "`{}`: the example \"{}\" does not fit the input schema: {refusal}",
                    capability.id, example.title
                ));
            }
        }
    }
}

/// Every CLI exposure is a command of that name.
fn commands(registry: &Registry, found: &mut Vec<String>) {
    let root = Arguments::command();
    for capability in registry.all() {
        let Some(words) = capability.exposure.cli else {
            continue;
        };
        let mut command = Some(&root);
        for word in words {
            command = command.and_then(|command| command.find_subcommand(word));
        }
        if command.is_none() {
            found.push(format!(
                "`{}`: there is no command `majordomus {}`",
                capability.id,
                words.join(" ")
            ));
        }
    }
}

/// `tools/list` has every exposed tool, says of each what clients ask for, and stays within its budget.
fn tools(registry: &Registry, found: &mut Vec<String>) {
    let rendered = registry.tools();
    let names: BTreeSet<&str> = rendered
        .iter()
        .filter_map(|tool| tool.get("name").and_then(Value::as_str))
        .collect();
    for capability in registry.all() {
        if let Some(name) = capability.exposure.tool {
            if !names.contains(name) {
                found.push(format!(
                    "`{}`: the tool `{name}` is not listed",
                    capability.id
                ));
            }
        }
    }
    for tool in &rendered {
        for key in ["name", "description", "inputSchema", "annotations"] {
            if tool.get(key).is_none_or(Value::is_null) {
                found.push(format!("tool {}: `{key}` is missing", tool["name"]));
            }
        }
        if tool.pointer("/inputSchema/type") != Some(&Value::from("object")) {
            found.push(format!("tool {}: the input is not an object", tool["name"]));
        }
    }
    if rendered.len() > TOOLS {
        found.push(format!(
            "{} tools are listed, {TOOLS} may be",
            rendered.len()
        ));
    }
    let tokens = registry.tokens();
    if tokens > TOOL_TOKENS {
        found.push(format!(
            "tools/list costs {tokens} tokens, {TOOL_TOKENS} may be spent"
        ));
    }
}

/// `resources/list` and the templates have every exposed resource.
fn resources(registry: &Registry, found: &mut Vec<String>) {
    let rendered: Vec<Value> = registry
        .resources()
        .into_iter()
        .chain(registry.templates())
        .collect();
    for capability in registry.all() {
        let Some(uri) = capability.exposure.resource else {
            continue;
        };
        let listed = rendered.iter().any(|resource| {
            ["uri", "uriTemplate"]
                .iter()
                .any(|key| resource.get(key).and_then(Value::as_str) == Some(uri))
        });
        if !listed {
            found.push(format!(
                "`{}`: the resource `{uri}` is not listed",
                capability.id
            ));
        }
    }
}

/// The OpenAPI document has every exposed route under its method, and every reference in it leads somewhere.
fn openapi(registry: &Registry, found: &mut Vec<String>) {
    let document = openapi_document(registry);
    for capability in registry.all() {
        let Some(route) = capability.exposure.route else {
            continue;
        };
        let method = capability.kind.method().to_lowercase();
        let described = document
            .get("paths")
            .and_then(|paths| paths.get(route))
            .is_some_and(|path| path.get(&method).is_some());
        if !described {
            found.push(format!(
                "`{}`: openapi does not describe {} {route}",
                capability.id,
                capability.kind.method()
            ));
        }
    }
    let mut references = BTreeSet::new();
    collect_references(&document, &mut references);
    for reference in references {
        let resolved = reference
            .strip_prefix('#')
            .is_some_and(|pointer| document.pointer(pointer).is_some());
        if !resolved {
            found.push(format!(
                "openapi refers to `{reference}`, which is not there"
            ));
        }
    }
}

fn collect_references(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                match inner {
                    Value::String(reference) if key == "$ref" => {
                        into.insert(reference.clone());
                    }
                    _ => collect_references(inner, into),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, into)),
        _ => {}
    }
}
