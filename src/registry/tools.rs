//! The MCP form of the declarations: tools, resources and resource templates.
//!
//! Annotations follow from kind and retry class alone, so no declaration can lie about them: a query only reads; a
//! command that may be run twice with the same effect is idempotent; one whose resend nobody can make harmless (`once`)
//! is announced as destructive. Nothing here reaches beyond this machine's repository, so the world is closed.

use serde_json::{Value, json};

use super::capability::{Capability, Kind, Retry};
use super::catalog::Registry;

/// Bytes of English JSON that make about one token of a model.
const BYTES_PER_TOKEN: usize = 4;

impl Registry {
    /// Returns the tools as `tools/list` shows them, in the order of declaration.
    #[must_use]
    pub fn tools(&self) -> Vec<Value> {
        self.all().iter().filter_map(tool).collect()
    }

    /// Returns the resources with a fixed URI as `resources/list` shows them.
    #[must_use]
    pub fn resources(&self) -> Vec<Value> {
        self.read("uri", |uri| !uri.contains('{'))
    }

    /// Returns the resources with variables as `resources/templates/list` shows them.
    #[must_use]
    pub fn templates(&self) -> Vec<Value> {
        self.read("uriTemplate", |uri| uri.contains('{'))
    }

    fn read(&self, key: &str, wanted: fn(&str) -> bool) -> Vec<Value> {
        let listed = |capability: &Capability| {
            let uri = capability.exposure.resource.filter(|uri| wanted(uri))?;
            Some(json!({
                key: uri,
                "name": capability.id,
                "title": capability.title,
                "description": capability.description,
                "mimeType": "application/json",
            }))
        };
        self.all().iter().filter_map(listed).collect()
    }
}

/// About how many tokens the list of these capabilities' tools costs a model.
pub(super) fn tokens(capabilities: &[Capability]) -> usize {
    let tools: Vec<Value> = capabilities.iter().filter_map(tool).collect();
    let bytes = serde_json::to_vec(&tools).map_or(0, |text| text.len());
    bytes.div_ceil(BYTES_PER_TOKEN)
}

fn tool(capability: &Capability) -> Option<Value> {
    let reads = capability.kind != Kind::Command;
    Some(json!({
        "name": capability.exposure.tool?,
        "title": capability.title,
        "description": capability.description,
        "inputSchema": capability.input,
        "outputSchema": capability.output,
        "annotations": {
            "readOnlyHint": reads,
            "destructiveHint": !reads && capability.retry == Retry::Once,
            "idempotentHint": reads || matches!(capability.retry, Retry::Safe | Retry::Converging),
            "openWorldHint": false,
        },
    }))
}
