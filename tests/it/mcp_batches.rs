//! Batches, which revision 2025-03-26 alone knows, over stdio: one array in, one array of answers out.

use serde_json::{Value, json};

use crate::support::{BOUND, Client, Repository, frames, wait_some};

const BATCHES: &str = "2025-03-26";

/// The first array that the client was sent.
#[track_caller]
fn batch(client: &Client) -> Vec<Value> {
    wait_some("a batch of answers", BOUND, || {
        let lines = client.inbox().strays();
        let line = lines.iter().find(|line| line.starts_with('['))?;
        serde_json::from_str(line).ok()
    })
}

fn ids(answers: &[Value]) -> Vec<String> {
    let mut ids: Vec<_> = answers
        .iter()
        .map(|answer| answer["id"].to_string())
        .collect();
    ids.sort();
    ids
}

fn slow(id: &Value, ms: u64) -> Value {
    let call = frames::call("conformance_slow", &json!({ "ms": ms }));
    frames::request(id, "tools/call", &call)
}

#[test]
fn a_batch_is_answered_with_one_array_by_owner_bridge_and_alone() {
    let repository = Repository::new();
    let start = |name: &str, alone: bool| {
        let launch = repository.launch().name(name);
        let launch = if alone {
            launch.argument("--standalone")
        } else {
            launch
        };
        let client = launch.start();
        client.initialize_at(BATCHES);
        client
    };
    let clients = [
        start("owner", false),
        start("bridge", false),
        start("alone", true),
    ];
    for client in &clients {
        client.send(&json!([
            frames::request(&json!(71), "ping", &json!({})),
            slow(&json!("b"), 100),
            { "jsonrpc": "2.0", "method": "notifications/unknown" },
            5,
            frames::request(&json!(72), "initialize", &frames::initialize("again", BATCHES)),
            slow(&json!("gone"), 600_000),
            { "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "gone" } },
        ]));
        let answers = batch(client);
        assert_eq!(
            ids(&answers),
            ["\"b\"", "71", "72", "null"],
            "{}: {answers:?}",
            client.name()
        );
        let of = |id: &Value| answers.iter().find(|answer| answer["id"] == *id).unwrap();
        assert_eq!(of(&json!(72))["error"]["code"], -32600);
        assert_eq!(of(&Value::Null)["error"]["code"], -32600);
        assert!(of(&json!("b")).get("result").is_some());
        // A single message afterwards is answered by itself.
        client.result("ping", &json!({}));
    }
}

#[test]
fn a_batch_of_notifications_has_no_answer_and_one_outside_its_revision_is_refused_once() {
    let repository = Repository::new();
    let client = repository.launch().name("old").start();
    client.initialize_at(BATCHES);
    client.send(&json!([{ "jsonrpc": "2.0", "method": "notifications/unknown" }]));
    client.result("ping", &json!({}));
    assert!(client.inbox().strays().is_empty());

    let newer = repository.launch().name("newer").start();
    newer.initialize();
    newer.send(&json!([frames::request(&json!(71), "ping", &json!({}))]));
    newer.result("ping", &json!({}));
    let refused = newer.answer(&Value::Null);
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    assert!(
        newer
            .answer_within(&json!(71), std::time::Duration::ZERO)
            .is_none()
    );
}

/// Guards I6.
#[test]
fn a_batch_survives_the_death_of_the_owner() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.launch().name("bridge").start();
    bridge.initialize_at(BATCHES);
    let other = repository.attached("other");
    bridge.send(&json!([
        frames::request(&json!(71), "ping", &json!({})),
        slow(&json!(72), 300),
        slow(&json!(73), 1),
    ]));
    // An answer to something later says that the batch is on its way.
    bridge.result("ping", &json!({}));
    owner.kill();
    let answers = batch(&bridge);
    assert_eq!(ids(&answers), ["71", "72", "73"], "{answers:?}");
    assert!(
        answers.iter().all(|answer| answer.get("result").is_some()),
        "{answers:?}"
    );
    other.result("ping", &json!({}));
}

/// Guards I15: what does not fit together is refused for itself, over a link and over HTTP.
#[test]
fn the_answers_to_a_batch_are_no_larger_than_a_frame() {
    let repository = Repository::new();
    let large = |id: u64| {
        let call = frames::call("conformance_large", &json!({ "bytes": 7_000_000 }));
        frames::request(&json!(id), "tools/call", &call)
    };
    let owner = repository.launch().name("owner").start();
    owner.initialize_at(BATCHES);
    // Two of 7 MB fit into 16 MiB, and the third does not.
    owner.send(&json!([large(71), large(72), large(73)]));
    let answers = batch(&owner);
    assert_eq!(ids(&answers), ["71", "72", "73"]);
    let refused = answers
        .iter()
        .filter(|answer| answer.get("error").is_some());
    assert_eq!(refused.count(), 1);
    owner.result("ping", &json!({}));
}

/// An open listen would hold back the rest for ever, and the modern era has no batches.
#[test]
fn a_modern_request_has_no_place_in_a_batch() {
    let repository = Repository::new();
    let client = repository.launch().name("client").start();
    client.initialize_at(BATCHES);
    let listen = json!({
        "notifications": { "toolsListChanged": true },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    });
    client.send(&json!([
        frames::request(&json!(71), "subscriptions/listen", &listen),
        frames::request(&json!(72), "ping", &json!({})),
    ]));
    let answers = batch(&client);
    assert_eq!(ids(&answers), ["71", "72"]);
    let refused = answers.iter().find(|answer| answer["id"] == 71).unwrap();
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
}

#[test]
fn what_a_large_batch_asks_past_the_bound_is_refused_for_itself() {
    let repository = Repository::new();
    let client = repository.launch().name("client").start();
    client.initialize_at(BATCHES);
    let pings = (0..300).map(|id| frames::request(&json!(id), "ping", &json!({})));
    let news = (0..300).map(|_| json!({ "jsonrpc": "2.0", "method": "notifications/unknown" }));
    client.send(&Value::Array(news.chain(pings).collect()));
    let answers = batch(&client);
    assert_eq!(answers.len(), 300);
    let refused = answers
        .iter()
        .filter(|answer| answer.get("error").is_some());
    assert_eq!(refused.count(), 300 - 256);
}
