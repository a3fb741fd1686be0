//! `Mcp-Param-*`: header fields that repeat arguments of a modern call, where the tool's schema asks for it.
//!
//! | the body | the header |
//! |---|---|
//! | gives the argument | must be there and say the same |
//! | leaves it out, or gives null | must not be there |
//!
//! A field that no schema names is nobody's business here.

use axum::http::HeaderMap;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::headers::{decoded, mismatch, only};
use crate::floor::jsonrpc::Frame;
use crate::mcp::failure::Failure;
use crate::registry::mirror::{Mirror, mirrors};

/// Holds the headers of a call to its arguments, as the tool's input schema says; the error names the field.
pub(crate) fn check(headers: &HeaderMap, frame: &Frame, schema: &Value) -> Result<(), Failure> {
    let all = mirrors(schema);
    if all.is_empty() {
        return Ok(());
    }
    let arguments = arguments(frame);
    let differs = |mirror: &&Mirror<'_>| {
        let field = format!("mcp-param-{}", mirror.header.to_ascii_lowercase());
        match mirror.value(&arguments) {
            None => headers.contains_key(&field),
            Some(value) => {
                let said = only(headers, &field).and_then(decoded);
                !said.is_some_and(|said| says(&said, value))
            }
        }
    };
    match all.iter().find(differs) {
        Some(mirror) => Err(mismatch(
            &format!("Mcp-Param-{}", mirror.header),
            "`params.arguments`",
        )),
        None => Ok(()),
    }
}

/// Numbers are compared as numbers: `42.0` says 42.
fn says(header: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => header == text,
        Value::Bool(truth) => header == if *truth { "true" } else { "false" },
        Value::Number(number) => {
            header == number.to_string()
                || header.parse::<f64>().is_ok_and(|said| {
                    // Past 2^53 two different integers may be one of these.
                    said.abs() < 9_007_199_254_740_992.0 && number.as_f64() == Some(said)
                })
        }
        // No schema asks for these in a header; the arguments are refused for what they are.
        Value::Null | Value::Array(_) | Value::Object(_) => true,
    }
}

fn arguments(frame: &Frame) -> Value {
    #[derive(Deserialize)]
    struct Call<'a> {
        #[serde(borrow)]
        params: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct Params {
        #[serde(default)]
        arguments: Value,
    }
    let call: Option<Call<'_>> = serde_json::from_slice(frame.raw()).ok();
    call.and_then(|call| serde_json::from_str::<Params>(call.params.get()).ok())
        .map(|params| params.arguments)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::says;
    use serde_json::json;

    #[test]
    fn a_header_says_what_a_value_is() {
        for (header, value) in [
            ("eu", json!("eu")),
            ("", json!("")),
            ("42", json!(42)),
            ("42.0", json!(42)),
            ("-7", json!(-7)),
            ("true", json!(true)),
            ("9007199254740993", json!(9_007_199_254_740_993_i64)),
        ] {
            assert!(says(header, &value), "{header} {value}");
        }
        for (header, value) in [
            ("EU", json!("eu")),
            ("43", json!(42)),
            ("", json!(0)),
            ("True", json!(true)),
            ("1", json!(true)),
            ("9007199254740992", json!(9_007_199_254_740_993_i64)),
        ] {
            assert!(!says(header, &value), "{header} {value}");
        }
    }
}
