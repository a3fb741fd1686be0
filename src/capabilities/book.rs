//! The capabilities about themselves: the registry, read back.
//!
//! The book is empty while the registry is built and filled once it stands.

use std::sync::{Arc, OnceLock, Weak};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::declare::{Nothing, answer, query, read};
use crate::floor::text::shown;
use crate::registry::capability::Capability;
use crate::registry::{Answer, Example, Exposure, Handler, Refusal, Registry, digest, refusal};

/// The registry, once it stands; it holds the book in its turn.
#[derive(Debug, Default)]
pub(super) struct Book(OnceLock<Weak<Registry>>);

/// Everything this server can do.
#[derive(Debug, Serialize, ToSchema)]
struct Listed {
    capabilities: Vec<Brief>,
    /// Digest of all declarations.
    digest: String,
    /// About how many tokens `tools/list` costs a model.
    tool_tokens: usize,
}

/// One capability.
#[derive(Debug, Serialize, ToSchema)]
struct Brief {
    id: &'static str,
    /// `query`, `resource`, `prompt` or `command`.
    kind: &'static str,
    title: &'static str,
    /// What a resend may do: `safe`, `keyed`, `converging` or `once`.
    retry: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tool: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    resource: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    prompt: Option<&'static str>,
    /// Method and path.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    route: Option<String>,
    /// Words of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cli: Option<String>,
}

/// Which capability.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// Such as `peers.list`.
    #[schema(max_length = 128)]
    id: String,
}

/// One declaration, whole.
#[derive(Debug, Serialize, ToSchema)]
struct Declaration {
    id: String,
    kind: String,
    title: String,
    description: String,
    retry: String,
    /// Tool, resource, prompt, method, route and command.
    #[schema(value_type = Object)]
    exposure: Value,
    /// Media type of the answer.
    media: String,
    /// Whether it writes log messages to its client.
    logs: bool,
    /// Whether a bridge keeps the last call, to replay it to the next owner.
    retained: bool,
    /// JSON Schema of the arguments.
    #[schema(value_type = Object)]
    input: Value,
    /// JSON Schema of the answer.
    #[schema(value_type = Object)]
    output: Value,
    /// Worked calls.
    #[schema(value_type = Vec<Object>)]
    examples: Vec<Value>,
}

impl Book {
    pub(super) fn fill(&self, registry: &Arc<Registry>) {
        // A book is filled once, by whoever built its registry.
        drop(self.0.set(Arc::downgrade(registry)));
    }

    pub(super) fn registry(&self) -> Option<Arc<Registry>> {
        self.0.get()?.upgrade()
    }

    fn list(&self) -> Answer {
        let registry = self.registry().ok_or_else(unwritten)?;
        answer(&Listed {
            capabilities: registry.all().iter().map(brief).collect(),
            digest: registry.digest().to_string(),
            tool_tokens: registry.tokens(),
        })
    }

    fn describe(&self, arguments: Value) -> Answer {
        let which: Which = read(arguments)?;
        let registry = self.registry().ok_or_else(unwritten)?;
        let declared = registry.get(&which.id).map(digest::declaration);
        declared.ok_or_else(|| {
            let id = shown(&which.id, 128);
            refusal::NO_CAPABILITY.fill(&[&id])
        })
    }
}

fn unwritten() -> Refusal {
    refusal::UNBUILT.fill(&[])
}

fn brief(capability: &Capability) -> Brief {
    let exposure = &capability.exposure;
    Brief {
        id: capability.id,
        kind: capability.kind.as_str(),
        title: capability.title,
        retry: capability.retry.as_str(),
        tool: exposure.tool,
        resource: exposure.resource,
        prompt: exposure.prompt,
        route: exposure
            .route
            .map(|route| format!("{} {route}", capability.kind.method())),
        cli: exposure.cli.map(|words| words.join(" ")),
    }
}

/// Declares the group.
pub(super) fn capabilities(book: &Arc<Book>) -> Vec<Capability> {
    let (lister, describer) = (Arc::clone(book), Arc::clone(book));
    let mut list = query::<Nothing, Listed>(
        "capabilities.list",
        "Capabilities",
        "Everything this server can do, and under which names.",
        Handler::inline(move |_| lister.list()),
    );
    list.exposure = Exposure {
        tool: None,
        prompt: None,
        resource: None,
        route: Some("/api/v1/capabilities"),
        cli: Some(&["capabilities"]),
    };
    list.examples = vec![Example {
        title: "what can it do",
        arguments: json!({}),
    }];
    let mut describe = query::<Which, Declaration>(
        "capabilities.describe",
        "Describe",
        "One capability's whole declaration: names, retry class, schemas and examples.",
        Handler::inline(move |call| describer.describe(call.arguments.clone())),
    );
    describe.exposure = Exposure {
        tool: None,
        prompt: None,
        resource: None,
        route: Some("/api/v1/capabilities/describe"),
        cli: Some(&["describe"]),
    };
    describe.examples = vec![Example {
        title: "how to announce",
        arguments: json!({"id": "peers.announce"}),
    }];
    vec![list, describe]
}

#[cfg(test)]
mod tests {
    use super::Book;

    #[test]
    fn an_empty_book_says_so() {
        assert!(Book::default().list().is_err());
    }
}
