//! Prompts, completion, pages, and answers that are no data: the same in both eras.

use serde_json::{Value, json};

use crate::support::{Client, Repository};

/// Owner and bridge, each in both eras; the claim gets a way to ask.
fn everywhere(claim: impl Fn(&dyn Fn(&str, Value) -> Value)) {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    for client in [&owner, &bridge] {
        let client: &Client = client;
        claim(&|method, params| client.request(method, &params));
        claim(&|method, params| client.modern(method, &params));
    }
}

#[test]
fn prompts_are_listed_with_their_arguments_and_filled_in() {
    everywhere(|ask| {
        let listed = ask("prompts/list", json!({}));
        let prompts = listed["result"]["prompts"].as_array().unwrap().clone();
        let two = prompts
            .iter()
            .find(|prompt| prompt["name"] == "test_prompt_with_arguments")
            .unwrap();
        assert_eq!(
            two["arguments"],
            json!([
                { "name": "arg1", "required": true, "description": "First word." },
                { "name": "arg2", "required": true, "description": "Second word." },
            ])
        );
        let got = ask(
            "prompts/get",
            json!({
                "name": "test_prompt_with_arguments",
                "arguments": { "arg1": "one", "arg2": "two" },
            }),
        );
        let message = &got["result"]["messages"][0];
        assert_eq!(message["role"], "user", "{got}");
        let said = message["content"]["text"].as_str().unwrap();
        assert!(said.contains("arg1='one', arg2='two'"), "{got}");
    });
}

#[test]
fn what_a_prompt_lacks_is_named() {
    everywhere(|ask| {
        let missing = ask(
            "prompts/get",
            json!({ "name": "test_prompt_with_arguments", "arguments": { "arg1": "one" } }),
        );
        assert_eq!(missing["error"]["code"], -32602, "{missing}");
        assert!(missing.to_string().contains("arg2"), "{missing}");
        let unknown = ask("prompts/get", json!({ "name": "no_such" }));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    });
}

#[test]
fn an_argument_is_completed_from_what_its_declaration_shows() {
    everywhere(|ask| {
        let complete = |begun: &str| {
            let reference = json!({ "type": "ref/prompt", "name": "test_prompt_with_arguments" });
            let argument = json!({ "name": "arg1", "value": begun });
            ask(
                "completion/complete",
                json!({ "ref": reference, "argument": argument }),
            )
        };
        let known = complete("he");
        assert_eq!(
            known["result"]["completion"]["values"],
            json!(["hello"]),
            "{known}"
        );
        assert_eq!(known["result"]["completion"]["hasMore"], false);
        assert_eq!(complete("x")["result"]["completion"]["values"], json!([]));
        let reference = json!({ "type": "ref/prompt", "name": "no_such" });
        let argument = json!({ "name": "a", "value": "" });
        let unknown = ask(
            "completion/complete",
            json!({ "ref": reference, "argument": argument }),
        );
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    });
}

/// Guards I15.
#[test]
fn a_completion_shows_100_values_and_says_that_there_are_more() {
    everywhere(|ask| {
        for (argument, total) in [("fits", 100), ("more", 101)] {
            let reference = json!({ "type": "ref/prompt", "name": "test_many_values" });
            let begun = json!({ "name": argument, "value": "v" });
            let completed = ask(
                "completion/complete",
                json!({ "ref": reference, "argument": begun }),
            );
            let completion = &completed["result"]["completion"];
            let shown = completion["values"].as_array().map(Vec::len);
            assert_eq!(shown, Some(100), "{completed}");
            assert_eq!(completion["total"], total, "{completed}");
            assert_eq!(completion["hasMore"], total > 100, "{completed}");
        }
    });
}

#[test]
fn a_cursor_that_nobody_gave_is_refused() {
    everywhere(|ask| {
        for method in [
            "tools/list",
            "resources/list",
            "resources/templates/list",
            "prompts/list",
        ] {
            for cursor in [json!("bm93aGVyZQ"), json!("*"), json!(5)] {
                let refused = ask(method, json!({ "cursor": cursor }));
                assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
            }
            let whole = ask(method, json!({}));
            assert!(
                whole["result"].get("nextCursor").is_none(),
                "{method}: {whole}"
            );
        }
    });
}

#[test]
fn pictures_sounds_and_files_are_shown_as_they_are() {
    everywhere(|ask| {
        let call = |tool: &str| ask("tools/call", json!({ "name": tool }))["result"].clone();
        let mixed = call("test_multiple_content_types");
        let kinds: Vec<&str> = mixed["content"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|block| block["type"].as_str())
            .collect();
        assert_eq!(kinds, ["text", "image", "resource"], "{mixed}");
        assert!(mixed.get("structuredContent").is_none(), "{mixed}");
        assert_eq!(
            call("test_audio_content")["content"][0]["mimeType"],
            "audio/wav"
        );
        let read = |uri: &str| {
            ask("resources/read", json!({ "uri": uri }))["result"]["contents"][0].clone()
        };
        let binary = read("test://static-binary");
        assert_eq!(binary["mimeType"], "image/png");
        assert!(
            binary["blob"].is_string() && binary.get("text").is_none(),
            "{binary}"
        );
        let template = read("test://template/123/data");
        let data: Value = serde_json::from_str(template["text"].as_str().unwrap()).unwrap();
        assert_eq!(data["id"], "123");
    });
}
