//! Bounds that a client meets by asking for one more (I15): the last one that fits, and the first that does not.
//!
//! Bounds of one kind of request, such as an announcement or a body, are tested beside it.

use serde_json::{Value, json};

use crate::http::served;
use crate::support::{BOUND, Client, Repository, checks, frames, wait_for};

/// Opens a listen that hears of nothing.
fn listen(client: &Client) -> Value {
    let wanted = json!({ "notifications": { "promptsListChanged": true } });
    client.begin(
        "subscriptions/listen",
        &frames::modern(client.name(), &wanted),
    )
}

#[track_caller]
fn acknowledged(client: &Client, listen: &Value) {
    client.notification("notifications/subscriptions/acknowledged", |message| {
        message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == *listen
    });
}

/// Guards I15.
#[test]
fn a_client_has_64_listens_open_and_no_more() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    for client in [&owner, &bridge] {
        let open: Vec<Value> = (0..64).map(|_| listen(client)).collect();
        for each in &open {
            acknowledged(client, each);
        }
        let refused = client.answer(&listen(client));
        assert_eq!(refused["error"]["code"], -32600, "{refused}");
        for each in &open {
            assert_eq!(client.inbox().count(each), 0, "it stays open");
        }
        client.notify("notifications/cancelled", &json!({ "requestId": open[0] }));
        acknowledged(client, &listen(client));
    }
}

/// Guards I15: an open listen takes no place of a call.
#[test]
fn a_client_has_256_calls_running_and_the_next_one_waits() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let other = repository.attached("other");
    for client in [&owner, &bridge] {
        acknowledged(client, &listen(client));
        let long = || client.begin_call("conformance_slow", &json!({ "ms": 600_000 }));
        let running: Vec<Value> = (0..255).map(|_| long()).collect();
        let fits = client.call("conformance_echo", &json!({ "value": 1 }));
        checks::succeeded(&fits);
        long();
        let waits = client.begin_call("conformance_echo", &json!({ "value": 2 }));
        // As long as others are served, nothing of this client is.
        other.tool("conformance_slow", &json!({ "ms": 300 }));
        assert_eq!(client.inbox().count(&waits), 0);
        client.notify(
            "notifications/cancelled",
            &json!({ "requestId": running[0] }),
        );
        checks::succeeded(&client.answer(&waits));
    }
}

/// Guards I15: a call goes on without its connection, so connections alone bound nothing.
#[test]
fn an_http_session_has_256_calls_running_and_the_next_one_is_refused() {
    let (_repository, _owner, http) = served();
    let session = http.session("busy", &json!({}));
    let begin = |id: usize| {
        let long = frames::call("test_reconnection", &json!({ "ms": 600_000 }));
        session.post("/mcp", &frames::request(&json!(id), "tools/call", &long))
    };
    for id in 0..256 {
        // It lets its client go at once.
        begin(id).expects(200).text();
    }
    let mut refused = begin(256).expects(503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    let error = refused.json();
    assert_eq!(
        (&error["id"], &error["error"]["code"]),
        (&json!(256), &json!(-32603))
    );
    let other = http.session("other", &json!({}));
    assert_eq!(other.ask("ping", &json!({})).json()["result"], json!({}));
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 0 } });
    assert_eq!(session.post("/mcp", &cancel).status, 202);
    wait_for("a place for a call", BOUND, || {
        let ping = frames::request(&json!("p"), "ping", &json!({}));
        session.post("/mcp", &ping).status == 200
    });
}
