//! Answers that are streams: late ones, and subscriptions.

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, advance};

use super::fixture::{Fixture, Listening, TOKEN, get, wait_for};
use super::legacy::ping;
use super::modern::{REVISION, frame};
use crate::http::{Auth, Limits};

/// A connection on which a stream comes.
struct Stream {
    socket: TcpStream,
    text: String,
}

impl Stream {
    async fn open(server: &Listening, headers: &str, body: &Value) -> Self {
        let body = body.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut socket = server.connect().await;
        socket.write_all(request.as_bytes()).await.unwrap();
        let text = String::new();
        Self { socket, text }
    }

    async fn listen(server: &Listening) -> Self {
        let headers =
            format!("mcp-protocol-version: {REVISION}\r\nmcp-method: subscriptions/listen\r\n");
        let params = json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["majordomus://thing"]}});
        Self::open(server, &headers, &frame("subscriptions/listen", params)).await
    }

    /// Reads until `count` events are there, and returns all of them.
    async fn events(&mut self, count: usize) -> Vec<Value> {
        let reading = async {
            loop {
                let events: Vec<Value> = self
                    .text
                    .lines()
                    .filter_map(|line| line.strip_prefix("data: "))
                    .map(|data| serde_json::from_str(data).unwrap())
                    .collect();
                if events.len() >= count {
                    return events;
                }
                let mut bytes = [0; 4096];
                let read = self.socket.read(&mut bytes).await.unwrap();
                assert!(read > 0, "the stream ended after {}", self.text);
                self.text
                    .push_str(std::str::from_utf8(&bytes[..read]).unwrap());
            }
        };
        tokio::time::timeout(Duration::from_secs(5), reading)
            .await
            .expect("the events come")
    }
}

#[tokio::test]
async fn a_subscription_is_acknowledged_first_and_hears_of_changes() {
    let fixture = Fixture::new();
    let server = fixture.listen().await;
    let mut stream = Stream::listen(&server).await;
    let events = stream.events(1).await;
    assert!(stream.text.starts_with("HTTP/1.1 200"), "{}", stream.text);
    assert!(stream.text.contains("content-type: text/event-stream"));
    assert_eq!(
        events[0]["method"],
        "notifications/subscriptions/acknowledged"
    );
    assert_eq!(
        events[0]["params"]["notifications"]["resourceSubscriptions"],
        json!(["majordomus://thing"])
    );
    let changes = fixture.http.parts().engine.changes();
    changes.changed("majordomus://other");
    changes.changed("majordomus://thing");
    let events = stream.events(2).await;
    assert_eq!(events[1]["method"], "notifications/resources/updated");
    assert_eq!(events[1]["params"]["uri"], "majordomus://thing");
    for event in &events {
        assert_eq!(
            event["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
            1
        );
    }
    assert!(fixture.http.alive(Duration::ZERO), "an open stream is life");
    drop(stream);
    wait_for("it is over", || server.connections.open() == 0).await;
    assert!(!fixture.http.alive(Duration::ZERO));
}

/// Guards I4.
#[tokio::test]
async fn a_subscription_ends_in_order_with_its_server() {
    let fixture = Fixture::new();
    let server = fixture.listen().await;
    let mut stream = Stream::listen(&server).await;
    stream.events(1).await;
    server.stop.cancel();
    let events = stream.events(2).await;
    assert_eq!(events[1]["id"], 1);
    assert_eq!(events[1]["result"]["resultType"], "complete");
    assert_eq!(
        events[1]["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        1
    );
    server.serving.await.unwrap();
}

#[tokio::test]
async fn a_subscription_that_is_wrong_or_cannot_stream_is_one_answer() {
    let fixture = Fixture::new();
    let headers = [
        ("content-type", "application/json"),
        ("mcp-protocol-version", REVISION),
        ("mcp-method", "subscriptions/listen"),
    ];
    let body = frame("subscriptions/listen", json!({"notifications": {}})).to_string();
    let answer = fixture.post("POST", "/mcp", &headers, body).await;
    assert_eq!(answer.status, 406);
    let mut all = headers.to_vec();
    all.push(("accept", "text/event-stream"));
    let body = frame("subscriptions/listen", json!({})).to_string();
    let answer = fixture.post("POST", "/mcp", &all, body).await;
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!(answer.json()["error"]["code"], -32602);
}

#[tokio::test]
async fn an_answer_that_is_late_becomes_a_stream_with_its_progress() {
    let fixture = Fixture::new();
    let server = fixture.listen().await;
    let id = fixture.open("2025-06-18").await;
    let call = |progress: &str| {
        json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {
            "name": "majordomus_wait", "arguments": {}, "_meta": {"progressToken": progress}}})
    };
    let session = format!("mcp-session-id: {id}\r\n");
    let mut legacy = Stream::open(&server, &session, &call("legacy")).await;
    let headers = format!(
        "mcp-protocol-version: {REVISION}\r\nmcp-method: tools/call\r\nmcp-name: majordomus_wait\r\n"
    );
    let mut params = frame(
        "tools/call",
        json!({"name": "majordomus_wait", "arguments": {}}),
    );
    params["params"]["_meta"]["progressToken"] = json!("modern");
    let mut modern = Stream::open(&server, &headers, &params).await;
    for (stream, token) in [(&mut legacy, "legacy"), (&mut modern, "modern")] {
        let events = stream.events(1).await;
        assert!(stream.text.contains("content-type: text/event-stream"));
        assert_eq!(events[0]["method"], "notifications/progress");
        assert_eq!(events[0]["params"]["progressToken"], token);
    }
    fixture.go.notify_waiters();
    for (stream, id) in [(&mut legacy, 5), (&mut modern, 1)] {
        let events = stream.events(2).await;
        assert_eq!(events[1]["id"], id);
        assert_eq!(events[1]["result"]["isError"], false);
    }
    assert_eq!(fixture.done.load(Ordering::SeqCst), 2);
}

/// Guards I15.
#[tokio::test]
async fn a_call_that_waits_for_a_client_that_left_ends_with_its_session() {
    let limits = Limits {
        sessions: 1,
        session_expiry: Duration::from_millis(300),
        ..Limits::default()
    };
    let fixture = Fixture::with(Auth::Bearer, limits);
    let server = fixture.listen().await;
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {"roots": {}}, "clientInfo": {"name": "tester", "version": "1"}}});
    let json = [("content-type", "application/json")];
    let opened = fixture.post("POST", "/mcp", &json, initialize.to_string());
    let id = opened.await.headers["mcp-session-id"].clone();
    let session = format!("mcp-session-id: {}\r\n", id.to_str().unwrap());
    let call = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "majordomus_ask", "arguments": {}}});
    let mut stream = Stream::open(&server, &session, &call).await;
    let asked = stream.events(1).await;
    assert_eq!(asked[0]["method"], "roots/list");
    drop(stream);
    assert!(
        fixture.http.work().running() > 0,
        "the client may come back"
    );
    let presence = fixture.http.parts().engine.presence();
    let sessions = fixture.http.sessions();
    wait_for("the session expires", || sessions.has_room(&**presence)).await;
    wait_for("the call ends", || fixture.http.work().running() == 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_no_stream_waits_for_its_one_answer() {
    let fixture = Fixture::new();
    let id = fixture.open("2025-06-18").await;
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json"),
        ("mcp-session-id", &*id),
    ];
    let body = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "majordomus_wait", "arguments": {}}});
    let waiting = fixture.post("POST", "/mcp", &headers, body.to_string());
    let late = async {
        tokio::time::sleep(Duration::from_millis(1200)).await;
        fixture.go.notify_waiters();
    };
    let (answer, ()) = tokio::join!(waiting, late);
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!(answer.json()["id"], 5);
}

/// Guards I15.
#[tokio::test]
async fn a_stream_keeps_its_place() {
    let limits = Limits {
        connections: 1,
        ..Limits::default()
    };
    let fixture = Fixture::with(Auth::Bearer, limits);
    let server = fixture.listen().await;
    let mut stream = Stream::listen(&server).await;
    stream.events(1).await;
    let refused = server.raw(get("/api/v1/test/echo").as_bytes()).await;
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    fixture
        .http
        .parts()
        .engine
        .changes()
        .changed("majordomus://thing");
    stream.events(2).await;
}

/// An open stream of a session's own, unread.
async fn own_stream(fixture: &Fixture, session: &str) -> Body {
    let request = Request::get("/mcp")
        .header("host", "127.0.0.1:20123")
        .header("authorization", format!("Bearer {TOKEN}"))
        .header("accept", "text/event-stream")
        .header("mcp-session-id", session);
    let response = fixture
        .begin(request.body(Body::empty()).unwrap(), "127.0.0.1:50000")
        .await;
    assert_eq!(response.status(), 200);
    response.into_body()
}

/// Clients end a connection that is silent for some minutes.
#[tokio::test(start_paused = true)]
async fn a_silent_stream_is_kept_alive_by_comments() {
    let fixture = Fixture::new();
    let id = fixture.open("2025-06-18").await;
    let mut stream = own_stream(&fixture, &id).await;
    for _ in 0..3 {
        let begun = Instant::now();
        let frame = stream.frame().await.unwrap().unwrap();
        assert_eq!(frame.into_data().unwrap(), ":\n\n");
        assert!(begun.elapsed() <= Duration::from_secs(15));
    }
}

#[tokio::test(start_paused = true)]
async fn an_open_stream_keeps_its_session_past_its_expiry() {
    let limits = Limits {
        session_expiry: Duration::from_mins(1),
        ..Limits::default()
    };
    let fixture = Fixture::with(Auth::Bearer, limits);
    let id = fixture.open("2025-06-18").await;
    let stream = own_stream(&fixture, &id).await;
    advance(Duration::from_hours(1)).await;
    assert_eq!(fixture.in_session(&id, &ping()).await.status, 200);
    drop(stream);
    advance(Duration::from_hours(1)).await;
    assert_eq!(fixture.in_session(&id, &ping()).await.status, 404);
}
