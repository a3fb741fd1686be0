//! A server that asks back, and what it tells while a call runs.

use std::time::Duration;

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::http::served;
use crate::support::{Client, Http, Repository, checks, frames};

/// What a client declares that can be asked for everything.
fn able() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "roots": {} })
}

/// Initializes with `can`, and waits for an owner.
fn opened(repository: &Repository, name: &str, can: &Value) -> Client {
    let client = repository.client(name);
    client.attach();
    let mut params = frames::initialize(name, frames::LEGACY);
    params["capabilities"] = can.clone();
    client.result("initialize", &params);
    client
}

/// `params` of a modern client that can do `can`.
fn modern(params: &Value, can: &Value) -> Value {
    let mut params = frames::modern("modern", params);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = can.clone();
    params
}

fn answered(answer: &Value, text: &str) {
    checks::succeeded(answer);
    assert!(answer["result"].to_string().contains(text), "{answer}");
}

#[test]
fn a_legacy_client_is_sent_a_request_and_its_answer_ends_the_call() {
    let repository = Repository::new();
    let mut clients = Vec::new();
    for name in ["owner", "bridge"] {
        let client = opened(&repository, name, &able());
        let call = client.begin_call("test_sampling", &json!({ "prompt": "a question" }));
        let asked = client.notification("sampling/createMessage", |_| true);
        assert_eq!(
            asked["params"]["messages"][0]["content"]["text"],
            "a question"
        );
        client.result("ping", &json!({}));
        let said = json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "an answer" } });
        client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": said }));
        answered(&client.answer(&call), "an answer");
        let call = client.begin_call("test_elicitation", &json!({ "message": "who?" }));
        let asked = client.notification("elicitation/create", |_| true);
        let error = json!({ "code": -1, "message": "no" });
        client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error }));
        assert!(checks::failed(&client.answer(&call)), "a client may refuse");
        clients.push(client);
    }
}

#[test]
fn a_client_is_asked_only_what_it_said_it_can() {
    let repository = Repository::new();
    let client = opened(&repository, "unable", &json!({}));
    let refused = client.call("test_sampling", &json!({ "prompt": "a question" }));
    assert!(checks::failed(&refused), "{refused}");
    let call = frames::call("test_missing_capability", &json!({}));
    let refused = client.request("tools/call", &modern(&call, &json!({})));
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    assert_eq!(
        refused["error"]["data"]["requiredCapabilities"],
        json!({ "sampling": {} })
    );
    let call = frames::call("test_input_required_result_capabilities", &json!({}));
    let some = client.request("tools/call", &modern(&call, &json!({ "sampling": {} })));
    let asked = some["result"]["inputRequests"].as_object().unwrap();
    assert!(
        asked
            .values()
            .all(|one| one["method"] == "sampling/createMessage"),
        "{some}"
    );
    assert!(
        client.inbox().messages().is_empty(),
        "{:?}",
        client.inbox().messages()
    );
}

#[test]
fn a_modern_client_gets_the_question_as_a_result_and_asks_again() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let client = repository.client("modern");
    let ask = |extra: Value| {
        let mut call = frames::call("test_input_required_result_multi_round", &json!({}));
        call.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        client.request("tools/call", &modern(&call, &able()))["result"].clone()
    };
    let first = ask(json!({}));
    assert_eq!(first["resultType"], "input_required", "{first}");
    assert_eq!(
        first["inputRequests"]["step1"]["method"],
        "elicitation/create"
    );
    let said = |content: Value| json!({ "action": "accept", "content": content });
    let second = ask(json!({
        "requestState": first["requestState"],
        "inputResponses": { "step1": said(json!({ "name": "Ada" })) },
    }));
    assert_eq!(second["resultType"], "input_required", "{second}");
    assert!(second["inputRequests"].get("step1").is_none(), "{second}");
    let third = ask(json!({
        "requestState": second["requestState"],
        "inputResponses": { "step2": said(json!({ "color": "blue" })), "unknown": {} },
    }));
    assert_eq!(third["resultType"], "complete", "{third}");
    let text = third["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Ada") && text.contains("blue"), "{text}");
    let no_answer = ask(json!({ "inputResponses": { "step1": 5 } }));
    assert_eq!(no_answer["resultType"], "input_required", "{no_answer}");
}

#[test]
fn a_call_that_goes_on_without_an_answer_keeps_its_own() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let client = repository.client("modern");
    let call = frames::call("conformance_ask", &json!({ "ms": 0 }));
    let unasked = client.request("tools/call", &modern(&call, &json!({})));
    answered(&unasked, "this needs a client");
    let unanswered = client.request("tools/call", &modern(&call, &able()));
    answered(&unanswered, "has not answered yet");
}

#[test]
fn an_answer_is_read_by_the_rule_of_every_other_message() {
    let repository = Repository::new();
    let client = opened(&repository, "owner", &able());
    let answer = |meta: &str| {
        let call = client.begin_call("test_sampling", &json!({ "prompt": "a question" }));
        let asked = client.notification("sampling/createMessage", |_| true);
        client.inbox().forget_messages();
        let said = r#""content":{"type":"text","text":"an answer"},"role":"assistant","model":"m""#;
        let result = format!("{{{said},\"_meta\":{meta}}}");
        let id = &asked["id"];
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
        client.write(line.as_bytes()).unwrap();
        client.answer(&call)
    };
    let deep = format!("{}{}", "[".repeat(126), "]".repeat(126));
    answered(&answer(&deep), "an answer");
    let twice = answer(r#"{"a":1,"a":2}"#);
    assert!(checks::failed(&twice), "{twice}");
    assert!(twice.to_string().contains("stands twice"), "{twice}");
}

#[test]
fn a_state_that_was_changed_or_belongs_elsewhere_is_refused() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let client = repository.attached("bridge");
    let ask = |tool: &str, state: Option<&Value>| {
        let mut call = frames::call(tool, &json!({}));
        if let Some(state) = state {
            call["requestState"] = state.clone();
        }
        client.request("tools/call", &modern(&call, &able()))
    };
    let tool = "test_input_required_result_tampered_state";
    let state = ask(tool, None)["result"]["requestState"].clone();
    let changed = json!(format!("{}x", state.as_str().unwrap()));
    for (tool, state) in [
        (tool, &changed),
        (tool, &json!(5)),
        ("test_input_required_result_elicitation", &state),
    ] {
        let refused = ask(tool, Some(state));
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    owner.kill();
    let again = ask(tool, Some(&state));
    assert_eq!(
        again["result"]["resultType"], "input_required",
        "the next owner reads it: {again}"
    );
}

/// Guards I6: the call is resent to the next owner, who asks anew.
#[test]
fn an_answer_to_a_question_of_an_owner_that_died_is_nobodys() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let client = opened(&repository, "bridge", &able());
    let call = client.begin_call("test_sampling", &json!({ "prompt": "a question" }));
    let method = "sampling/createMessage";
    let first = client.notification(method, |_| true);
    owner.kill();
    let second = client.notification(method, |asked| asked["id"] != first["id"]);
    let say = |id: &Value, text: &str| {
        let said = json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": text } });
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "result": said }));
    };
    say(&first["id"], "too late");
    say(&second["id"], "in time");
    answered(&client.answer(&call), "in time");
    assert_eq!(client.inbox().count(&call), 1);
}

#[test]
fn log_messages_come_at_the_level_that_was_asked_for() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let client = repository.attached("bridge");
    let logged = || {
        let messages = client.inbox().messages();
        client.inbox().forget_messages();
        let logged = messages
            .iter()
            .filter(|one| one["method"] == "notifications/message");
        logged.map(|one| one["params"].clone()).collect::<Vec<_>>()
    };
    client.call("test_tool_with_logging", &json!({}));
    let all = logged();
    assert_eq!(all.len(), 3, "{all:?}");
    assert_eq!(all[0]["level"], "info");
    assert_eq!(all[0]["data"], "Tool execution started");
    client.result("logging/setLevel", &json!({ "level": "error" }));
    client.call("test_tool_with_logging", &json!({}));
    assert_eq!(logged(), Vec::<Value>::new());
    let wrong = client.request("logging/setLevel", &json!({ "level": "loud" }));
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    let call = frames::call("test_logging_tool", &json!({}));
    client.modern("tools/call", &call);
    assert_eq!(
        logged(),
        Vec::<Value>::new(),
        "a modern request says how much it wants"
    );
    let mut params = frames::modern("bridge", &call);
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
    client.request("tools/call", &params);
    assert_eq!(logged().len(), 1);
}

/// What a client accepts that takes streams.
const STREAMS: &str = "application/json, text/event-stream";

/// A session of a client that can be asked for everything.
fn opened_over_http(http: &Http) -> Http {
    let mut open = frames::initialize("direct", frames::LEGACY);
    open["capabilities"] = able();
    let open = frames::request(&json!(1), "initialize", &open);
    let opened = http.clone().with("Accept", STREAMS).post("/mcp", &open);
    let session = opened.header("mcp-session-id").unwrap();
    http.clone()
        .with("Mcp-Session-Id", session)
        .with("MCP-Protocol-Version", frames::LEGACY)
}

/// Guards I15: a question that nobody can hear holds no place. A session has 64 of them.
#[test]
fn a_question_to_a_connection_that_is_gone_is_refused() {
    let (_repository, _owner, http) = served();
    let http = opened_over_http(&http).with("Accept", STREAMS);
    let request = |ms: u64| {
        let call = frames::call("conformance_ask", &json!({ "ms": ms }));
        frames::request(&json!(2), "tools/call", &call)
    };
    let body = request(800).to_string();
    let post = format!(
        "{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        http.head("POST", "/mcp"),
        body.len()
    );
    let gone: Vec<TcpStream> = (0..64)
        .map(|_| {
            let mut stream = TcpStream::connect(http.address()).unwrap();
            stream.write_all(post.as_bytes()).unwrap();
            stream
        })
        .collect();
    let ping = frames::request(&json!(3), "ping", &json!({}));
    assert_eq!(http.post("/mcp", &ping).status, 200, "the calls run");
    drop(gone);
    // It asks behind them.
    let mut stream = http.post("/mcp", &request(1600));
    let asked = stream.event().unwrap();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
}

/// Guards I15.
#[test]
fn a_question_for_which_there_is_no_room_is_refused() {
    let (_repository, _owner, http) = served();
    let http = opened_over_http(&http).with("Accept", STREAMS);
    let call = frames::call("conformance_ask", &json!({ "ms": 0, "megabytes": 5 }));
    let mut stream = http.post("/mcp", &frames::request(&json!(2), "tools/call", &call));
    let answer = stream.json();
    answered(&answer, "cannot be reached");
}

/// What a call says that ends at once comes before its answer, as it does over stdio.
#[test]
fn over_http_a_quick_call_is_heard_too() {
    let (_repository, _owner, http) = served();
    let call = frames::call("test_logging_tool", &json!({}));
    let legacy = opened_over_http(&http);
    let modern = http
        .with("MCP-Protocol-Version", frames::MODERN)
        .with("Mcp-Method", "tools/call")
        .with("Mcp-Name", "test_logging_tool");
    let mut params = frames::modern("modern", &call);
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
    for (http, params) in [(legacy, call), (modern, params)] {
        let call = frames::request(&json!(2), "tools/call", &params);
        let mut stream = http.clone().with("Accept", STREAMS).post("/mcp", &call);
        assert_eq!(stream.header("content-type"), Some("text/event-stream"));
        let said = stream.event().unwrap();
        assert_eq!(said["method"], "notifications/message", "{said}");
        answered(&stream.event().unwrap(), "logged");
        assert!(stream.event().is_none());
        let mut deaf = http.with("Accept", "application/json").post("/mcp", &call);
        answered(&deaf.json(), "logged");
    }
}

#[test]
fn over_http_a_question_comes_on_the_stream_of_its_call() {
    let (_repository, _owner, http) = served();
    let session = opened_over_http(&http);
    let deaf = session.clone().with("Accept", "application/json");
    let http = session.with("Accept", STREAMS);
    let call = frames::call("test_sampling", &json!({ "prompt": "a question" }));
    let call = frames::request(&json!(2), "tools/call", &call);
    let mut stream = http.post("/mcp", &call);
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    let asked = stream.event().unwrap();
    assert_eq!(asked["method"], "sampling/createMessage", "{asked}");
    let said = json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "an answer" } });
    let taken = http.post(
        "/mcp",
        &json!({ "jsonrpc": "2.0", "id": asked["id"], "result": said }),
    );
    assert_eq!(taken.status, 202);
    answered(&stream.event().unwrap(), "an answer");
    let mut refused = deaf.post("/mcp", &call);
    assert!(
        checks::failed(&refused.json()),
        "nobody could ask on this connection"
    );
}

#[test]
fn lists_that_change_are_told_to_who_asked() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let filter = json!({ "notifications": { "promptsListChanged": true } });
    let listen = bridge.begin("subscriptions/listen", &frames::modern("bridge", &filter));
    bridge.notification("notifications/subscriptions/acknowledged", |said| {
        said["params"]["notifications"]["promptsListChanged"] == true
    });
    owner.call("test_trigger_tool_change", &json!({}));
    owner.call("test_trigger_prompt_change", &json!({}));
    let tagged =
        |said: &Value| said["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == listen;
    bridge.notification("notifications/prompts/list_changed", tagged);
    bridge.notification("notifications/tools/list_changed", |said| !tagged(said));
    owner.notification("notifications/tools/list_changed", |_| true);
    // What was told of the tools stood before what is here already.
    let leaked = bridge.inbox().message(Duration::ZERO, |said| {
        said["method"] == "notifications/tools/list_changed" && tagged(said)
    });
    assert!(leaked.is_none(), "{leaked:?}");
}
