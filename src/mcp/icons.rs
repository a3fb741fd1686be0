//! Pictures for people who look at a list of servers or tools, for the revisions that know icons.
//!
//! They travel as `data:` URIs: a client may not ask this server for files without the checkout's token, and must not
//! have to ask anybody else. They stand in what is asked once (`initialize`, `server/discover`, `tools/list`), not in
//! the name that every modern result carries. A tool's picture follows from its kind alone: an eye reads, a pen writes.
//! *Source:* MCP 2025-11-25 and 2026-07-28 `schema`, "Icon".

use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::revision::Revision;

/// The revision that icons came with.
const SINCE: Revision = Revision::V20251125;

const BOW_TIE: &str = r#"<path d="M1 3l7 4 7-4v10L8 9l-7 4z"/>"#;
const EYE: &str =
    r#"<path d="M1 8q7-8 14 0-7 8-14 0z"/><circle cx="8" cy="8" r="2" fill="white"/>"#;
const PEN: &str = r#"<path d="M2 14l1-4L11 2l3 3-8 8z"/>"#;

/// The server's.
static SERVER: LazyLock<Value> = LazyLock::new(|| icons(BOW_TIE));
static READS: LazyLock<Value> = LazyLock::new(|| icons(EYE));
static WRITES: LazyLock<Value> = LazyLock::new(|| icons(PEN));

/// Returns the server's, where `revision` knows icons.
pub(super) fn server(revision: Revision) -> Option<Value> {
    (revision >= SINCE).then(|| SERVER.clone())
}

/// Returns those of a tool, where `revision` knows icons.
pub(super) fn tool(revision: Revision, tool: &Value) -> Option<Value> {
    let reads = tool.pointer("/annotations/readOnlyHint") == Some(&Value::Bool(true));
    let of_its_kind = if reads { &READS } else { &WRITES };
    (revision >= SINCE).then(|| Value::clone(of_its_kind))
}

fn icons(paths: &str) -> Value {
    let picture =
        format!(r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">{paths}</svg>"#);
    let picture = BASE64_STANDARD.encode(picture);
    json!([{
        "src": format!("data:image/svg+xml;base64,{picture}"),
        "mimeType": "image/svg+xml",
        "sizes": ["any"],
    }])
}
