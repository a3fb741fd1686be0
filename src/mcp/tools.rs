//! `tools/call` and `resources/read`: from a message to a call of the registry and back.

use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use super::asking::Asking;
use super::blocks::fitting;
use super::engine::{Engine, Standing, Turn};
use super::failure::{self, Failure};
use super::outbound::Message;
use super::reply::{Block, Body, Keep, Outcome, Success, ToolResult};
use super::revision::Revision;
use crate::floor::text::shown;
use crate::floor::{hex, jsonrpc};
use crate::registry::{
    Answer, Call, Capability, Client, Delivery, Form, Kind, OnceKey, Progress, RefusalCode, Retry,
    refusal, takes_key,
};

impl Engine {
    pub(super) async fn call_tool(&self, turn: Turn<'_>, token: &CancellationToken) -> Outcome {
        let Some(name) = turn.params.get("name").and_then(Value::as_str) else {
            return Err(failure::NO_NAME.fill(&[]));
        };
        let Some(capability) = self.registry.by_tool(name) else {
            let known = shown(name, 64);
            // Its bridge may be of a build that has it, and the client may know it from an earlier owner.
            return Err(failure::UNKNOWN_TOOL.fill(&[&known]));
        };
        let arguments = match turn.params.get("arguments") {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(arguments @ Value::Object(_)) => arguments.clone(),
            Some(_) => return Err(failure::NO_ARGUMENTS.fill(&[])),
        };
        let slot = capability.retain.and_then(|retain| retain(&arguments));
        let answer = match self.call(capability, &turn, arguments, token).await {
            Ok(answer) => answer,
            Err(early) => return *early,
        };
        let kept = slot.filter(|_| answer.is_ok());
        let result = self.tool_result(turn.revision, capability.form, answer)?;
        let mut success = Success::of(Body::Tool(result));
        success.receipt = turn.request.key.is_some()
            && matches!(capability.retry, Retry::Keyed | Retry::Converging);
        if let Some(slot) = kept {
            success = success.keep(Keep::Slot(format!("call/{}/{slot}", capability.id)));
        }
        Ok(success)
    }

    pub(super) async fn read_resource(&self, turn: Turn<'_>, token: &CancellationToken) -> Outcome {
        let uri = uri_of(&turn.params)?;
        let Some(read) = self.registry.by_resource(uri) else {
            return Err(unknown_resource(uri));
        };
        let form = read.capability.form;
        let answer = match self
            .call(read.capability, &turn, read.arguments, token)
            .await
        {
            Ok(answer) => answer,
            Err(early) => return *early,
        };
        match answer {
            Ok(value) => {
                let mut result = Map::new();
                let contents = json!([contents(uri, form, &value)]);
                result.insert("contents".to_owned(), contents);
                Ok(Success::new(self.finish(
                    turn.revision,
                    result,
                    Some((0, "private")),
                )))
            }
            Err(refusal) => Err(Failure::refused(&refusal)),
        }
    }

    /// Runs one capability for the frame in hand; an error is what the frame is answered with instead.
    pub(super) async fn call(
        &self,
        capability: &Capability,
        turn: &Turn<'_>,
        arguments: Value,
        token: &CancellationToken,
    ) -> Result<Answer, Box<Outcome>> {
        if capability.kind == Kind::Command && !self.about.admission.admits() {
            return Err(Box::new(Err(failure::NO_COMMANDS.fill(&[]))));
        }
        let asking =
            Asking::new(self, turn, capability).map_err(|failure| Box::new(Err(failure)))?;
        let client = Client::at(Arc::clone(&asking) as Arc<_>);
        let answer = self
            .admitted(capability, turn, arguments, token, client)
            .await;
        // A call that went on without what it asked for has an answer of its own.
        match answer.is_err().then(|| asking.early(self, turn)).flatten() {
            Some(early) => Err(Box::new(early)),
            None => Ok(answer),
        }
    }

    async fn admitted(
        &self,
        capability: &Capability,
        turn: &Turn<'_>,
        arguments: Value,
        token: &CancellationToken,
        client: Client,
    ) -> Answer {
        let scope = turn.request.key.as_deref();
        if scope.is_some_and(OnceKey::is_scope_of_client) {
            takes_key(capability)?;
        }
        if turn.request.delivery == Delivery::Resent && capability.retry == Retry::Once {
            let cause = match &self.about.standing {
                Standing::Alone {
                    reason,
                    holder: true,
                } => reason.as_str(),
                _ => "the owner died while this ran",
            };
            return Err(refusal::UNSURE.fill(&[&cause]));
        }
        if let (
            Standing::Alone {
                reason,
                holder: true,
            },
            false,
        ) = (&self.about.standing, capability.retry == Retry::Safe)
        {
            let sent = match turn.request.delivery {
                Delivery::New => refusal::NOT_RUN,
                Delivery::Resent | Delivery::Replayed => refusal::PERHAPS_RUN,
            };
            return Err(sent.fill(&[reason]));
        }
        let call = Call {
            caller: turn.session.caller(),
            arguments,
            delivery: turn.request.delivery,
            key: once_key(capability, turn),
            cancel: token.clone(),
            progress: progress(turn),
            client,
        };
        self.registry.call(capability, call).await
    }

    fn tool_result(
        &self,
        revision: Revision,
        form: Form,
        answer: Answer,
    ) -> Result<ToolResult, Failure> {
        let mut common = Map::new();
        let mut result = match answer {
            Ok(mut value) => {
                let shown = match form {
                    Form::Data => None,
                    Form::Content { .. } => value.get_mut("content").map(Value::take),
                };
                let mut content: Vec<Block> = match shown {
                    Some(Value::Array(blocks)) => {
                        let blocks = blocks.into_iter();
                        blocks
                            .map(|block| Block::Shown(fitting(block, revision)))
                            .collect()
                    }
                    _ => vec![Block::text(value.to_string())],
                };
                let degraded = self.degraded();
                content.extend(degraded.map(|reason| Block::text(format!("degraded: {reason}"))));
                let structured = form == Form::Data && revision >= Revision::V20250618;
                ToolResult {
                    content,
                    structured_content: structured.then_some(value),
                    is_error: false,
                    common: Map::new(),
                }
            }
            Err(refusal) if refusal.code() == RefusalCode::Internal => {
                return Err(Failure::refused(&refusal));
            }
            Err(refusal) => {
                let mut text = refusal.message.clone();
                if let Some(hint) = &refusal.hint {
                    text.push_str("\nhint: ");
                    text.push_str(hint);
                }
                common.insert(
                    "_meta".to_owned(),
                    json!({ "majordomus/code": refusal.code().as_str() }),
                );
                ToolResult {
                    content: vec![Block::text(text)],
                    structured_content: None,
                    is_error: true,
                    common: Map::new(),
                }
            }
        };
        self.complete(revision, &mut common, None);
        result.common = common;
        Ok(result)
    }
}

/// The call's identity across owners, for the retry classes that use it. Digesting a frame costs, so no other has it.
fn once_key(capability: &Capability, turn: &Turn<'_>) -> Option<OnceKey> {
    let scope = turn.request.key.as_ref()?;
    matches!(capability.retry, Retry::Keyed | Retry::Converging).then(|| OnceKey {
        scope: scope.to_string(),
        seq: turn.request.number,
        digest: hex::encode(&Sha256::digest(turn.request.frame.raw())),
    })
}

/// One entry of `resources/read`: the JSON of data, or what the first block of the content holds.
fn contents(uri: &str, form: Form, value: &Value) -> Value {
    let mut entry = json!({ "uri": uri, "mimeType": form.media() });
    let block = value.pointer("/content/0");
    match (form, block.and_then(|block| block.get("data"))) {
        (Form::Data, _) => entry["text"] = json!(value.to_string()),
        (Form::Content { .. }, Some(data)) => entry["blob"] = data.clone(),
        (Form::Content { .. }, None) => {
            entry["text"] = block.map_or(Value::Null, |block| block["text"].clone());
        }
    }
    entry
}

/// Reads `params.uri`.
pub(super) fn uri_of(params: &Value) -> Result<&str, Failure> {
    let uri = params.get("uri").and_then(Value::as_str);
    uri.ok_or_else(|| failure::NO_URI.fill(&[]))
}

/// The error for a resource that does not exist.
pub(super) fn unknown_resource(uri: &str) -> Failure {
    failure::NO_RESOURCE.fill(&[]).data(json!({ "uri": uri }))
}

/// Progress goes to the client that gave a token, and never goes back.
fn progress(turn: &Turn<'_>) -> Progress {
    let meta = turn.params.get("_meta");
    let Some(token) = meta.and_then(|meta| meta.get("progressToken")).cloned() else {
        return Progress::none();
    };
    let (outbound, about) = (turn.session.outbound.clone(), turn.request.number);
    let last = Arc::new(Mutex::new(f64::NEG_INFINITY));
    Progress::to(move |progress, total, message| {
        let mut last = last
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if progress <= *last {
            return;
        }
        *last = progress;
        let mut params = json!({ "progressToken": token, "progress": progress });
        if let Some(total) = total {
            params["total"] = json!(total);
        }
        if let Some(message) = message {
            params["message"] = json!(message);
        }
        let json = jsonrpc::notification("notifications/progress", &params);
        outbound.send(Message {
            about,
            coalesce: None,
            json,
        });
    })
}
