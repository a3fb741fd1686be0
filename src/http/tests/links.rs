//! Connections that become links.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::fixture::{Fixture, read_answer, wait_for};

const ASK: &str = "GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: Upgrade\r\n\
                   upgrade: majordomus-link/1\r\n\r\n";

#[tokio::test]
async fn a_link_gets_what_came_behind_its_request_and_speaks_both_ways() {
    let mut fixture = Fixture::new();
    let server = fixture.listen().await;
    let mut bridge = server.connect().await;
    bridge
        .write_all(format!("{ASK}0 hello {{}}\n").as_bytes())
        .await
        .unwrap();
    let answer = read_answer(&mut bridge).await;
    assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
    assert!(answer.contains("upgrade: majordomus-link/1"));
    let mut link = fixture.links.recv().await.unwrap();
    let mut read = [0; 11];
    link.read_exact(&mut read).await.unwrap();
    assert_eq!(&read, b"0 hello {}\n");
    link.write_all(b"0 proof {}\n").await.unwrap();
    bridge.read_exact(&mut read).await.unwrap();
    assert_eq!(&read, b"0 proof {}\n");
    assert_eq!(server.connections.links(), 1);
    drop(link);
    assert_eq!(
        bridge.read(&mut read).await.unwrap(),
        0,
        "dropping a link closes it"
    );
    assert_eq!(server.connections.open(), 0);
}

/// Guards I4.
#[tokio::test]
async fn a_link_outlives_the_accept_loop_and_ends_by_force() {
    let mut fixture = Fixture::new();
    let server = fixture.listen().await;
    let mut bridge = server.connect().await;
    bridge.write_all(ASK.as_bytes()).await.unwrap();
    read_answer(&mut bridge).await;
    let mut link = fixture.links.recv().await.unwrap();
    server.stop.cancel();
    server.serving.await.unwrap();
    link.write_all(b"9 drain {}\n").await.unwrap();
    let mut read = [0; 11];
    bridge.read_exact(&mut read).await.unwrap();
    let connections = server.connections.clone();
    std::thread::spawn(move || connections.close_all())
        .join()
        .unwrap();
    assert_eq!(bridge.read(&mut read).await.unwrap(), 0);
    assert_eq!(link.read(&mut read).await.unwrap(), 0);
}

/// Guards I14.
#[tokio::test]
async fn no_page_opens_a_link() {
    let mut fixture = Fixture::new();
    let server = fixture.listen().await;
    let port = server.address.port();
    for (header, status) in [
        (format!("origin: http://127.0.0.1:{port}"), "HTTP/1.1 403"),
        ("origin: http://evil.example".to_owned(), "HTTP/1.1 403"),
    ] {
        let mut page = server.connect().await;
        let ask = ASK.replace("connection:", &format!("{header}\r\nconnection:"));
        page.write_all(ask.as_bytes()).await.unwrap();
        let answer = read_answer(&mut page).await;
        assert!(answer.starts_with(status), "{answer}");
    }
    let mut other = server.connect().await;
    let ask = ASK.replace("majordomus-link/1", "websocket");
    other.write_all(ask.as_bytes()).await.unwrap();
    let answer = read_answer(&mut other).await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert!(fixture.links.try_recv().is_err());
    wait_for("nothing became a link", || server.connections.links() == 0).await;
}
