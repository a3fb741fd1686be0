//! `prompts/get` and `completion/complete`.

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::blocks::fitting;
use super::engine::{Engine, Turn};
use super::reply::{Failure, Outcome, Success};
use super::tools::protocol_error;
use crate::floor::limits::COMPLETIONS;
use crate::floor::text::shown;
use crate::registry::Capability;

impl Engine {
    pub(super) async fn get_prompt(&self, turn: Turn<'_>, token: &CancellationToken) -> Outcome {
        let Some(name) = turn.params.get("name").and_then(Value::as_str) else {
            return Err(Failure::params("`name` is missing or not a string"));
        };
        let Some(capability) = self.registry.by_prompt(name) else {
            return Err(unknown("prompt", name));
        };
        let arguments = match turn.params.get("arguments") {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(arguments @ Value::Object(_)) => arguments.clone(),
            Some(_) => return Err(Failure::params("`arguments` is not an object")),
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
            Ok(Ok(_)) => Err(Failure::params("the prompt has no messages")),
            Ok(Err(refusal)) => Err(protocol_error(&refusal)),
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
                .ok_or_else(|| unknown("prompt", name))?,
            (Some("ref/resource"), _, Some(uri)) => self
                .registry
                .by_template(uri)
                .ok_or_else(|| unknown("resource template", uri))?,
            _ => {
                return Err(Failure::params(
                    "`ref` names no prompt and no resource template",
                ));
            }
        };
        let (Some(argument), Some(begun)) = (text("/argument/name"), text("/argument/value"))
        else {
            return Err(Failure::params(
                "`argument` needs `name` and `value`, both strings",
            ));
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

fn unknown(what: &str, name: &str) -> Failure {
    let known = shown(name, 64);
    Failure::params(format!("unknown {what} `{known}`"))
}
