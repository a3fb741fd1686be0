//! Bad senders on a real socket: each is cut or answered, and everyone else is served (I15).

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::fixture::{Fixture, TOKEN, get, read_answer, read_to_end, wait_for};
use crate::http::{Auth, Limits};

fn quick() -> Limits {
    Limits {
        header_time: Duration::from_millis(80),
        body_time: Duration::from_millis(80),
        stall: Duration::from_millis(80),
        overflow_time: Duration::from_millis(200),
        ..Limits::default()
    }
}

pub(super) fn status(answer: &str) -> &str {
    answer.get(9..12).unwrap_or("")
}

fn write(headers: &str, body: &str) -> String {
    format!(
        "POST /api/v1/test/write HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n\
         content-type: application/json\r\n{headers}\r\n{body}"
    )
}

/// Guards I15.
#[tokio::test]
async fn headers_are_bounded_at_the_edge_and_past_it() {
    let fixture = Fixture::new();
    let server = fixture.listen().await;
    let sized = |total: usize| {
        let head = get("/api/v1/test/echo").replace("\r\n\r\n", "\r\nconnection: close\r\nx: ");
        let padding = "x".repeat(total - head.len() - 4);
        format!("{head}{padding}\r\n\r\n")
    };
    assert_eq!(
        status(&server.raw(sized(64 * 1024).as_bytes()).await),
        "200"
    );
    assert_eq!(
        status(&server.raw(sized(64 * 1024 + 1).as_bytes()).await),
        "431"
    );
    assert_eq!(
        status(&server.raw(sized(1024 * 1024).as_bytes()).await),
        "431"
    );
    let counted = |count: usize| {
        let more: String = (3..count).fold(String::new(), |all, n| all + &format!("x-{n}: 1\r\n"));
        get("/api/v1/test/echo")
            .replace("\r\n\r\n", &format!("\r\nconnection: close\r\n{more}\r\n"))
    };
    assert_eq!(status(&server.raw(counted(100).as_bytes()).await), "200");
    assert_eq!(status(&server.raw(counted(101).as_bytes()).await), "431");
}

/// Guards I15.
#[tokio::test]
async fn bodies_are_bounded_at_the_edge_and_past_it() {
    let limits = Limits {
        body_bytes: 100,
        ..Limits::default()
    };
    let fixture = Fixture::with(Auth::Bearer, limits);
    let server = fixture.listen().await;
    let body = |length: usize| format!("{{\"text\":\"{}\"}}", "x".repeat(length - 11));
    let declared = |length: usize| {
        write(
            &format!("connection: close\r\ncontent-length: {length}\r\n"),
            &body(length),
        )
    };
    assert_eq!(status(&server.raw(declared(100).as_bytes()).await), "200");
    let answer = server.raw(declared(101).as_bytes()).await;
    assert_eq!(status(&answer), "413");
    assert!(answer.contains("\"code\":\"body_too_large\""), "{answer}");
    let chunked = |length: usize| {
        let body = format!("{length:x}\r\n{}\r\n0\r\n\r\n", body(length));
        write("connection: close\r\ntransfer-encoding: chunked\r\n", &body)
    };
    assert_eq!(status(&server.raw(chunked(100).as_bytes()).await), "200");
    assert_eq!(status(&server.raw(chunked(101).as_bytes()).await), "413");
}

/// Guards I15.
#[tokio::test]
async fn the_answer_to_a_huge_body_is_not_lost_while_the_client_still_sends() {
    let fixture = Fixture::new();
    let server = fixture.listen().await;
    let length = 40 * 1024 * 1024;
    let mut client = server.connect().await;
    client
        .write_all(write(&format!("content-length: {length}\r\n"), "").as_bytes())
        .await
        .unwrap();
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..length / chunk.len() {
        if client.write_all(&chunk).await.is_err() {
            break;
        }
    }
    assert_eq!(status(&read_to_end(&mut client).await), "413");
}

/// Guards I15.
#[tokio::test(start_paused = true)]
async fn slow_senders_are_cut() {
    let fixture = Fixture::with(Auth::Bearer, quick());
    let server = fixture.listen().await;
    let mut silent = server.connect().await;
    let mut loris = server.connect().await;
    let dripping = tokio::spawn(async move {
        for byte in get("/lease").bytes().cycle() {
            tokio::time::sleep(Duration::from_millis(10)).await;
            if loris.write_all(&[byte]).await.is_err() {
                break;
            }
        }
    });
    assert_eq!(read_to_end(&mut silent).await, "");
    tokio::time::timeout(Duration::from_secs(5), dripping)
        .await
        .expect("a drip does not hold a connection")
        .unwrap();
    let mut half = server.connect().await;
    half.write_all(write("content-length: 50\r\n", "{\"text\":").as_bytes())
        .await
        .unwrap();
    let answer = read_to_end(&mut half).await;
    assert_eq!(status(&answer), "408", "{answer}");
    wait_for("every place is free again", || {
        server.connections.open() == 0
    })
    .await;
    assert_eq!(fixture.done.load(Ordering::SeqCst), 0);
}

/// Guards I15.
#[tokio::test]
async fn a_client_that_never_reads_is_cut() {
    let fixture = Fixture::with(Auth::Bearer, quick());
    let server = fixture.listen().await;
    let mut deaf = server.connect().await;
    let request = get("/docs/swagger-ui-bundle.js");
    let sending = async {
        loop {
            if deaf.write_all(request.as_bytes()).await.is_err() {
                break;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), sending)
        .await
        .expect("the connection ends");
    wait_for("its place is free again", || server.connections.open() == 0).await;
}

/// Guards I14.
#[tokio::test]
async fn no_second_request_is_smuggled_in_a_first() {
    let fixture = Fixture::new();
    let server = fixture.listen().await;
    let hidden = get("/lease");
    let length = hidden.len();
    let ambiguous = [
        write(
            &format!("content-length: {length}\r\ntransfer-encoding: chunked\r\n"),
            &format!("0\r\n\r\n{hidden}"),
        ),
        write(
            &format!("transfer-encoding: chunked\r\ncontent-length: {length}\r\n"),
            &format!("0\r\n\r\n{hidden}"),
        ),
        write(
            &format!("content-length: 0\r\ncontent-length: {length}\r\n"),
            &hidden,
        ),
        write(&format!("content-length: 0, {length}\r\n"), &hidden),
        write("content-length: +2\r\n", &format!("{{}}{hidden}")),
        write("content-length: -1\r\n", &hidden),
        write(
            "transfer-encoding: chunked, identity\r\n",
            &format!("0\r\n\r\n{hidden}"),
        ),
        write(
            "transfer-encoding: xchunked\r\n",
            &format!("0\r\n\r\n{hidden}"),
        ),
        write(
            "transfer-encoding : chunked\r\n",
            &format!("0\r\n\r\n{hidden}"),
        ),
        write(" folded: yes\r\ncontent-length: 0\r\n", &hidden),
        write("x: 1\r\n folded\r\ncontent-length: 0\r\n", &hidden),
        write("content-length: 99999999999999999999999\r\n", &hidden),
        write(
            "transfer-encoding: chunked\r\n",
            &format!("fffffffffffffffff\r\n{hidden}"),
        ),
        write(
            "transfer-encoding: chunked\r\n",
            &format!("0x2\r\n{{}}\r\n0\r\n\r\n{hidden}"),
        ),
    ];
    for request in ambiguous {
        let answer = server.raw(request.as_bytes()).await;
        let answers = answer.matches("HTTP/1.1 ").count();
        assert!(answers <= 1, "{request}\n{answer}");
        assert!(!answer.contains("\"instance\""), "{request}\n{answer}");
    }
}

/// Guards I15.
#[tokio::test]
async fn garbage_is_answered_or_cut_and_nobody_else_notices() {
    let fixture = Fixture::new();
    let server = fixture.listen().await;
    let garbage: [&[u8]; 6] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\r\n\r\n\r\n\xff\xff\xff\xff\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /lease HTTP/1.1\r\nhost: \x00\r\n\r\n",
        b"CONNECT 127.0.0.1:1 HTTP/1.1\r\nhost: 127.0.0.1:1\r\n\r\n",
    ];
    for bytes in garbage {
        let mut client = server.connect().await;
        client.write_all(bytes).await.unwrap();
        client.shutdown().await.unwrap();
        let answer = read_to_end(&mut client).await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{answer}"
        );
    }
    assert_eq!(
        status(
            &server
                .raw(b"GET /lease HTTP/1.0\r\nhost: localhost\r\n\r\n")
                .await
        ),
        "200"
    );
}

/// Guards I6.
#[tokio::test]
async fn a_command_runs_to_its_end_without_its_client_and_a_read_does_not() {
    let fixture = Fixture::new();
    let server = fixture.listen().await;
    let mut client = server.connect().await;
    let work = write("content-length: 2\r\n", "{}").replace("/write", "/work");
    client.write_all(work.as_bytes()).await.unwrap();
    wait_for("the command runs", || fixture.http.work().running() == 1).await;
    drop(client);
    wait_for("the connection is gone", || server.connections.open() == 0).await;
    fixture.go.notify_one();
    wait_for("the command ends", || {
        fixture.done.load(Ordering::SeqCst) == 1
    })
    .await;
    let mut reader = server.connect().await;
    reader
        .write_all(get("/api/v1/test/wait").as_bytes())
        .await
        .unwrap();
    wait_for("the read runs", || server.connections.open() == 1).await;
    drop(reader);
    wait_for("the read is over", || server.connections.open() == 0).await;
    assert_eq!(fixture.done.load(Ordering::SeqCst), 1);
}

/// Guards I4.
#[tokio::test]
async fn a_graceful_stop_lets_answers_out_and_closes_the_rest() {
    let fixture = Fixture::new();
    let server = fixture.listen().await;
    let mut idle = server.connect().await;
    idle.write_all(get("/lease").as_bytes()).await.unwrap();
    read_answer(&mut idle).await;
    let mut waiting = server.connect().await;
    waiting
        .write_all(get("/api/v1/test/wait").as_bytes())
        .await
        .unwrap();
    let places = fixture.http.parts().limits.requests;
    let http = &fixture.http;
    wait_for("it runs", || http.available() < places).await;
    server.stop.cancel();
    assert_eq!(read_to_end(&mut idle).await, "");
    fixture.go.notify_one();
    assert_eq!(status(&read_to_end(&mut waiting).await), "200");
    server.serving.await.unwrap();
    assert!(
        tokio::net::TcpStream::connect(server.address)
            .await
            .is_err()
    );
}

/// Guards I5.
#[tokio::test]
async fn another_thread_can_close_everything() {
    let fixture = Fixture::new();
    let server = fixture.listen().await;
    let mut waiting = server.connect().await;
    waiting
        .write_all(get("/api/v1/test/wait").as_bytes())
        .await
        .unwrap();
    wait_for("it is connected", || server.connections.open() == 1).await;
    let connections = server.connections.clone();
    std::thread::spawn(move || connections.close_all())
        .join()
        .unwrap();
    let mut read = [0; 1];
    assert_eq!(waiting.read(&mut read).await.unwrap(), 0);
    assert!(
        tokio::net::TcpStream::connect(server.address)
            .await
            .is_err()
    );
    server.serving.abort();
}
