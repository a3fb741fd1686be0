//! What is sent, held against the protocol's own schemas. `support/schemas.rs` does that in every scenario; here are
//! the scenarios that do nothing else, and the proof that it can say no.

use serde_json::{Value, json};

use super::support::Repository;
use super::support::frames::{self, LEGACY_ALL, MODERN};
use super::support::schemas::Conversation;

/// Whatever a capability can show, each revision is shown only what it knows.
#[test]
fn everything_that_can_be_listed_called_or_read_fits_every_revision() {
    let repository = Repository::new();
    for revision in LEGACY_ALL.into_iter().chain([MODERN]) {
        let client = repository.client(revision);
        if revision != MODERN {
            client.initialize_at(revision);
        }
        let ask = |method: &str, params: Value| {
            if revision == MODERN {
                client.modern(method, &params)
            } else {
                client.request(method, &params)
            }
        };
        if revision == MODERN {
            ask("server/discover", json!({}));
        }
        ask("resources/templates/list", json!({}));
        ask("tools/list", json!({}));
        for tool in [
            "majordomus_peers",
            "test_simple_text",
            "test_image_content",
            "test_audio_content",
            "test_embedded_resource",
            "test_resource_link",
            "test_multiple_content_types",
            "test_error_handling",
            "test_tool_with_logging",
            "test_tool_with_progress",
        ] {
            let mut params = frames::call(tool, &json!({}));
            params["_meta"] = json!({ "progressToken": tool });
            let answer = ask("tools/call", params);
            assert!(answer.get("result").is_some(), "{revision} {answer}");
        }
        let listed = ask("resources/list", json!({}));
        for resource in listed["result"]["resources"].as_array().unwrap() {
            let answer = ask("resources/read", json!({ "uri": resource["uri"] }));
            assert!(answer.get("result").is_some(), "{revision} {answer}");
        }
        let listed = ask("prompts/list", json!({}));
        for prompt in listed["result"]["prompts"].as_array().unwrap() {
            let arguments = prompt["arguments"].as_array().into_iter().flatten();
            let arguments =
                arguments.map(|one| (one["name"].as_str().unwrap().to_owned(), "test://x".into()));
            let arguments = Value::Object(arguments.collect());
            let params = json!({ "name": prompt["name"], "arguments": arguments });
            ask("prompts/get", params);
        }
    }
}

/// An older client that met one would drop the whole answer.
#[test]
fn icons_and_resource_links_are_for_the_revisions_that_know_them() {
    let repository = Repository::new();
    for revision in LEGACY_ALL.into_iter().chain([MODERN]) {
        let client = repository.client(revision);
        let modern = revision == MODERN;
        let (server, list, shown) = if modern {
            let ask =
                |method: &str, params: Value| client.modern(method, &params)["result"].clone();
            let discovered = ask("server/discover", json!({}));
            let called = ask("tools/call", frames::call("test_resource_link", &json!({})));
            let name = "/_meta/io.modelcontextprotocol~1serverInfo";
            assert!(
                called.pointer(name).unwrap().get("icons").is_none(),
                "once is enough"
            );
            let server = discovered.pointer(name).unwrap().clone();
            (server, ask("tools/list", json!({})), called)
        } else {
            let opened = client.initialize_at(revision);
            let list = client.result("tools/list", &json!({}));
            let called = client.call("test_resource_link", &json!({}));
            (opened["serverInfo"].clone(), list, called["result"].clone())
        };
        let icons = modern || revision == "2025-11-25";
        let pictured = |thing: &Value| {
            let source = thing["icons"][0]["src"].as_str();
            source.is_some_and(|source| source.starts_with("data:image/svg+xml;base64,"))
        };
        assert_eq!(pictured(&server), icons, "{revision} {server}");
        for tool in list["tools"].as_array().unwrap() {
            assert_eq!(pictured(tool), icons, "{revision} {tool}");
            assert_eq!(tool.get("icons").is_some(), icons, "{revision} {tool}");
        }
        let links = icons || revision == "2025-06-18";
        let block = &shown["content"][0];
        assert_eq!(
            block["type"],
            if links { "resource_link" } else { "text" },
            "{revision}"
        );
        let told = block[if links { "uri" } else { "text" }].as_str().unwrap();
        assert!(told.contains("test://static-text"), "{block}");
    }
}

#[test]
fn the_referee_refuses_what_the_schemas_refuse() {
    let opened = |revision: &str| {
        let mut conversation = Conversation::default();
        let params = frames::initialize("referee", revision);
        conversation
            .writes(format!("{}\n", frames::request(&json!(1), "initialize", &params)).as_bytes());
        conversation.receives(&json!({ "jsonrpc": "2.0", "id": 1, "result": {
            "protocolVersion": revision, "capabilities": {}, "serverInfo": { "name": "s", "version": "1" },
        } })).unwrap();
        let call = frames::request(&json!("c"), "tools/call", &frames::call("t", &json!({})));
        conversation.sends(call.to_string().as_bytes());
        conversation
    };
    let result = |result: Value| json!({ "jsonrpc": "2.0", "id": "c", "result": result });
    let shows = |block: Value| result(json!({ "content": [block] }));
    let text = || json!({ "type": "text", "text": "t" });
    let audio = || json!({ "type": "audio", "data": "AA==", "mimeType": "audio/wav" });
    let said = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "method": method, "params": params });
    for (revision, frame, fits) in [
        ("2025-11-25", shows(text()), true),
        (
            "2025-11-25",
            shows(json!({ "type": "text", "text": 5 })),
            false,
        ),
        ("2025-03-26", shows(audio()), true),
        ("2024-11-05", shows(audio()), false),
        ("2025-11-25", result(json!({})), false),
        (
            "2025-11-25",
            json!({ "id": "c", "result": { "content": [] } }),
            false,
        ),
        (
            "2025-11-25",
            json!({ "jsonrpc": "2.0", "id": "d", "result": { "content": [] } }),
            false,
        ),
        (
            "2025-11-25",
            json!({ "jsonrpc": "2.0", "id": "c", "error": { "code": 1, "message": "m" } }),
            true,
        ),
        (
            "2025-11-25",
            json!({ "jsonrpc": "2.0", "id": "c", "error": { "code": "1", "message": "m" } }),
            false,
        ),
        (
            "2025-11-25",
            json!({ "jsonrpc": "2.0", "id": null, "error": { "code": 1, "message": "m" } }),
            true,
        ),
        (
            "2025-11-25",
            json!({ "jsonrpc": "2.0", "error": { "code": 1, "message": "m" } }),
            false,
        ),
        ("2025-03-26", json!([shows(text())]), true),
        ("2025-06-18", json!([shows(text())]), false),
        (
            "2025-11-25",
            said("notifications/resources/updated", json!({ "uri": "a:b" })),
            true,
        ),
        (
            "2025-11-25",
            said("notifications/resources/updated", json!({ "uri": 7 })),
            false,
        ),
        (
            "2025-11-25",
            said("notifications/surprise", json!({})),
            false,
        ),
    ] {
        let judged = opened(revision).receives(&frame);
        assert_eq!(judged.is_ok(), fits, "{revision} {frame}: {judged:?}");
    }
}
