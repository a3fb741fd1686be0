//! What a registry refuses, once, at start.
//!
//! Each refusal names both sides: the two capabilities that clash, or the declaration and the rule that it breaks.

use std::collections::HashMap;

use serde_json::Value;

use super::capability::{Capability, Kind, Retry};
use super::schema::SchemaError;
use super::validate::{self, Fault};

/// Where every route starts.
pub const ROUTES: &str = "/api/v1/";
/// Where every resource starts: ours, and those that the conformance suites name.
const SCHEMES: [&str; 2] = ["majordomus://", "test://"];

/// A mistake in the declarations.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// An id is not `namespace.local`.
    #[error(
        "capability `{id}` (\"{title}\"): an id is `namespace.local`, lower-case letters, digits and `_` with one dot"
    )]
    BadId {
        /// The id.
        id: &'static str,
        /// Its title.
        title: &'static str,
    },
    /// Two capabilities of one id.
    #[error("capabilities \"{first}\" and \"{second}\" both have the id `{id}`")]
    DuplicateId {
        /// The id.
        id: &'static str,
        /// The title of the first.
        first: &'static str,
        /// The title of the second.
        second: &'static str,
    },
    /// Two capabilities of one kind under one name.
    #[error("capabilities `{first}` and `{second}` both have the {what} `{name}`")]
    DuplicateName {
        /// Tool, route, resource, prompt or command.
        what: &'static str,
        /// The name.
        name: String,
        /// The first.
        first: &'static str,
        /// The second.
        second: &'static str,
    },
    /// Two capabilities of different kinds behind one tool.
    #[error(
        "tool `{tool}` mixes kinds: `{first}` is a {first_kind}, `{second}` is a {second_kind}"
    )]
    MixedKinds {
        /// The tool.
        tool: &'static str,
        /// The first.
        first: &'static str,
        /// Its kind.
        first_kind: Kind,
        /// The second.
        second: &'static str,
        /// Its kind.
        second_kind: Kind,
    },
    /// A name that its transport does not take.
    #[error("capability `{id}` has the {what} `{name}`, which is not {rule}")]
    BadName {
        /// The capability.
        id: &'static str,
        /// Tool, route, resource or command.
        what: &'static str,
        /// The name.
        name: String,
        /// What it has to be.
        rule: &'static str,
    },
    /// A prompt without a name, or a name without a prompt.
    #[error("capability `{id}` is a {kind} and has {what} prompt name")]
    PromptName {
        /// The capability.
        id: &'static str,
        /// Its kind.
        kind: Kind,
        /// `a` or `no`.
        what: &'static str,
    },
    /// A prompt's argument that is no string, which is all that MCP gives it.
    #[error("capability `{id}` is a prompt, and its argument `{argument}` is no string")]
    PromptArgument {
        /// The capability.
        id: &'static str,
        /// The argument.
        argument: String,
    },
    /// A resource without a URI.
    #[error("capability `{id}` is a resource and has no resource URI to be read under")]
    ResourceWithoutUri {
        /// The capability.
        id: &'static str,
    },
    /// Reading would change something.
    #[error(
        "capability `{id}` is a command and has the resource URI `{uri}`: reading must not change anything"
    )]
    CommandAsResource {
        /// The capability.
        id: &'static str,
        /// The URI.
        uri: &'static str,
    },
    /// A resource cannot be read, since reading gives no arguments.
    #[error(
        "capability `{id}` has the resource URI `{uri}` but needs the argument `{argument}`, which the URI does not give"
    )]
    ResourceNeedsInput {
        /// The capability.
        id: &'static str,
        /// The URI.
        uri: &'static str,
        /// The argument.
        argument: String,
    },
    /// A URI template names what is no argument.
    #[error(
        "capability `{id}` has the resource URI `{uri}`, whose `{variable}` is no argument of it"
    )]
    UnknownVariable {
        /// The capability.
        id: &'static str,
        /// The URI.
        uri: &'static str,
        /// The variable.
        variable: String,
    },
    /// A read with a retry class that says it changes something.
    #[error(
        "capability `{id}` is a {kind} and has the retry class `{retry}`: what only reads is `safe`"
    )]
    ReadNotSafe {
        /// The capability.
        id: &'static str,
        /// Its kind.
        kind: Kind,
        /// Its retry class.
        retry: Retry,
    },
    /// A frame that is replayed must not add up.
    #[error(
        "capability `{id}` is retained and has the retry class `{retry}`: what is replayed is `converging`"
    )]
    RetainedNotConverging {
        /// The capability.
        id: &'static str,
        /// Its retry class.
        retry: Retry,
    },
    /// A schema that cannot be declared.
    #[error("capability `{id}`: the {side} schema: {fault}")]
    BadSchema {
        /// The capability.
        id: &'static str,
        /// `input` or `output`.
        side: &'static str,
        /// What is wrong.
        fault: SchemaError,
    },
    /// An example that its own schema refuses.
    #[error("capability `{id}`: the example \"{title}\" does not fit the input schema: {fault}")]
    BadExample {
        /// The capability.
        id: &'static str,
        /// The example.
        title: &'static str,
        /// What is wrong.
        fault: Fault,
    },
    /// Two types of one name in the OpenAPI document.
    #[error("capabilities `{first}` and `{second}` both define `{name}`, and differ")]
    ConflictingComponents {
        /// The component.
        name: String,
        /// The first.
        first: &'static str,
        /// The second.
        second: &'static str,
    },
}

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
        let rest = SCHEMES.iter().find_map(|scheme| uri.strip_prefix(scheme));
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
