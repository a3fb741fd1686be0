//! The state that a modern client carries for us between a question and the request with its answer.
//!
//! It holds the answers that were given so far, is bound to the request that they were given for, and has a MAC: what a
//! client makes up or carries from one request to another is refused. The key outlives an owner, so the next one reads
//! what the last one wrote. *Source:* MCP 2026-07-28 `basic/patterns/mrtr`.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::floor::hex;

/// Makes and opens states.
#[derive(Clone)]
pub struct Seal([u8; 32]);

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
        let mac = keyed(secret)
            .chain_update(b"majordomus mcp state\0")
            .chain_update(root_id);
        Self(mac.finalize().into_bytes().into())
    }

    /// A key that nobody knows: for a server without a next owner.
    #[must_use]
    pub fn random() -> Self {
        Self::new(uuid::Uuid::new_v4().as_bytes(), "")
    }

    pub(super) fn seal(&self, request: String, answers: Map<String, Value>) -> String {
        let state = State { request, answers };
        let text = serde_json::to_vec(&state).expect("strings and JSON render");
        let text = BASE64_URL_SAFE_NO_PAD.encode(text);
        let mac = keyed(&self.0).chain_update(&text).finalize().into_bytes();
        format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(mac))
    }

    /// The answers of a state that was made for this request; `None` for any other.
    pub(super) fn open(&self, request: &str, sealed: &str) -> Option<Map<String, Value>> {
        let (text, mac) = sealed.split_once('.')?;
        let mac = BASE64_URL_SAFE_NO_PAD.decode(mac).ok()?;
        keyed(&self.0).chain_update(text).verify_slice(&mac).ok()?;
        let state = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
        let state: State = serde_json::from_slice(&state).ok()?;
        (state.request == request).then_some(state.answers)
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

/// Names a call by what it is and what it was given.
pub(super) fn request(id: &str, arguments: &Value) -> String {
    let digest = Sha256::new_with_prefix(id)
        .chain_update(b"\n")
        .chain_update(arguments.to_string());
    hex::encode(&digest.finalize())
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("because HMAC takes a key of any length")
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::{Seal, request};

    #[test]
    fn a_state_opens_for_its_own_request_and_under_its_own_key_only() {
        let seal = Seal::new(b"token", "root");
        let own = request("a.b", &json!({ "x": 1 }));
        let mut answers = Map::new();
        answers.insert("k".to_owned(), json!({ "y": 2 }));
        let sealed = seal.seal(own.clone(), answers.clone());
        let next = Seal::new(b"token", "root");
        assert_eq!(next.open(&own, &sealed), Some(answers));
        assert!(
            seal.open(&request("a.b", &json!({ "x": 2 })), &sealed)
                .is_none()
        );
        assert!(Seal::new(b"other", "root").open(&own, &sealed).is_none());
        for forged in [format!("{sealed}x"), format!("x{sealed}"), String::new()] {
            assert!(seal.open(&own, &forged).is_none(), "{forged}");
        }
    }
}
