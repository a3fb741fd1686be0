//! The lists of tools and resources: the same for every caller, in the registry's order.

use serde_json::{Map, Value, json};

use super::engine::{Engine, Turn};
use super::opening::LIST_TTL_MS;
use super::reply::Success;
use super::revision::Revision;

/// Keys of a tool that came with a later revision than the first.
const TOOL_KEYS: [(&str, Revision); 3] = [
    ("annotations", Revision::V20250326),
    ("title", Revision::V20250618),
    ("outputSchema", Revision::V20250618),
];

/// The same for a resource.
const RESOURCE_KEYS: [(&str, Revision); 1] = [("title", Revision::V20250618)];

impl Engine {
    pub(super) fn list_tools(&self, turn: &Turn<'_>) -> Success {
        self.list(turn, "tools", self.registry.tools(), &TOOL_KEYS)
    }

    pub(super) fn list_resources(&self, turn: &Turn<'_>) -> Success {
        self.list(turn, "resources", self.registry.resources(), &RESOURCE_KEYS)
    }

    pub(super) fn list_templates(&self, turn: &Turn<'_>) -> Success {
        self.list(
            turn,
            "resourceTemplates",
            self.registry.templates(),
            &RESOURCE_KEYS,
        )
    }

    fn list(
        &self,
        turn: &Turn<'_>,
        key: &str,
        mut items: Vec<Value>,
        since: &[(&str, Revision)],
    ) -> Success {
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            for (name, revision) in since {
                if turn.revision < *revision {
                    item.shift_remove(*name);
                }
            }
        }
        let mut result = Map::new();
        result.insert(key.to_owned(), json!(items));
        // A server that is alone may be joined at any moment by one with another registry.
        let ttl = if self.degraded().is_some() {
            0
        } else {
            LIST_TTL_MS
        };
        Success::new(self.finish(turn.revision, result, Some((ttl, "public"))))
    }
}
