//! Frames of 2026-07-28 over HTTP.

use std::sync::atomic::Ordering;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;

use super::fixture::{Answer, Fixture, TOKEN, wait_for};
use crate::floor::hex;
use crate::http::auth::Credential;
use crate::registry::OnceKey;

pub(super) const REVISION: &str = "2026-07-28";

pub(super) fn frame(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

impl Fixture {
    async fn modern(&self, headers: &[(&str, &str)], message: &Value) -> Answer {
        let method = message["method"].as_str().unwrap().to_owned();
        let mut all = vec![
            ("content-type", "application/json"),
            ("mcp-protocol-version", REVISION),
            ("mcp-method", &*method),
        ];
        all.retain(|(name, _)| !headers.iter().any(|(other, _)| name == other));
        all.extend(headers);
        self.post("POST", "/mcp", &all, message.to_string()).await
    }
}

fn outcome(answer: &Answer) -> (u16, i64) {
    let code = answer.json()["error"]["code"].as_i64().unwrap_or(0);
    (answer.status.as_u16(), code)
}

#[tokio::test]
async fn a_modern_frame_needs_no_session_and_gets_none() {
    let fixture = Fixture::new();
    let answer = fixture
        .modern(
            &[("mcp-session-id", "whatever")],
            &frame("server/discover", json!({})),
        )
        .await;
    assert_eq!(outcome(&answer), (200, 0));
    assert!(answer.headers.get("mcp-session-id").is_none());
    let call = frame(
        "tools/call",
        json!({"name": "majordomus_echo", "arguments": {}}),
    );
    let answer = fixture
        .modern(&[("mcp-name", "majordomus_echo")], &call)
        .await;
    assert_eq!(outcome(&answer), (200, 0));
    assert_eq!(answer.json()["result"]["resultType"], "complete");
    assert_eq!(fixture.http.sessions().live(), 0);
    assert_eq!(
        fixture.room.count("enter"),
        0,
        "a modern client is proven by nothing but its handle"
    );
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/x", "params": frame("x", json!({}))["params"]});
    assert_eq!(fixture.modern(&[], &notification).await.status, 202);
}

#[tokio::test]
async fn headers_that_do_not_match_the_body_are_refused() {
    let fixture = Fixture::new();
    let list = frame("tools/list", json!({}));
    for headers in [
        ("mcp-protocol-version", ""),
        ("mcp-protocol-version", "2025-06-18"),
        ("mcp-method", ""),
        ("mcp-method", "prompts/list"),
        ("mcp-method", "TOOLS/LIST"),
    ] {
        let answer = fixture.modern(&[headers], &list).await;
        assert_eq!(outcome(&answer), (400, -32020), "{headers:?}");
        assert_eq!(answer.json()["id"], 1);
    }
    let call = frame(
        "tools/call",
        json!({"name": "majordomus_echo", "arguments": {}}),
    );
    let encoded = |text: &str| format!("=?base64?{}?=", BASE64_STANDARD.encode(text));
    let (right, wrong) = (encoded("majordomus_echo"), encoded("majordomus_write"));
    for name in [
        "",
        "majordomus_write",
        "Majordomus_echo",
        &*wrong,
        "=?base64?*?=",
    ] {
        let answer = fixture.modern(&[("mcp-name", name)], &call).await;
        assert_eq!(outcome(&answer), (400, -32020), "{name}");
    }
    for name in ["majordomus_echo", "  majordomus_echo  ", &*right] {
        assert_eq!(
            outcome(&fixture.modern(&[("mcp-name", name)], &call).await),
            (200, 0),
            "{name}"
        );
    }
    let read = frame("resources/read", json!({"uri": "majordomus://nothing/ü"}));
    assert_eq!(outcome(&fixture.modern(&[], &read).await), (400, -32020));
    let answer = fixture
        .modern(&[("mcp-name", &*encoded("majordomus://nothing/ü"))], &read)
        .await;
    assert_eq!(
        outcome(&answer).1,
        -32602,
        "the header is right, the resource does not exist"
    );
}

#[tokio::test]
async fn unknown_versions_methods_and_incomplete_meta_have_their_status() {
    let fixture = Fixture::new();
    let mut future = frame("server/discover", json!({}));
    future["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let answer = fixture
        .modern(&[("mcp-protocol-version", "2099-01-01")], &future)
        .await;
    assert_eq!(outcome(&answer), (400, -32022));
    let data = answer.json()["error"]["data"].clone();
    assert_eq!(data["requested"], "2099-01-01");
    assert!(
        data["supported"]
            .as_array()
            .unwrap()
            .contains(&json!(REVISION))
    );
    assert_eq!(
        outcome(&fixture.modern(&[], &future).await),
        (400, -32020),
        "the header differs"
    );
    for method in [
        "nothing",
        "ping",
        "initialize",
        "logging/setLevel",
        "resources/subscribe",
    ] {
        let answer = fixture.modern(&[], &frame(method, json!({}))).await;
        assert_eq!(outcome(&answer), (404, -32601), "{method}");
    }
    for missing in ["protocolVersion", "clientCapabilities"] {
        let mut incomplete = frame("server/discover", json!({}));
        let meta = incomplete["params"]["_meta"].as_object_mut().unwrap();
        meta.remove(&format!("io.modelcontextprotocol/{missing}"));
        let answer = fixture.modern(&[], &incomplete).await;
        assert_eq!(outcome(&answer), (400, -32602), "{missing}");
        assert_eq!(answer.json()["id"], 1);
    }
    let bare = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"});
    assert_eq!(outcome(&fixture.modern(&[], &bare).await), (400, -32602));
    let mut no_name = frame("server/discover", json!({}));
    no_name["params"]["_meta"]
        .as_object_mut()
        .unwrap()
        .remove("io.modelcontextprotocol/clientInfo");
    assert_eq!(outcome(&fixture.modern(&[], &no_name).await), (200, 0));
    let unknown = frame("tools/call", json!({"name": "nothing", "arguments": {}}));
    assert_eq!(
        outcome(&fixture.modern(&[("mcp-name", "nothing")], &unknown).await),
        (200, -32602)
    );
}

/// Guards I1.
#[tokio::test]
async fn without_the_lease_a_modern_command_is_not_admitted() {
    let fixture = Fixture::new();
    fixture.owner.0.store(false, Ordering::SeqCst);
    let call = frame(
        "tools/call",
        json!({"name": "majordomus_write", "arguments": {}}),
    );
    let answer = fixture
        .modern(&[("mcp-name", "majordomus_write")], &call)
        .await;
    assert_eq!(answer.status, 503);
}

/// Guards I6.
#[tokio::test]
async fn an_idempotency_key_makes_a_modern_command_keyed() {
    let fixture = Fixture::new();
    let call = frame(
        "tools/call",
        json!({"name": "majordomus_write", "arguments": {}}),
    );
    let key_of = async |headers: &[(&str, &str)]| {
        let mut all = vec![("mcp-name", "majordomus_write")];
        all.extend(headers);
        let answer = fixture.modern(&all, &call).await.json();
        answer["result"]["structuredContent"]["key"].clone()
    };
    let digest = hex::encode(&Sha256::digest(call.to_string()));
    let secrets = &fixture.http.parts().secrets;
    for key in ["k", "another"] {
        let scope = secrets.once(&Credential::Token.scope(), key);
        let (http, digits) = scope.split_at(OnceKey::HTTP.len());
        assert_eq!((http, digits.len()), (OnceKey::HTTP, 64), "{scope}");
        let headers = [("idempotency-key", key)];
        let whole = format!("{scope} {digest}");
        assert_eq!(key_of(&headers).await, whole);
        assert_eq!(key_of(&headers).await, whole, "sent again");
    }
    assert_eq!(key_of(&[]).await, Value::Null);
}

#[tokio::test]
async fn a_dropped_connection_cancels_a_modern_request() {
    let fixture = Fixture::new();
    let server = fixture.listen().await;
    let body = frame(
        "tools/call",
        json!({"name": "majordomus_wait", "arguments": {}}),
    )
    .to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\n\
         mcp-protocol-version: {REVISION}\r\nmcp-method: tools/call\r\nmcp-name: majordomus_wait\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut client = server.connect().await;
    client.write_all(request.as_bytes()).await.unwrap();
    let places = fixture.http.parts().limits.requests;
    wait_for("it runs", || fixture.http.available() < places).await;
    drop(client);
    wait_for("it is cancelled", || fixture.http.available() == places).await;
    fixture.go.notify_one();
    tokio::task::yield_now().await;
    assert_eq!(fixture.done.load(Ordering::SeqCst), 0);
}
