//! What is refused is refused in the words of `docs/reference/errors.md`.

use std::fs;
use std::path::Path;

use majordomus::floor::gaps;
use serde_json::{Value, json};

use crate::support::{BOUND, Repository, checks};

/// The rows of the reference that begin with a code, a text and a hint.
fn rows() -> Vec<[String; 3]> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/errors.md");
    let page = fs::read_to_string(page).unwrap();
    let cells = |line: &str| -> Option<[String; 3]> {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
        let cells: Vec<String> = cells.map(str::to_owned).collect();
        cells.try_into().ok()
    };
    page.lines().filter_map(cells).collect()
}

#[track_caller]
fn stands(code: &str, text: &str) {
    let known = rows();
    let row = known
        .iter()
        .find(|[words, row, _]| words.contains(code) && gaps::fits(row, text));
    assert!(row.is_some(), "no row of {code} says {text:?}");
}

#[test]
fn a_refused_call_says_what_the_reference_says_and_what_helps() {
    let repository = Repository::new();
    let client = repository.attached("client");
    let many: Vec<String> = (0..65).map(|n| format!("f{n}")).collect();
    for arguments in [
        json!({ "intent": "two\nlines", "scope": ["a"] }),
        json!({ "intent": "x", "scope": many }),
        json!({ "intent": "x", "scope": ["/etc/passwd"] }),
        json!({ "intent": "x", "scope": ["../outside"] }),
        json!({ "intent": "x", "scope": ["*/../a"] }),
        json!({ "intent": "x", "scope": ["a\\b"] }),
        json!({ "intent": "x", "scope": [""] }),
        json!({ "intent": "x", "scope": [5] }),
        json!({ "intent": "x", "scope": ["a"], "nothing": 1 }),
        json!({ "scope": ["a"] }),
    ] {
        let answer = client.call("majordomus_announce", &arguments);
        assert!(checks::failed(&answer), "{arguments} was taken: {answer}");
        let code = answer["result"]["_meta"]["majordomus/code"].as_str();
        let said = answer["result"]["content"][0]["text"].as_str().unwrap();
        let (text, hint) = said
            .split_once("\nhint: ")
            .unwrap_or_else(|| panic!("{said:?} names nothing that helps"));
        stands(code.unwrap(), text);
        assert!(!hint.is_empty(), "{said}");
    }
}

#[test]
fn a_request_that_cannot_be_served_is_answered_in_the_words_of_the_reference() {
    let repository = Repository::new();
    let client = repository.attached("client");
    for (method, params) in [
        ("no/such", json!({})),
        ("tools/call", json!({})),
        ("tools/call", json!({ "name": "no_such" })),
        ("tools/list", json!({ "cursor": 1 })),
        ("tools/list", json!({ "cursor": "no" })),
        ("prompts/get", json!({ "name": "no" })),
        ("resources/read", json!({})),
        ("resources/read", json!({ "uri": "no:such" })),
        ("logging/setLevel", json!({ "level": "loud" })),
        ("server/discover", json!({})),
    ] {
        let answer = client.request(method, &params);
        let code = answer["error"]["code"].to_string();
        let said = answer["error"]["message"].as_str();
        let said = said.unwrap_or_else(|| panic!("{method} {params}: {answer}"));
        stands(&code, said.lines().next().unwrap());
    }
}

#[test]
fn a_problem_over_http_says_what_the_reference_says_and_what_helps() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let http = repository.http();
    let bare = http.clone().with_token(None);
    let announce = "/api/v1/peers/announce";
    let cases = [
        http.get("/nowhere"),
        http.get("/api/v1/nope"),
        http.get(announce),
        http.send("DELETE", "/api/v1/peers"),
        http.send("DELETE", "/docs/nothing.js"),
        http.get("/docs/nothing.js"),
        http.send("DELETE", "/openapi.json"),
        http.send("DELETE", "/lease"),
        http.get("/lease?nonce=5"),
        http.send("PUT", "/mcp"),
        http.get("/api/v1/sign-in"),
        http.post("/api/v1/sign-in", &json!({})),
        http.post("/api/v1/sign-in", &json!({ "code": "old" })),
        http.post("/api/v1/sign-in/renew", &json!({})),
        bare.post("/api/v1/sign-in/renew", &json!({})),
        bare.get("/api/v1/peers"),
        bare.with_token(Some("x")).get("/api/v1/peers"),
        http.post_bytes(announce, b"{"),
        http.post_bytes(announce, "[".repeat(1000).as_bytes()),
        http.clone().with("Host", "a.example").get("/api/v1/peers"),
        http.clone().with("Host", "").get("/api/v1/peers"),
        http.clone()
            .with("Origin", "http://a.example")
            .get("/docs/"),
        http.clone()
            .with("Sec-Fetch-Site", "cross-site")
            .get("/api/v1/peers"),
        http.clone().with("Origin", "\u{e9}").get("/api/v1/peers"),
        http.clone()
            .with("Idempotency-Key", "")
            .post(announce, &json!({})),
        http.clone()
            .with("Content-Encoding", "gzip")
            .post(announce, &json!({})),
        http.with("Upgrade", "majordomus-link/0")
            .with("Connection", "upgrade")
            .get("/mcp"),
    ];
    for mut reply in cases {
        let problem = reply.json();
        let said = |key: &str| problem[key].as_str().unwrap_or_default().to_owned();
        stands(&said("code"), &said("detail"));
        assert!(!said("hint").is_empty(), "{problem}");
    }
}

#[test]
fn a_line_that_is_no_message_is_answered_in_the_words_of_the_reference() {
    let repository = Repository::new();
    let client = repository.attached("client");
    let none = Value::Null;
    for (id, line) in [
        (&none, "{"),
        (&none, "nonsense"),
        (&none, "5"),
        (&none, "[]"),
        (&json!("a"), r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#),
        (&none, r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#),
        (&json!("b"), r#"{"jsonrpc":"2.0","id":"b","method":5}"#),
        (&json!("c"), r#"{"jsonrpc":"2.0","id":"c"}"#),
        (&none, r#"{"jsonrpc":5,"id":1,"method":"ping"}"#),
        (&none, r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#),
    ] {
        let before = client.inbox().count(id);
        client.write(format!("{line}\n").as_bytes()).unwrap();
        let answers = client.inbox().answers(id, before + 1, BOUND);
        let answer = answers.and_then(|mut answers| answers.pop());
        let answer = answer.unwrap_or_else(|| panic!("no answer to {line}"));
        let said = answer["error"]["message"].as_str();
        let said = said.unwrap_or_else(|| panic!("{line}: {answer}"));
        stands(&answer["error"]["code"].to_string(), said);
    }
}
