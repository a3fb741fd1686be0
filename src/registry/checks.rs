//! What a registry refuses, once, at start.
//!
//! Each refusal names both sides: the two capabilities that clash, or the declaration and the rule that it breaks.

use std::collections::HashMap;

use serde_json::Value;

use super::capability::{Capability, Kind, Retry};
use super::validate;

mod error;

pub use error::RegistryError;

/// Where every route starts.
pub const ROUTES: &str = "/api/v1/";
/// Where every resource starts.
const SCHEME: &str = "majordomus://";
/// Where those start that the conformance suites name; only capabilities of their own namespace may.
const SUITES: (&str, &str) = ("suite.", "test://");

/// Checks all declarations, one by one and against each other, as far as no schema is looked at.
pub(super) fn declarations(capabilities: &[Capability]) -> Result<(), RegistryError> {
    for capability in capabilities {
        id(capability)?;
        names(capability)?;
        kind(capability)?;
    }
    clashes(capabilities)
}

/// Checks every schema, and what the declarations say about them.
pub(super) fn contents(capabilities: &[Capability]) -> Result<(), RegistryError> {
    for capability in capabilities {
        schemas(capability)?;
        variables_of(capability)?;
        prompt_arguments(capability)?;
    }
    super::openapi::components(capabilities).map(drop)
}

fn id(capability: &Capability) -> Result<(), RegistryError> {
    let word = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    match capability.id.split_once('.') {
        Some((namespace, local)) if word(namespace) && word(local) => Ok(()),
        _ => Err(RegistryError::BadId {
            id: capability.id,
            title: capability.title,
        }),
    }
}

fn names(capability: &Capability) -> Result<(), RegistryError> {
    let exposure = &capability.exposure;
    let bad = |what, name: &str, rule| {
        Err(RegistryError::BadName {
            id: capability.id,
            what,
            name: name.to_owned(),
            rule,
        })
    };
    if let Some(tool) = exposure.tool {
        let fits = (1..=64).contains(&tool.len())
            && tool
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if !fits {
            return bad("tool", tool, "1 to 64 letters, digits, `_` or `-`");
        }
    }
    if let Some(prompt) = exposure.prompt {
        let fits = (1..=64).contains(&prompt.len())
            && prompt
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if !fits {
            return bad("prompt", prompt, "1 to 64 letters, digits, `_` or `-`");
        }
    }
    if let Some(route) = exposure.route {
        let fits = route.strip_prefix(ROUTES).is_some_and(|rest| {
            rest.split('/').all(|part| {
                !part.is_empty()
                    && part.chars().all(|c| {
                        c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_'
                    })
            })
        });
        if !fits {
            return bad(
                "route",
                route,
                "`/api/v1/` and lower-case words between single slashes",
            );
        }
    }
    if let Some(uri) = exposure.resource {
        let suites = capability.id.starts_with(SUITES.0);
        let rest = uri
            .strip_prefix(SCHEME)
            .or_else(|| uri.strip_prefix(SUITES.1).filter(|_| suites));
        let fits = rest.is_some_and(|rest| {
            !rest.is_empty()
                && rest
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "/_-.{}".contains(c))
                && variables(uri).is_some()
        });
        if !fits {
            return bad(
                "resource",
                uri,
                "`majordomus://` and a path, with whole `{variables}`",
            );
        }
    }
    if let Some(words) = exposure.cli {
        let fits = !words.is_empty()
            && words.iter().all(|word| {
                word.starts_with(|c: char| c.is_ascii_lowercase())
                    && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
            });
        if !fits {
            return bad("command", &words.join(" "), "one or more lower-case words");
        }
    }
    Ok(())
}

fn kind(capability: &Capability) -> Result<(), RegistryError> {
    let (id, kind, retry) = (capability.id, capability.kind, capability.retry);
    prompt(capability)?;
    match (kind, capability.exposure.resource) {
        (Kind::Resource, None) => return Err(RegistryError::ResourceWithoutUri { id }),
        (Kind::Command, Some(uri)) => return Err(RegistryError::CommandAsResource { id, uri }),
        (Kind::Query | Kind::Resource | Kind::Prompt, _) if retry != Retry::Safe => {
            return Err(RegistryError::ReadNotSafe { id, kind, retry });
        }
        _ => {}
    }
    if capability.retain.is_some() && retry != Retry::Converging {
        return Err(RegistryError::RetainedNotConverging { id, retry });
    }
    Ok(())
}

/// A resource's URI gives the arguments, all that are required and no others.
fn variables_of(capability: &Capability) -> Result<(), RegistryError> {
    let id = capability.id;
    let Some(uri) = capability.exposure.resource else {
        return Ok(());
    };
    let given = variables(uri).unwrap_or_default();
    let declared = capability.input.get("properties");
    if let Some(variable) = given
        .iter()
        .find(|name| declared.and_then(|all| all.get(**name)).is_none())
    {
        return Err(RegistryError::UnknownVariable {
            id,
            uri,
            variable: (*variable).to_owned(),
        });
    }
    let required = capability.input.get("required").and_then(Value::as_array);
    match required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .find(|name| !given.contains(name))
    {
        Some(argument) => Err(RegistryError::ResourceNeedsInput {
            id,
            uri,
            argument: argument.to_owned(),
        }),
        None => Ok(()),
    }
}

/// A prompt's arguments are all that MCP gives it: strings.
fn prompt_arguments(capability: &Capability) -> Result<(), RegistryError> {
    if capability.kind != Kind::Prompt {
        return Ok(());
    }
    let id = capability.id;
    let arguments = capability
        .input
        .get("properties")
        .and_then(Value::as_object);
    let other = arguments
        .into_iter()
        .flatten()
        .find(|(_, schema)| schema.get("type").and_then(Value::as_str) != Some("string"));
    match other {
        None => Ok(()),
        Some((argument, _)) => Err(RegistryError::PromptArgument {
            id,
            argument: argument.clone(),
        }),
    }
}

fn prompt(capability: &Capability) -> Result<(), RegistryError> {
    let (id, kind) = (capability.id, capability.kind);
    match (kind == Kind::Prompt, capability.exposure.prompt) {
        (false, None) => return Ok(()),
        (true, None) => {
            return Err(RegistryError::PromptName {
                id,
                kind,
                what: "no",
            });
        }
        (false, Some(_)) => {
            return Err(RegistryError::PromptName {
                id,
                kind,
                what: "a",
            });
        }
        (true, Some(_)) => {}
    }
    Ok(())
}

/// The variables of a URI template in order; `None` where braces do not pair.
pub(super) fn variables(uri: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let mut rest = uri;
    while let Some(start) = rest.find(['{', '}']) {
        let (_, tail) = rest.split_at(start);
        let inner = tail.strip_prefix('{')?;
        let end = inner.find(['{', '}'])?;
        let (name, tail) = inner.split_at(end);
        rest = tail.strip_prefix('}')?;
        if name.is_empty() {
            return None;
        }
        found.push(name);
    }
    Some(found)
}

fn schemas(capability: &Capability) -> Result<(), RegistryError> {
    let id = capability.id;
    for (side, schema) in [("input", &capability.input), ("output", &capability.output)] {
        let bad = |fault| RegistryError::BadSchema { id, side, fault };
        schema.verify().map_err(bad)?;
    }
    for example in &capability.examples {
        validate::check(&capability.input, &example.arguments).map_err(|fault| {
            RegistryError::BadExample {
                id,
                title: example.title,
                fault,
            }
        })?;
    }
    Ok(())
}

fn clashes(capabilities: &[Capability]) -> Result<(), RegistryError> {
    let mut ids: HashMap<&str, &Capability> = HashMap::new();
    let mut names: HashMap<(&str, String), &Capability> = HashMap::new();
    for capability in capabilities {
        if let Some(first) = ids.insert(capability.id, capability) {
            return Err(RegistryError::DuplicateId {
                id: capability.id,
                first: first.title,
                second: capability.title,
            });
        }
        let exposure = &capability.exposure;
        let taken = [
            ("tool", exposure.tool.map(str::to_owned)),
            ("route", exposure.route.map(str::to_owned)),
            ("resource", exposure.resource.map(shape)),
            ("prompt", exposure.prompt.map(str::to_owned)),
            ("command", exposure.cli.map(|words| words.join(" "))),
        ];
        for (what, name) in taken {
            let Some(name) = name else { continue };
            let Some(first) = names.insert((what, name.clone()), capability) else {
                continue;
            };
            return Err(match (what, exposure.tool) {
                ("tool", Some(tool)) if first.kind != capability.kind => {
                    RegistryError::MixedKinds {
                        tool,
                        first: first.id,
                        first_kind: first.kind,
                        second: capability.id,
                        second_kind: capability.kind,
                    }
                }
                _ => RegistryError::DuplicateName {
                    what,
                    name,
                    first: first.id,
                    second: capability.id,
                },
            });
        }
    }
    Ok(())
}

/// A URI with its variables' names left out: two templates that differ only in them are the same.
fn shape(uri: &str) -> String {
    variables(uri)
        .unwrap_or_default()
        .into_iter()
        .fold(uri.to_owned(), |shape, name| {
            shape.replace(&format!("{{{name}}}"), "{}")
        })
}

#[cfg(test)]
mod tests;
