//! What an owner must prove, and what an answer becomes.

use std::future::pending;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;

use hyper::StatusCode;
use serde_json::json;
use tokio::sync::watch;

use super::{Owner, answer, block_on};
use crate::board::{Board, Place};
use crate::capabilities::services::board_config;
use crate::cli::absence::{Absence, read};
use crate::cli::report::Exit;
use crate::floor::paths::{Explicit, Site};
use crate::http::{self, Auth, Connections, Http, Limits, Parts, Secrets, SignIn, router, serve};
use crate::lease::document::SCHEMA;
use crate::lease::secret::Token;
use crate::mcp::{self, About, Admission, Engine};
use crate::registry::{
    Capability, Changes, Exposure, Handler, Kind, Refusal, RefusalCode, Registry, Retry,
};

const INSTANCE: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn a_problem_becomes_a_failure_with_its_hint() {
    let body = br#"{"title":"Not Found","detail":"no such thing","hint":"look\u001b"}"#;
    let failure = answer(StatusCode::NOT_FOUND, body).unwrap_err();
    assert_eq!(failure.causes, ["no such thing"]);
    assert_eq!(failure.hints, ["look\u{fffd}"]);
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

/// The checkout's real server, as far as HTTP goes.
#[derive(Debug)]
struct Serving(String);

impl http::Owner for Serving {
    fn instance(&self) -> &'static str {
        INSTANCE
    }

    fn root_id(&self) -> &str {
        &self.0
    }

    fn epoch(&self) -> u64 {
        1
    }

    fn admits(&self) -> bool {
        true
    }
}

fn echo(id: &'static str, kind: Kind, route: &'static str) -> Capability {
    let text = json!({ "type": "string" });
    let words = json!({ "type": "array", "items": text });
    let properties = json!({ "text": text, "words": words });
    Capability {
        id,
        kind,
        title: "Echo",
        description: "Answers what it was asked.",
        input: json!({ "type": "object", "properties": properties, "additionalProperties": false }),
        output: json!({ "type": "object" }),
        retry: if kind == Kind::Command {
            Retry::Once
        } else {
            Retry::Safe
        },
        exposure: Exposure {
            route: Some(route),
            ..Exposure::default()
        },
        examples: Vec::new(),
        retain: None,
        handler: Handler::inline(|call| match call.arguments.get("text") {
            Some(text) if text == "no" => {
                Err(Refusal::new(RefusalCode::NotFound, "there is none").hint("look elsewhere"))
            }
            _ => Ok(call.arguments.clone()),
        }),
    }
}

#[tokio::test]
async fn the_real_server_proves_itself_and_is_called_by_its_routes() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (_folder, site, token) = checkout(listener.local_addr().unwrap().port());
    let (query, command) = (
        echo("test.read", Kind::Query, "/api/v1/test/read"),
        echo("test.write", Kind::Command, "/api/v1/test/write"),
    );
    let secrets = Arc::new(Secrets::new(&token, site.root_id()));
    let registry = Registry::new(vec![query.clone(), command.clone()]).unwrap();
    let board = Board::open(board_config(None, Place::Memory), Changes::default());
    let about = About {
        version: "0.0.0",
        url: watch::channel(None).1,
        standing: mcp::Standing::Owner,
        admission: Admission::always(),
    };
    let engine = Engine::new(Arc::new(registry), board, Changes::default(), about);
    let http = Http::new(Parts {
        engine,
        ledger: Arc::new(()),
        version: "0.0.0",
        owner: Arc::new(Serving(site.root_id().to_owned())),
        auth: Auth::Bearer,
        sign_in: Arc::new(SignIn::new(Arc::clone(&secrets))),
        secrets,
        link: Arc::new(drop),
        limits: Limits::default(),
        share: None,
    });
    let router = router(&http).unwrap();
    let connections = Connections::new(8, 8);
    let serving = serve(listener, router, Limits::default(), connections, pending());
    let asking = async {
        let mut owner = Owner::reach(&site).await.unwrap();
        let arguments = json!({ "text": "a b&c=ü", "words": ["x", "y"] });
        for capability in [&query, &command] {
            assert_eq!(owner.call(capability, &arguments).await.unwrap(), arguments);
        }
        let refused = owner.call(&query, &json!({ "text": "no" })).await;
        let failure = refused.unwrap_err();
        assert_eq!(failure.causes, ["there is none"]);
        assert_eq!(failure.hints, ["look elsewhere"]);
        assert!(owner.sign_in_code().await.unwrap().len() >= 20);
        let mut unexposed = query.clone();
        unexposed.exposure.route = None;
        let failure = owner.call(&unexposed, &arguments).await.unwrap_err();
        assert_eq!(failure.hints, ["majordomus describe test.read"]);
    };
    tokio::select! {
        _ = serving => panic!("the server has ended"),
        () = asking => {}
    }
}
