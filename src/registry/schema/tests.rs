use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{SchemaError, hoist, of, verify, walk};

/// A tree.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Tree {
    /// What it is called.
    name: String,
    #[schema(no_recursion)]
    children: Vec<Self>,
    leaf: Option<Leaf>,
}

/// A leaf.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Leaf {
    colour: Option<String>,
}

#[test]
fn a_recursive_type_resolves_in_both_forms() {
    let schema = of::<Tree>().unwrap();
    verify(&schema).unwrap();
    let (root, defs) = hoist(&schema);
    let mut seen = 0;
    for part in std::iter::once(&root).chain(defs.values()) {
        walk(part, "", &mut |object, _| {
            if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
                let name = reference.strip_prefix("#/components/schemas/").unwrap();
                assert!(defs.contains_key(name), "{name}");
                seen += 1;
            }
            Ok(())
        })
        .unwrap();
    }
    assert!(seen >= 2, "{schema:#}");
}

#[test]
fn mistakes_are_named() {
    assert_eq!(
        verify(&json!({"type": "array"})),
        Err(SchemaError::RootNotObject)
    );
    let dangling = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/Gone"}}});
    assert!(matches!(
        verify(&dangling),
        Err(SchemaError::Unresolved { .. })
    ));
    let own = json!({"type": "object", "properties": {"a": {"pattern": "x"}}});
    assert_eq!(
        verify(&own).unwrap_err().to_string(),
        "`/properties/a` uses the keyword `pattern`, which is not checked here"
    );
    let circle =
        json!({"type": "object", "$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}});
    assert!(matches!(verify(&circle), Err(SchemaError::Loop { .. })));
}

#[test]
fn data_that_looks_like_a_reference_is_left_alone() {
    let schema = json!({"type": "object", "properties": {"$ref": {"type": "string"}},
        "default": {"$ref": "#/$defs/X"}, "$defs": {}});
    let (root, _) = hoist(&schema);
    assert_eq!(root["default"]["$ref"], "#/$defs/X");
}
