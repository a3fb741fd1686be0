//! MCP over POST, in both eras.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::served;
use crate::support::{BOUND, Http, Reply, checks, frames, wait_for};

/// A client of `/mcp`.
fn mcp(http: &Http) -> Http {
    http.clone()
        .with("Accept", "application/json, text/event-stream")
}

#[test]
fn a_legacy_session_lives_from_initialize_to_delete() {
    let (repository, owner, http) = served();
    let http = mcp(&http);
    let post = |http: &Http, id: i64, method: &str, params: Value| {
        http.post("/mcp", &frames::request(&json!(id), method, &params))
    };
    let mut reply = post(
        &http,
        1,
        "initialize",
        frames::initialize("direct", frames::LEGACY),
    );
    assert_eq!(reply.status, 200);
    let session = reply
        .header("mcp-session-id")
        .expect("a session id")
        .to_owned();
    assert!(session.len() >= 16 && session.bytes().all(|byte| (0x21..0x7f).contains(&byte)));
    assert_eq!(reply.json()["result"]["protocolVersion"], frames::LEGACY);

    let missing = post(&http, 2, "tools/list", json!({}));
    assert_eq!(missing.status, 400, "a missing session id");
    let unknown = post(
        &http.clone().with("Mcp-Session-Id", "forged"),
        2,
        "tools/list",
        json!({}),
    );
    assert_eq!(unknown.status, 404, "an unknown session id");
    let mut flipped = session.clone().into_bytes();
    let last = flipped.len() - 1;
    flipped[last] = if flipped[last] == b'a' { b'b' } else { b'a' };
    let flipped = String::from_utf8(flipped).unwrap();
    let forged = post(
        &http.clone().with("Mcp-Session-Id", &flipped),
        2,
        "tools/list",
        json!({}),
    );
    assert_eq!(forged.status, 404, "a session id that nobody minted");

    let own = http
        .with("Mcp-Session-Id", &session)
        .with("MCP-Protocol-Version", frames::LEGACY);
    let notice = own.post(
        "/mcp",
        &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    );
    assert_eq!(notice.status, 202);
    let tools = post(&own, 3, "tools/list", json!({})).json();
    assert!(tools["result"]["tools"].is_array(), "{tools}");
    let list = owner.tool("majordomus_peers", &json!({}));
    assert_eq!(checks::attached(&list), ["direct", "owner"]);
    assert_eq!(checks::peer(&list, "direct").unwrap()["transport"], "http");
    let stream = own.get("/mcp");
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    drop(stream);

    assert!((200..300).contains(&own.send("DELETE", "/mcp").status));
    assert_eq!(post(&own, 4, "tools/list", json!({})).status, 404);
    wait_for("the peer left with its session", BOUND, || {
        checks::attached(&owner.tool("majordomus_peers", &json!({}))) == ["owner"]
    });
    drop(repository);
}

#[test]
fn the_modern_era_over_http_checks_its_headers() {
    let (_repository, _owner, http) = served();
    let base = mcp(&http);
    let version = base.with("MCP-Protocol-Version", frames::MODERN);
    let ask = |http: &Http, method: &str, params: Value| {
        let params = frames::modern("direct", &params);
        http.post("/mcp", &frames::request(&json!(7), method, &params))
    };
    let good = version.clone().with("Mcp-Method", "tools/list");
    let mut reply = ask(&good, "tools/list", json!({}));
    assert_eq!(reply.status, 200);
    assert!(
        reply.header("mcp-session-id").is_none(),
        "no session is minted"
    );
    let answer = reply.json();
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");

    let mut wrong_method = ask(
        &version.clone().with("Mcp-Method", "ping"),
        "tools/list",
        json!({}),
    );
    assert_eq!(wrong_method.status, 400);
    assert_eq!(wrong_method.json()["error"]["code"], -32020);
    let named = version.clone().with("Mcp-Method", "tools/call");
    let call = frames::call("majordomus_peers", &json!({}));
    let mut no_name = ask(&named, "tools/call", call.clone());
    assert_eq!(no_name.status, 400);
    assert_eq!(no_name.json()["error"]["code"], -32020);
    assert_eq!(
        ask(
            &named.clone().with("Mcp-Name", "majordomus_peers"),
            "tools/call",
            call.clone()
        )
        .status,
        200
    );
    let encoded = named.with("Mcp-Name", "=?base64?bWFqb3Jkb211c19wZWVycw==?=");
    assert_eq!(ask(&encoded, "tools/call", call).status, 200);

    let mut unknown = ask(&version.with("Mcp-Method", "no/such"), "no/such", json!({}));
    assert_eq!(unknown.status, 404);
    assert_eq!(unknown.json()["error"]["code"], -32601);
}

#[test]
fn a_header_that_repeats_an_argument_says_what_the_body_says() {
    let (_repository, _owner, http) = served();
    let http = mcp(&http)
        .with("MCP-Protocol-Version", frames::MODERN)
        .with("Mcp-Method", "tools/call")
        .with("Mcp-Name", "test_custom_header");
    let ask = |http: &Http, arguments: Value| {
        let params = frames::modern("direct", &frames::call("test_custom_header", &arguments));
        let mut reply = http.post("/mcp", &frames::request(&json!(7), "tools/call", &params));
        (reply.status, reply.json()["error"]["code"].clone())
    };
    let right = (200, Value::Null);
    let wrong = (400, json!(-32020));
    let region = || json!({ "region": "us-west1" });
    let with = |value: &str| http.clone().with("Mcp-Param-Region", value);
    assert_eq!(ask(&with("us-west1"), region()), right);
    assert_eq!(ask(&with("=?base64?dXMtd2VzdDE=?="), region()), right);
    assert_eq!(
        ask(&http.clone().with("MCP-PARAM-REGION", "us-west1"), region()),
        right
    );
    for value in ["", "eu", "US-WEST1", "=?base64?*?=", "=?base64?ZXU=?="] {
        assert_eq!(ask(&with(value), region()), wrong, "{value}");
    }
    assert_eq!(ask(&http, region()), wrong, "the header is missing");
    let twice = with("us-west1").with("Mcp-Param-Region", "eu");
    assert_eq!(ask(&twice, region()), wrong, "two headers");
    let foreign = with("us-west1").with("Mcp-Param-Other", "anything");
    assert_eq!(ask(&foreign, region()), right);
    for nothing in [json!({}), json!({ "region": null })] {
        assert_eq!(
            ask(&with("eu"), nothing.clone()),
            wrong,
            "nothing to repeat"
        );
        let refused = ask(&http, nothing);
        assert_eq!(refused.0, 200, "the arguments are refused, not the headers");
    }
}

#[test]
fn a_revision_nobody_knows_is_refused_with_the_ones_we_know() {
    let (_repository, _owner, http) = served();
    let http = mcp(&http)
        .with("MCP-Protocol-Version", "2999-01-01")
        .with("Mcp-Method", "tools/list");
    let mut params = frames::modern("direct", &json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2999-01-01");
    let mut reply = http.post("/mcp", &frames::request(&json!(1), "tools/list", &params));
    assert_eq!(reply.status, 400);
    let error = reply.json()["error"].clone();
    assert_eq!(error["code"], -32022, "{error}");
    assert!(
        error["data"]["supported"]
            .to_string()
            .contains(frames::MODERN),
        "{error}"
    );
}

/// Guards I15: calls whose clients are gone hold no place.
#[test]
fn a_dropped_connection_cancels_a_modern_call_and_nothing_else() {
    let (_repository, owner, http) = served();
    let client = mcp(&http)
        .with("MCP-Protocol-Version", frames::MODERN)
        .with("Mcp-Method", "tools/call")
        .with("Mcp-Name", "conformance_slow");
    let params = frames::modern(
        "direct",
        &frames::call("conformance_slow", &json!({ "ms": 600_000 })),
    );
    let body = frames::request(&json!(1), "tools/call", &params).to_string();
    let request = format!(
        "{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        client.head("POST", "/mcp"),
        body.len()
    );
    // More than may run at once: if they still ran, the last ones and the next request would be refused.
    for _ in 0..6 {
        let open: Vec<TcpStream> = (0..50)
            .map(|_| {
                let mut stream = TcpStream::connect(http.address()).unwrap();
                stream.write_all(request.as_bytes()).unwrap();
                stream
            })
            .collect();
        wait_for("the calls run", BOUND, || http.get("/lease").status == 200);
        drop(open);
    }
    wait_for("a place for a request", BOUND, || {
        http.get("/api/v1/peers").status == 200
    });
    owner.tool("conformance_echo", &json!({ "value": 1 }));
}

/// A session that said `initialize`, on its own headers.
fn session(http: &Http) -> Http {
    let open = frames::initialize("direct", frames::LEGACY);
    let opened = http.post("/mcp", &frames::request(&json!(1), "initialize", &open));
    let id = opened.header("mcp-session-id").unwrap().to_owned();
    http.clone()
        .with("Mcp-Session-Id", &id)
        .with("MCP-Protocol-Version", frames::LEGACY)
}

/// The next event with JSON in it, and its id.
fn next_event(stream: &mut Reply) -> (String, Value) {
    let (id, data) = stream.event_with_id().expect("an event");
    (id.expect("every event has an id"), data)
}

#[test]
fn the_stream_of_a_session_tells_its_news_and_goes_on_where_it_broke() {
    let (_repository, owner, http) = served();
    let own = session(&mcp(&http));
    let subscribe = json!({ "uri": "majordomus://peers" });
    let subscribe = frames::request(&json!(2), "resources/subscribe", &subscribe);
    assert_eq!(own.post("/mcp", &subscribe).json()["result"], json!({}));
    let announce = |intent: &str| {
        owner.tool(
            "majordomus_announce",
            &json!({ "intent": intent, "scope": ["a"] }),
        );
    };
    let mut stream = own.get("/mcp");
    announce("first");
    let (first, news) = next_event(&mut stream);
    assert_eq!(news["method"], "notifications/resources/updated", "{news}");
    announce("second");
    let (second, _) = next_event(&mut stream);
    assert_ne!(first, second, "ids are unique");
    drop(stream);
    let mut again = own.clone().with("Last-Event-ID", &first).get("/mcp");
    assert_eq!(
        next_event(&mut again).0,
        second,
        "what came behind it is told again"
    );
    let mut newer = own.get("/mcp");
    announce("third");
    next_event(&mut newer);
    let unsubscribe = json!({ "uri": "majordomus://peers" });
    let unsubscribe = frames::request(&json!(3), "resources/unsubscribe", &unsubscribe);
    assert_eq!(own.post("/mcp", &unsubscribe).json()["result"], json!({}));
    owner.call("test_trigger_tool_change", &json!({}));
    loop {
        let (_, news) = next_event(&mut newer);
        if news["method"] == "notifications/tools/list_changed" {
            break;
        }
    }
    assert!(own.send("DELETE", "/mcp").status < 300);
    while newer.event_with_id().is_some() {}
    assert_eq!(
        own.get("/mcp").status,
        404,
        "an ended session has no stream"
    );
}

#[test]
fn an_answer_whose_stream_broke_is_still_there_for_who_comes_back() {
    let (_repository, _owner, http) = served();
    let own = session(&mcp(&http));
    let mut call = frames::call("test_tool_with_progress", &json!({}));
    call["_meta"] = json!({ "progressToken": "p" });
    let mut stream = own.post("/mcp", &frames::request(&json!(2), "tools/call", &call));
    let (first, progress) = next_event(&mut stream);
    assert_eq!(progress["params"]["progress"], 0.0, "{progress}");
    drop(stream);
    let mut again = own.clone().with("Last-Event-ID", &first).get("/mcp");
    let mut last = progress;
    let mut seen = vec![first];
    while last.get("id").is_none() {
        let (id, event) = next_event(&mut again);
        assert!(!seen.contains(&id), "ids are unique");
        seen.push(id);
        last = event;
    }
    checks::succeeded(&last);
    assert_eq!(seen.len(), 4, "three reports and the answer");
    let elsewhere = own.with("Last-Event-ID", "forged-1-1").get("/mcp");
    assert_eq!(
        elsewhere.status, 200,
        "an unknown event is no reason to refuse"
    );
}

#[test]
fn an_answer_that_was_sent_is_still_there_for_who_saw_only_its_beginning() {
    let (_repository, _owner, http) = served();
    let own = session(&mcp(&http));
    let mut call = frames::call("test_tool_with_progress", &json!({}));
    call["_meta"] = json!({ "progressToken": "p" });
    let mut stream = own.post("/mcp", &frames::request(&json!(2), "tools/call", &call));
    let sent: Vec<_> = std::iter::from_fn(|| stream.event_with_id()).collect();
    assert_eq!(sent.len(), 4, "three reports and the answer: {sent:?}");
    // The call is over, and its connection too.
    for (at, (id, _)) in sent.iter().enumerate() {
        let id = id.as_deref().expect("every event has an id");
        let mut again = own.clone().with("Last-Event-ID", id).get("/mcp");
        let rest: Vec<_> = std::iter::from_fn(|| again.event_with_id()).collect();
        assert_eq!(rest, sent[at + 1..], "behind {id}");
    }
}

/// Guards I15: an answer past one second is a stream, so that no client gives up on a header; one before is JSON.
#[test]
fn an_answer_that_takes_a_while_arrives_as_a_stream_and_any_other_as_json() {
    let (_repository, _owner, http) = served();
    let http = mcp(&http);
    let initialize = frames::request(
        &json!(1),
        "initialize",
        &frames::initialize("direct", frames::LEGACY),
    );
    let session = http
        .post("/mcp", &initialize)
        .header("mcp-session-id")
        .unwrap()
        .to_owned();
    let legacy = http
        .clone()
        .with("Mcp-Session-Id", &session)
        .with("MCP-Protocol-Version", frames::LEGACY);
    let modern = http
        .with("MCP-Protocol-Version", frames::MODERN)
        .with("Mcp-Method", "tools/call")
        .with("Mcp-Name", "conformance_slow");
    for (client, era) in [(legacy, "legacy"), (modern, "modern")] {
        let call = |ms: u64| {
            let mut params = frames::call("conformance_slow", &json!({ "ms": ms }));
            if era == "modern" {
                params = frames::modern("direct", &params);
            }
            let start = Instant::now();
            let request = frames::request(&json!(2), "tools/call", &params);
            let mut reply = client.post("/mcp", &request).expects(200);
            let head = start.elapsed();
            let form = reply.header("content-type").unwrap_or_default().to_owned();
            checks::succeeded(&reply.json());
            println!("{era}, {ms} ms: {form} after {head:?}");
            (form, head)
        };
        for ms in [1, 300] {
            // The server began to count later than this client did.
            let (form, head) = call(ms);
            let late = head >= Duration::from_secs(1);
            assert!(
                form == "application/json" || late,
                "{era}, {ms} ms: {form} after {head:?}"
            );
        }
        let (form, _) = call(1800);
        assert_eq!(form, "text/event-stream", "{era}");
    }
}
