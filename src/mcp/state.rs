//! The state that a modern client carries for us between a question and the request with its answer.
//!
//! It holds the answers that were given so far, is bound to the request that they were given for, and has a MAC: what a
//! client makes up or carries from one request to another is refused. The key outlives an owner, so the next one reads
//! what the last one wrote. *Source:* MCP 2026-07-28 `basic/patterns/mrtr`.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::floor::hex;
use crate::floor::mac::Key;

/// Makes and opens states.
#[derive(Debug, Clone)]
pub struct Seal(Key);

#[derive(Serialize, Deserialize)]
struct State {
    /// Which request it belongs to.
    request: String,
    /// Answers by key.
    answers: Map<String, Value>,
}

impl Seal {
    /// Derives the key from what outlives an owner and nobody else knows.
    #[must_use]
    pub fn new(secret: &[u8], root_id: &str) -> Self {
        Self(Key::derive(secret, "mcp state", root_id))
    }

    /// A key that nobody knows: for a server without a next owner.
    #[must_use]
    pub fn random() -> Self {
        Self::new(uuid::Uuid::new_v4().as_bytes(), "")
    }

    pub(super) fn seal(&self, request: String, answers: Map<String, Value>) -> String {
        let state = State { request, answers };
        let text = serde_json::to_vec(&state).expect("strings and JSON render");
        self.0.sign(&BASE64_URL_SAFE_NO_PAD.encode(text))
    }

    /// The answers of a state that was made for this request; `None` for any other.
    pub(super) fn open(&self, request: &str, sealed: &str) -> Option<Map<String, Value>> {
        let text = self.0.open(sealed)?;
        let state = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
        let state: State = serde_json::from_slice(&state).ok()?;
        (state.request == request).then_some(state.answers)
    }
}

/// Names a request by the capability that it calls and what it gives it: what is there besides, such as the answers, is
/// another each time. Digesting arguments costs, so only a state that comes or goes is worth it.
pub(super) fn request(id: &str, params: &Value) -> String {
    let arguments = params.get("arguments").filter(|given| !given.is_null());
    let named = json!([id, params.get("uri"), arguments.unwrap_or(&json!({}))]);
    hex::encode(&Sha256::digest(named.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::{Seal, request};

    #[test]
    fn a_state_opens_for_its_own_request_and_under_its_own_key_only() {
        let seal = Seal::new(b"token", "root");
        let own = request(
            "a.b",
            &json!({ "arguments": { "x": 1 }, "requestState": "s" }),
        );
        let mut answers = Map::new();
        answers.insert("k".to_owned(), json!({ "y": 2 }));
        let sealed = seal.seal(own.clone(), answers.clone());
        let next = Seal::new(b"token", "root");
        assert_eq!(next.open(&own, &sealed), Some(answers));
        for other in [
            request("a.c", &json!({ "arguments": { "x": 1 } })),
            request("a.b", &json!({ "arguments": { "x": 2 } })),
            request("a.b", &json!({ "arguments": { "x": 1 }, "uri": "a:b" })),
            request("a.b", &json!({})),
        ] {
            assert!(seal.open(&other, &sealed).is_none(), "{other}");
        }
        let without = request("a.b", &json!({ "name": "a" }));
        assert_eq!(without, request("a.b", &json!({ "arguments": null })));
        assert_eq!(without, request("a.b", &json!({ "arguments": {} })));
        assert!(Seal::new(b"other", "root").open(&own, &sealed).is_none());
        for forged in [format!("{sealed}x"), format!("x{sealed}"), String::new()] {
            assert!(seal.open(&own, &forged).is_none(), "{forged}");
        }
    }
}
