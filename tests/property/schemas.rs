//! Schemas: whatever is declared, every reference leads somewhere in both of its forms, or the registry refuses.

use std::collections::BTreeMap;

use majordomus::registry::openapi::About;
use majordomus::registry::schema::{hoist, verify, walk};
use majordomus::registry::validate::check;
use majordomus::registry::{
    Capability, Exposure, Form, Handler, Kind, Registry, RegistryError, Retry,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const NAMES: [&str; 4] = ["Alpha", "Beta", "Gamma", "Delta"];

/// A schema that may refer to any of the four names, in any place where a schema may stand.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        prop::sample::select(NAMES.to_vec())
            .prop_map(|name| json!({"$ref": format!("#/$defs/{name}")})),
        Just(json!({"type": "string", "maxLength": 3})),
        Just(json!({"type": "integer", "minimum": 0, "default": {"$ref": "#/$defs/NoReference"}})),
        Just(json!({"enum": ["a", {"$ref": "#/$defs/NoReference"}]})),
        Just(json!(true)),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|below| json!({"type": "array", "items": below})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|list| json!({"anyOf": list})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|list| json!({"oneOf": list})),
            prop::collection::btree_map("[a-c]|\\$ref", inner.clone(), 0..3)
                .prop_map(|named| json!({"type": "object", "properties": named})),
            inner.prop_map(|below| json!({"type": "object", "additionalProperties": below})),
        ]
    })
}

/// A declared schema: an object, with some or all of the four defined.
fn declared() -> impl Strategy<Value = Value> {
    let defs = prop::collection::btree_map(prop::sample::select(NAMES.to_vec()), schema(), 2..=4);
    (schema(), defs).prop_map(
        |(below, defs)| json!({"type": "object", "properties": {"x": below}, "$defs": defs}),
    )
}

/// Every reference below `schema`, where schemas stand.
fn references(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(schema, "", &mut |object: &Map<String, Value>, _: &str| {
        found.extend(
            object
                .get("$ref")
                .and_then(Value::as_str)
                .map(str::to_owned),
        );
        Ok(())
    })
    .expect("it was made of schemas");
    found
}

fn capability(
    id: &'static str,
    route: &'static str,
    kind: Kind,
    input: Value,
    output: Value,
) -> Capability {
    Capability {
        id,
        kind,
        title: "Made up",
        description: "Made up.",
        input: input.into(),
        output: output.into(),
        form: Form::Data,
        logs: false,
        retry: Retry::Safe,
        exposure: Exposure {
            tool: Some(id.trim_start_matches("a.")),
            route: Some(route),
            ..Exposure::default()
        },
        examples: Vec::new(),
        members: None,
        retain: None,
        handler: Handler::inline(|_| Ok(json!({}))),
    }
}

proptest! {
    #[test]
    fn every_reference_resolves_in_both_forms_or_the_schema_is_refused(schema in declared()) {
        let defined: Vec<_> = schema["$defs"].as_object().unwrap().keys().cloned().collect();
        let whole = references(&schema).iter().all(|reference| {
            reference.strip_prefix("#/$defs/").is_some_and(|name| defined.iter().any(|known| known == name))
        });
        match verify(&schema) {
            Ok(()) => prop_assert!(whole),
            Err(_) => return Ok(()),
        }
        let (root, defs) = hoist(&schema);
        prop_assert!(root.get("$defs").is_none());
        for part in std::iter::once(&root).chain(defs.values()) {
            for reference in references(part) {
                let name = reference.strip_prefix("#/components/schemas/");
                prop_assert!(name.is_some_and(|name| defs.contains_key(name)), "{} in {}", reference, schema);
            }
        }
        // Data that only looks like a reference is left as it was.
        let count = |text: String| text.matches("#/$defs/NoReference").count();
        let all = json!([root, defs]);
        prop_assert_eq!(count(schema.to_string()), count(all.to_string()));
    }

    #[test]
    fn a_document_of_many_resolves_or_names_the_conflict(
        (one, two, three, four) in (declared(), declared(), declared(), declared())
    ) {
        let list = vec![
            capability("a.one", "/api/v1/one", Kind::Query, one, two),
            capability("a.two", "/api/v1/two", Kind::Command, three, four),
        ];
        let registry = match Registry::new(list).and_then(|registry| registry.verify().map(|()| registry)) {
            Ok(registry) => registry,
            Err(RegistryError::ConflictingComponents { name, .. }) => {
                prop_assert!(NAMES.contains(&name.as_str()));
                return Ok(());
            }
            Err(RegistryError::BadSchema { .. }) => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let document = registry.openapi(&About { version: "1", url: None });
        let components = document["components"]["schemas"].as_object().unwrap();
        for part in components.values() {
            for reference in references(part) {
                let name = reference.strip_prefix("#/components/schemas/").unwrap();
                prop_assert!(components.contains_key(name), "{}", name);
            }
        }
        let text = document["paths"].to_string();
        prop_assert!(!text.replace("#/$defs/NoReference", "").contains("#/$defs/"), "{}", text);
        for tool in registry.tools() {
            for side in ["inputSchema", "outputSchema"] {
                prop_assert!(verify(&tool[side]).is_ok());
            }
        }
    }

    /// The check always ends, on any schema and any value.
    #[test]
    fn a_check_always_ends(schema in declared(), value in value()) {
        if verify(&schema).is_ok() {
            drop(check(&schema, &json!({"x": value})));
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..4)
                .prop_map(|named: BTreeMap<String, Value>| json!(named)),
        ]
    })
}
