//! What the protocol's conformance suites ask of a server, as far as it only answers: tools, resources and prompts with
//! every kind of content.
//!
//! Names and texts are the suites' own (`@modelcontextprotocol/conformance`, the scenarios of `server`), but for
//! `test_resource_link`, a kind of content that they leave out, and `test_many_values`, more than one completion shows.

use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::declare::{Nothing, answer, query, read};
use crate::registry::content::{Contents, Message, Messages, audio, embedded, image, link, text};
use crate::registry::{Answer, Call, Capability, Example, Form, Handler, Kind, refusal};

/// A red point.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// Silence.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
/// A tool's answer is shown to no resource.
const BLOCKS: Form = Form::Content {
    media: "text/plain",
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Template {
    #[schema(max_length = 128)]
    id: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TwoWords {
    /// First word.
    #[schema(max_length = 128)]
    arg1: String,
    /// Second word.
    #[schema(max_length = 128)]
    arg2: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// The resource to embed.
    #[schema(max_length = 512)]
    #[serde(rename = "resourceUri")]
    uri: String,
}

/// Declares the group.
pub(super) fn capabilities() -> Vec<Capability> {
    let mut all = blocks();
    all.extend(schemas());
    all.extend(resources());
    all.extend(prompts());
    all
}

fn blocks() -> Vec<Capability> {
    let mixed_json = || {
        embedded(
            "test://mixed-content-resource",
            "application/json",
            r#"{"test":"data","value":123}"#,
        )
    };
    vec![
        tool::<Nothing>(
            "suite.text",
            "test_simple_text",
            Handler::inline(|_| {
                contents(vec![text("This is a simple text response for testing.")])
            }),
        ),
        tool::<Nothing>(
            "suite.image",
            "test_image_content",
            Handler::inline(|_| contents(vec![image(PNG, "image/png")])),
        ),
        tool::<Nothing>(
            "suite.audio",
            "test_audio_content",
            Handler::inline(|_| contents(vec![audio(WAV, "audio/wav")])),
        ),
        tool::<Nothing>(
            "suite.embedded",
            "test_embedded_resource",
            Handler::inline(|_| {
                let words = "This is an embedded resource content.";
                contents(vec![embedded(
                    "test://embedded-resource",
                    "text/plain",
                    words,
                )])
            }),
        ),
        tool::<Nothing>(
            "suite.link",
            "test_resource_link",
            Handler::inline(|_| {
                let uri = "test://static-text";
                contents(vec![link(uri, "suite.static_text", "text/plain")])
            }),
        ),
        tool::<Nothing>(
            "suite.mixed",
            "test_multiple_content_types",
            Handler::inline(move |_| {
                let words = text("Multiple content types test:");
                contents(vec![words, image(PNG, "image/png"), mixed_json()])
            }),
        ),
        tool::<Nothing>(
            "suite.error",
            "test_error_handling",
            Handler::inline(|_| Err(refusal::INTENDED.fill(&[]))),
        ),
    ]
}

fn schemas() -> Vec<Capability> {
    let said = || Handler::inline(|call| contents(vec![text(call.arguments.to_string())]));
    let mut all_words = tool::<Nothing>("suite.schema", "json_schema_2020_12_tool", said());
    all_words.input = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
    .into();
    let mut mirrored = tool::<Nothing>("suite.header", "test_custom_header", said());
    mirrored.input = json!({
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
        "additionalProperties": false,
    })
    .into();
    vec![all_words, mirrored]
}

fn resources() -> Vec<Capability> {
    let plain = Form::Content {
        media: "text/plain",
    };
    let template = |call: &Call| {
        let Template { id } = read(call.arguments.clone())?;
        let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
        contents(vec![text(data.to_string())])
    };
    let said = |words: &'static str| Handler::inline(move |_| contents(vec![text(words)]));
    vec![
        resource::<Nothing>(
            "suite.static_text",
            "test://static-text",
            plain,
            said("This is the content of the static text resource."),
        ),
        resource::<Nothing>(
            "suite.static_binary",
            "test://static-binary",
            Form::Content { media: "image/png" },
            Handler::inline(|_| contents(vec![image(PNG, "image/png")])),
        ),
        resource::<Nothing>(
            "suite.watched",
            "test://watched-resource",
            plain,
            said("Watched resource content"),
        ),
        resource::<Template>(
            "suite.template",
            "test://template/{id}/data",
            Form::Content {
                media: "application/json",
            },
            Handler::inline(template),
        ),
    ]
}

fn prompts() -> Vec<Capability> {
    let mut two = prompt::<TwoWords>(
        "suite.two_words",
        "test_prompt_with_arguments",
        Handler::inline(|call| {
            let TwoWords { arg1, arg2 } = read(call.arguments.clone())?;
            messages(vec![text(format!(
                "Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"
            ))])
        }),
    );
    two.examples = vec![Example {
        title: "two words",
        arguments: json!({"arg1": "hello", "arg2": "world"}),
    }];
    let values = |count: usize| {
        let all: Vec<String> = (0..count).map(|n| format!("v{n}")).collect();
        json!({"type": "string", "description": "One of many.", "enum": all})
    };
    let mut many = prompt::<Nothing>(
        "suite.many_values",
        "test_many_values",
        Handler::inline(|call| messages(vec![text(call.arguments.to_string())])),
    );
    many.input = json!({
        "type": "object",
        "properties": {"fits": values(100), "more": values(101)},
        "additionalProperties": false,
    })
    .into();
    vec![
        many,
        prompt::<Nothing>(
            "suite.simple",
            "test_simple_prompt",
            Handler::inline(|_| messages(vec![text("This is a simple prompt for testing.")])),
        ),
        two,
        prompt::<Which>(
            "suite.embedding",
            "test_prompt_with_embedded_resource",
            Handler::inline(|call| {
                let Which { uri } = read(call.arguments.clone())?;
                let resource =
                    embedded(&uri, "text/plain", "Embedded resource content for testing.");
                messages(vec![
                    resource,
                    text("Please process the embedded resource above."),
                ])
            }),
        ),
        prompt::<Nothing>(
            "suite.picture",
            "test_prompt_with_image",
            Handler::inline(|_| {
                messages(vec![
                    image(PNG, "image/png"),
                    text("Please analyze the image above."),
                ])
            }),
        ),
    ]
}

/// A tool that answers content.
pub(super) fn tool<I: ToSchema + 'static>(
    id: &'static str,
    name: &'static str,
    handler: Handler,
) -> Capability {
    let mut tool = fixture::<I, Contents>(id, handler);
    tool.form = BLOCKS;
    tool.exposure.tool = Some(name);
    tool
}

fn resource<I: ToSchema + 'static>(
    id: &'static str,
    uri: &'static str,
    form: Form,
    handler: Handler,
) -> Capability {
    let mut resource = fixture::<I, Contents>(id, handler);
    resource.kind = Kind::Resource;
    resource.form = form;
    resource.exposure.resource = Some(uri);
    resource
}

/// A prompt.
pub(super) fn prompt<I: ToSchema + 'static>(
    id: &'static str,
    name: &'static str,
    handler: Handler,
) -> Capability {
    let mut prompt = fixture::<I, Messages>(id, handler);
    prompt.kind = Kind::Prompt;
    prompt.exposure.prompt = Some(name);
    prompt
}

fn fixture<I: ToSchema + 'static, O: ToSchema + 'static>(
    id: &'static str,
    handler: Handler,
) -> Capability {
    query::<I, O>(
        id,
        "Fixture",
        "What a scenario of the conformance suites asks for.",
        handler,
    )
}

/// Answers blocks.
pub(super) fn contents(content: Vec<Value>) -> Answer {
    answer(&Contents { content })
}

/// Answers messages of the user.
pub(super) fn messages(blocks: Vec<Value>) -> Answer {
    answer(&Messages {
        messages: blocks.into_iter().map(Message::user).collect(),
    })
}
