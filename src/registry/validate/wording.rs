//! What a fault says, in words: names that are safe to show, values without their content, bounds.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::floor::text::shown;

pub(super) fn join(at: &str, name: &str) -> String {
    // A name from outside is quoted, never trusted: it is cut and loses its control characters.
    let name = shown(name, 64);
    if at.is_empty() {
        name
    } else {
        format!("{at}.{name}")
    }
}

pub(super) fn names(declared: Option<&Map<String, Value>>) -> String {
    let names: Vec<_> = declared
        .into_iter()
        .flat_map(Map::keys)
        .map(|name| format!("`{name}`"))
        .collect();
    match names.as_slice() {
        [] => "no arguments".to_owned(),
        [only] => format!("only {only}"),
        several => format!("one of {}", several.join(", ")),
    }
}

pub(super) fn article(word: &str) -> &'static str {
    match word {
        "null" => "null",
        "boolean" => "true or false",
        "string" => "a string",
        "array" => "an array",
        "object" => "an object",
        "number" => "a number",
        "integer" => "an integer",
        _ => "another value",
    }
}

pub(super) fn kind_of(value: &Value) -> &'static str {
    article(match value {
        Value::Null => "null",
        Value::Bool(_) => return "a boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    })
}

/// What stands there, with its size but without its content.
pub(super) fn found(value: &Value) -> String {
    match value {
        Value::String(text) => format!("a string of {} characters", text.chars().count()),
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::Number(number) => format!("the number {number}"),
        other => kind_of(other).to_owned(),
    }
}

pub(super) fn bounds(schema: &Map<String, Value>) -> String {
    let mut text = String::new();
    for (keyword, words) in [
        ("minLength", "of at least"),
        ("maxLength", "of at most"),
        ("minItems", "of at least"),
        ("maxItems", "of at most"),
        ("minimum", "of at least"),
        ("maximum", "of at most"),
        ("exclusiveMinimum", "above"),
        ("exclusiveMaximum", "below"),
        ("multipleOf", "that is a multiple of"),
    ] {
        let Some(limit) = schema.get(keyword) else {
            continue;
        };
        let and = if text.is_empty() { "" } else { " and" };
        let unit = match keyword {
            "minLength" | "maxLength" => " characters",
            "minItems" | "maxItems" => " items",
            _ => "",
        };
        // Writing to a string cannot fail.
        _ = write!(text, "{and} {words} {limit}{unit}");
    }
    text
}

pub(super) fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
