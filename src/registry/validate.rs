//! Checks a value against a raw JSON Schema, and says what was expected where.
//!
//! It understands exactly the keywords that [`super::schema::verify`] lets through, so a declared constraint is a
//! checked one. The first fault is reported: an agent mends one thing at a time.
//!
//! Absent: `format`, which only tells (the capability itself parses what it names). Rejected: the `jsonschema` crate,
//! which brings forty crates and doubles the cold build for keywords that no declaration here uses (ADR-0003).

mod wording;

use serde_json::{Map, Value};

use super::refusal::{self, Reason};
use super::schema::resolve;
use wording::{article, bounds, found, join, kind_of, names, plain};

/// Deeper than any value that a frame may hold, with room for references on the way.
const DEPTH: usize = 512;

/// What does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The root is no object.
    #[error("the arguments are {found}: expected an object")]
    Root {
        /// What stands there.
        found: &'static str,
    },
    /// A required member is missing.
    #[error("argument `{at}` is missing: expected {expected}")]
    Missing {
        /// Where.
        at: String,
        /// What was expected.
        expected: String,
    },
    /// A member that nobody declared.
    #[error("unknown argument `{at}`: expected {expected}")]
    Unknown {
        /// Where.
        at: String,
        /// The members that are declared.
        expected: String,
    },
    /// A value of the wrong type or outside its bounds.
    #[error("argument `{at}` is {found}: expected {expected}")]
    Unfit {
        /// Where.
        at: String,
        /// What stands there, without its content.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// The schema leads in circles.
    #[error("argument `{at}` cannot be checked: its schema leads in circles")]
    Circle {
        /// Where.
        at: String,
    },
}

impl Fault {
    /// Returns the refusal of a call whose arguments have it.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match self {
            Self::Root { .. } => refusal::NO_OBJECT,
            Self::Missing { .. } => refusal::MISSING,
            Self::Unknown { .. } => refusal::UNKNOWN,
            Self::Unfit { .. } => refusal::UNFIT,
            Self::Circle { .. } => refusal::CIRCLE,
        }
    }
}

/// Checks `value` against `schema`, whose references lead into its own `$defs`.
///
/// # Errors
/// The first [`Fault`].
pub fn check(schema: &Value, value: &Value) -> Result<(), Fault> {
    let Value::Object(_) = value else {
        return Err(Fault::Root {
            found: kind_of(value),
        });
    };
    Check { root: schema }.value(schema, value, "", 0)
}

struct Check<'a> {
    root: &'a Value,
}

impl Check<'_> {
    fn value(&self, schema: &Value, value: &Value, at: &str, depth: usize) -> Result<(), Fault> {
        if depth > DEPTH {
            return Err(Fault::Circle { at: at.to_owned() });
        }
        let object = match schema {
            Value::Object(object) => object,
            Value::Bool(false) => return Err(self.unfit(schema, value, at)),
            _ => return Ok(()),
        };
        if let Some(reference) = keyword(object, "$ref").and_then(Value::as_str)
            && let Some(target) = resolve(self.root, reference)
        {
            self.value(target, value, at, depth + 1)?;
        }
        if !fits_alone(object, value) {
            return Err(self.unfit(schema, value, at));
        }
        self.combined(object, schema, value, at, depth)?;
        match value {
            Value::Object(members) => self.members(object, members, at, depth),
            Value::Array(items) => self.items(object, items, at, depth),
            _ => Ok(()),
        }
    }

    fn combined(
        &self,
        object: &Map<String, Value>,
        schema: &Value,
        value: &Value,
        at: &str,
        depth: usize,
    ) -> Result<(), Fault> {
        let list = |word: &str| keyword(object, word).and_then(Value::as_array);
        let fits = |below: &Value| self.value(below, value, at, depth + 1).is_ok();
        for below in list("allOf").into_iter().flatten() {
            self.value(below, value, at, depth + 1)?;
        }
        for (word, exactly_one) in [("anyOf", false), ("oneOf", true)] {
            let Some(choices) = list(word) else {
                continue;
            };
            let fitting = choices.iter().filter(|below| fits(below)).count();
            if fitting == 0 || (exactly_one && fitting > 1) {
                return Err(self.closest(choices, schema, value, at, depth));
            }
        }
        if keyword(object, "not").is_some_and(fits) {
            return Err(self.unfit(schema, value, at));
        }
        if let Some(condition) = keyword(object, "if") {
            let branch = if fits(condition) { "then" } else { "else" };
            if let Some(below) = keyword(object, branch) {
                self.value(below, value, at, depth + 1)?;
            }
        }
        Ok(())
    }

    /// The fault of the only choice of the right type, where there is just one, else a list of the choices.
    fn closest(
        &self,
        choices: &[Value],
        schema: &Value,
        value: &Value,
        at: &str,
        depth: usize,
    ) -> Fault {
        let mut near = choices.iter().filter(|choice| {
            let Some(object) = self.target(choice).as_object() else {
                return false;
            };
            keyword(object, "type")
                .and_then(Value::as_str)
                .is_some_and(|word| is_a(word, value))
        });
        if let (Some(only), None) = (near.next(), near.next())
            && let Err(fault) = self.value(only, value, at, depth + 1)
        {
            return fault;
        }
        self.unfit(schema, value, at)
    }

    fn members(
        &self,
        schema: &Map<String, Value>,
        members: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Result<(), Fault> {
        let declared = keyword(schema, "properties").and_then(Value::as_object);
        for name in keyword(schema, "required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let Some(name) = name.as_str() else { continue };
            if !members.contains_key(name) {
                let expected = declared.and_then(|all| all.get(name));
                return Err(Fault::Missing {
                    at: join(at, name),
                    expected: expected
                        .map_or_else(|| "a value".to_owned(), |below| self.describe(below, 0)),
                });
            }
        }
        for (name, value) in members {
            let here = join(at, name);
            if let Some(names) = keyword(schema, "propertyNames") {
                self.value(names, &Value::String(name.clone()), &here, depth + 1)?;
            }
            match (
                declared.and_then(|all| all.get(name)),
                keyword(schema, "additionalProperties"),
            ) {
                (Some(below), _) => self.value(below, value, &here, depth + 1)?,
                (None, Some(Value::Bool(false))) => {
                    return Err(Fault::Unknown {
                        at: here,
                        expected: names(declared),
                    });
                }
                (None, Some(below)) => self.value(below, value, &here, depth + 1)?,
                (None, None) => {}
            }
        }
        Ok(())
    }

    fn items(
        &self,
        schema: &Map<String, Value>,
        items: &[Value],
        at: &str,
        depth: usize,
    ) -> Result<(), Fault> {
        let first = keyword(schema, "prefixItems").and_then(Value::as_array);
        for (index, value) in items.iter().enumerate() {
            let below = first
                .and_then(|list| list.get(index))
                .or_else(|| keyword(schema, "items"));
            if let Some(below) = below {
                self.value(below, value, &format!("{at}[{index}]"), depth + 1)?;
            }
        }
        Ok(())
    }

    fn unfit(&self, schema: &Value, value: &Value, at: &str) -> Fault {
        Fault::Unfit {
            at: at.to_owned(),
            found: found(value),
            expected: self.describe(schema, 0),
        }
    }

    fn target<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let mut here = schema;
        for _ in 0..64 {
            let reference = here.get("$ref").and_then(Value::as_str);
            match reference.and_then(|reference| resolve(self.root, reference)) {
                Some(next) => here = next,
                None => break,
            }
        }
        here
    }

    /// What a schema wants, in words.
    fn describe(&self, schema: &Value, depth: usize) -> String {
        let Some(object) = self.target(schema).as_object().filter(|_| depth < 4) else {
            return "another value".to_owned();
        };
        if let Some(only) = keyword(object, "const") {
            return format!("`{}`", plain(only));
        }
        if let Some(allowed) = keyword(object, "enum").and_then(Value::as_array) {
            let words: Vec<_> = allowed
                .iter()
                .map(|word| format!("`{}`", plain(word)))
                .collect();
            return format!("one of {}", words.join(", "));
        }
        for word in ["oneOf", "anyOf"] {
            if let Some(choices) = keyword(object, word).and_then(Value::as_array) {
                let words: Vec<_> = choices
                    .iter()
                    .map(|below| self.describe(below, depth + 1))
                    .collect();
                return words.join(" or ");
            }
        }
        let words: Vec<&str> = match keyword(object, "type") {
            Some(Value::String(word)) => vec![word],
            Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
            _ => return "another value".to_owned(),
        };
        let mut text: Vec<_> = words.into_iter().map(article).collect();
        if text.first() == Some(&"an array")
            && let Some(below) = keyword(object, "items")
        {
            return format!(
                "an array{}, each {}",
                bounds(object),
                self.describe(below, depth + 1)
            );
        }
        text.dedup();
        format!("{}{}", text.join(" or "), bounds(object))
    }
}

/// The value of a schema's keyword. A schema has few of them and is asked for a dozen, so looking at each costs less than
/// hashing the one in question.
fn keyword<'s>(schema: &'s Map<String, Value>, word: &str) -> Option<&'s Value> {
    let found = schema.iter().find(|(name, _)| *name == word);
    found.map(|(_, value)| value)
}

fn is_a(word: &str, value: &Value) -> bool {
    match word {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => false,
    }
}

/// Whether `value` fits the keywords that look at nothing below it.
fn fits_alone(schema: &Map<String, Value>, value: &Value) -> bool {
    let typed = match keyword(schema, "type") {
        Some(Value::String(word)) => is_a(word, value),
        Some(Value::Array(words)) => words
            .iter()
            .filter_map(Value::as_str)
            .any(|word| is_a(word, value)),
        _ => true,
    };
    let listed = match keyword(schema, "enum") {
        Some(Value::Array(allowed)) => allowed.contains(value),
        _ => true,
    };
    let constant = keyword(schema, "const").is_none_or(|only| only == value);
    typed && listed && constant && bounded(schema, value)
}

/// Whether lengths and magnitudes are kept.
fn bounded(schema: &Map<String, Value>, value: &Value) -> bool {
    let count = |word: &str| keyword(schema, word).and_then(Value::as_u64);
    let within = |length: usize, least: &str, most: &str| {
        let length = length as u64;
        count(least).is_none_or(|least| length >= least)
            && count(most).is_none_or(|most| length <= most)
    };
    match value {
        Value::String(text) => within(text.chars().count(), "minLength", "maxLength"),
        Value::Array(items) => within(items.len(), "minItems", "maxItems"),
        Value::Number(number) => {
            let Some(number) = number.as_f64() else {
                return true;
            };
            let limit = |word: &str| keyword(schema, word).and_then(Value::as_f64);
            limit("minimum").is_none_or(|least| number >= least)
                && limit("maximum").is_none_or(|most| number <= most)
                && limit("exclusiveMinimum").is_none_or(|least| number > least)
                && limit("exclusiveMaximum").is_none_or(|most| number < most)
                && limit("multipleOf").is_none_or(|step| (number / step).fract() == 0.0)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests;
