//! The HTTP side: guards, problems and limits.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};

use serde_json::{Value, json};

use crate::support::{BOUND, Http, Repository, wait_for};

/// A repository with an owner, and an HTTP client of it.
pub(crate) fn served() -> (Repository, crate::support::Client, Http) {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let http = repository.http();
    (repository, owner, http)
}

/// Guards I14.
#[test]
fn only_who_has_the_token_gets_more_than_static_pages() {
    let (_repository, _owner, http) = served();
    let stranger = http.clone().with_token(None);
    let wrong = http.clone().with_token(Some(&"0".repeat(64)));
    for path in ["/api/v1/peers", "/openapi.json", "/api/v1/status", "/mcp"] {
        for client in [&stranger, &wrong] {
            let method = if path == "/mcp" { "POST" } else { "GET" };
            assert_eq!(client.send(method, path).status, 401, "{method} {path}");
        }
    }
    assert_eq!(stranger.get("/lease").status, 200);
    assert_eq!(stranger.get("/docs/").status, 200);
    assert_eq!(http.get("/api/v1/peers").status, 200);
}

/// Guards I14.
#[test]
fn a_foreign_host_is_refused_on_every_route() {
    let (_repository, _owner, http) = served();
    for path in [
        "/api/v1/peers",
        "/docs/",
        "/lease",
        "/mcp",
        "/openapi.json",
        "/",
    ] {
        for host in ["evil.example", "127.0.0.1.evil.example", "10.1.2.3"] {
            let reply = http.clone().with("Host", host).get(path);
            assert!(
                matches!(reply.status, 400..=499),
                "{path} for {host}: {}",
                reply.status
            );
            assert_ne!(reply.status, 401, "{path} for {host}");
        }
    }
}

/// Guards I14.
#[test]
fn a_foreign_origin_is_refused_and_our_own_is_not() {
    let (_repository, _owner, http) = served();
    for path in ["/api/v1/peers", "/lease", "/openapi.json"] {
        for origin in [
            "http://evil.example",
            "null",
            "http://127.0.0.1:1",
            "https://localhost",
        ] {
            let reply = http.clone().with("Origin", origin).get(path);
            assert_eq!(reply.status, 403, "{path} from {origin}");
        }
        let own = format!("http://{}", http.address());
        assert_eq!(
            http.clone().with("Origin", &own).get(path).status,
            200,
            "{path} from {own}"
        );
    }
    // node's fetch says this without being a browser.
    assert_eq!(
        http.with("sec-fetch-mode", "cors")
            .get("/api/v1/peers")
            .status,
        200
    );
}

/// Guards I14: the SDKs look for OAuth after a 401.
#[test]
fn well_known_answers_404_at_once() {
    let (_repository, _owner, http) = served();
    let stranger = http.with_token(None);
    for path in ["/.well-known/oauth-authorization-server", "/.well-known/x"] {
        assert_eq!(stranger.get(path).status, 404, "{path}");
    }
}

/// Guards I14.
#[test]
fn nothing_listens_beyond_the_loopback_address() {
    let (repository, _owner, http) = served();
    let port = http.address().port();
    let link: SocketAddr = repository.ready()["link"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!(link.ip().is_loopback());
    // Linux answers on all of 127/8 only for listeners on every address.
    if cfg!(target_os = "linux") {
        for port in [port, link.port()] {
            let elsewhere = SocketAddr::from(([127, 0, 0, 2], port));
            assert!(
                TcpStream::connect(elsewhere).is_err(),
                "reached {elsewhere}"
            );
        }
    }
}

/// Guards I14, I15.
#[test]
fn no_cookie_is_set_and_no_secret_or_path_appears_in_an_answer() {
    let (repository, owner, http) = served();
    let token = repository.token().unwrap();
    let root = repository.root().to_str().unwrap().to_owned();
    for path in [
        "/",
        "/docs/",
        "/lease",
        "/openapi.json",
        "/api/v1/peers",
        "/nowhere",
        "/api/v1/nope",
    ] {
        let mut reply = http.get(path);
        assert!(reply.header("set-cookie").is_none(), "{path}");
        assert!(
            reply.header("access-control-allow-origin").is_none(),
            "{path}"
        );
        let text = String::from_utf8_lossy(&reply.bytes()).into_owned();
        assert!(!text.contains(&token), "the token in {path}");
        assert!(!text.contains(&root), "the root in {path}");
    }
    let list = owner.tool("majordomus_peers", &json!({})).to_string();
    assert!(!list.contains(&token) && !list.contains(&root), "{list}");
    assert!(!repository.log().contains(&token));
}

/// Guards I15.
#[test]
fn errors_are_problems_that_name_themselves() {
    let (_repository, _owner, http) = served();
    let cases: [(&str, &str, Option<&str>, u16, &str); 6] = [
        ("GET", "/nowhere", None, 404, "not_found"),
        ("GET", "/api/v1/nope", None, 404, "not_found"),
        ("DELETE", "/api/v1/peers", None, 405, "method_not_allowed"),
        ("POST", "/api/v1/peers/announce", Some("{"), 400, "bad_json"),
        (
            "POST",
            "/api/v1/peers/announce",
            Some("{}"),
            422,
            "invalid_input",
        ),
        (
            "POST",
            "/api/v1/peers/announce",
            Some(r#"{"intent":1,"scope":["a"]}"#),
            422,
            "invalid_input",
        ),
    ];
    for (method, path, body, status, code) in cases {
        let mut reply = match body {
            Some(body) => http.post_bytes(path, body.as_bytes()),
            None => http.send(method, path),
        };
        assert_eq!(reply.status, status, "{method} {path} {body:?}");
        assert_eq!(
            reply.header("content-type"),
            Some("application/problem+json"),
            "{path}"
        );
        let problem = reply.json();
        assert_eq!(problem["code"], code, "{problem}");
        assert_eq!(problem["status"], status, "{problem}");
        assert!(
            problem["title"].is_string() && problem["detail"].is_string(),
            "{problem}"
        );
        assert!(problem["hint"].is_string(), "what helps: {problem}");
    }
}

/// Guards I15: headers, body and depth at their limits.
#[test]
fn what_is_too_large_is_refused_and_the_server_goes_on() {
    let (_repository, owner, http) = served();
    let mut many = http.clone();
    for n in 0..150 {
        many = many.with(&format!("X-Filler-{n}"), "x");
    }
    assert_eq!(many.get("/api/v1/peers").status, 431);
    let long = http.clone().with("X-Filler", &"x".repeat(80 * 1024));
    assert_eq!(long.get("/api/v1/peers").status, 431);
    let deep = format!(
        r#"{{"intent":"x","scope":["a"],"x":{}1{}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    assert_eq!(
        http.post_bytes("/api/v1/peers/announce", deep.as_bytes())
            .status,
        400
    );
    // Only the length is sent: the refusal must not wait for the body.
    let head = format!(
        "{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        http.head("POST", "/api/v1/peers/announce"),
        17 * 1024 * 1024
    );
    assert_eq!(http.raw(head.as_bytes()).unwrap().status, 413);
    owner.tool("majordomus_peers", &json!({}));
    assert_eq!(http.get("/api/v1/peers").status, 200);
}

#[test]
fn the_liveness_probe_answers_although_everything_is_busy() {
    let (repository, owner, http) = served();
    let ids: Vec<Value> = (0..200)
        .map(|_| owner.begin_call("conformance_slow", &json!({ "ms": 2000 })))
        .collect();
    let mut reply = http.with_token(None).get("/lease");
    assert_eq!(reply.status, 200);
    let probe = reply.json();
    let lease = repository.ready();
    for field in ["instance", "root_id", "epoch"] {
        assert_eq!(probe[field], lease[field], "{probe}");
    }
    assert_eq!(owner.inbox().count(&ids[0]), 0, "the calls must still run");
}

#[test]
fn a_slow_sender_and_a_silent_connection_hold_nobody_up() {
    let (_repository, owner, http) = served();
    let mut open = Vec::new();
    for n in 0..40 {
        let mut stream = TcpStream::connect(http.address()).unwrap();
        if n % 2 == 0 {
            stream
                .write_all(b"GET /api/v1/peers HTTP/1.1\r\nHost: 127")
                .unwrap();
        }
        open.push(stream);
    }
    assert_eq!(http.get("/api/v1/peers").status, 200);
    owner.tool("majordomus_peers", &json!({}));
}

/// Guards I6: an `Idempotency-Key` makes a plain POST keyed.
#[test]
fn an_idempotency_key_gives_the_first_result_again() {
    let (repository, _owner, http) = served();
    let file = repository.conformance_file("idempotent.txt");
    let post = |key: &str, text: &str| {
        http.clone().with("Idempotency-Key", key).post(
            "/api/v1/conformance/keyed",
            &json!({ "file": "idempotent.txt", "text": text }),
        )
    };
    let mut first = post("k1", "once").expects(200);
    assert_eq!(post("k1", "once").text(), first.text());
    assert_eq!(post("k2", "once").status, 200);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "once\nonce\n");
    let other = post("k1", "another body under the same key");
    assert!(matches!(other.status, 400..=499), "{}", other.status);
}

#[test]
fn serve_without_a_token_is_asked_for_by_name_and_warned_about() {
    let repository = Repository::new();
    let serve = repository
        .launch()
        .name("serve")
        .arguments(&["serve", "--auth", "off"])
        .start();
    let lease = repository.ready_when("a url", |lease| lease["url"].is_string());
    let http = Http::new(lease["url"].as_str().unwrap());
    assert_eq!(http.get("/api/v1/peers").status, 200);
    assert_eq!(
        http.clone()
            .with("Host", "evil.example")
            .get("/api/v1/peers")
            .status,
        403
    );
    assert_eq!(
        http.with("Origin", "http://evil.example")
            .get("/api/v1/peers")
            .status,
        403
    );
    wait_for("a warning in the log", BOUND, || {
        repository.log().to_lowercase().contains("warn") && repository.log().contains("auth")
    });
    drop(serve);
}

#[test]
fn an_ill_formed_nonce_is_refused_and_not_passed_over() {
    let (_repository, _owner, http) = served();
    let good = "0123456789abcdef0123456789abcdef";
    let proven = http
        .get(&format!("/lease?nonce={good}"))
        .expects(200)
        .json();
    assert!(proven["proof"].is_string(), "{proven}");
    for bad in [
        "",
        "xyz",
        "0123",
        &format!("{good}0"),
        &format!("{good}&x=1"),
    ] {
        let mut refused = http.get(&format!("/lease?nonce={bad}")).expects(400);
        assert_eq!(
            refused.header("content-type"),
            Some("application/problem+json")
        );
        assert!(refused.json()["hint"].is_string());
    }
    assert_eq!(http.get("/lease").status, 200);
}

/// Guards I15: what a client can hold open is counted once.
#[test]
fn an_idle_connection_costs_one_descriptor() {
    let (_repository, owner, http) = served();
    let files = || {
        std::fs::read_dir(format!("/proc/{}/fd", owner.pid()))
            .unwrap()
            .count()
    };
    let before = files();
    let idle: Vec<_> = (0..50)
        .map(|_| TcpStream::connect(http.address()).unwrap())
        .collect();
    wait_for("all are accepted", BOUND, || files() >= before + idle.len());
    // A request behind them all: what came before it was taken.
    assert_eq!(http.get("/api/v1/peers").status, 200);
    let more = files() - before;
    assert!(
        more < idle.len() + 10,
        "{more} descriptors for {} connections",
        idle.len()
    );
}
