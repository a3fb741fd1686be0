use super::{Frame, Kind};
use bytes::Bytes;

fn parse(text: &str) -> Result<Frame, super::FrameError> {
    Frame::parse(Bytes::copy_from_slice(text.as_bytes()))
}

#[test]
fn requests_notifications_and_responses_are_told_apart() {
    let frame = parse(r#"{"jsonrpc":"2.0","id":"a","method":"ping","future":1}"#).unwrap();
    assert_eq!(frame.method(), Some("ping"));
    assert_eq!(frame.request_id().unwrap().as_json(), "\"a\"");
    let frame = parse(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).unwrap();
    assert!(matches!(frame.kind(), Kind::Notification { .. }));
    let frame = parse(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#).unwrap();
    assert!(matches!(frame.kind(), Kind::Response { id: Some(_) }));
}

/// Guards I15.
#[test]
fn params_at_the_edge_of_the_depth_are_read_whole() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let text = |depth| {
        let params = nested(depth);
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{params}}}}}"#)
    };
    // The frame and its params are two levels of their own.
    let edge = super::JSON_DEPTH - 2;
    assert!(parse(&text(edge)).unwrap().params()["a"].is_array());
    assert_eq!(parse(&text(edge + 1)).unwrap_err().code, -32700);
}

#[test]
fn the_era_is_read_from_the_frame_itself() {
    let modern = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    assert_eq!(parse(modern).unwrap().revision(), Some("2026-07-28"));
    let quoted = r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"text":"io.modelcontextprotocol/protocolVersion"}}"#;
    assert_eq!(parse(quoted).unwrap().revision(), None);
}

#[test]
fn garbage_is_answered_with_the_code_the_specification_asks() {
    let code = |text: &str| parse(text).unwrap_err().code;
    assert_eq!(code("{"), -32700);
    assert_eq!(code(""), -32700);
    assert_eq!(code("nonsense"), -32700);
    assert_eq!(code("5"), -32600);
    assert_eq!(code("[]"), -32600);
    assert_eq!(
        code(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#),
        -32600
    );
    assert_eq!(code(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#), -32600);
    assert_eq!(code(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#), -32600);
    assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"method":5}"#), -32600);
    assert_eq!(
        Frame::parse(Bytes::from_static(b"{\"a\":\"\xff\"}"))
            .unwrap_err()
            .code,
        -32700
    );
    let error = parse(r#"{"jsonrpc":"2.0","id":1,"method":5}"#).unwrap_err();
    assert_eq!(error.id.unwrap().as_json(), "1");
}

/// Guards I15.
#[test]
fn depth_is_bounded_at_the_edge_and_past_it() {
    let nested = |depth: usize| {
        let inner = depth - 1;
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}{}}}"#,
            "[".repeat(inner),
            "]".repeat(inner)
        )
    };
    assert!(parse(&nested(128)).is_ok());
    assert_eq!(parse(&nested(129)).unwrap_err().code, -32700);
    assert_eq!(parse(&nested(10_000)).unwrap_err().code, -32700);
    assert!(parse(r#"{"jsonrpc":"2.0","id":1,"method":"[[[[\"[[["}"#).is_ok());
}
