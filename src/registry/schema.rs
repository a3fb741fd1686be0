//! Raw JSON Schema: made once from derived types, and rendered for MCP and for OpenAPI.
//!
//! A declaration keeps its schemas as JSON Schema 2020-12 with definitions under `$defs`, which is the form MCP wants.
//! OpenAPI wants the same definitions under `components/schemas`. [`of`] makes the first form of a type that derives
//! `utoipa::ToSchema`; [`hoist`] makes the second of the first. Both only touch places where a schema stands, never an
//! example or a default, so that data which looks like a reference stays what it is.
//!
//! [`verify`] holds every declared schema to the subset that [`super::validate`] understands; a keyword outside it
//! stops the process at start, so that no constraint is ever declared and silently not checked.
//!
//! Absent: remote references, anchors, `pattern` and dynamic references. utoipa's own `Schema` type is not kept: it
//! drops `const`, `$defs`, `if` and more.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::mirror;
use crate::floor::deferred::Deferred;

const DEFS: &str = "#/$defs/";
const COMPONENTS: &str = "#/components/schemas/";

/// Keywords whose value is one schema.
const ONE: [&str; 7] = [
    "items",
    "additionalProperties",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
];
/// Keywords whose value is a list of schemas.
const LIST: [&str; 4] = ["oneOf", "anyOf", "allOf", "prefixItems"];
/// Keywords whose value maps names to schemas.
const NAMED: [&str; 2] = ["properties", "$defs"];
/// Keywords that constrain and hold no schema.
const CONSTRAINTS: [&str; 13] = [
    "type",
    "required",
    "enum",
    "const",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];
/// Keywords that only tell.
const ANNOTATIONS: [&str; 13] = [
    "title",
    "description",
    "default",
    "examples",
    "example",
    "format",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$schema",
    "$comment",
    // A name for a place, to which no reference of ours leads.
    "$anchor",
    mirror::KEYWORD,
];

/// Why a schema cannot be declared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// The root is not an object.
    #[error("the root is not of type `object`, which MCP clients refuse")]
    RootNotObject,
    /// A schema is neither an object nor a boolean.
    #[error("`{at}` holds no schema")]
    NoSchema {
        /// JSON pointer.
        at: String,
    },
    /// A keyword that the validator does not know.
    #[error("`{at}` uses the keyword `{keyword}`, which is not checked here")]
    UnknownKeyword {
        /// JSON pointer.
        at: String,
        /// The keyword.
        keyword: String,
    },
    /// A reference to a definition that is not there.
    #[error("`{at}` refers to `{reference}`, which is not defined")]
    Unresolved {
        /// JSON pointer.
        at: String,
        /// The reference.
        reference: String,
    },
    /// A schema that is defined by itself.
    #[error("`{reference}` is defined by itself")]
    Loop {
        /// The reference.
        reference: String,
    },
    /// An argument that no client would repeat in a header.
    #[error("`{at}` cannot be repeated in a header: {broken}")]
    Mirror {
        /// JSON pointer.
        at: String,
        /// The rule that it breaks.
        broken: &'static str,
    },
    /// Two types of one name and different content.
    #[error("two types are named `{name}` and differ")]
    TwoTypes {
        /// The name.
        name: String,
    },
    /// utoipa made something that is not JSON.
    #[error("`{name}` cannot be written as JSON")]
    NotJson {
        /// The type.
        name: String,
    },
}

/// A declared schema, made when somebody first looks at it: a start needs none of them.
#[derive(Debug, Clone)]
pub struct Schema(Deferred<Result<Value, SchemaError>>);

impl Schema {
    /// Declares the schema of a type.
    #[must_use]
    pub fn of<T: ToSchema + 'static>() -> Self {
        Self(Deferred::new(of::<T>))
    }

    /// Holds it to what MCP asks and the validator knows.
    ///
    /// # Errors
    /// See [`SchemaError`].
    pub fn verify(&self) -> Result<(), SchemaError> {
        match &*self.0 {
            Ok(schema) => verify(schema),
            Err(error) => Err(error.clone()),
        }
    }
}

impl From<Value> for Schema {
    fn from(schema: Value) -> Self {
        Self(Ok(schema).into())
    }
}

impl std::ops::Deref for Schema {
    type Target = Value;

    /// A type that has no schema fits nothing; [`Schema::verify`] says why.
    fn deref(&self) -> &Value {
        self.0.as_ref().unwrap_or(&Value::Bool(false))
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::serialize(self, serializer)
    }
}

/// Returns the raw JSON Schema of a type, its definitions under `$defs`.
///
/// # Errors
/// [`SchemaError::TwoTypes`] where two types below `T` share a name, [`SchemaError::NotJson`] if utoipa fails.
pub fn of<T: ToSchema>() -> Result<Value, SchemaError> {
    let written = |name: &str, schema: &dyn Fn() -> serde_json::Result<Value>| {
        schema().map_err(|_| SchemaError::NotJson {
            name: name.to_owned(),
        })
    };
    let name = T::name();
    let mut root = written(&name, &|| serde_json::to_value(T::schema()))?;
    let mut found = Vec::new();
    T::schemas(&mut found);
    let mut defs: BTreeMap<String, Value> = BTreeMap::new();
    for (name, schema) in found {
        let schema = written(&name, &|| serde_json::to_value(&schema))?;
        if defs.get(&name).is_some_and(|known| *known != schema) {
            return Err(SchemaError::TwoTypes { name });
        }
        defs.insert(name, schema);
    }
    if let Some(whole) = root
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| reference.strip_prefix(COMPONENTS))
        .and_then(|name| defs.get(name))
    {
        root = whole.clone();
    }
    let own = format!("{COMPONENTS}{name}");
    let mut recursive = false;
    for part in std::iter::once(&root).chain(defs.values()) {
        walk(part, "", &mut |object, _| {
            recursive |= object
                .get("$ref")
                .is_some_and(|reference| *reference == own);
            Ok(())
        })?;
    }
    if recursive && !defs.contains_key(&*name) {
        // A type that holds itself is not among those that it refers to.
        defs.insert(name.into_owned(), root.clone());
    }
    if let (Some(object), false) = (root.as_object_mut(), defs.is_empty()) {
        object.insert("$defs".to_owned(), json!(defs));
    }
    rewrite(&mut root, COMPONENTS, DEFS);
    // The capability describes itself; its types need not say it again to every model.
    if let Some(object) = root.as_object_mut() {
        object.shift_remove("description");
    }
    Ok(root)
}

/// Splits a schema into its root and its definitions, both in the form that OpenAPI wants: references point to
/// `#/components/schemas/`.
#[must_use]
pub fn hoist(schema: &Value) -> (Value, Map<String, Value>) {
    let mut root = schema.clone();
    rewrite(&mut root, DEFS, COMPONENTS);
    let defs = root
        .as_object_mut()
        .and_then(|object| object.shift_remove("$defs"));
    let defs = match defs {
        Some(Value::Object(defs)) => defs,
        _ => Map::new(),
    };
    (root, defs)
}

/// Replaces the prefix of every reference in `schema`, and leaves out what only the other form has.
fn rewrite(schema: &mut Value, from: &str, to: &str) {
    let Value::Object(object) = schema else {
        return;
    };
    if let Some(Value::String(reference)) = object.get_mut("$ref")
        && let Some(name) = reference.strip_prefix(from)
    {
        *reference = format!("{to}{name}");
    }
    // Widths of integers are `OpenAPI`'s words, and bounds say more.
    let width = object.get("format").and_then(Value::as_str);
    if matches!(width, Some("int32" | "int64" | "uint32" | "uint64")) {
        object.shift_remove("format");
    }
    for (keyword, value) in object.iter_mut() {
        let keyword = keyword.as_str();
        match value {
            Value::Array(list) if LIST.contains(&keyword) => {
                for below in list {
                    rewrite(below, from, to);
                }
            }
            Value::Object(named) if NAMED.contains(&keyword) => {
                for below in named.values_mut() {
                    rewrite(below, from, to);
                }
            }
            Value::Object(_) if ONE.contains(&keyword) => rewrite(value, from, to),
            _ => {}
        }
    }
}

/// Calls `visit` with every schema in `schema`, itself first, and its JSON pointer.
///
/// # Errors
/// Those of `visit`, and [`SchemaError::NoSchema`] where something else stands in a schema's place.
pub fn walk<F>(schema: &Value, at: &str, visit: &mut F) -> Result<(), SchemaError>
where
    F: FnMut(&Map<String, Value>, &str) -> Result<(), SchemaError>,
{
    let object = match schema {
        Value::Bool(_) => return Ok(()),
        Value::Object(object) => object,
        _ => return Err(SchemaError::NoSchema { at: at.to_owned() }),
    };
    visit(object, at)?;
    for (keyword, value) in object {
        let here = format!("{at}/{keyword}");
        let keyword = keyword.as_str();
        if ONE.contains(&keyword) {
            walk(value, &here, visit)?;
        } else if LIST.contains(&keyword) || NAMED.contains(&keyword) {
            match value {
                Value::Array(list) if LIST.contains(&keyword) => {
                    for (index, below) in list.iter().enumerate() {
                        walk(below, &format!("{here}/{index}"), visit)?;
                    }
                }
                Value::Object(named) if NAMED.contains(&keyword) => {
                    for (name, below) in named {
                        walk(below, &format!("{here}/{name}"), visit)?;
                    }
                }
                _ => return Err(SchemaError::NoSchema { at: here }),
            }
        }
    }
    Ok(())
}

/// Holds a declared schema to what MCP asks and the validator knows.
///
/// # Errors
/// See [`SchemaError`].
pub fn verify(schema: &Value) -> Result<(), SchemaError> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(SchemaError::RootNotObject);
    }
    mirror::verify(schema)?;
    walk(schema, "", &mut |object, at| {
        for keyword in object.keys() {
            let word = keyword.as_str();
            let known = word == "$ref"
                || [ONE.as_slice(), &LIST, &NAMED, &CONSTRAINTS, &ANNOTATIONS]
                    .iter()
                    .any(|group| group.contains(&word));
            if !known {
                return Err(SchemaError::UnknownKeyword {
                    at: at.to_owned(),
                    keyword: keyword.clone(),
                });
            }
        }
        let Some(reference) = object.get("$ref") else {
            return Ok(());
        };
        let text = reference.as_str().unwrap_or_default();
        let Some(target) = resolve(schema, text) else {
            return Err(SchemaError::Unresolved {
                at: at.to_owned(),
                reference: reference.to_string(),
            });
        };
        // A chain of references in one place must end, or validation would not.
        let (mut next, mut steps) = (target, 0);
        while let Some(further) = next.get("$ref").and_then(Value::as_str) {
            steps += 1;
            match resolve(schema, further) {
                Some(target) if steps < 64 => next = target,
                Some(_) => {
                    return Err(SchemaError::Loop {
                        reference: text.to_owned(),
                    });
                }
                None => break,
            }
        }
        Ok(())
    })
}

/// Returns what a local reference stands for: a definition of `root`, or `root` itself.
#[must_use]
pub fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    if reference == "#" {
        return Some(root);
    }
    let name = reference.strip_prefix(DEFS)?;
    root.get("$defs")?.get(name)
}

#[cfg(test)]
mod tests;
