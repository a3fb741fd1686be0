//! Bounds that a client meets by asking for one more (I15): the last one that fits, and the first that does not.
//!
//! Bounds of one kind of request, such as an announcement or a body, are tested beside it.

use serde_json::{Value, json};

use crate::support::{Client, Repository, checks, frames};

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
