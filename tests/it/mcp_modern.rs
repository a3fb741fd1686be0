//! The revision without `initialize`, and both eras on one pipe.

use serde_json::{Value, json};

use crate::support::{BOUND, Client, Repository, checks, frames, wait_for};

/// An owner and a bridge that spoke legacy so far; the era is the frame's, so both may speak modern at any time.
fn both(claim: impl Fn(&Client)) {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    claim(&owner);
    claim(&bridge);
}

#[test]
fn discovery_tells_versions_capabilities_and_instructions() {
    both(|client| {
        let result = client.modern("server/discover", &json!({}))["result"].clone();
        let versions: Vec<&str> = result["supportedVersions"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert!(versions.contains(&frames::MODERN), "{result}");
        assert!(result["capabilities"]["tools"].is_object(), "{result}");
        assert!(
            result["instructions"]
                .as_str()
                .is_some_and(|text| text.contains("http://127.0.0.1"))
        );
        assert_eq!(result["ttlMs"], 0, "it names the peers of this moment");
        assert_eq!(result["cacheScope"], "private");
        let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(server["name"], "majordomus", "{result}");
    });
}

#[test]
fn a_client_that_never_initializes_is_a_peer_from_its_first_request_on() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let modern = repository.client("modern");
    modern.modern("server/discover", &json!({}));
    let list = owner.tool("majordomus_peers", &json!({}));
    assert_eq!(
        checks::attached(&list),
        ["owner"],
        "discovery alone is not presence"
    );
    modern.modern("tools/list", &json!({}));
    wait_for("the modern peer", BOUND, || {
        checks::attached(&owner.tool("majordomus_peers", &json!({}))) == ["modern", "owner"]
    });
}

#[test]
fn lists_can_be_cached_and_say_for_how_long() {
    both(|client| {
        for (method, field, scope) in [
            ("tools/list", "tools", "public"),
            ("resources/templates/list", "resourceTemplates", "public"),
            // Notes come and go.
            ("resources/list", "resources", "private"),
        ] {
            let result = client.modern(method, &json!({}))["result"].clone();
            assert!(result[field].is_array(), "{method}: {result}");
            assert_eq!(result["resultType"], "complete", "{method}: {result}");
            let ttl = result["ttlMs"].as_u64().expect("for how long");
            assert_eq!(ttl > 0, scope == "public", "{method}: {result}");
            assert_eq!(result["cacheScope"], scope, "{method}: {result}");
        }
        let call = client.modern("tools/call", &frames::call("majordomus_peers", &json!({})));
        checks::succeeded(&call);
        assert_eq!(call["result"]["resultType"], "complete");
        let read = client.modern("resources/read", &json!({ "uri": "majordomus://peers" }));
        assert!(
            read["result"]["ttlMs"].is_u64() && read["result"]["cacheScope"].is_string(),
            "{read}"
        );
    });
}

#[test]
fn the_era_is_a_property_of_the_frame() {
    let repository = Repository::new();
    let client = repository.client("mixed");
    client.modern("server/discover", &json!({}));
    client.initialize();
    let legacy = client.result("tools/list", &json!({}));
    assert!(legacy.get("resultType").is_none(), "{legacy}");
    let modern = client.modern("tools/list", &json!({}));
    assert_eq!(modern["result"]["resultType"], "complete");
    client.result("ping", &json!({}));
    let list = client.tool("majordomus_peers", &json!({}));
    assert_eq!(
        checks::attached(&list),
        ["mixed"],
        "one process is one peer"
    );
}

#[test]
fn what_the_revision_removed_is_gone_and_what_does_not_exist_is_named() {
    both(|client| {
        for method in ["ping", "resources/subscribe", "logging/setLevel", "no/such"] {
            let answer = client.modern(method, &json!({ "uri": "majordomus://peers" }));
            assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
        }
        let missing = client.modern("resources/read", &json!({ "uri": "majordomus://nope" }));
        assert_eq!(missing["error"]["code"], -32602, "{missing}");
        let mut params = frames::modern("client", &json!({}));
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2999-01-01");
        let unknown = client.request("tools/list", &params);
        assert_eq!(unknown["error"]["code"], -32022, "{unknown}");
        assert_eq!(
            unknown["error"]["data"]["requested"], "2999-01-01",
            "{unknown}"
        );
        let mut params = frames::modern("client", &json!({}));
        params["_meta"]
            .as_object_mut()
            .unwrap()
            .remove("io.modelcontextprotocol/clientCapabilities");
        assert_eq!(
            client.request("tools/list", &params)["error"]["code"],
            -32602
        );
    });
}

#[test]
fn a_listening_client_is_acknowledged_told_and_can_stop() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    for client in [&bridge, &owner] {
        let listen = client.begin(
            "subscriptions/listen",
            &frames::modern(
                client.name(),
                &json!({ "notifications": {
                    "toolsListChanged": true,
                    "resourceSubscriptions": ["majordomus://peers", "majordomus://nope"],
                }}),
            ),
        );
        let ours = |message: &Value| {
            message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == listen
        };
        let acknowledged = client.notification("notifications/subscriptions/acknowledged", ours);
        let agreed = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
        assert_eq!(agreed, &json!(["majordomus://peers"]), "{acknowledged}");
        client.inbox().forget_messages();
        let teller = if client.name() == "owner" {
            &bridge
        } else {
            &owner
        };
        teller.tool(
            "majordomus_announce",
            &json!({ "intent": "news", "scope": ["a"] }),
        );
        client.notification("notifications/resources/updated", |message| {
            ours(message) && message["params"]["uri"] == "majordomus://peers"
        });
        client.notify("notifications/cancelled", &json!({ "requestId": listen }));
        client.result("ping", &json!({}));
        client.inbox().forget_messages();
        teller.tool(
            "majordomus_announce",
            &json!({ "intent": "unheard", "scope": ["a"] }),
        );
        client.result("ping", &json!({}));
        let updates = client
            .inbox()
            .messages()
            .iter()
            .filter(|message| message["method"] == "notifications/resources/updated")
            .count();
        assert_eq!(updates, 0, "{:?}", client.inbox().messages());
    }
}

/// Guards I6: an open listen is carried to the next owner and not acknowledged twice.
#[test]
fn an_open_listen_outlives_its_owner() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let other = repository.attached("other");
    let listen = bridge.begin(
        "subscriptions/listen",
        &frames::modern(
            "bridge",
            &json!({ "notifications": {
                "resourceSubscriptions": ["majordomus://peers"],
            }}),
        ),
    );
    bridge.notification("notifications/subscriptions/acknowledged", |_| true);
    owner.kill();
    wait_for("the room", BOUND, || {
        checks::attached(&bridge.tool("majordomus_peers", &json!({}))).len() == 2
    });
    other.tool(
        "majordomus_announce",
        &json!({ "intent": "after", "scope": ["a"] }),
    );
    bridge.notification("notifications/resources/updated", |message| {
        message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == listen
    });
    let acknowledgements = bridge
        .inbox()
        .messages()
        .iter()
        .filter(|message| message["method"] == "notifications/subscriptions/acknowledged")
        .count();
    assert_eq!(acknowledgements, 1);
    assert_eq!(bridge.inbox().count(&listen), 0, "it is still open");
}
