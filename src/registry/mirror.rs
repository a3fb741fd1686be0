//! Arguments that a request over HTTP repeats in a header, because their schema says `x-mcp-header`.
//!
//! *Mirror*: an argument and the name of its header, without `Mcp-Param-`. A network between client and server routes
//! by such a header without reading the body; so what the header says must be what the body says, and a client drops a
//! tool whose annotations break the rules, which are therefore checked here.
//! *Source:* MCP 2026-07-28 `basic/transports/streamable-http`, "Custom Headers from Tool Parameters".

use std::collections::HashSet;

use serde_json::Value;

use super::schema::{SchemaError, walk};

/// The keyword that names the header.
pub(super) const KEYWORD: &str = "x-mcp-header";

/// An argument and its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror<'a> {
    /// The header's name behind `Mcp-Param-`.
    pub header: &'a str,
    /// The names that lead to the argument.
    path: Vec<&'a str>,
}

impl Mirror<'_> {
    /// Returns what the arguments hold at its place; `None` where that is nothing or null.
    #[must_use]
    pub fn value<'v>(&self, arguments: &'v Value) -> Option<&'v Value> {
        let mut steps = self.path.iter();
        let value = steps.try_fold(arguments, |value, name| value.get(name))?;
        (!value.is_null()).then_some(value)
    }

    /// The JSON pointer of its schema.
    fn pointer(&self) -> String {
        self.path.iter().fold(String::new(), |mut pointer, name| {
            pointer.push_str("/properties/");
            pointer.push_str(name);
            pointer
        })
    }
}

/// Returns the mirrors of a schema: those that a chain of `properties` leads to.
#[must_use]
pub fn mirrors(schema: &Value) -> Vec<Mirror<'_>> {
    let mut found = Vec::new();
    collect(schema, &[], &mut found);
    found
}

fn collect<'a>(schema: &'a Value, path: &[&'a str], found: &mut Vec<Mirror<'a>>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let path = [path, &[name.as_str()]].concat();
        collect(property, &path, found);
        if let Some(header) = property.get(KEYWORD).and_then(Value::as_str) {
            found.push(Mirror { header, path });
        }
    }
}

/// Holds every annotation to the rules by which clients accept a tool.
pub(super) fn verify(schema: &Value) -> Result<(), SchemaError> {
    let reachable: HashSet<String> = mirrors(schema).iter().map(Mirror::pointer).collect();
    let mut names = HashSet::new();
    walk(schema, "", &mut |object, at| {
        let Some(header) = object.get(KEYWORD) else {
            return Ok(());
        };
        let kind = object.get("type").and_then(Value::as_str);
        let broken = if !header.as_str().is_some_and(is_token) {
            "its name must be a header's"
        } else if !reachable.contains(at) {
            "only `properties` may lead to it"
        } else if !matches!(kind, Some("string" | "integer" | "boolean")) {
            "it must be a string, an integer or a boolean"
        } else if !names.insert(header.as_str().unwrap_or_default().to_ascii_lowercase()) {
            "another argument has that header"
        } else {
            return Ok(());
        };
        Err(SchemaError::Mirror {
            at: at.to_owned(),
            broken,
        })
    })
}

/// *Source:* RFC 9110, section 5.6.2.
fn is_token(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{mirrors, verify};

    fn annotated(kind: &str, header: &str) -> Value {
        json!({"type": kind, "x-mcp-header": header})
    }

    #[test]
    fn an_argument_is_found_by_its_path_and_nothing_where_there_is_none() {
        let schema = json!({"type": "object", "properties": {
            "region": annotated("string", "Region"),
            "deep": {"type": "object", "properties": {"count": annotated("integer", "Count")}},
        }});
        verify(&schema).unwrap();
        let all = mirrors(&schema);
        let value = |header: &str, arguments: Value| {
            let mirror = all.iter().find(|mirror| mirror.header == header).unwrap();
            mirror.value(&arguments).cloned()
        };
        assert_eq!(value("Region", json!({"region": "eu"})), Some(json!("eu")));
        assert_eq!(
            value("Count", json!({"deep": {"count": 3}})),
            Some(json!(3))
        );
        for nothing in [json!({}), json!({"region": null}), json!([]), json!(null)] {
            assert_eq!(value("Region", nothing), None);
        }
        assert_eq!(value("Count", json!({"deep": 5})), None);
    }

    #[test]
    fn what_clients_would_drop_is_refused() {
        let object = |properties: Value| json!({"type": "object", "properties": properties});
        let one = |schema: Value| object(json!({"a": schema}));
        for (schema, why) in [
            (one(annotated("string", "")), "must be a header's"),
            (one(annotated("string", "a b")), "must be a header's"),
            (one(annotated("string", "a\r\nb")), "must be a header's"),
            (
                one(json!({"type": "string", "x-mcp-header": 5})),
                "must be a header's",
            ),
            (one(annotated("number", "A")), "an integer or a boolean"),
            (one(annotated("object", "A")), "an integer or a boolean"),
            (
                one(json!({"type": "array", "items": annotated("string", "A")})),
                "only `properties`",
            ),
            (
                one(json!({"anyOf": [annotated("string", "A")]})),
                "only `properties`",
            ),
            (
                object(json!({"a": annotated("string", "Same"), "b": annotated("string", "same")})),
                "another argument",
            ),
        ] {
            let refused = verify(&schema).unwrap_err().to_string();
            assert!(refused.contains(why), "{schema}: {refused}");
        }
    }
}
