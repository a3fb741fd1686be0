//! The MCP form of the declarations: tools, resources, resource templates and prompts.
//!
//! Annotations follow from kind and retry class alone, so no declaration can lie about them: a query only reads; a
//! command that may be run twice with the same effect is idempotent; one whose resend nobody can make harmless (`once`)
//! is announced as destructive. Nothing here reaches beyond this machine's repository, so the world is closed.

use serde_json::{Value, json};

use super::capability::{Capability, Form, Kind, Retry};
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

    /// Returns the resources that templates stand for now, as `resources/list` shows them.
    ///
    /// Cancel safety: dropping the future drops those of the capabilities.
    pub async fn members(&self) -> Vec<Value> {
        let mut all = Vec::new();
        for capability in self.all() {
            let Some(members) = &capability.members else {
                continue;
            };
            all.extend(members.ask().await.into_iter().map(|member| {
                json!({
                    "uri": member.uri,
                    "name": member.name,
                    "title": member.title,
                    "mimeType": capability.form.media(),
                })
            }));
        }
        all
    }

    /// Returns the prompts as `prompts/list` shows them.
    #[must_use]
    pub fn prompts(&self) -> Vec<Value> {
        self.all().iter().filter_map(prompt).collect()
    }

    fn read(&self, key: &str, wanted: fn(&str) -> bool) -> Vec<Value> {
        let listed = |capability: &Capability| {
            let uri = capability.exposure.resource.filter(|uri| wanted(uri))?;
            Some(json!({
                key: uri,
                "name": capability.id,
                "title": capability.title,
                "description": capability.description,
                "mimeType": capability.form.media(),
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
    let mut tool = json!({
        "name": capability.exposure.tool?,
        "title": capability.title,
        "description": capability.description,
        "inputSchema": capability.input,
    });
    if capability.form == Form::Data {
        tool["outputSchema"] = Value::clone(&capability.output);
    }
    tool["annotations"] = json!({
        "readOnlyHint": reads,
        "destructiveHint": !reads && capability.retry == Retry::Once,
        "idempotentHint": reads || matches!(capability.retry, Retry::Safe | Retry::Converging),
        "openWorldHint": false,
    });
    Some(tool)
}

fn prompt(capability: &Capability) -> Option<Value> {
    let name = capability.exposure.prompt?;
    let required = |name: &str| {
        let required = capability.input.get("required").and_then(Value::as_array);
        required.is_some_and(|all| all.iter().any(|one| one == name))
    };
    let properties = capability
        .input
        .get("properties")
        .and_then(Value::as_object);
    let arguments: Vec<Value> = properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| {
            let mut argument = json!({ "name": name, "required": required(name) });
            if let Some(description) = schema.get("description") {
                argument["description"] = description.clone();
            }
            argument
        })
        .collect();
    Some(json!({
        "name": name,
        "title": capability.title,
        "description": capability.description,
        "arguments": arguments,
    }))
}
