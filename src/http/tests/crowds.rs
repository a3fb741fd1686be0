//! More connections than there are places: who goes, who is refused, who is served all the same (I15).

use tokio::io::AsyncWriteExt as _;

use super::bounds::status;
use super::fixture::{Fixture, get, read_answer, read_to_end, wait_for};
use crate::http::{Auth, Limits};

/// Guards I15.
#[tokio::test]
async fn idle_connections_make_room_for_those_that_speak() {
    let limits = Limits {
        connections: 4,
        overflow: 2,
        ..Limits::default()
    };
    let fixture = Fixture::with(Auth::Bearer, limits);
    let server = fixture.listen().await;
    let mut idle = Vec::new();
    for _ in 0..200 {
        idle.push(server.connect().await);
    }
    let request = get("/api/v1/test/echo").replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    let answer = server.raw(request.as_bytes());
    assert_eq!(status(&answer.await), "200");
    wait_for("places are bounded", || server.connections.open() <= 4).await;
    assert_eq!(
        read_to_end(&mut idle[0]).await,
        "",
        "the first one that said nothing went"
    );
}

/// Guards I15: whose request came before the server had time to read it is idle only in appearance.
#[tokio::test]
async fn a_burst_of_requests_is_answered_or_refused_and_none_is_cut() {
    let limits = Limits {
        connections: 4,
        overflow: 2,
        ..Limits::default()
    };
    let fixture = Fixture::with(Auth::Bearer, limits);
    let server = fixture.listen().await;
    let request = get("/api/v1/test/echo").replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    // Without an await in between, so that the server finds them all at once.
    let ask = |_| {
        let mut client = std::net::TcpStream::connect(server.address).unwrap();
        std::io::Write::write_all(&mut client, request.as_bytes()).unwrap();
        client.set_nonblocking(true).unwrap();
        client
    };
    let asking: Vec<std::net::TcpStream> = (0..100).map(ask).collect();
    let mut answers = Vec::new();
    for client in asking {
        let mut client = tokio::net::TcpStream::from_std(client).unwrap();
        answers.push(status(&read_to_end(&mut client).await).to_owned());
    }
    let served = answers.iter().filter(|status| *status == "200").count();
    let refused = answers.iter().filter(|status| *status == "503").count();
    assert_eq!((served + refused, served >= 4), (100, true), "{answers:?}");
}

/// Guards I15.
#[tokio::test]
async fn with_every_connection_at_work_the_probe_is_still_answered() {
    let limits = Limits {
        connections: 200,
        requests: 200,
        overflow: 2,
        ..Limits::default()
    };
    let fixture = Fixture::with(Auth::Bearer, limits);
    let server = fixture.listen().await;
    let mut busy = Vec::new();
    for _ in 0..200 {
        let mut client = server.connect().await;
        client
            .write_all(get("/api/v1/test/wait").as_bytes())
            .await
            .unwrap();
        busy.push(client);
    }
    let http = &fixture.http;
    wait_for("all are running", || http.permit().is_none()).await;
    let lease = server
        .raw(b"GET /lease HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
        .await;
    assert_eq!(status(&lease), "200");
    assert!(lease.contains("\"instance\""));
    let refused = server.raw(get("/api/v1/test/echo").as_bytes()).await;
    assert_eq!(status(&refused), "503");
    assert!(
        refused.to_ascii_lowercase().contains("retry-after: 1") && refused.contains("\"busy\"")
    );
    fixture.go.notify_waiters();
    for mut client in busy {
        assert_eq!(status(&read_answer(&mut client).await), "200");
    }
}
