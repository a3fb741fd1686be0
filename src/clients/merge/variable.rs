//! The one variable in the environment of our entry that says that a client's own hooks send notes.

use serde_json::{Map, Value};

use super::{NAME, Unmergeable, json, read, toml};
use crate::clients::hooks::{HANDED, VARIABLE};
use crate::clients::known::Format;

/// What an entry calls its environment.
const ENV: &str = "env";

/// What stands in a file about the variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variable {
    /// There is no entry of ours.
    NoEntry,
    /// The entry does not say that hooks send notes.
    Unset,
    /// It does.
    Set,
}

/// Says what stands in `text`.
///
/// # Errors
/// [`Unmergeable::Syntax`], [`Unmergeable::Shape`] and [`Unmergeable::Whole`].
pub fn variable(text: &str, format: Format) -> Result<Variable, Unmergeable> {
    let (Format::Json(container) | Format::Toml(container)) = format;
    let whole = read(text, format)?;
    let Some(servers) = whole.get(container) else {
        return Ok(Variable::NoEntry);
    };
    let shape = |name: &str| Unmergeable::Shape(name.to_owned());
    let servers = servers.as_object().ok_or_else(|| shape(container))?;
    let Some(entry) = servers.get(NAME) else {
        return Ok(Variable::NoEntry);
    };
    let entry = entry.as_object().ok_or_else(|| shape(NAME))?;
    let env = match entry.get(ENV) {
        None => return Ok(Variable::Unset),
        Some(env) => env.as_object().ok_or_else(|| shape(ENV))?,
    };
    Ok(match env.get(VARIABLE) {
        Some(Value::String(value)) if value == HANDED => Variable::Set,
        _ => Variable::Unset,
    })
}

/// Returns `text` with the variable set in our entry, which has to be there.
///
/// # Errors
/// Every variant of [`Unmergeable`].
pub fn set(text: &str, format: Format) -> Result<String, Unmergeable> {
    if variable(text, format)? != Variable::Unset {
        return Ok(text.to_owned());
    }
    let changed = match format {
        Format::Json(container) => {
            json::put(text, &[container, NAME, ENV, VARIABLE], &HANDED.into())?
        }
        Format::Toml(container) => toml::set(text, [container, NAME, ENV], VARIABLE, HANDED)?,
    };
    checked(text, changed, format, Variable::Set)
}

/// Returns `text` without it; an environment that held nothing else goes with it.
///
/// # Errors
/// Every variant of [`Unmergeable`].
pub fn unset(text: &str, format: Format) -> Result<String, Unmergeable> {
    if variable(text, format)? != Variable::Set {
        return Ok(text.to_owned());
    }
    let changed = match format {
        Format::Json(container) => json::take(text, &[container, NAME, ENV, VARIABLE], 2)?,
        Format::Toml(container) => toml::unset(text, [container, NAME, ENV], VARIABLE)?,
    };
    checked(text, changed, format, Variable::Unset)
}

/// Holds that the variable alone has changed.
fn checked(
    before: &str,
    after: String,
    format: Format,
    now: Variable,
) -> Result<String, Unmergeable> {
    if variable(&after, format)? == now && others(before, format)? == others(&after, format)? {
        return Ok(after);
    }
    Err(Unmergeable::Entangled)
}

fn others(text: &str, format: Format) -> Result<Map<String, Value>, Unmergeable> {
    let (Format::Json(container) | Format::Toml(container)) = format;
    let mut whole = read(text, format)?;
    let entry = whole
        .get_mut(container)
        .and_then(|servers| servers.get_mut(NAME));
    if let Some(Value::Object(entry)) = entry {
        drop_variable(entry);
    }
    Ok(whole)
}

/// The entry without what is ours to set.
pub(super) fn without_ours(entry: &Value) -> Value {
    let mut entry = entry.clone();
    if let Value::Object(entry) = &mut entry
        && entry.get(ENV).and_then(|env| env.get(VARIABLE)) == Some(&HANDED.into())
    {
        drop_variable(entry);
    }
    entry
}

fn drop_variable(entry: &mut Map<String, Value>) {
    if let Some(Value::Object(env)) = entry.get_mut(ENV) {
        env.remove(VARIABLE);
        if env.is_empty() {
            entry.remove(ENV);
        }
    }
}
