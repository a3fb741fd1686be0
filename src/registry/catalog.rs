//! The registry itself: built once, checked, immutable.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::call::{Answer, Call};
use super::capability::Capability;
use super::checks::{self, RegistryError};
use super::digest::Digest;
use super::refusal::{self, Refusal};
use super::{digest, guard, tools, validate};
use crate::floor::deferred::Deferred;

/// Every capability of this server.
#[derive(Debug)]
pub struct Registry {
    capabilities: Arc<[Capability]>,
    ids: HashMap<&'static str, usize>,
    tools: HashMap<&'static str, usize>,
    resources: HashMap<&'static str, usize>,
    prompts: HashMap<&'static str, usize>,
    templates: Vec<usize>,
    digest: Digest,
    tokens: Deferred<usize>,
}

/// What a resource URI names.
#[derive(Debug, Clone)]
pub struct Read<'a> {
    /// The capability that is read.
    pub capability: &'a Capability,
    /// The arguments that the URI gives: an object, empty for a URI without variables.
    pub arguments: Value,
}

impl Registry {
    /// Checks the declarations and freezes them, in the order given. No schema is looked at: see
    /// [`Registry::verify`].
    ///
    /// # Errors
    /// The first mistake, naming both sides; see [`RegistryError`].
    pub fn new(capabilities: Vec<Capability>) -> Result<Self, RegistryError> {
        checks::declarations(&capabilities)?;
        let capabilities: Arc<[Capability]> = capabilities.into();
        let (digested, counted) = (Arc::clone(&capabilities), Arc::clone(&capabilities));
        let mut registry = Self {
            digest: Deferred::new(move || digest::of(&digested)),
            tokens: Deferred::new(move || tools::tokens(&counted)),
            capabilities,
            ids: HashMap::new(),
            tools: HashMap::new(),
            resources: HashMap::new(),
            prompts: HashMap::new(),
            templates: Vec::new(),
        };
        for (index, capability) in registry.capabilities.iter().enumerate() {
            registry.ids.insert(capability.id, index);
            if let Some(tool) = capability.exposure.tool {
                registry.tools.insert(tool, index);
            }
            if let Some(prompt) = capability.exposure.prompt {
                registry.prompts.insert(prompt, index);
            }
            match capability.exposure.resource {
                Some(uri) if uri.contains('{') => registry.templates.push(index),
                Some(uri) => drop(registry.resources.insert(uri, index)),
                None => {}
            }
        }
        Ok(registry)
    }

    /// Checks every schema and example, which are the same in every process of a build: a test and `validate` do it, and
    /// a start does not wait for it.
    ///
    /// # Errors
    /// The first mistake, naming both sides; see [`RegistryError`].
    pub fn verify(&self) -> Result<(), RegistryError> {
        checks::contents(&self.capabilities)
    }

    /// Returns every capability in the order of its declaration.
    #[must_use]
    pub fn all(&self) -> &[Capability] {
        &self.capabilities
    }

    /// Returns the capability of an id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Capability> {
        self.at(self.ids.get(id))
    }

    /// Returns the capability behind a tool.
    #[must_use]
    pub fn by_tool(&self, name: &str) -> Option<&Capability> {
        self.at(self.tools.get(name))
    }

    /// Returns the capability behind a prompt.
    #[must_use]
    pub fn by_prompt(&self, name: &str) -> Option<&Capability> {
        self.at(self.prompts.get(name))
    }

    /// Returns the template with this very URI, variables and all.
    #[must_use]
    pub fn by_template(&self, uri: &str) -> Option<&Capability> {
        let mut templates = self
            .templates
            .iter()
            .filter_map(|index| self.capabilities.get(*index));
        templates.find(|capability| capability.exposure.resource == Some(uri))
    }

    /// Returns the capability behind a resource URI, and the arguments that the URI gives.
    #[must_use]
    pub fn by_resource(&self, uri: &str) -> Option<Read<'_>> {
        if let Some(capability) = self.at(self.resources.get(uri)) {
            return Some(Read {
                capability,
                arguments: Value::Object(Map::new()),
            });
        }
        self.templates.iter().find_map(|index| {
            let capability = self.capabilities.get(*index)?;
            let arguments = unfold(capability.exposure.resource?, uri)?;
            Some(Read {
                capability,
                arguments: Value::Object(arguments),
            })
        })
    }

    /// Returns the SHA-256 of all declarations and the crate's version, 64 hex: two builds with one digest serve the
    /// same. It is computed at the first look.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Returns about how many tokens `tools/list` costs a model (I10).
    #[must_use]
    pub fn tokens(&self) -> usize {
        *self.tokens
    }

    /// Checks arguments against the input schema; [`Registry::call`] does it too.
    ///
    /// # Errors
    /// `invalid_input`, naming the argument and what was expected.
    pub fn check_input(&self, capability: &Capability, arguments: &Value) -> Result<(), Refusal> {
        validate::check(&capability.input, arguments).map_err(|fault| {
            let hint = format!(
                "`majordomus describe {}` shows its arguments",
                capability.id
            );
            fault.reason().told(&fault).hint(hint)
        })
    }

    /// Checks the arguments, runs the capability and answers.
    ///
    /// A panic in it is answered with `internal` and logged; nothing else is touched. Debug builds also
    /// hold the answer to the output schema. Cancel safety: dropping the future drops the capability's future.
    ///
    /// # Errors
    /// The refusal, on every transport the same.
    pub async fn call(&self, capability: &Capability, call: Call) -> Answer {
        self.check_input(capability, &call.arguments)?;
        let answer = guard::run(capability, call).await?;
        if cfg!(debug_assertions)
            && let Err(fault) = validate::check(&capability.output, &answer)
        {
            tracing::error!(capability = capability.id, %fault, "an answer does not fit its schema");
            return Err(refusal::UNFIT_ANSWER.fill(&[&capability.id, &fault]));
        }
        Ok(answer)
    }

    fn at(&self, index: Option<&usize>) -> Option<&Capability> {
        self.capabilities.get(*index?)
    }
}

/// Matches `uri` against a template; a variable stands for one part of a path, of at least one character.
fn unfold(template: &str, uri: &str) -> Option<Map<String, Value>> {
    let mut given = Map::new();
    let (mut parts, mut values) = (template.split('/'), uri.split('/'));
    loop {
        match (parts.next(), values.next()) {
            (None, None) => return Some(given),
            (Some(part), Some(value)) => {
                let Some((before, rest)) = part.split_once('{') else {
                    if part == value {
                        continue;
                    }
                    return None;
                };
                let (name, after) = rest.split_once('}')?;
                let value = value.strip_prefix(before)?.strip_suffix(after)?;
                if value.is_empty() {
                    return None;
                }
                given.insert(name.to_owned(), Value::String(value.to_owned()));
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests;
