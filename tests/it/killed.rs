//! `kill -9` of the owner in the middle of everything that takes a while: the client of a bridge notices nothing but
//! time, and the next call of a client that speaks HTTP by itself works.
//!
//! What a bridge carries on top of that, such as open listens and progress, is in `carried` and `takeover`.

use std::thread;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{BOUND, Client, Http, Reply, Repository, checks, frames, wait_for};

/// The text of an answer of ten megabytes, which holds it twice: as content and as structured content.
const HALF: usize = 5_000_000;

/// An owner, and a bridge that takes over from it.
struct Pair {
    repository: Repository,
    owner: Client,
    next: Client,
}

impl Pair {
    fn new() -> Self {
        let repository = Repository::new();
        let owner = repository.attached("owner");
        let next = repository.attached("next");
        Self {
            repository,
            owner,
            next,
        }
    }

    /// Kills the owner, and waits for the other one.
    #[track_caller]
    fn kill(&self) {
        self.owner.kill();
        self.repository
            .ready_when("the next owner", |lease| lease["pid"] == self.next.pid());
    }
}

/// A call of a direct client in the modern era.
fn modern(http: &Http, method: &str, name: &str, params: &Value) -> Reply {
    let mut client = http
        .clone()
        .with("Accept", "application/json, text/event-stream")
        .with("MCP-Protocol-Version", frames::MODERN)
        .with("Mcp-Method", method);
    if !name.is_empty() {
        client = client.with("Mcp-Name", name);
    }
    client.ask(method, &frames::modern("direct", params))
}

/// Direct clients of both eras call, and are answered.
#[track_caller]
fn next_call_works(session: &Http, http: &Http) {
    let echo = frames::call("conformance_echo", &json!({ "value": 1 }));
    checks::succeeded(&session.ask("tools/call", &echo).json());
    checks::succeeded(&modern(http, "tools/call", "conformance_echo", &echo).json());
}

/// Reads a stream to its end.
fn rest(stream: &mut Reply) -> Vec<Value> {
    std::iter::from_fn(|| stream.event()).collect()
}

/// The cursor of the page behind an item, as servers write it; no list of ours is longer than a page.
fn behind(name: &str) -> Value {
    json!({ "cursor": BASE64_URL_SAFE_NO_PAD.encode(name) })
}

fn names(list: &Value) -> Vec<Value> {
    let tools = list["result"]["tools"].as_array().expect("a list of tools");
    tools.iter().map(|tool| tool["name"].clone()).collect()
}

/// Guards I6.
#[test]
fn a_bridges_client_turns_pages_over_the_owners_death() {
    let pair = Pair::new();
    let all = names(&pair.next.request("tools/list", &json!({})));
    let (read, unread) = all.split_at(3);
    let cursor = behind(read[2].as_str().unwrap());
    assert_eq!(names(&pair.next.request("tools/list", &cursor)), unread);
    pair.owner.kill();
    assert_eq!(names(&pair.next.request("tools/list", &cursor)), unread);
}

/// Guards I6.
#[test]
fn a_direct_client_turns_pages_over_the_owners_death() {
    let pair = Pair::new();
    let http = pair.repository.http();
    let session = http.session("direct", &json!({}));
    let all = names(&session.ask("tools/list", &json!({})).json());
    let (read, unread) = all.split_at(3);
    let cursor = behind(read[2].as_str().unwrap());
    pair.kill();
    assert_eq!(names(&session.ask("tools/list", &cursor).json()), unread);
    let page = modern(&http, "tools/list", "", &cursor).json();
    assert_eq!(names(&page), unread);
}

/// Guards I6.
#[test]
fn a_bridges_client_gets_an_answer_of_ten_megabytes_once_whoever_dies_over_it() {
    let repository = Repository::new();
    let mut others = vec![repository.attached("first"), repository.attached("second")];
    let client = repository.attached("client");
    let large = json!({ "bytes": HALF });
    while !others.is_empty() {
        let pid = repository.owner_pid();
        let Some(at) = others.iter().position(|other| Some(other.pid()) == pid) else {
            // The client's own process took over: nobody else's death concerns it.
            break;
        };
        let owner = others.swap_remove(at);
        let before = owner.resident_kib();
        let id = client.begin_call("conformance_large", &large);
        // Where the system tells: the owner has begun to send it.
        wait_for("the answer", BOUND, || {
            let grown = owner.resident_kib() > before.map(|before| before + 8_000);
            before.is_none() || grown || client.inbox().count(&id) > 0
        });
        client.signal(Signal::SIGSTOP);
        println!("{} answers before", client.inbox().count(&id));
        owner.kill();
        client.signal(Signal::SIGCONT);
        let answer = client.answer(&id);
        checks::succeeded(&answer);
        let text = answer["result"]["structuredContent"]["text"].as_str();
        assert_eq!(text.map(str::len), Some(HALF));
        client.tool("conformance_echo", &json!({ "value": 1 }));
        assert_eq!(client.inbox().count(&id), 1);
        repository.ready_when("another owner", |lease| lease["pid"] != owner.pid());
    }
}

/// Guards I6.
#[test]
fn a_direct_client_that_was_reading_ten_megabytes_calls_the_next_owner() {
    let pair = Pair::new();
    let http = pair.repository.http();
    let session = http.session("direct", &json!({}));
    let large = frames::call("conformance_large", &json!({ "bytes": HALF }));
    let reply = session.ask("tools/call", &large);
    pair.kill();
    // Its head was there; the rest may be in the socket's buffers, and may not.
    drop(reply);
    next_call_works(&session, &http);
    let again = session.ask("tools/call", &large).json();
    let text = again["result"]["structuredContent"]["text"].as_str();
    assert_eq!(text.map(str::len), Some(HALF));
}

/// Guards I6.
#[test]
fn a_hundred_calls_of_a_bridges_client_are_each_answered_once() {
    let pair = Pair::new();
    let call = |n: u64| {
        let slow = json!({ "ms": 300 + n });
        pair.next.begin_call("conformance_slow", &slow)
    };
    let calls: Vec<Value> = (0..100).map(call).collect();
    // Answered behind them: they run.
    pair.next.tool("conformance_echo", &json!({ "value": 1 }));
    pair.owner.kill();
    for id in &calls {
        checks::succeeded(&pair.next.answer(id));
    }
    pair.next.tool("conformance_echo", &json!({ "value": 2 }));
    for id in &calls {
        assert_eq!(pair.next.inbox().count(id), 1, "answers to {id}");
    }
}

/// Guards I6.
#[test]
fn a_hundred_calls_of_a_direct_client_end_and_its_next_one_works() {
    let pair = Pair::new();
    let http = pair.repository.http();
    let session = http.session("direct", &json!({}));
    let call = frames::call("conformance_slow", &json!({ "ms": 600_000 }));
    let body = frames::request(&json!(1), "tools/call", &call).to_string();
    let post = format!(
        "{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        session.head("POST", "/mcp"),
        body.len()
    );
    // A call that takes a while is a stream: where its head is there, it runs.
    let mut streams: Vec<Reply> = thread::scope(|scope| {
        let calls: Vec<_> = (0..100)
            .map(|_| scope.spawn(|| session.raw(post.as_bytes()).unwrap()))
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    pair.kill();
    for stream in &mut streams {
        assert_eq!(stream.status, 200);
        assert_eq!(rest(stream), [] as [Value; 0], "nobody answers it any more");
    }
    next_call_works(&session, &http);
}

/// Guards I6.
#[test]
fn a_direct_client_whose_listen_broke_listens_at_the_next_owner() {
    let pair = Pair::new();
    let http = pair.repository.http();
    let session = http.session("direct", &json!({}));
    let wanted = json!({ "notifications": { "resourceSubscriptions": ["majordomus://peers"] } });
    let listen = || {
        let mut stream = modern(&http, "subscriptions/listen", "", &wanted);
        let first = stream.event().expect("the acknowledgement");
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        stream
    };
    let mut broken = listen();
    pair.kill();
    for heard in rest(&mut broken) {
        assert!(heard["method"].is_string(), "it has no answer: {heard}");
    }
    next_call_works(&session, &http);
    let mut stream = listen();
    let news = json!({ "intent": "news", "scope": ["a"] });
    pair.next.tool("majordomus_announce", &news);
    let heard = stream.event().expect("the news");
    assert_eq!(
        heard["method"], "notifications/resources/updated",
        "{heard}"
    );
}

/// Guards I6.
#[test]
fn a_direct_client_whose_stream_broke_goes_on_at_the_next_owner() {
    let pair = Pair::new();
    let http = pair.repository.http();
    let session = http.session("direct", &json!({}));
    session.ask(
        "resources/subscribe",
        &json!({ "uri": "majordomus://peers" }),
    );
    let mut stream = session.get("/mcp").expects(200);
    let news = json!({ "intent": "news", "scope": ["a"] });
    pair.next.tool("majordomus_announce", &news);
    let (last, heard) = stream.event_with_id().expect("the news");
    assert_eq!(
        heard["method"], "notifications/resources/updated",
        "{heard}"
    );
    pair.kill();
    rest(&mut stream);
    next_call_works(&session, &http);
    let last = last.expect("every event has an id");
    let mut again = session
        .with("Last-Event-ID", &last)
        .get("/mcp")
        .expects(200);
    let missed = again.event().expect("what may have been missed");
    assert_eq!(
        missed["method"], "notifications/resources/updated",
        "{missed}"
    );
}

/// Guards I6.
#[test]
fn a_direct_client_whose_call_reported_its_progress_calls_the_next_owner() {
    let pair = Pair::new();
    let http = pair.repository.http();
    let session = http.session("direct", &json!({}));
    let mut slow = frames::call("conformance_slow", &json!({ "ms": 600_000 }));
    slow["_meta"] = json!({ "progressToken": "far" });
    let mut streams = [
        session.ask("tools/call", &slow),
        modern(&http, "tools/call", "conformance_slow", &slow),
    ];
    for stream in &mut streams {
        let report = stream.event().expect("a report");
        assert_eq!(report["method"], "notifications/progress", "{report}");
    }
    pair.kill();
    for stream in &mut streams {
        let answered = rest(stream).iter().any(|event| event.get("id").is_some());
        assert!(!answered, "it ran at an owner that is dead");
    }
    next_call_works(&session, &http);
    let mut short = frames::call("conformance_slow", &json!({ "ms": 1 }));
    short["_meta"] = json!({ "progressToken": "far" });
    let mut again = session.ask("tools/call", &short);
    let events = rest(&mut again);
    let (answer, reports) = events.split_last().expect("an answer");
    checks::succeeded(answer);
    assert!(
        reports
            .iter()
            .all(|one| one["method"] == "notifications/progress"),
        "{reports:?}"
    );
}

/// Guards I6.
#[test]
fn a_direct_client_that_was_let_go_calls_the_next_owner() {
    let pair = Pair::new();
    let http = pair.repository.http();
    let session = http.session("direct", &json!({}));
    let long = frames::call("test_reconnection", &json!({ "ms": 600_000 }));
    let mut stream = session.ask("tools/call", &long);
    let text = stream.text();
    let id = text.lines().find_map(|line| line.strip_prefix("id: "));
    let id = id.expect("an event to come back with");
    pair.kill();
    // The call died with its owner. What is told there is the session's own news.
    let again = session.clone().with("Last-Event-ID", id).get("/mcp");
    assert_eq!(
        again.expects(200).header("content-type"),
        Some("text/event-stream")
    );
    next_call_works(&session, &http);
}
