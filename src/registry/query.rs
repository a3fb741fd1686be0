//! Arguments of a GET: from the pairs of a query string to an object that the input schema can judge.
//!
//! The schema decides how a word is read. An argument that may be a string is taken as it stands; otherwise a number,
//! a truth value or, where the schema wants an object or anything at all, JSON. A list is given by repeating its name.
//! A word that cannot be read as its type stays a string, so that the check names the argument and what was expected.

use serde_json::{Map, Value};

use super::capability::Capability;
use super::schema::resolve;

/// Reads decoded `(name, value)` pairs of a query string.
pub fn arguments<'a>(
    capability: &Capability,
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Value {
    let root = &capability.input;
    let mut given = Map::new();
    for (name, word) in pairs {
        let below = root.get("properties").and_then(|all| all.get(name));
        let below = below.map(|schema| target(root, schema));
        match below {
            Some(schema) if wants(schema, "array") => {
                let items = schema.get("items").map(|items| target(root, items));
                let item = read(items, word);
                match given.get_mut(name) {
                    Some(Value::Array(list)) => list.push(item),
                    _ => drop(given.insert(name.to_owned(), Value::Array(vec![item]))),
                }
            }
            _ => drop(given.insert(name.to_owned(), read(below, word))),
        }
    }
    Value::Object(given)
}

/// Whether an argument of this schema stands in a query string as a word or a list of words, and not as JSON.
pub(super) fn is_plain(root: &Value, schema: &Value) -> bool {
    let schema = target(root, schema);
    let scalar = |schema: &Value| {
        ["string", "integer", "number", "boolean"]
            .iter()
            .any(|word| wants(schema, word))
            || schema.get("enum").is_some()
    };
    if wants(schema, "array") {
        schema
            .get("items")
            .is_some_and(|items| scalar(target(root, items)))
    } else {
        scalar(schema)
    }
}

fn target<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| resolve(root, reference))
        .unwrap_or(schema)
}

fn wants(schema: &Value, word: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(only)) => only == word,
        Some(Value::Array(words)) => words.iter().any(|each| each == word),
        _ => false,
    }
}

fn read(schema: Option<&Value>, word: &str) -> Value {
    let text = || Value::String(word.to_owned());
    let Some(schema) = schema else { return text() };
    if wants(schema, "string") || schema.get("enum").is_some() {
        return text();
    }
    serde_json::from_str(word).unwrap_or_else(|_| text())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::arguments;
    use crate::registry::{Capability, Exposure, Form, Handler, Kind, Retry};

    #[test]
    fn the_schema_decides_how_a_word_is_read() {
        let capability = Capability {
            id: "test.query",
            kind: Kind::Query,
            title: "Query",
            description: "Reads.",
            input: json!({"type": "object", "properties": {
                "text": {"type": "string"}, "count": {"type": "integer"}, "on": {"type": "boolean"},
                "list": {"type": "array", "items": {"type": "integer"}},
                "names": {"type": "array", "items": {"$ref": "#/$defs/Name"}},
                "any": {}, "mode": {"enum": ["1"]}, "tree": {"$ref": "#/$defs/Tree"},
            }, "$defs": {"Tree": {"type": "object"}, "Name": {"type": "string"}}})
            .into(),
            output: json!({"type": "object"}).into(),
            form: Form::Data,
            logs: false,
            retry: Retry::Safe,
            exposure: Exposure::default(),
            examples: Vec::new(),
            members: None,
            retain: None,
            handler: Handler::inline(|_| Ok(json!({}))),
        };
        let pairs = [
            ("text", "12"),
            ("count", "12"),
            ("on", "true"),
            ("list", "1"),
            ("list", "x"),
            ("names", "1"),
            ("any", "[1]"),
            ("mode", "1"),
            ("tree", "{\"a\":1}"),
            ("unknown", "1"),
        ];
        assert_eq!(
            arguments(&capability, pairs),
            json!({"text": "12", "count": 12, "on": true, "list": [1, "x"], "names": ["1"], "any": [1], "mode": "1",
                "tree": {"a": 1}, "unknown": "1"})
        );
    }
}
