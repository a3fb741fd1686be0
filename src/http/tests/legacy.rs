//! Sessions: `initialize`, ids, their end, and the next owner.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use super::fixture::{Answer, Fixture, Ledger, TOKEN, read_answer, wait_for};
use crate::floor::{clock, limits};
use crate::http::endpoint::session_id::SessionId;
use crate::http::{Auth, Limits, Secrets};

const JSON: (&str, &str) = ("content-type", "application/json");

impl Fixture {
    async fn message(&self, headers: &[(&str, &str)], message: &Value) -> Answer {
        let mut all = vec![JSON];
        all.extend(headers);
        self.post("POST", "/mcp", &all, message.to_string()).await
    }

    /// Opens a session and returns its id.
    pub(super) async fn open(&self, revision: &str) -> String {
        let answer = self.message(&[], &initialize(revision)).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json()["result"]["protocolVersion"], revision);
        answer.headers["mcp-session-id"]
            .to_str()
            .unwrap()
            .to_owned()
    }

    pub(super) async fn in_session(&self, id: &str, message: &Value) -> Answer {
        self.message(&[("mcp-session-id", id)], message).await
    }
}

fn initialize(revision: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "tester", "version": "1"}}})
}

pub(super) fn ping() -> Value {
    json!({"jsonrpc": "2.0", "id": "p", "method": "ping"})
}

fn call(id: i64, tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {}}})
}

#[tokio::test]
async fn a_session_opens_works_and_ends() {
    let fixture = Fixture::new();
    let id = fixture.open("2025-06-18").await;
    assert!(id.bytes().all(|byte| byte.is_ascii_graphic()));
    assert_eq!(fixture.room.count("enter tester"), 1);
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let answer = fixture.in_session(&id, &initialized).await;
    assert_eq!((answer.status.as_u16(), answer.body.len()), (202, 0));
    let answer = fixture
        .in_session(&id, &json!({"jsonrpc": "2.0", "id": 9, "result": {}}))
        .await;
    assert_eq!((answer.status.as_u16(), answer.body.len()), (202, 0));
    let answer = fixture.in_session(&id, &call(2, "majordomus_echo")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!(answer.json()["result"]["isError"], false);
    let answer = fixture
        .in_session(
            &id,
            &json!({"jsonrpc": "2.0", "id": 3, "method": "nothing"}),
        )
        .await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["error"]["code"]),
        (200, &json!(-32601))
    );
    let session = [("mcp-session-id", &*id)];
    assert_eq!(fixture.send("DELETE", "/mcp", &session).await.status, 204);
    assert_eq!(fixture.room.count("leave"), 1);
    for _ in 0..2 {
        assert_eq!(fixture.in_session(&id, &ping()).await.status, 404);
        assert_eq!(fixture.send("DELETE", "/mcp", &session).await.status, 404);
    }
    assert_eq!(fixture.http.sessions().live(), 0);
}

#[tokio::test]
async fn a_missing_id_is_400_and_an_unknown_one_404() {
    let fixture = Fixture::new();
    let good = fixture.open("2025-11-25").await;
    let answer = fixture.message(&[], &ping()).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["id"], "p");
    assert_eq!(fixture.send("DELETE", "/mcp", &[]).await.status, 400);
    let forged = format!("{}x", &good[..good.len() - 1]);
    let elsewhere = Secrets::new(TOKEN, "another checkout");
    let foreign = SessionId::open(&Secrets::new(TOKEN, super::fixture::ROOT_ID), &good)
        .unwrap()
        .seal(&elsewhere);
    for wrong in [&*forged, &*foreign, "x", "m1-e30.AAAA"] {
        assert_eq!(
            fixture.in_session(wrong, &ping()).await.status,
            404,
            "{wrong}"
        );
        assert_eq!(
            fixture
                .send("DELETE", "/mcp", &[("mcp-session-id", wrong)])
                .await
                .status,
            404
        );
    }
    assert_eq!(fixture.in_session(&good, &ping()).await.status, 200);
}

/// Guards I14.
#[tokio::test]
async fn no_session_goes_without_a_token() {
    let fixture = Fixture::new();
    let id = fixture.open("2025-06-18").await;
    for (method, name) in [
        ("POST", "authorization"),
        ("DELETE", "authorization"),
        ("GET", "authorization"),
    ] {
        let headers = [(name, ""), ("mcp-session-id", &*id), JSON];
        let answer = fixture
            .post(method, "/mcp", &headers, ping().to_string())
            .await;
        assert_eq!(answer.status, 401, "{method}");
    }
    let answer = fixture
        .message(&[("authorization", "")], &initialize("2025-06-18"))
        .await;
    assert_eq!(answer.status, 401);
    assert_eq!(fixture.room.count("enter"), 1);
}

#[tokio::test]
async fn a_stream_needs_a_session_and_other_methods_are_refused() {
    let fixture = Fixture::new();
    let answer = fixture
        .send("GET", "/mcp", &[("accept", "text/event-stream")])
        .await;
    assert_eq!(answer.status, 400);
    let id = fixture.open("2025-06-18").await;
    let deaf = [("mcp-session-id", &*id), ("accept", "application/json")];
    assert_eq!(fixture.send("GET", "/mcp", &deaf).await.status, 406);
    let answer = fixture.send("PUT", "/mcp", &[]).await;
    assert_eq!(answer.status, 405);
    assert_eq!(answer.headers["allow"], "GET, POST, DELETE");
    let modern = [("mcp-protocol-version", "2026-07-28")];
    for method in ["GET", "DELETE", "PUT"] {
        let answer = fixture.send(method, "/mcp", &modern).await;
        assert_eq!(
            (
                answer.status.as_u16(),
                answer.headers["allow"].to_str().unwrap()
            ),
            (405, "POST")
        );
    }
}

#[tokio::test]
async fn the_version_header_is_one_that_is_spoken_or_absent() {
    let fixture = Fixture::new();
    let id = fixture.open("2025-06-18").await;
    for known in ["2025-06-18", "2025-03-26", "2025-11-25"] {
        let headers = [("mcp-session-id", &*id), ("mcp-protocol-version", known)];
        assert_eq!(fixture.message(&headers, &ping()).await.status, 200);
    }
    let headers = [
        ("mcp-session-id", &*id),
        ("mcp-protocol-version", "1999-01-01"),
    ];
    let answer = fixture.message(&headers, &ping()).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["error"]["data"]["requested"], "1999-01-01");
}

#[tokio::test]
async fn batches_are_taken_in_their_one_revision_only() {
    let fixture = Fixture::new();
    let batch = json!([
        ping(),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        call(2, "majordomus_echo"),
        initialize("2025-03-26"),
        {"broken": true},
    ]);
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let id = fixture.open(revision).await;
        assert_eq!(
            fixture.in_session(&id, &batch).await.status,
            400,
            "{revision}"
        );
    }
    let id = fixture.open("2025-03-26").await;
    let answer = fixture.in_session(&id, &batch).await;
    assert_eq!(answer.status, 200);
    let answers = answer.json();
    let ids: Vec<&Value> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| &answer["id"])
        .collect();
    assert_eq!(ids.len(), 4);
    assert!(ids.contains(&&json!("p")) && ids.contains(&&json!(2)));
    let quiet = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]);
    assert_eq!(fixture.in_session(&id, &quiet).await.status, 202);
    assert_eq!(fixture.in_session(&id, &json!([])).await.status, 400);
    let huge: Vec<Value> = (0..=limits::CALLS_PER_PEER).map(|_| ping()).collect();
    let answers = fixture.in_session(&id, &json!(huge)).await.json();
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), limits::CALLS_PER_PEER + 1);
    let refused: Vec<&Value> = answers.iter().filter(|a| !a["error"].is_null()).collect();
    assert_eq!(refused.len(), 1, "only what is past the bound");
    assert_eq!(refused[0]["error"]["code"], -32600);
    let outside = fixture.message(&[], &batch).await;
    assert_eq!(outside.status, 400, "a batch has no session of its own");
}

/// Guards I15.
#[tokio::test]
async fn garbage_gets_a_json_rpc_error() {
    let fixture = Fixture::new();
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        ("5", -32600),
        ("{}", -32600),
        (&*deep, -32700),
    ] {
        let answer = fixture.post("POST", "/mcp", &[JSON], body.to_owned()).await;
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(answer.json()["error"]["code"], code, "{body}");
    }
    let text = [("content-type", "text/plain")];
    assert_eq!(fixture.post("POST", "/mcp", &text, "{}").await.status, 415);
}

/// Guards I6.
#[tokio::test]
async fn the_next_owner_takes_a_session_over_and_keeps_ended_ones_ended() {
    let ledger = Arc::new(Ledger::default());
    let fixture =
        |ledger: &Arc<Ledger>| Fixture::after(Arc::clone(ledger), Auth::Bearer, Limits::default());
    let first = fixture(&ledger);
    let (kept, ended) = (
        first.open("2025-06-18").await,
        first.open("2025-03-26").await,
    );
    assert_eq!(
        first
            .send("DELETE", "/mcp", &[("mcp-session-id", &ended)])
            .await
            .status,
        204
    );
    let next = fixture(&ledger);
    assert_eq!(next.in_session(&ended, &ping()).await.status, 404);
    assert_eq!(next.room.count("enter"), 0);
    let answer = next.in_session(&kept, &call(2, "majordomus_echo")).await;
    assert_eq!(answer.status, 200);
    assert!(
        answer.json()["result"]["structuredContent"].is_object(),
        "the revision is known"
    );
    assert_eq!(
        next.room.count("enter tester"),
        1,
        "the same peer with its name"
    );
    next.in_session(&kept, &ping()).await;
    assert_eq!(next.room.count("enter"), 1);
    assert_eq!(
        next.send("DELETE", "/mcp", &[("mcp-session-id", &kept)])
            .await
            .status,
        204
    );
    let third = fixture(&ledger);
    assert_eq!(third.in_session(&kept, &ping()).await.status, 404);
}

/// Guards I1.
#[tokio::test]
async fn without_the_lease_no_session_and_no_command_is_admitted() {
    let ledger = Arc::new(Ledger::default());
    let first = Fixture::after(Arc::clone(&ledger), Auth::Bearer, Limits::default());
    let id = first.open("2025-06-18").await;
    let lost = Fixture::after(ledger, Auth::Bearer, Limits::default());
    for fixture in [&first, &lost] {
        fixture.owner.0.store(false, Ordering::SeqCst);
        let answer = fixture.message(&[], &initialize("2025-06-18")).await;
        assert_eq!(answer.status, 503);
        assert!(answer.headers.get("mcp-session-id").is_none());
    }
    assert_eq!(
        lost.in_session(&id, &ping()).await.status,
        503,
        "not taken over"
    );
    assert_eq!(
        first
            .in_session(&id, &call(2, "majordomus_write"))
            .await
            .status,
        503
    );
    assert_eq!(
        first
            .in_session(&id, &call(3, "majordomus_echo"))
            .await
            .status,
        200
    );
    // What this process says has ended, the next owner would still know.
    let end = first
        .send("DELETE", "/mcp", &[("mcp-session-id", &id)])
        .await;
    assert_eq!(end.status, 503);
    assert_eq!(first.in_session(&id, &ping()).await.status, 200);
}

/// Guards I15.
#[tokio::test]
async fn sessions_are_bounded_and_expire_without_requests() {
    let limits = Limits {
        sessions: 2,
        session_expiry: Duration::from_millis(300),
        ..Limits::default()
    };
    let fixture = Fixture::with(Auth::Bearer, limits);
    let (first, second) = (
        fixture.open("2025-06-18").await,
        fixture.open("2025-06-18").await,
    );
    let answer = fixture.message(&[], &initialize("2025-06-18")).await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(fixture.in_session(&first, &ping()).await.status, 200);
    let presence = fixture.http.parts().engine.presence();
    let sessions = fixture.http.sessions();
    wait_for("one expires", || sessions.has_room(&**presence)).await;
    assert!(fixture.room.count("leave") >= 1);
    fixture.open("2025-06-18").await;
    wait_for("all expire", || {
        sessions.has_room(&**presence) && sessions.live() < 2
    })
    .await;
    for _ in 0..2 {
        let answer = fixture.in_session(&second, &ping()).await;
        assert_eq!(answer.status, 404, "it is not taken over again");
    }
}

#[tokio::test]
async fn an_id_of_another_time_is_not_taken_over() {
    let fixture = Fixture::new();
    let secrets = Secrets::new(TOKEN, super::fixture::ROOT_ID);
    let mut id = SessionId::open(&secrets, &fixture.open("2025-06-18").await).unwrap();
    id.created_ms =
        clock::now_ms() - u64::try_from(limits::SESSION_ADOPTION.as_millis()).unwrap() - 1000;
    assert_eq!(
        fixture.in_session(&id.seal(&secrets), &ping()).await.status,
        404
    );
    id.created_ms += 60_000;
    assert_eq!(
        fixture.in_session(&id.seal(&secrets), &ping()).await.status,
        200
    );
}

#[tokio::test]
async fn a_cancelled_request_ends_without_an_answer_and_equal_ids_do_not_mix() {
    let fixture = Fixture::new();
    let id = fixture.open("2025-06-18").await;
    let waiting = async {
        let wait = call(7, "majordomus_wait");
        tokio::join!(
            fixture.in_session(&id, &wait),
            fixture.in_session(&id, &wait)
        )
    };
    let cancelling = async {
        wait_for("both run", || fixture.http.work().running() == 2).await;
        let other = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "7"}});
        assert_eq!(fixture.in_session(&id, &other).await.status, 202);
        assert_eq!(fixture.http.work().running(), 2, "\"7\" is not 7");
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
        assert_eq!(fixture.in_session(&id, &cancel).await.status, 202);
    };
    let ((first, second), ()) = tokio::join!(waiting, cancelling);
    for answer in [first, second] {
        assert_eq!((answer.status.as_u16(), answer.body.len()), (202, 0));
    }
    assert_eq!(fixture.done.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_dropped_connection_cancels_no_request_of_a_session() {
    let fixture = Fixture::new();
    let id = fixture.open("2025-06-18").await;
    let server = fixture.listen().await;
    let body = call(1, "majordomus_wait").to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\n\
         mcp-session-id: {id}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut client = server.connect().await;
    client.write_all(request.as_bytes()).await.unwrap();
    wait_for("it runs", || fixture.http.work().running() == 1).await;
    drop(client);
    wait_for("the connection is gone", || server.connections.open() == 0).await;
    assert_eq!(fixture.http.work().running(), 1);
    fixture.go.notify_one();
    wait_for("it ends", || fixture.done.load(Ordering::SeqCst) == 1).await;
    let mut client = server.connect().await;
    client
        .write_all(
            request
                .replace("majordomus_wait", "majordomus_echo")
                .as_bytes(),
        )
        .await
        .unwrap();
    let answer = read_answer(&mut client).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// Guards I4.
#[tokio::test]
async fn work_that_is_aborted_says_that_the_server_leaves() {
    let fixture = Fixture::new();
    let id = fixture.open("2025-06-18").await;
    let wait = call(1, "majordomus_wait");
    let aborting = async {
        wait_for("it runs", || fixture.http.work().running() == 1).await;
        fixture.http.work().abort();
    };
    let (answer, ()) = tokio::join!(fixture.in_session(&id, &wait), aborting);
    assert_eq!(answer.status, 503);
    assert_eq!(fixture.done.load(Ordering::SeqCst), 0);
}
