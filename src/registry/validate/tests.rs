use serde_json::{Value, json};

use super::check;

fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["intent"],
        "additionalProperties": false,
        "properties": {
            "intent": {"type": "string", "maxLength": 5},
            "scope": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
            "label": {"type": ["string", "null"]},
            "count": {"type": "integer", "minimum": 1},
            "mode": {"enum": ["fast", "slow"]},
            "tree": {"$ref": "#/$defs/Tree"},
            "maybe": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/Tree"}]}
        },
        "$defs": {"Tree": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
        }}}
    })
}

fn told(value: &Value) -> String {
    check(&schema(), value).unwrap_err().to_string()
}

#[test]
fn what_fits_passes() {
    let value = json!({"intent": "änder", "scope": ["a"], "label": null, "count": 2.0, "mode": "slow",
        "tree": {"name": "a", "children": [{"name": "b"}]}, "maybe": null});
    assert_eq!(check(&schema(), &value), Ok(()));
}

#[test]
fn every_fault_names_the_argument_and_what_was_expected() {
    let cases = [
        (json!([]), "the arguments are an array: expected an object"),
        (
            json!({}),
            "argument `intent` is missing: expected a string of at most 5 characters",
        ),
        (
            json!({"intent": "too long"}),
            "argument `intent` is a string of 8 characters: expected a string of at most 5 characters",
        ),
        (
            json!({"intent": "a", "scope": "src"}),
            "argument `scope` is a string of 3 characters: expected an array of at most 2 items, each a string",
        ),
        (
            json!({"intent": "a", "scope": [1]}),
            "argument `scope[0]` is the number 1: expected a string",
        ),
        (
            json!({"intent": "a", "count": 0}),
            "argument `count` is the number 0: expected an integer of at least 1",
        ),
        (
            json!({"intent": "a", "mode": "x"}),
            "argument `mode` is a string of 1 characters: expected one of `fast`, `slow`",
        ),
        (
            json!({"intent": "a", "label": 1}),
            "argument `label` is the number 1: expected a string or null",
        ),
        (
            json!({"intent": "a", "maybe": {"name": "a", "children": [{}]}}),
            "argument `maybe.children[0].name` is missing: expected a string",
        ),
        (
            json!({"intent": "a", "scop\u{1b}": 1}),
            "unknown argument `scop`: expected one of `intent`, `scope`, `label`, `count`, `mode`, `tree`, `maybe`",
        ),
    ];
    for (value, text) in cases {
        assert_eq!(told(&value), text);
    }
}

#[test]
fn a_schema_that_leads_in_circles_ends() {
    let circle = json!({"type": "object", "$ref": "#/$defs/A",
        "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}]}}});
    assert!(check(&circle, &json!({})).is_err());
}
