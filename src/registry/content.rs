//! Answers that are no data but something to read, see or hear: content blocks, as MCP knows them.
//!
//! A capability of [`super::Form::Content`] answers [`Contents`], a prompt answers [`Messages`]; transports show them
//! without knowing what they hold.

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A list of blocks.
#[derive(Debug, Serialize, ToSchema)]
pub struct Contents {
    /// Each is an object with a `type`.
    #[schema(value_type = Vec<Object>)]
    pub content: Vec<Value>,
}

/// What a prompt says.
#[derive(Debug, Serialize, ToSchema)]
pub struct Messages {
    /// In the order of the conversation.
    pub messages: Vec<Message>,
}

/// One message of a prompt.
#[derive(Debug, Serialize, ToSchema)]
pub struct Message {
    /// `user` or `assistant`.
    pub role: &'static str,
    /// A block.
    #[schema(value_type = Object)]
    pub content: Value,
}

impl Message {
    /// A message in the user's name.
    #[must_use]
    pub fn user(content: Value) -> Self {
        Self {
            role: "user",
            content,
        }
    }
}

/// Text.
#[must_use]
pub fn text(text: impl Into<String>) -> Value {
    json!({ "type": "text", "text": text.into() })
}

/// A picture: Base64 of a file of this media type.
#[must_use]
pub fn image(base64: &str, media: &str) -> Value {
    json!({ "type": "image", "data": base64, "mimeType": media })
}

/// A sound.
#[must_use]
pub fn audio(base64: &str, media: &str) -> Value {
    json!({ "type": "audio", "data": base64, "mimeType": media })
}

/// A resource's text inside an answer.
#[must_use]
pub fn embedded(uri: &str, media: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": media, "text": text } })
}

/// A resource that is named and not shown.
#[must_use]
pub fn link(uri: &str, name: &str, media: &str) -> Value {
    json!({"type": "resource_link", "uri": uri, "name": name, "mimeType": media})
}
