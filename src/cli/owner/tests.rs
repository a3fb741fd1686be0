//! What an owner must prove, and what an answer becomes.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use hyper::StatusCode;
use serde_json::json;

use super::{Owner, answer, block_on};
use crate::cli::absence::{Absence, read};
use crate::cli::report::Exit;
use crate::floor::paths::{Explicit, Site};
use crate::http::Secrets;
use crate::lease::document::SCHEMA;
use crate::lease::secret::Token;
use crate::registry::{Capability, Exposure, Form, Handler, Kind, Retry};

const INSTANCE: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn a_problem_becomes_a_failure_with_its_hint() {
    let body = br#"{"title":"Not Found","detail":"no such thing","hint":"look\u001b"}"#;
    let failure = answer(StatusCode::NOT_FOUND, body).unwrap_err();
    assert_eq!(failure.causes, ["no such thing"]);
    assert_eq!(failure.hints(), ["look\u{fffd}"]);
    assert_eq!(failure.exit, Exit::Failed);
    assert_eq!(
        answer(StatusCode::CONFLICT, b"x").unwrap_err().exit,
        Exit::Conflict
    );
    assert_eq!(
        answer(StatusCode::OK, b"{\"a\":1}").unwrap(),
        json!({"a": 1})
    );
}

/// A checkout with a token and a document that names `port`.
fn checkout(port: u16) -> (tempfile::TempDir, Site, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".ai")).unwrap();
    let site = Site::discover(folder.path(), Explicit::Yes)
        .unwrap()
        .unwrap();
    site.prepare().unwrap();
    let token = Token::read_or_create(&site).unwrap().reveal();
    let document = json!({
        "schema": SCHEMA,
        "state": "ready",
        "url": format!("http://127.0.0.1:{port}"),
        "link": format!("127.0.0.1:{port}"),
        "instance": INSTANCE,
        "epoch": 1,
        "root_id": site.root_id(),
        "scope": site.scope(),
        "pid": std::process::id(),
        "version": "0.1.0",
        "started_at": "2026-11-30T19:19:37.042Z",
    });
    std::fs::write(site.lease_document(), document.to_string()).unwrap();
    (folder, site, token)
}

/// Answers every request with `body`, and hands over all that it was sent once the client hangs up.
fn impostor(body: String) -> (u16, JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = Vec::new();
        let mut piece = [0; 4096];
        loop {
            let read = stream.read(&mut piece).unwrap_or(0);
            if read == 0 {
                return heard;
            }
            heard.extend_from_slice(&piece[..read]);
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    (port, thread)
}

/// Guards I14.
#[test]
fn whoever_squats_the_port_learns_nothing_secret() {
    for lie in [
        "not json".to_owned(),
        json!({ "instance": INSTANCE, "root_id": "", "proof": "" }).to_string(),
    ] {
        let (port, heard) = impostor(lie);
        let (_folder, site, token) = checkout(port);
        let reached = block_on(async { Ok(Owner::reach(&site).await.map(drop)) }).unwrap();
        assert_eq!(reached, Err(Absence::Unproven));
        let heard = String::from_utf8(heard.join().unwrap()).unwrap();
        assert!(heard.starts_with("GET /lease?nonce="), "{heard}");
        assert!(!heard.contains(&token) && !heard.to_lowercase().contains("authorization"));
    }
}

#[test]
fn an_address_where_nobody_listens_is_left_over() {
    // A port that was free a moment ago and that nobody is given again while the listener is bound elsewhere.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    drop(taken);
    let (_folder, site, _) = checkout(port);
    let reached = block_on(async { Ok(Owner::reach(&site).await.map(drop)) }).unwrap();
    assert!(
        matches!(reached, Err(Absence::Unreachable(_))),
        "{reached:?}"
    );
}

#[test]
fn a_document_of_another_checkout_or_kernel_names_no_owner() {
    let (_folder, site, _) = checkout(1);
    let path = site.lease_document();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace(site.root_id(), &"0".repeat(32))).unwrap();
    assert_eq!(read(&site).unwrap_err(), Absence::OtherCheckout);
    std::fs::write(&path, text.replace(site.scope(), &"0".repeat(16))).unwrap();
    assert_eq!(read(&site).unwrap_err(), Absence::OtherScope);
    std::fs::write(&path, text.replace("\"ready\"", "\"draining\"")).unwrap();
    assert_eq!(read(&site).unwrap_err().as_str(), "draining");
    std::fs::write(&path, "{").unwrap();
    assert_eq!(read(&site).unwrap_err().as_str(), "unreadable");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(read(&site).unwrap_err(), Absence::NoDocument);
}

/// Reads one request: its head and its body.
fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut text = String::new();
    let mut piece = [0; 4096];
    loop {
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                return Some((head.to_owned(), body.to_owned()));
            }
        }
        match stream.read(&mut piece).unwrap_or(0) {
            0 => return None,
            read => text.push_str(std::str::from_utf8(&piece[..read]).unwrap()),
        }
    }
}

/// Serves one connection as an owner does: proves itself, then tells what it was asked.
fn prove_and_echo(listener: &TcpListener, token: &str, root_id: &str) {
    let (mut stream, _) = listener.accept().unwrap();
    let port = listener.local_addr().unwrap().port();
    while let Some((head, body)) = request(&mut stream) {
        let line = head.lines().next().unwrap();
        let answer = match line.split_once("nonce=") {
            Some((_, rest)) => {
                let nonce = rest.split(' ').next().unwrap();
                let proof = Secrets::new(token, root_id).prove(nonce, INSTANCE, port);
                json!({ "instance": INSTANCE, "root_id": root_id, "proof": proof })
            }
            None => json!({
                "line": line,
                "body": body,
                "token": head.contains(&format!("authorization: Bearer {token}")),
                "code": "abc",
            }),
        };
        let answer = answer.to_string();
        let length = answer.len();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all((head + &answer).as_bytes()).unwrap();
    }
}

fn capability(kind: Kind, route: Option<&'static str>) -> Capability {
    Capability {
        id: "test.it",
        kind,
        title: "A test",
        description: "Serves this test.",
        input: json!({ "type": "object" }).into(),
        output: json!({ "type": "object" }).into(),
        form: Form::Data,
        logs: false,
        retry: Retry::Safe,
        exposure: Exposure {
            route,
            ..Exposure::default()
        },
        examples: Vec::new(),
        members: None,
        retain: None,
        handler: Handler::inline(|_| Ok(json!({}))),
    }
}

/// Guards I14.
#[test]
fn a_proven_owner_is_called_by_its_routes_on_the_connection_that_it_proved() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (_folder, site, token) = checkout(listener.local_addr().unwrap().port());
    let root_id = site.root_id().to_owned();
    let server = std::thread::spawn(move || prove_and_echo(&listener, &token, &root_id));
    let asked = block_on(async {
        let mut owner = Owner::reach(&site).await?;
        let arguments = json!({ "text": "a&b", "words": ["x", "y"] });
        let read = capability(Kind::Query, Some("/api/v1/read"));
        let write = capability(Kind::Command, Some("/api/v1/write"));
        let answers = (
            owner.call(&read, &arguments).await?,
            owner.call(&write, &arguments).await?,
            owner.sign_in_code().await?,
        );
        let refused = owner.call(&capability(Kind::Query, None), &arguments).await;
        Ok((answers, refused))
    });
    server.join().unwrap();
    let ((read, write, code), refused) = asked.unwrap();
    assert_eq!(
        read["line"],
        "GET /api/v1/read?text=a%26b&words=x&words=y HTTP/1.1"
    );
    assert_eq!(read["token"], true);
    assert_eq!(write["line"], "POST /api/v1/write HTTP/1.1");
    assert_eq!(write["body"], "{\"text\":\"a&b\",\"words\":[\"x\",\"y\"]}");
    assert_eq!(code, "abc");
    assert_eq!(
        refused.unwrap_err().hints(),
        ["majordomus describe test.it"]
    );
}
