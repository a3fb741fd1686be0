//! What the conformance suites ask of a server that asks back: of a user, of a model, for the client's folders.
//!
//! Names and texts are the suites' own.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::conformance_content::{contents, messages, prompt, tool};
use super::declare::{Nothing, read};
use crate::registry::content::text;
use crate::registry::{Answer, Ask, Call, Capability, Handler, Refusal, Wish};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Prompt {
    /// For the model.
    #[schema(max_length = 1000)]
    prompt: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Question {
    /// For the user.
    #[schema(max_length = 1000)]
    message: String,
}

/// Makes the questions of one tool.
type Asks = fn() -> Vec<Ask>;

/// Declares the group.
pub(super) fn capabilities() -> Vec<Capability> {
    let mut all = vec![
        tool::<Prompt>("suite.sampling", "test_sampling", Handler::task(sample)),
        tool::<Question>(
            "suite.elicitation",
            "test_elicitation",
            Handler::task(elicit),
        ),
        prompt::<Nothing>(
            "suite.ask_prompt",
            "test_input_required_result_prompt",
            Handler::task(ask_for_prompt),
        ),
        tool::<Nothing>(
            "suite.ask_able",
            "test_input_required_result_capabilities",
            Handler::task(ask_what_it_can),
        ),
        tool::<Nothing>(
            "suite.ask_rounds",
            "test_input_required_result_multi_round",
            Handler::task(rounds),
        ),
    ];
    let plain: [(&str, &str, Asks); 10] = [
        (
            "suite.defaults",
            "test_elicitation_sep1034_defaults",
            defaults,
        ),
        ("suite.enums", "test_elicitation_sep1330_enums", enums),
        ("suite.missing", "test_missing_capability", || {
            vec![capital()]
        }),
        ("suite.stream_ask", "test_streaming_elicitation", || {
            vec![name()]
        }),
        (
            "suite.ask_name",
            "test_input_required_result_elicitation",
            || vec![name()],
        ),
        (
            "suite.ask_model",
            "test_input_required_result_sampling",
            || vec![capital()],
        ),
        (
            "suite.ask_roots",
            "test_input_required_result_list_roots",
            || vec![roots()],
        ),
        (
            "suite.ask_state",
            "test_input_required_result_request_state",
            || vec![confirm()],
        ),
        (
            "suite.ask_tampered",
            "test_input_required_result_tampered_state",
            || vec![confirm()],
        ),
        (
            "suite.ask_all",
            "test_input_required_result_multiple_inputs",
            || {
                vec![
                    name(),
                    sampling("greeting", "Generate a greeting", 50),
                    roots(),
                ]
            },
        ),
    ];
    for (id, name, asks) in plain {
        let handler =
            Handler::task(
                move |call: Call| async move { tell(&call.client.ask_all(asks()).await?) },
            );
        all.push(tool::<Nothing>(id, name, handler));
    }
    all
}

async fn sample(call: Call) -> Answer {
    let Prompt { prompt } = read(call.arguments.clone())?;
    let said = call.client.ask(sampling("sample", &prompt, 100)).await?;
    let said = said
        .pointer("/content/text")
        .and_then(Value::as_str)
        .unwrap_or_default();
    contents(vec![text(format!("LLM response: {said}"))])
}

async fn elicit(call: Call) -> Answer {
    let Question { message } = read(call.arguments.clone())?;
    let properties = json!({
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    });
    let ask = elicitation("answer", &message, &properties, &["username", "email"]);
    let said = call.client.ask(ask).await?;
    contents(vec![text(format!("User response: {said}"))])
}

async fn ask_for_prompt(call: Call) -> Answer {
    let properties = json!({"context": {"type": "string"}});
    let ask = elicitation(
        "user_context",
        "What context should the prompt use?",
        &properties,
        &["context"],
    );
    let said = call.client.ask(ask).await?;
    messages(vec![text(format!("Use this context: {}", said["content"]))])
}

async fn ask_what_it_can(call: Call) -> Answer {
    let asks = [name(), capital(), roots()];
    let able = asks
        .into_iter()
        .filter(|ask| call.client.can(ask.wish))
        .collect();
    tell(&call.client.ask_all(able).await?)
}

async fn rounds(call: Call) -> Answer {
    let properties = json!({"name": {"type": "string"}});
    let ask = elicitation(
        "step1",
        "Step 1: What is your name?",
        &properties,
        &["name"],
    );
    let name = call.client.ask(ask).await?;
    let properties = json!({"color": {"type": "string"}});
    let ask = elicitation(
        "step2",
        "Step 2: What is your favorite color?",
        &properties,
        &["color"],
    );
    let color = call.client.ask(ask).await?;
    contents(vec![text(format!(
        "{} likes {}",
        name["content"], color["content"]
    ))])
}

fn tell(answers: &Map<String, Value>) -> Result<Value, Refusal> {
    let said: Vec<String> = answers
        .iter()
        .map(
            |(key, said)| match said.get("action").and_then(Value::as_str) {
                Some(action) => format!(
                    "Elicitation completed: action={action}, content={}",
                    said["content"]
                ),
                None => format!("{key}: {said}"),
            },
        )
        .collect();
    contents(vec![text(said.join("\n"))])
}

fn elicitation(key: &'static str, message: &str, properties: &Value, required: &[&str]) -> Ask {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    Ask {
        key,
        wish: Wish::Elicitation,
        params: json!({"message": message, "requestedSchema": schema}),
    }
}

fn sampling(key: &'static str, prompt: &str, tokens: u32) -> Ask {
    let message = json!({"role": "user", "content": text(prompt)});
    Ask {
        key,
        wish: Wish::Sampling,
        params: json!({"messages": [message], "maxTokens": tokens}),
    }
}

fn roots() -> Ask {
    Ask {
        key: "client_roots",
        wish: Wish::Roots,
        params: json!({}),
    }
}

fn name() -> Ask {
    elicitation(
        "user_name",
        "What is your name?",
        &json!({"name": {"type": "string"}}),
        &["name"],
    )
}

fn capital() -> Ask {
    sampling("capital_question", "What is the capital of France?", 100)
}

fn confirm() -> Ask {
    elicitation(
        "confirm",
        "Please confirm",
        &json!({"ok": {"type": "boolean"}}),
        &["ok"],
    )
}

fn defaults() -> Vec<Ask> {
    let properties = json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    });
    vec![elicitation(
        "defaults",
        "Please review and update the form fields",
        &properties,
        &[],
    )]
}

fn enums() -> Vec<Ask> {
    let titled = json!([
        {"const": "value1", "title": "First Option"},
        {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"},
    ]);
    let plain = json!(["option1", "option2", "option3"]);
    let properties = json!({
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    });
    vec![elicitation(
        "enums",
        "Please select options",
        &properties,
        &[],
    )]
}
