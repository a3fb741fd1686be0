//! Arguments of a read, as the query string of its route.

use std::fmt::Write as _;

use serde_json::Value;

/// Renders arguments as a query string: one `key=value` each, an array as its key repeated.
#[must_use]
pub fn render(arguments: &Value) -> String {
    let mut text = String::new();
    let mut pair = |key: &str, value: &str| {
        text.push(if text.is_empty() { '?' } else { '&' });
        encode(key, &mut text);
        text.push('=');
        encode(value, &mut text);
    };
    let plain = |value: &Value| match value {
        Value::String(words) => words.clone(),
        other => other.to_string(),
    };
    for (key, value) in arguments.as_object().into_iter().flatten() {
        match value {
            Value::Null => {}
            Value::Array(items) => items.iter().for_each(|item| pair(key, &plain(item))),
            other => pair(key, &plain(other)),
        }
    }
    text
}

/// Percent-encodes everything but unreserved characters (RFC 3986).
fn encode(words: &str, into: &mut String) {
    for byte in words.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            into.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(into, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::render;

    #[test]
    fn arguments_become_a_query() {
        assert_eq!(render(&json!({})), "");
        assert_eq!(
            render(&json!({ "a": "x y&z", "n": 3, "list": ["ü", "/"], "no": null })),
            "?a=x%20y%26z&n=3&list=%C3%BC&list=%2F"
        );
    }
}
