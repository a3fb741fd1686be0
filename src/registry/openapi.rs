//! The OpenAPI 3.1 form of the declarations.
//!
//! The method follows from the kind: reads are GET with their arguments in the query string, commands POST one JSON
//! body. Every answer that is no success is `application/problem+json` in one shape ([`problem`]). Definitions of all
//! schemas are merged under `components/schemas`; two that share a name and differ stop the process at start.
//!
//! Absent: the routes that are no capability (`/mcp`, `/lease`, `/docs/`), which `docs/MCP.md` describes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::capability::{Capability, Kind, Retry};
use super::catalog::Registry;
use super::checks::RegistryError;
use super::{query, schema};
use crate::floor::limits::IDEMPOTENCY_KEY_CHARS;

/// What the document says about the server.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The version of the program.
    pub version: &'a str,
    /// The server's root, such as `http://127.0.0.1:25000`; a document made without a server has none.
    pub url: Option<&'a str>,
}

/// Definitions by name, with the capability that brought each.
type Components = BTreeMap<String, (Value, &'static str)>;

impl Registry {
    /// Returns the OpenAPI 3.1 document of every capability with a route.
    #[must_use]
    pub fn openapi(&self, about: &About<'_>) -> Value {
        let mut paths = Map::new();
        for capability in self.all() {
            if let Some(route) = capability.exposure.route {
                let method = capability.kind.method().to_ascii_lowercase();
                paths.insert(route.to_owned(), json!({ method: operation(capability) }));
            }
        }
        let schemas: Map<String, Value> = components(self.all())
            .unwrap_or_default()
            .into_iter()
            .map(|(name, (schema, _))| (name, schema))
            .collect();
        let mut document = json!({
            "openapi": "3.1.0",
            "info": {
                "title": "majordomus",
                "version": about.version,
                "description": "One shared MCP server per checkout. Every route needs the checkout's bearer token.",
                "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
            },
            "paths": paths,
            "components": {
                "schemas": schemas,
                "responses": {"Problem": {
                    "description": "The cause, and where possible what helps.",
                    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
                }},
                "securitySchemes": {"bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The checkout's token, or the short-lived one of a signed-in page.",
                }},
            },
            "security": [{"bearer": []}],
        });
        if let (Some(url), Some(object)) = (about.url, document.as_object_mut()) {
            object.insert("servers".to_owned(), json!([{"url": url}]));
        }
        document
    }
}

/// Merges the definitions of all capabilities with a route; each one's own schemas are named after its id.
pub(super) fn components(capabilities: &[Capability]) -> Result<Components, RegistryError> {
    let mut merged = Components::from([("Problem".to_owned(), (problem(), "every refusal"))]);
    for capability in capabilities
        .iter()
        .filter(|each| each.exposure.route.is_some())
    {
        let mut sides = vec![("Answer", &capability.output)];
        if capability.kind == Kind::Command {
            sides.push(("Input", &capability.input));
        }
        for (side, declared) in sides {
            let (root, mut defs) = schema::hoist(declared);
            defs.insert(component(capability, side), root);
            merge(&mut merged, defs, capability.id)?;
        }
        if capability.kind != Kind::Command {
            merge(
                &mut merged,
                schema::hoist(&capability.input).1,
                capability.id,
            )?;
        }
    }
    Ok(merged)
}

fn merge(
    merged: &mut Components,
    defs: Map<String, Value>,
    second: &'static str,
) -> Result<(), RegistryError> {
    for (name, schema) in defs {
        match merged.get(&name) {
            Some((known, _)) if *known == schema => {}
            Some((_, first)) => {
                return Err(RegistryError::ConflictingComponents {
                    name,
                    first,
                    second,
                });
            }
            None => drop(merged.insert(name, (schema, second))),
        }
    }
    Ok(())
}

/// `peers.announce` and `Input` make `PeersAnnounceInput`.
fn component(capability: &Capability, side: &str) -> String {
    let mut name: String = capability
        .id
        .split(['.', '_'])
        .flat_map(|word| {
            let mut chars = word.chars();
            chars
                .next()
                .map(|c| c.to_ascii_uppercase())
                .into_iter()
                .chain(chars)
        })
        .collect();
    name.push_str(side);
    name
}

fn operation(capability: &Capability) -> Value {
    let (namespace, _) = capability.id.split_once('.').unwrap_or((capability.id, ""));
    let answer = format!("#/components/schemas/{}", component(capability, "Answer"));
    let problem = json!({"$ref": "#/components/responses/Problem"});
    let mut operation = json!({
        "operationId": capability.id.replace('.', "_"),
        "tags": [namespace],
        "summary": capability.title,
        "description": capability.description,
        "responses": {
            "200": {"description": "The answer.", "content": {"application/json": {"schema": {"$ref": answer}}}},
            "401": problem,
            "422": problem,
            "default": problem,
        },
    });
    let Some(object) = operation.as_object_mut() else {
        return operation;
    };
    if capability.kind == Kind::Command {
        object.insert("requestBody".to_owned(), body(capability));
        if matches!(capability.retry, Retry::Keyed | Retry::Converging) {
            object.insert(
                "parameters".to_owned(),
                json!([{
                    "name": "Idempotency-Key",
                    "in": "header",
                    "required": false,
                    "description": "Sent again with the same body, nothing happens twice.",
                    "schema": {"type": "string", "minLength": 1, "maxLength": IDEMPOTENCY_KEY_CHARS, "pattern": "^[!-~]+$"},
                }]),
            );
        }
    } else {
        let parameters = parameters(capability);
        if !parameters.is_empty() {
            object.insert("parameters".to_owned(), Value::Array(parameters));
        }
    }
    operation
}

fn body(capability: &Capability) -> Value {
    let input = format!("#/components/schemas/{}", component(capability, "Input"));
    let examples: Map<String, Value> = capability
        .examples
        .iter()
        .enumerate()
        .map(|(index, example)| {
            let shown = json!({"summary": example.title, "value": example.arguments});
            (format!("example{}", index + 1), shown)
        })
        .collect();
    // No body is `{}`.
    let required = capability.input["required"]
        .as_array()
        .is_some_and(|names| !names.is_empty());
    json!({"required": required, "content": {"application/json": {"schema": {"$ref": input}, "examples": examples}}})
}

fn parameters(capability: &Capability) -> Vec<Value> {
    let (root, _) = schema::hoist(&capability.input);
    let required: Vec<&str> = root["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let shown = capability.examples.first();
    root["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, below)| {
            let mut below = below.clone();
            let description = below
                .as_object_mut()
                .and_then(|object| object.shift_remove("description"));
            let mut parameter = json!({
                "name": name,
                "in": "query",
                "required": required.contains(&name.as_str()),
            });
            let declared = &capability.input["properties"][name];
            if query::is_plain(&capability.input, declared) {
                parameter["schema"] = below;
            } else {
                parameter["content"] = json!({"application/json": {"schema": below}});
            }
            if let Some(description) = description {
                parameter["description"] = description;
            }
            if let Some(value) = shown.and_then(|example| example.arguments.get(name)) {
                parameter["example"] = value.clone();
            }
            parameter
        })
        .collect()
}

/// The shape of every refusal over HTTP (RFC 9457), with the machine word and what helps.
#[must_use]
pub fn problem() -> Value {
    json!({
        "type": "object",
        "required": ["type", "title", "status", "code", "detail"],
        "properties": {
            "type": {"type": "string", "description": "`about:blank`: the status says it all."},
            "title": {"type": "string", "description": "The status in words."},
            "status": {"type": "integer", "description": "The HTTP status."},
            "code": {"type": "string", "description": "The machine word: `invalid_input`, `not_found`, `conflict` …"},
            "detail": {"type": "string", "description": "The cause."},
            "hint": {"type": "string", "description": "What to do next."},
        },
    })
}
