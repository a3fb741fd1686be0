//! The mistakes that a registry can have, each naming both sides.

use crate::registry::capability::{Kind, Retry};
use crate::registry::schema::SchemaError;
use crate::registry::validate::Fault;

/// A mistake in the declarations.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// An id is not `namespace.local`.
    #[error(
        "capability `{id}` (\"{title}\"): an id is `namespace.local`, lower-case letters, digits and `_` with one dot"
    )]
    BadId {
        /// The id.
        id: &'static str,
        /// Its title.
        title: &'static str,
    },
    /// Two capabilities of one id.
    #[error("capabilities \"{first}\" and \"{second}\" both have the id `{id}`")]
    DuplicateId {
        /// The id.
        id: &'static str,
        /// The title of the first.
        first: &'static str,
        /// The title of the second.
        second: &'static str,
    },
    /// Two capabilities of one kind under one name.
    #[error("capabilities `{first}` and `{second}` both have the {what} `{name}`")]
    DuplicateName {
        /// Tool, route, resource, prompt or command.
        what: &'static str,
        /// The name.
        name: String,
        /// The first.
        first: &'static str,
        /// The second.
        second: &'static str,
    },
    /// Two capabilities of different kinds behind one tool.
    #[error(
        "tool `{tool}` mixes kinds: `{first}` is a {first_kind}, `{second}` is a {second_kind}"
    )]
    MixedKinds {
        /// The tool.
        tool: &'static str,
        /// The first.
        first: &'static str,
        /// Its kind.
        first_kind: Kind,
        /// The second.
        second: &'static str,
        /// Its kind.
        second_kind: Kind,
    },
    /// A name that its transport does not take.
    #[error("capability `{id}` has the {what} `{name}`, which is not {rule}")]
    BadName {
        /// The capability.
        id: &'static str,
        /// Tool, route, resource or command.
        what: &'static str,
        /// The name.
        name: String,
        /// What it has to be.
        rule: &'static str,
    },
    /// A prompt without a name, or a name without a prompt.
    #[error("capability `{id}` is a {kind} and has {what} prompt name")]
    PromptName {
        /// The capability.
        id: &'static str,
        /// Its kind.
        kind: Kind,
        /// `a` or `no`.
        what: &'static str,
    },
    /// A prompt's argument that is no string, which is all that MCP gives it.
    #[error("capability `{id}` is a prompt, and its argument `{argument}` is no string")]
    PromptArgument {
        /// The capability.
        id: &'static str,
        /// The argument.
        argument: String,
    },
    /// A resource without a URI.
    #[error("capability `{id}` is a resource and has no resource URI to be read under")]
    ResourceWithoutUri {
        /// The capability.
        id: &'static str,
    },
    /// Reading would change something.
    #[error(
        "capability `{id}` is a command and has the resource URI `{uri}`: reading must not change anything"
    )]
    CommandAsResource {
        /// The capability.
        id: &'static str,
        /// The URI.
        uri: &'static str,
    },
    /// A resource cannot be read, since reading gives no arguments.
    #[error(
        "capability `{id}` has the resource URI `{uri}` but needs the argument `{argument}`, which the URI does not give"
    )]
    ResourceNeedsInput {
        /// The capability.
        id: &'static str,
        /// The URI.
        uri: &'static str,
        /// The argument.
        argument: String,
    },
    /// A URI template names what is no argument.
    #[error(
        "capability `{id}` has the resource URI `{uri}`, whose `{variable}` is no argument of it"
    )]
    UnknownVariable {
        /// The capability.
        id: &'static str,
        /// The URI.
        uri: &'static str,
        /// The variable.
        variable: String,
    },
    /// A read with a retry class that says it changes something.
    #[error(
        "capability `{id}` is a {kind} and has the retry class `{retry}`: what only reads is `safe`"
    )]
    ReadNotSafe {
        /// The capability.
        id: &'static str,
        /// Its kind.
        kind: Kind,
        /// Its retry class.
        retry: Retry,
    },
    /// A frame that is replayed must not add up.
    #[error(
        "capability `{id}` is retained and has the retry class `{retry}`: what is replayed is `converging`"
    )]
    RetainedNotConverging {
        /// The capability.
        id: &'static str,
        /// Its retry class.
        retry: Retry,
    },
    /// A schema that cannot be declared.
    #[error("capability `{id}`: the {side} schema: {fault}")]
    BadSchema {
        /// The capability.
        id: &'static str,
        /// `input` or `output`.
        side: &'static str,
        /// What is wrong.
        fault: SchemaError,
    },
    /// An example that its own schema refuses.
    #[error("capability `{id}`: the example \"{title}\" does not fit the input schema: {fault}")]
    BadExample {
        /// The capability.
        id: &'static str,
        /// The example.
        title: &'static str,
        /// What is wrong.
        fault: Fault,
    },
    /// Two types of one name in the OpenAPI document.
    #[error("capabilities `{first}` and `{second}` both define `{name}`, and differ")]
    ConflictingComponents {
        /// The component.
        name: String,
        /// The first.
        first: &'static str,
        /// The second.
        second: &'static str,
    },
}
