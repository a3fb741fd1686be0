//! The lists of tools, resources and prompts: the same for every caller, in the registry's order, in pages. What templates
//! stand for comes behind the resources that are always there.
//!
//! A cursor names the last item of the page before it, so that the next owner goes on where the last one stopped.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

use super::engine::{Engine, Turn};
use super::failure;
use super::icons;
use super::opening::LIST_TTL_MS;
use super::reply::{Outcome, Success};
use super::revision::Revision;
use crate::floor::limits::PAGE;

/// Keys of an item that came with a later revision than the first.
const KEYS: [(&str, Revision); 3] = [
    ("annotations", Revision::V20250326),
    ("title", Revision::V20250618),
    ("outputSchema", Revision::V20250618),
];

impl Engine {
    pub(super) fn list_tools(&self, turn: &Turn<'_>) -> Outcome {
        let mut tools = self.registry.tools();
        for tool in &mut tools {
            if let Some(icons) = icons::tool(turn.revision, tool) {
                tool["icons"] = icons;
            }
        }
        self.list(turn, "tools", "name", tools)
    }

    pub(super) async fn list_resources(&self, turn: &Turn<'_>) -> Outcome {
        let mut resources = self.registry.resources();
        resources.extend(self.registry.members().await);
        self.list(turn, "resources", "uri", resources)
    }

    pub(super) fn list_templates(&self, turn: &Turn<'_>) -> Outcome {
        let templates = self.registry.templates();
        self.list(turn, "resourceTemplates", "uriTemplate", templates)
    }

    pub(super) fn list_prompts(&self, turn: &Turn<'_>) -> Outcome {
        self.list(turn, "prompts", "name", self.registry.prompts())
    }

    fn list(&self, turn: &Turn<'_>, key: &str, name: &str, items: Vec<Value>) -> Outcome {
        let cursor = match turn.params.get("cursor") {
            None | Some(Value::Null) => None,
            Some(Value::String(cursor)) => Some(cursor.as_str()),
            Some(_) => return Err(failure::NO_CURSOR.fill(&[])),
        };
        let (mut items, next) =
            page(items, name, cursor, PAGE).ok_or_else(|| failure::FOREIGN_CURSOR.fill(&[]))?;
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            for (key, since) in KEYS {
                if turn.revision < since {
                    item.shift_remove(key);
                }
            }
        }
        let mut result = Map::new();
        result.insert(key.to_owned(), json!(items));
        if let Some(next) = next {
            result.insert("nextCursor".to_owned(), json!(next));
        }
        // A server that is alone may be joined at any moment by one with another registry, and resources come and go.
        let caching = if key == "resources" {
            (0, "private")
        } else if self.degraded().is_some() {
            (0, "public")
        } else {
            (LIST_TTL_MS, "public")
        };
        Ok(Success::new(self.finish(
            turn.revision,
            result,
            Some(caching),
        )))
    }
}

/// Cuts the page behind `cursor` out of `items`, and gives the next cursor if there is more; `None` for a cursor that
/// leads nowhere.
fn page(
    mut items: Vec<Value>,
    name: &str,
    cursor: Option<&str>,
    most: usize,
) -> Option<(Vec<Value>, Option<String>)> {
    if let Some(cursor) = cursor {
        let last = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let at = items
            .iter()
            .position(|item| item[name].as_str().map(str::as_bytes) == Some(&last))?;
        items.drain(..=at);
    }
    if items.len() <= most {
        return Some((items, None));
    }
    items.truncate(most);
    let last = items.last().and_then(|item| item[name].as_str())?;
    let next = BASE64_URL_SAFE_NO_PAD.encode(last);
    Some((items, Some(next)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{PAGE, page};

    #[test]
    fn pages_together_are_the_list_and_a_foreign_cursor_leads_nowhere() {
        let all: Vec<_> = (0..7).map(|n| json!({ "name": format!("n{n}") })).collect();
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let (items, next) = page(all.clone(), "name", cursor.as_deref(), 3).unwrap();
            assert!((1..=3).contains(&items.len()));
            seen.extend(items);
            match next {
                Some(_) => cursor = next,
                None => break,
            }
        }
        assert_eq!(seen, all);
        assert!(page(all.clone(), "name", Some("bm93aGVyZQ"), 3).is_none());
        assert!(page(all, "name", Some("*"), 3).is_none());
    }

    /// Guards I15: no list of ours is as long.
    #[test]
    fn a_page_holds_so_many_items_and_names_the_next_one() {
        let listed = |count: usize| -> Vec<_> {
            (0..count)
                .map(|n| json!({ "name": format!("n{n}") }))
                .collect()
        };
        let (items, next) = page(listed(100), "name", None, PAGE).unwrap();
        assert_eq!((items.len(), next), (100, None));
        let (items, next) = page(listed(101), "name", None, PAGE).unwrap();
        assert_eq!(items.len(), 100);
        let (rest, end) = page(listed(101), "name", next.as_deref(), PAGE).unwrap();
        assert_eq!((rest.len(), end), (1, None));
    }
}
