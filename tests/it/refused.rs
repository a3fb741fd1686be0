//! What is refused is refused in the words of `docs/reference/errors.md`.

use std::fs;
use std::path::Path;

use majordomus::floor::gaps;
use serde_json::json;

use crate::support::{Repository, checks};

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
