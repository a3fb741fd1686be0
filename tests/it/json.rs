//! What is JSON and cannot be taken all the same: named for what it is, and alike on a pipe and over HTTP.

use serde_json::{Value, json};

use crate::support::{Repository, frames};

/// A call whose arguments stand there as they are written.
fn call(id: u64, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"conformance_echo","arguments":{arguments}}}}}"#
    )
}

/// Guards I15.
#[test]
fn params_that_cannot_be_read_are_named_for_it_on_both_transports() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let mut opened = repository.http().with("Accept", "application/json").post(
        "/mcp",
        &frames::request(
            &json!(1),
            "initialize",
            &frames::initialize("tester", "2025-06-18"),
        ),
    );
    opened.json();
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let http = repository.http().with("Mcp-Session-Id", &session);
    let cases = [
        (r#"{"value":1e999}"#, "out of range"),
        (r#"{"value":"\ud800"}"#, "hex escape"),
        (r#"{"value":1,"value":2}"#, "`value` stands twice"),
        (r#"{"value":{"a":[{"b":1,"b":2}]}}"#, "`b` stands twice"),
    ];
    for (number, (arguments, cause)) in cases.iter().enumerate() {
        let id = 1000 + u64::try_from(number).unwrap();
        let text = call(id, arguments);
        owner.write(format!("{text}\n").as_bytes()).unwrap();
        let on_pipe = owner.answer(&json!(id));
        let over_http: Value = http.post_bytes("/mcp", text.as_bytes()).json();
        for answer in [on_pipe, over_http] {
            assert_eq!(answer["error"]["code"], -32602, "{arguments}: {answer}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains("params"), "{message}");
            assert!(message.contains(cause), "{cause} in {message}");
        }
    }
    let twice = br#"{"intent":"a","intent":"b"}"#;
    let mut refused = repository
        .http()
        .post_bytes("/api/v1/peers/announce", twice)
        .expects(400);
    assert!(refused.text().contains("`intent` stands twice"));
}
