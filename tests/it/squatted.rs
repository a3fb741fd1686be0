//! Ports that belong to somebody else: nothing secret reaches them, and the server is found all the same.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::json;

use crate::support::{Repository, checks};

/// A process at a port that records what it is told and answers in one of several wrong ways.
struct Squatter {
    heard: Arc<Mutex<Vec<u8>>>,
    port: u16,
}

impl Squatter {
    /// Listens at `port` (0: any) and answers every connection with `answer`, or with nothing at all.
    fn at(port: u16, answer: Option<&'static [u8]>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heard);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let kept = Arc::clone(&kept);
                thread::spawn(move || Self::hear(stream, answer, &kept));
            }
        });
        Self { heard, port }
    }

    fn hear(mut stream: TcpStream, answer: Option<&[u8]>, kept: &Mutex<Vec<u8>>) {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            kept.lock().unwrap().extend_from_slice(&buffer[..count]);
            if answer.is_some_and(|answer| stream.write_all(answer).is_err()) {
                return;
            }
        }
    }

    /// What all visitors have said.
    fn heard(&self) -> String {
        String::from_utf8_lossy(&self.heard.lock().unwrap()).into_owned()
    }
}

/// Guards I2, I14: a document that looks right but leads to someone else.
#[test]
fn a_lying_document_leads_nobody_to_tell_a_stranger_anything() {
    let answers: [Option<&'static [u8]>; 4] = [
        None,
        Some(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
        Some(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: majordomus-link/1\r\n\r\n0 proof {\"nonce\":\"00\",\"proof\":\"00\"}\n0 welcome {}\n"),
        Some(b"\xff\xff\xff\n\n\n"),
    ];
    for answer in answers {
        let repository = Repository::new();
        let first = repository.attached("first");
        let mut lease = repository.ready();
        first.kill();
        let squatter = Squatter::at(0, answer);
        lease["link"] = json!(format!("127.0.0.1:{}", squatter.port));
        lease["url"] = json!(format!("http://127.0.0.1:{}", squatter.port));
        lease["pid"] = json!(std::process::id());
        fs::write(repository.document(), lease.to_string()).unwrap();
        let client = repository.attached("client-with-a-secret-name");
        let answer = client.call("conformance_echo", &json!({ "value": "a secret value" }));
        checks::succeeded(&answer);
        repository.ready_when("the client's own document", |lease| {
            lease["pid"] == client.pid()
        });
        let heard = squatter.heard();
        let token = repository.token().unwrap();
        for secret in [&token, "a secret value", "client-with-a-secret-name"] {
            assert!(
                !heard.contains(secret),
                "a stranger was told {secret}: {heard}"
            );
        }
    }
}

/// Guards I14.
#[test]
fn a_squatted_port_costs_an_address_and_no_secret() {
    let repository = Repository::new();
    let first = repository.attached("first");
    let url = repository.ready_when("a url", |lease| lease["url"].is_string())["url"].clone();
    let port: u16 = url
        .as_str()
        .unwrap()
        .trim_end_matches('/')
        .rsplit(':')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(
        (20_000..30_000).contains(&port),
        "outside the ephemeral range: {port}"
    );
    first.close();
    first.exit();

    let squatter = Squatter::at(port, None);
    let owner = repository.attached("owner");
    let lease = repository.ready_when("a url at another port", |lease| {
        lease["url"]
            .as_str()
            .is_some_and(|other| Some(other) != url.as_str())
    });
    let bridge = repository.attached("bridge");
    checks::one_board(&[&owner, &bridge]);
    assert_eq!(repository.http().get("/lease").status, 200);
    let log = repository.log();
    assert!(
        log.contains(&port.to_string()),
        "the taken port in the log: {log}"
    );
    let fallback = lease["url"]
        .as_str()
        .unwrap()
        .trim_end_matches('/')
        .to_owned();
    assert!(
        log.contains(fallback.rsplit(':').next().unwrap()),
        "{fallback} in the log: {log}"
    );
    assert_eq!(squatter.heard(), "", "nothing at all is said to a squatter");
}

/// Guards I14: taken for a moment only, the address comes back.
#[test]
fn the_preferred_port_is_taken_back_when_it_becomes_free() {
    let repository = Repository::new();
    let first = repository.attached("first");
    let url = repository.ready_when("a url", |lease| lease["url"].is_string())["url"].clone();
    let port: u16 = url
        .as_str()
        .unwrap()
        .trim_end_matches('/')
        .rsplit(':')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    first.close();
    first.exit();
    let taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let _owner = repository.attached("owner");
    repository.ready_when("a url at another port", |lease| {
        lease["url"].is_string() && lease["url"] != url
    });
    drop(taken);
    repository.ready_when("the preferred url", |lease| lease["url"] == url);
    assert_eq!(repository.http().get("/lease").status, 200);
}
