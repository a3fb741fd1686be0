//! One entry in a file that others write too: put in, compared, and taken out again, with every other byte as it was.
//!
//! A parser tells where things stand, and the text is cut there and nowhere else ([`json`], [`toml`]). The result is read
//! again, and a file in which anything else changed is not written.

mod json;
mod list;
mod page;
mod toml;
mod variable;

pub use list::{Hook, hook, put_hook, take_hook};
pub use variable::{Variable, set, unset, variable};

use serde_json::{Map, Value};

use super::known::Format;

/// The name of the entry.
const NAME: &str = "majordomus";

/// The longest client file that is edited, in bytes.
pub const LONGEST: usize = 1024 * 1024;

/// Why a file is left alone. Displays as the rest of a sentence that begins with the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unmergeable {
    /// It is not what its name says.
    #[error("cannot be read: {0}")]
    Syntax(String),
    /// What should hold the entry is something else.
    #[error("holds something else than a table under `{0}`")]
    Shape(String),
    /// What should be a list of hooks is something else.
    #[error("holds something else than a list under `{0}`")]
    NoList(String),
    /// The whole file is something else.
    #[error("holds something else than a table")]
    Whole,
    /// The change would have touched something else.
    #[error("is written in a way that cannot be changed without touching other lines")]
    Entangled,
}

/// What stands in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// No entry of ours.
    Nothing,
    /// Exactly this entry, whether or not it says that the client's hooks send notes.
    Same,
    /// An entry under our name that says something else.
    Other,
}

/// Says what stands in `text`.
///
/// # Errors
/// [`Unmergeable::Syntax`], [`Unmergeable::Shape`] and [`Unmergeable::Whole`].
pub fn look(text: &str, format: Format, entry: &Value) -> Result<Found, Unmergeable> {
    let whole = read(text, format)?;
    let (Format::Json(container) | Format::Toml(container)) = format;
    match whole.get(container) {
        None => Ok(Found::Nothing),
        Some(Value::Object(servers)) => Ok(match servers.get(NAME) {
            None => Found::Nothing,
            Some(found) if found == entry || variable::without_ours(found) == *entry => Found::Same,
            Some(_) => Found::Other,
        }),
        Some(_) => Err(Unmergeable::Shape(container.to_owned())),
    }
}

/// Returns `text` with the entry in it, in place of one that says something else. An empty text becomes a whole file.
///
/// # Errors
/// Every variant of [`Unmergeable`].
pub fn put(text: &str, format: Format, entry: &Value) -> Result<String, Unmergeable> {
    if look(text, format, entry)? == Found::Same {
        return Ok(text.to_owned());
    }
    let changed = match format {
        Format::Json(container) => json::put(text, &[container, NAME], entry)?,
        Format::Toml(container) => toml::put(text, [container, NAME], entry)?,
    };
    changed_nothing_else(text, &changed, format, Some(entry))?;
    Ok(changed)
}

/// Returns `text` without the entry; what held nothing else goes with it.
///
/// # Errors
/// Every variant of [`Unmergeable`].
pub fn take(text: &str, format: Format) -> Result<String, Unmergeable> {
    let changed = match format {
        Format::Json(container) => json::take(text, &[container, NAME], 0)?,
        Format::Toml(container) => toml::take(text, [container, NAME])?,
    };
    changed_nothing_else(text, &changed, format, None)?;
    Ok(changed)
}

/// Reads a whole file as JSON, whatever it is written in.
fn read(text: &str, format: Format) -> Result<Map<String, Value>, Unmergeable> {
    let whole = match format {
        Format::Json(_) => json::read(text)?,
        Format::Toml(_) => toml::read(text)?,
    };
    match whole {
        Value::Null => Ok(Map::new()),
        Value::Object(members) => Ok(members),
        _ => Err(Unmergeable::Whole),
    }
}

/// Compares what two texts say beside the entry.
fn changed_nothing_else(
    before: &str,
    after: &str,
    format: Format,
    entry: Option<&Value>,
) -> Result<(), Unmergeable> {
    let (Format::Json(container) | Format::Toml(container)) = format;
    let (mut before, mut after) = (read(before, format)?, read(after, format)?);
    let mut put = None;
    for whole in [&mut before, &mut after] {
        if let Some(Value::Object(servers)) = whole.get_mut(container) {
            put = servers.remove(NAME);
            if servers.is_empty() {
                whole.remove(container);
            }
        } else {
            put = None;
        }
    }
    if before == after && put.as_ref() == entry {
        Ok(())
    } else {
        Err(Unmergeable::Entangled)
    }
}

#[cfg(test)]
mod tests;
