//! What is refused is said in the words of a table, and only there.
//!
//! The compiler holds most of it: only the table of a layer makes its errors. What it cannot hold is that nobody goes
//! round the tables and renders an error by hand.

use super::source::Source;
use super::{none_of, rust_files};

/// Ways to answer with a protocol error that no table has, and the only files where each may stand.
const BY_HAND: &[(&str, &[&str])] = &[
    ("jsonrpc::error", &["src/mcp/failure.rs"]),
    (
        "-32700",
        &["src/mcp/error_code.rs", "src/floor/jsonrpc/faults.rs"],
    ),
    (
        "-32600",
        &["src/mcp/error_code.rs", "src/floor/jsonrpc/faults.rs"],
    ),
    ("-32601", &["src/mcp/error_code.rs"]),
    ("-32602", &["src/mcp/error_code.rs"]),
    ("-32603", &["src/mcp/error_code.rs"]),
    ("-32002", &["src/mcp/error_code.rs"]),
    ("-32020", &["src/mcp/error_code.rs"]),
    ("-32021", &["src/mcp/error_code.rs"]),
    ("-32022", &["src/mcp/error_code.rs"]),
    // A type that says `problem+json`.
    (
        "problem+json",
        &["src/http/problem.rs", "src/registry/openapi.rs"],
    ),
];

/// A word that tells nobody anything.
const EMPTY: &str = "unexpected";

fn violations(path: &str, text: &str) -> Vec<String> {
    if path.ends_with("/tests.rs") || path.contains("/tests/") {
        return Vec::new();
    }
    let source = Source::shipped(text);
    let literal = |what: &str| source.strings.iter().any(|literal| literal.contains(what));
    let by_hand = BY_HAND
        .iter()
        .filter(|(what, places)| {
            let is_number = what.starts_with('-');
            let stands = source.code.contains(what) || !is_number && literal(what);
            stands && !places.contains(&path)
        })
        .map(|(what, _)| format!("{path}: makes an error by hand with `{what}`"));
    let empty = literal(EMPTY).then(|| format!("{path}: says {EMPTY:?}, which helps nobody"));
    by_hand.chain(empty).collect()
}

#[test]
fn no_error_is_made_outside_of_the_tables() {
    let all = rust_files("src");
    let found: Vec<_> = all
        .iter()
        .flat_map(|(path, text)| violations(path, text))
        .collect();
    none_of(&found);
}

#[test]
fn a_planted_error_is_caught() {
    for (path, text) in [
        (
            "src/host/a.rs",
            "let json = jsonrpc::error(id, code, text, None);",
        ),
        ("src/bridge/a.rs", "let code = -32603;"),
        ("src/http/a.rs", "let kind = \"application/problem+json\";"),
        ("src/cli/a.rs", "let text = \"an unexpected end\";"),
    ] {
        assert_eq!(violations(path, text).len(), 1, "{path}: {text}");
    }
    let fine = "// -32603\nlet bound = \"-32600\";\n";
    assert!(violations("src/floor/limits.rs", fine).is_empty());
}
