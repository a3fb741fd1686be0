//! A hook in a JSON file: an item of a list, in an object at the top that clients call `hooks`.

use serde_json::{Map, Value};

use super::{Unmergeable, json, read};
use crate::clients::known::Format;

/// The object that holds the lists.
const HOOKS: &str = "hooks";
/// Any JSON file; its entry is of no interest here.
const JSON: Format = Format::Json(HOOKS);

/// One item, and the list that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    /// The client's event, which names the list.
    pub event: &'static str,
    /// The item.
    pub item: Value,
}

/// Says whether the hook stands in `text`.
///
/// # Errors
/// [`Unmergeable::Syntax`], [`Unmergeable::Shape`] and [`Unmergeable::Whole`].
pub fn hook(text: &str, hook: &Hook) -> Result<bool, Unmergeable> {
    let whole = read(text, JSON)?;
    let lists = match whole.get(HOOKS) {
        None => return Ok(false),
        Some(Value::Object(lists)) => lists,
        Some(_) => return Err(Unmergeable::Shape(HOOKS.to_owned())),
    };
    match lists.get(hook.event) {
        None => Ok(false),
        Some(Value::Array(items)) => Ok(items.contains(&hook.item)),
        Some(_) => Err(Unmergeable::NoList(format!("{HOOKS}.{}", hook.event))),
    }
}

/// Returns `text` with the hook behind the others of its list. An empty text becomes a whole file.
///
/// # Errors
/// Every variant of [`Unmergeable`].
pub fn put_hook(text: &str, wanted: &Hook) -> Result<String, Unmergeable> {
    if hook(text, wanted)? {
        return Ok(text.to_owned());
    }
    let changed = json::append(text, [HOOKS, wanted.event], &wanted.item)?;
    if hook(&changed, wanted)? && others(text, wanted)? == others(&changed, wanted)? {
        return Ok(changed);
    }
    Err(Unmergeable::Entangled)
}

/// Returns `text` without the hook; what held nothing else goes with it.
///
/// # Errors
/// Every variant of [`Unmergeable`].
pub fn take_hook(text: &str, ours: &Hook) -> Result<String, Unmergeable> {
    let changed = json::pull(text, [HOOKS, ours.event], &ours.item)?;
    if !hook(&changed, ours)? && others(text, ours)? == others(&changed, ours)? {
        return Ok(changed);
    }
    Err(Unmergeable::Entangled)
}

/// What a text says beside the hook; a list that holds nothing else says nothing.
fn others(text: &str, ours: &Hook) -> Result<Map<String, Value>, Unmergeable> {
    let mut whole = read(text, JSON)?;
    if let Some(Value::Object(lists)) = whole.get_mut(HOOKS) {
        if let Some(Value::Array(items)) = lists.get_mut(ours.event) {
            items.retain(|item| *item != ours.item);
            if items.is_empty() {
                lists.remove(ours.event);
            }
        }
        if lists.is_empty() {
            whole.remove(HOOKS);
        }
    }
    Ok(whole)
}
