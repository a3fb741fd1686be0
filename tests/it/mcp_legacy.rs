//! The revisions that open with `initialize`, on one pipe.

use serde_json::{Value, json};

use crate::support::{Client, Repository, checks, frames};

/// An owner and a bridge, to make the same claim about both.
fn both(claim: impl Fn(&Client)) {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    claim(&owner);
    claim(&bridge);
}

#[test]
fn every_legacy_revision_is_answered_in_kind_and_an_unknown_one_with_the_newest() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    for revision in frames::LEGACY_ALL {
        let client = repository.client("client");
        let result = client.initialize_at(revision);
        assert_eq!(result["protocolVersion"], revision);
        assert_eq!(result["serverInfo"]["name"], "majordomus", "{result}");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert!(result["capabilities"]["tools"].is_object(), "{result}");
        assert_eq!(
            result["capabilities"]["resources"]["subscribe"], true,
            "{result}"
        );
        assert!(result["instructions"].is_string(), "{result}");
    }
    let client = repository.client("client");
    assert_eq!(
        client.initialize_at("1999-01-01")["protocolVersion"],
        frames::LEGACY
    );
}

/// Guards I9, I10.
#[test]
fn tools_are_few_well_formed_and_annotated_by_what_they_do() {
    let repository = Repository::new();
    let owner = repository.launch().arguments(&["mcp"]).start();
    owner.initialize();
    let result = owner.result("tools/list", &json!({}));
    let tools = result["tools"].as_array().unwrap();
    assert!((2..=12).contains(&tools.len()), "{} tools", tools.len());
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert!(
            name.len() <= 64
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
            "{name}"
        );
        assert!(
            tool["description"]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{tool}"
        );
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        assert!(!tool.to_string().contains("#/components/"), "{tool}");
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
    }
    let hint = |name: &str| {
        tools.iter().find(|tool| tool["name"] == name).unwrap()["annotations"]["readOnlyHint"]
            .clone()
    };
    assert_eq!(hint("majordomus_peers"), true);
    assert_eq!(hint("majordomus_announce"), false);
    assert!(
        !result.to_string().contains("conformance"),
        "the provider is hidden"
    );
}

#[test]
fn the_list_of_tools_is_the_same_for_everyone() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let list = |client: &Client| client.result("tools/list", &json!({})).to_string();
    assert_eq!(list(&owner), list(&bridge));
}

#[test]
fn a_tool_answers_with_structure_and_the_same_as_text() {
    both(|client| {
        let result = client.result("tools/call", &frames::call("majordomus_peers", &json!({})));
        let text = result["content"][0]["text"].as_str().unwrap();
        let parsed: Value = serde_json::from_str(text).unwrap();
        assert_eq!(parsed, result["structuredContent"]);
        assert_ne!(result["isError"], true);
    });
}

#[test]
fn resources_are_listed_read_and_templates_are_a_list() {
    both(|client| {
        let resources = client.result("resources/list", &json!({}));
        let all = resources["resources"].as_array().unwrap();
        assert!(
            all.iter()
                .any(|resource| resource["uri"] == "majordomus://peers"),
            "{resources}"
        );
        let read = client.result("resources/read", &json!({ "uri": "majordomus://peers" }));
        assert_eq!(read["contents"][0]["uri"], "majordomus://peers");
        let text = read["contents"][0]["text"].as_str().unwrap();
        let list: Value = serde_json::from_str(text).unwrap();
        assert!(list["peers"].is_array(), "{list}");
        assert!(
            client.result("resources/templates/list", &json!({}))["resourceTemplates"].is_array()
        );
        for resource in all {
            client.result("resources/read", &json!({ "uri": resource["uri"] }));
        }
    });
}

#[test]
fn what_does_not_exist_or_does_not_fit_is_an_error_on_that_request() {
    both(|client| {
        let code = |answer: &Value| answer["error"]["code"].as_i64();
        assert_eq!(
            code(&client.request("no/such/method", &json!({}))),
            Some(-32601)
        );
        assert_eq!(
            code(&client.request("tools/call", &json!({}))),
            Some(-32602)
        );
        assert_eq!(
            code(&client.request("tools/call", &json!({ "name": 5 }))),
            Some(-32602)
        );
        assert_eq!(
            code(&client.request("tools/call", &frames::call("no_such", &json!({})))),
            Some(-32602)
        );
        assert_eq!(
            code(&client.request(
                "tools/call",
                &json!({ "name": "majordomus_peers", "arguments": [] })
            )),
            Some(-32602)
        );
        let missing = client.request("resources/read", &json!({ "uri": "majordomus://nope" }));
        assert_eq!(code(&missing), Some(-32002), "{missing}");
        assert_eq!(
            missing["error"]["data"]["uri"], "majordomus://nope",
            "{missing}"
        );
        let wrong = client.call(
            "majordomus_announce",
            &json!({ "intent": 5, "scope": ["a"] }),
        );
        assert!(checks::failed(&wrong), "{wrong}");
        client.result("ping", &json!({}));
    });
}

#[test]
fn ping_is_answered_even_before_initialize() {
    let repository = Repository::new();
    let client = repository.client("client");
    assert_eq!(client.result("ping", &json!({})), json!({}));
    client.initialize();
    assert_eq!(client.result("ping", &json!({})), json!({}));
}

#[test]
fn a_client_that_initializes_twice_is_one_peer() {
    let repository = Repository::new();
    let client = repository.attached("client");
    client.initialize();
    let list = client.tool("majordomus_peers", &json!({}));
    assert_eq!(checks::attached(&list), ["client"]);
}
