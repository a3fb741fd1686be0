//! `prompts/get` and `completion/complete`.

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::blocks::fitting;
use super::engine::{Engine, Turn};
use super::failure::{self, Failure};
use super::reply::{Outcome, Success};
use crate::floor::limits::COMPLETIONS;
use crate::floor::text::shown;
use crate::registry::Capability;

impl Engine {
    pub(super) async fn get_prompt(&self, turn: Turn<'_>, token: &CancellationToken) -> Outcome {
        let Some(name) = turn.params.get("name").and_then(Value::as_str) else {
            return Err(failure::NO_NAME.fill(&[]));
        };
        let Some(capability) = self.registry.by_prompt(name) else {
            return Err(failure::UNKNOWN_PROMPT.fill(&[&shown(name, 64)]));
        };
        let arguments = match turn.params.get("arguments") {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(arguments @ Value::Object(_)) => arguments.clone(),
            Some(_) => return Err(failure::NO_ARGUMENTS.fill(&[])),
        };
        match self.call(capability, &turn, arguments, token).await {
            Ok(Ok(Value::Object(mut result))) => {
                let messages = result.get_mut("messages").and_then(Value::as_array_mut);
                for message in messages.into_iter().flatten() {
                    message["content"] = fitting(message["content"].take(), turn.revision);
                }
                result.insert("description".to_owned(), json!(capability.description));
                Ok(Success::new(self.finish(turn.revision, result, None)))
            }
            Ok(Ok(_)) => Err(failure::NO_MESSAGES.fill(&[])),
            Ok(Err(refusal)) => Err(Failure::refused(&refusal)),
            Err(early) => *early,
        }
    }

    /// Completes from what the declaration says of an argument: the values that it allows, and those of its examples.
    pub(super) fn complete_argument(&self, turn: &Turn<'_>) -> Outcome {
        let text = |pointer: &str| turn.params.pointer(pointer).and_then(Value::as_str);
        let capability = match (text("/ref/type"), text("/ref/name"), text("/ref/uri")) {
            (Some("ref/prompt"), Some(name), _) => self
                .registry
                .by_prompt(name)
                .ok_or_else(|| failure::UNKNOWN_PROMPT.fill(&[&shown(name, 64)]))?,
            (Some("ref/resource"), _, Some(uri)) => self
                .registry
                .by_template(uri)
                .ok_or_else(|| failure::UNKNOWN_TEMPLATE.fill(&[&shown(uri, 64)]))?,
            _ => {
                return Err(failure::NO_REFERENCE.fill(&[]));
            }
        };
        let (Some(argument), Some(begun)) = (text("/argument/name"), text("/argument/value"))
        else {
            return Err(failure::NO_ARGUMENT.fill(&[]));
        };
        let mut values = known_values(capability, argument);
        values.retain(|value| value.starts_with(begun));
        let total = values.len();
        values.truncate(COMPLETIONS);
        let mut result = Map::new();
        let completion =
            json!({ "values": values, "total": total, "hasMore": total > COMPLETIONS });
        result.insert("completion".to_owned(), completion);
        Ok(Success::new(self.finish(turn.revision, result, None)))
    }
}

fn known_values<'a>(capability: &'a Capability, argument: &str) -> Vec<&'a str> {
    let declared = capability
        .input
        .get("properties")
        .and_then(|all| all.get(argument));
    let allowed = declared
        .and_then(|schema| schema.get("enum"))
        .and_then(Value::as_array);
    let shown = capability
        .examples
        .iter()
        .filter_map(|example| example.arguments.get(argument));
    let mut values: Vec<&str> = Vec::new();
    for value in allowed
        .into_iter()
        .flatten()
        .chain(shown)
        .filter_map(Value::as_str)
    {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}
