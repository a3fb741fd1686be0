//! One digest over everything that is declared, so that two builds can tell whether they serve the same.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::capability::Capability;
use crate::floor::deferred::Deferred;

/// The digest of a registry, 64 hex digits, computed when somebody first looks at it.
pub type Digest = Deferred<String>;

/// Returns the SHA-256 of the crate's version and every declaration, lower-case hex; the order of declarations and of
/// keys does not count.
pub(super) fn of(capabilities: &[Capability]) -> String {
    let mut declared: Vec<_> = capabilities.iter().map(declaration).collect();
    declared.sort_by_key(|value| value["id"].to_string());
    let mut text = Vec::with_capacity(64 * 1024);
    canonical(&json!([env!("CARGO_PKG_VERSION"), declared]), &mut text);
    hex(&Sha256::digest(&text))
}

/// What a capability declares, as data: everything but its code.
pub(crate) fn declaration(capability: &Capability) -> Value {
    let exposure = &capability.exposure;
    let examples: Vec<_> = capability
        .examples
        .iter()
        .map(|example| json!({"title": example.title, "arguments": example.arguments}))
        .collect();
    json!({
        "id": capability.id,
        "kind": capability.kind.as_str(),
        "title": capability.title,
        "description": capability.description,
        "retry": capability.retry.as_str(),
        "exposure": {
            "tool": exposure.tool,
            "resource": exposure.resource,
            "prompt": exposure.prompt,
            "method": exposure.route.map(|_| capability.kind.method()),
            "route": exposure.route,
            "cli": exposure.cli.map(|words| words.join(" ")),
        },
        "media": capability.form.media(),
        "logs": capability.logs,
        "retained": capability.retain.is_some(),
        "input": capability.input,
        "output": capability.output,
        "examples": examples,
    })
}

/// Writes `value` as JSON with sorted keys and without white space.
fn canonical(value: &Value, text: &mut Vec<u8>) {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            text.push(b'{');
            for (index, (name, below)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                scalar(name, text);
                text.push(b':');
                canonical(below, text);
            }
            text.push(b'}');
        }
        Value::Array(items) => {
            text.push(b'[');
            for (index, below) in items.iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                canonical(below, text);
            }
            text.push(b']');
        }
        other => scalar(other, text),
    }
}

fn scalar<T: serde::Serialize + ?Sized>(value: &T, text: &mut Vec<u8>) {
    // Writing a string or a number to a vector cannot fail.
    drop(serde_json::to_writer(text, value));
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            _ = write!(text, "{byte:02x}");
            text
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::canonical;

    #[test]
    fn the_order_of_keys_does_not_count() {
        let mut one = Vec::new();
        canonical(
            &json!({"b": [1, {"d": null, "c": "x\n"}], "a": true}),
            &mut one,
        );
        assert_eq!(
            String::from_utf8(one).unwrap(),
            r#"{"a":true,"b":[1,{"c":"x\n","d":null}]}"#
        );
    }
}
