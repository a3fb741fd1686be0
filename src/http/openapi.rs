//! The `OpenAPI` document of the whole server: the registry's, and the routes that are no capability.

use serde_json::{Value, json};

use super::liveness;
use super::sign_in_routes::{CODES, EXCHANGE, RENEW};
use super::state::{Auth, Http};
use crate::registry::Registry;
use crate::registry::openapi::About;

/// Returns the document of one server. It names no server: the address is the one it was read from.
pub(crate) fn document(http: &Http) -> Value {
    let mut document = describe(http.registry(), http.parts().version);
    if http.parts().auth == Auth::Off {
        document["security"] = json!([]);
        document["info"]["description"] =
            "One shared MCP server per checkout. This one asks for no token: anybody on this machine can call everything."
                .into();
    }
    document
}

/// Returns the document of a registry, without a server.
#[must_use]
pub fn describe(registry: &Registry, version: &str) -> Value {
    let mut document = registry.openapi(&About { version, url: None });
    let Some(paths) = document.get_mut("paths").and_then(Value::as_object_mut) else {
        return document;
    };
    paths.insert(liveness::PATH.to_owned(), json!({ "get": lease() }));
    paths.insert(EXCHANGE.to_owned(), json!({ "post": exchange() }));
    paths.insert(RENEW.to_owned(), json!({ "post": renew() }));
    paths.insert(CODES.to_owned(), json!({ "post": codes() }));
    document
}

fn lease() -> Value {
    json!({
        "operationId": "server_lease",
        "tags": ["server"],
        "summary": "Liveness",
        "description": "Who serves here. Needs no token and is answered at any load.",
        "security": [],
        "parameters": [{
            "name": "nonce",
            "in": "query",
            "required": false,
            "description": "Asks for a proof over it, before the token is sent.",
            "schema": {"type": "string", "pattern": "^[0-9a-fA-F]{32}$"},
        }],
        "responses": answers("The owner.", &json!({
            "type": "object",
            "required": ["instance", "root_id", "epoch", "serving", "auth"],
            "properties": {
                "instance": {"type": "string", "description": "This owner, 32 hex digits."},
                "root_id": {"type": "string", "description": "The checkout."},
                "epoch": {"type": "integer", "minimum": 0, "description": "Grows by one with every owner."},
                "serving": {"type": "boolean", "description": "Whether it admits sessions and commands."},
                "auth": {"enum": ["bearer", "off"], "description": "Whether a token is asked for."},
                "proof": {"type": "string", "description": "That it knows the checkout's token; only with a nonce."},
            },
        })),
    })
}

fn exchange() -> Value {
    json!({
        "operationId": "sign_in",
        "tags": ["sign-in"],
        "summary": "Trade a sign-in code for a page's token",
        "description": "A code is good once and for two minutes.",
        "security": [],
        "requestBody": {"required": true, "content": {"application/json": {"schema": {
            "type": "object",
            "required": ["code"],
            "properties": {"code": {"type": "string", "description": "From the fragment of the sign-in link."}},
        }}}},
        "responses": answers("A page's token.", &token()),
    })
}

fn renew() -> Value {
    json!({
        "operationId": "sign_in_renew",
        "tags": ["sign-in"],
        "summary": "Renew a page's token",
        "description": "Until twelve hours after the sign-in. Wants the token of a page.",
        // Also where nothing else asks for one.
        "security": [{"bearer": []}],
        "responses": answers("The next token.", &token()),
    })
}

fn codes() -> Value {
    json!({
        "operationId": "sign_in_codes",
        "tags": ["sign-in"],
        "summary": "Mint a sign-in code",
        "description": "Wants the checkout's token, not a page's. `majordomus open` does it for you.",
        "responses": answers("A code, and the path that signs a browser in.", &json!({
            "type": "object",
            "required": ["code", "expires_in", "path"],
            "properties": {
                "code": {"type": "string"},
                "expires_in": {"type": "integer", "minimum": 0, "description": "Seconds."},
                "path": {"type": "string", "description": "Below the server's root."},
            },
        })),
    })
}

fn token() -> Value {
    json!({
        "type": "object",
        "required": ["token", "expires_in"],
        "properties": {
            "token": {"type": "string", "description": "Send it as `Authorization: Bearer`."},
            "expires_in": {"type": "integer", "minimum": 0, "description": "Seconds."},
        },
    })
}

fn answers(what: &str, schema: &Value) -> Value {
    json!({
        "200": {"description": what, "content": {"application/json": {"schema": schema}}},
        "default": {"$ref": "#/components/responses/Problem"},
    })
}
