//! A call that takes its time lets its HTTP client go, and has the rest ready when that one comes back (SEP-1699).

use serde_json::{Value, json};

use crate::http::served;
use crate::support::{Http, Reply, Repository, checks, frames};

/// Calls the tool that lets go of its connection.
#[track_caller]
fn call(session: &Http) -> Reply {
    let mut call = frames::call("test_reconnection", &json!({}));
    call["_meta"] = json!({ "progressToken": "p" });
    session.ask("tools/call", &call)
}

/// The fields of each event of a whole stream, in their order.
fn fields(stream: &str) -> Vec<Vec<(&str, &str)>> {
    let events = stream.split("\n\n").filter(|event| !event.is_empty());
    events
        .map(|event| {
            let lines = event.lines().filter_map(|line| line.split_once(':'));
            let lines = lines.filter(|(name, _)| !name.is_empty());
            lines.map(|(name, value)| (name, value.trim())).collect()
        })
        .collect()
}

/// Reads a stream that ends without the answer of its call, and returns the id to come back with.
#[track_caller]
fn let_go(mut stream: Reply) -> (String, String) {
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    let text = stream.text();
    let events = fields(&text);
    let [("id", first), ("data", "")] = events[0][..] else {
        panic!("it begins with an event that is nothing but an id: {text}");
    };
    let mut ids = events.iter().flatten().filter(|(name, _)| *name == "id");
    let last = ids.next_back().expect("the first event has one").1;
    let mut waits = events.iter().flatten().filter(|(name, _)| *name == "retry");
    let wait = waits.next().expect("how long to wait").1;
    assert!(wait.parse::<u64>().is_ok_and(|ms| ms > 0), "{text}");
    assert!(
        !text.contains("\"result\""),
        "the answer is not there yet: {text}"
    );
    (first.to_owned(), last.to_owned())
}

/// The events of a stream with JSON in them, to its end.
fn rest(mut stream: Reply) -> Vec<Value> {
    std::iter::from_fn(|| stream.event()).collect()
}

fn progress(event: &Value) -> &Value {
    assert_eq!(event["method"], "notifications/progress", "{event}");
    &event["params"]["progress"]
}

#[test]
fn a_call_that_lets_its_client_go_is_answered_when_that_one_comes_back() {
    let (_repository, _owner, http) = served();
    let session = http.session("patient", &json!({}));
    let (first, last) = let_go(call(&session));
    assert_ne!(first, last, "what was said before is not kept back");
    let back = |event: &str| {
        let again = session.clone().with("Last-Event-ID", event);
        rest(again.get("/mcp").expects(200))
    };
    let [later, answer] = &back(&last)[..] else {
        panic!("one report and the answer are left");
    };
    assert_eq!(progress(later), 2.0);
    checks::succeeded(answer);
    assert_eq!(answer["id"], "ask");
    let [early, again @ ..] = &back(&first)[..] else {
        panic!("what it saw only in part is told again");
    };
    assert_eq!(progress(early), 1.0);
    assert_eq!(again, [later.clone(), answer.clone()]);
}

/// Who could not come back is not let go.
#[test]
fn a_client_that_could_not_come_back_gets_its_answer_where_it_asked() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let http = repository.http();
    for client in [&owner, &bridge] {
        checks::succeeded(&client.call("test_reconnection", &json!({})));
    }
    let (json_alone, both) = ("application/json", "application/json, text/event-stream");
    let of = |accept: &str, revision: &str| {
        let client = http.clone().with("Accept", accept);
        let open = frames::initialize("old", revision);
        let opened = client.post("/mcp", &frames::request(&json!(1), "initialize", &open));
        let id = opened.header("mcp-session-id").expect("a session id");
        client.with("Mcp-Session-Id", id)
    };
    for session in [
        of(json_alone, frames::LEGACY),
        of(both, "2025-06-18"),
        of(both, "2025-03-26"),
    ] {
        checks::succeeded(&call(&session).json());
    }
    let modern = http
        .with("Accept", both)
        .with("MCP-Protocol-Version", frames::MODERN)
        .with("Mcp-Method", "tools/call")
        .with("Mcp-Name", "test_reconnection");
    let params = frames::modern("direct", &frames::call("test_reconnection", &json!({})));
    checks::succeeded(&modern.ask("tools/call", &params).json());
}
