//! Short ways to write a declaration.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;

use crate::registry::{
    Answer, Capability, Exposure, Form, Handler, Kind, Refusal, Retry, refusal, schema::Schema,
};

/// Starts a declaration: a query that reads `I` and answers `O`, exposed nowhere yet.
pub(super) fn query<I: ToSchema + 'static, O: ToSchema + 'static>(
    id: &'static str,
    title: &'static str,
    description: &'static str,
    handler: Handler,
) -> Capability {
    Capability {
        id,
        kind: Kind::Query,
        title,
        description,
        input: Schema::of::<I>(),
        output: Schema::of::<O>(),
        form: Form::Data,
        logs: false,
        retry: Retry::Safe,
        exposure: Exposure::default(),
        examples: Vec::new(),
        members: None,
        retain: None,
        handler,
    }
}

/// Nothing to say.
#[derive(Debug, serde::Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// Reads arguments that the registry has found valid.
pub(super) fn read<I: DeserializeOwned>(arguments: Value) -> Result<I, Refusal> {
    serde_json::from_value(arguments).map_err(|fault| refusal::UNREAD.fill(&[&fault]))
}

/// Writes an answer.
pub(super) fn answer<O: Serialize>(value: &O) -> Answer {
    serde_json::to_value(value).map_err(|_| refusal::UNWRITTEN_ANSWER.fill(&[]))
}
