//! Frames as clients of both eras write them.

use serde_json::{Value, json};

/// The newest revision that opens with `initialize`.
pub(crate) const LEGACY: &str = "2025-11-25";
/// The revision without `initialize` and without sessions.
pub(crate) const MODERN: &str = "2026-07-28";
/// All legacy revisions.
pub(crate) const LEGACY_ALL: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY];

/// `initialize` parameters of `name` at `revision`.
pub(crate) fn initialize(name: &str, revision: &str) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": { "name": name, "version": "1.2.3" },
    })
}

/// `params` with the `_meta` that the modern era asks for on each request.
pub(crate) fn modern(name: &str, params: &Value) -> Value {
    let mut params = params.clone();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": name, "version": "1.2.3" },
    });
    let object = params.as_object_mut().expect("parameters are an object");
    let slot = object.entry("_meta").or_insert_with(|| json!({}));
    for (key, value) in meta.as_object().expect("written above as an object") {
        slot[key] = value.clone();
    }
    params
}

/// A request.
pub(crate) fn request(id: &Value, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// `tools/call` parameters.
pub(crate) fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}
