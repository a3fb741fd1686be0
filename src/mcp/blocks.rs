//! Content blocks, each only for the revisions that know its kind.
//!
//! A client reads an answer by its revision's schema and drops one that does not fit as a whole, so a block of a kind
//! that came later is told in words.

use serde_json::Value;

use super::revision::Revision;
use crate::registry::content;

/// Kinds that came with a later revision than the first.
const KINDS: [(&str, Revision); 2] = [
    ("audio", Revision::V20250326),
    ("resource_link", Revision::V20250618),
];

/// The block, or what stands for it where `revision` does not know its kind.
pub(super) fn fitting(block: Value, revision: Revision) -> Value {
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    let kind = text("type");
    let known = KINDS.iter().find(|(later, _)| *later == kind);
    if known.is_none_or(|(_, since)| revision >= *since) {
        return block;
    }
    content::text(match kind {
        "resource_link" => format!("{}: {}", text("name"), text("uri")),
        _ => format!(
            "[{kind}, {}, which this client's protocol version cannot show]",
            text("mimeType")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::fitting;
    use crate::mcp::Revision;
    use crate::registry::content::{audio, link, text};

    #[test]
    fn a_kind_that_came_later_is_told_in_words() {
        let sound = || audio("AA==", "audio/wav");
        for revision in Revision::ALL {
            assert_eq!(fitting(text("t"), revision), text("t"));
            let shown = fitting(sound(), revision);
            assert_eq!(shown == sound(), revision > Revision::V20241105, "{shown}");
            let named = fitting(link("a:b", "a name", "text/plain"), revision);
            let links = revision >= Revision::V20250618;
            assert_eq!(named["type"] == "resource_link", links, "{named}");
            assert!(links || named["text"] == "a name: a:b", "{named}");
        }
    }
}
