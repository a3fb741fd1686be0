//! What each route answers.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::fixture::{Fixture, ROOT_ID, TOKEN};
use crate::http::{Auth, Limits};

const JSON: (&str, &str) = ("content-type", "application/json");

/// Guards I9.
#[tokio::test]
async fn the_query_string_is_read_as_the_schema_says() {
    let fixture = Fixture::new();
    let path = "/api/v1/test/echo?text=7&count=7&flag=true&words=a&words=b%20c&text=last";
    let answer = fixture.send("GET", path, &[]).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.json()["arguments"],
        json!({"text": "last", "count": 7, "flag": true, "words": ["a", "b c"]})
    );
    for wrong in ["count=seven", "unknown=1", "flag=yes"] {
        let answer = fixture
            .send("GET", &format!("/api/v1/test/echo?{wrong}"), &[])
            .await;
        assert_eq!(answer.status, 422, "{wrong}");
        assert_eq!(answer.code(), "invalid_input");
        assert!(answer.json()["hint"].is_string());
    }
}

/// Guards I9.
#[tokio::test]
async fn the_kind_decides_the_method() {
    let fixture = Fixture::new();
    let answer = fixture.send("HEAD", "/api/v1/test/echo", &[]).await;
    assert_eq!(answer.status, 200);
    for (method, path, allow) in [
        ("POST", "/api/v1/test/echo", "GET, HEAD"),
        ("DELETE", "/api/v1/test/echo", "GET, HEAD"),
        ("OPTIONS", "/api/v1/test/write", "POST"),
        ("GET", "/api/v1/test/write", "POST"),
        ("POST", "/openapi.json", "GET, HEAD"),
        ("POST", "/lease", "GET, HEAD"),
        ("POST", "/docs", "GET, HEAD"),
        ("POST", "/docs/swagger-ui.css", "GET, HEAD"),
        ("GET", "/api/v1/sign-in", "POST"),
        ("GET", "/api/v1/sign-in/codes", "POST"),
        ("GET", "/api/v1/sign-in/renew", "POST"),
    ] {
        let answer = fixture.send(method, path, &[]).await;
        assert_eq!(answer.status, 405, "{method} {path}");
        assert_eq!(answer.headers["allow"], allow, "{method} {path}");
        assert_eq!(answer.code(), "method_not_allowed");
    }
}

#[tokio::test]
async fn a_command_takes_one_json_object() {
    let fixture = Fixture::new();
    let write = "/api/v1/test/write";
    let answer = fixture
        .post("POST", write, &[JSON], r#"{"words":["a"]}"#)
        .await;
    assert_eq!(answer.json()["arguments"], json!({"words": ["a"]}));
    let answer = fixture.post("POST", write, &[], "").await;
    assert_eq!(answer.json()["arguments"], json!({}));
    for (body, status, code) in [
        ("{", 400, "bad_json"),
        ("[]", 422, "invalid_input"),
        (r#"{"count":"7"}"#, 422, "invalid_input"),
    ] {
        let answer = fixture.post("POST", write, &[JSON], body).await;
        assert_eq!(answer.status, status, "{body}");
        assert_eq!(answer.code(), code);
    }
    let form = [("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(fixture.post("POST", write, &form, "a=1").await.status, 415);
    let deep = format!("{{\"deep\":{}{}}}", "[".repeat(128), "]".repeat(128));
    let answer = fixture.post("POST", write, &[JSON], deep).await;
    assert_eq!((answer.status.as_u16(), &*answer.code()), (400, "bad_json"));
}

/// Guards I6.
#[tokio::test]
async fn an_idempotency_key_makes_the_key_of_the_call() {
    let fixture = Fixture::new();
    let key_of = async |key: &str, body: &'static str| {
        let headers = [JSON, ("idempotency-key", key)];
        let answer = fixture
            .post("POST", "/api/v1/test/write", &headers, body)
            .await;
        answer.json()["key"].as_str().unwrap().to_owned()
    };
    let first = key_of("k1", r#"{"text":"a"}"#).await;
    assert!(
        first.starts_with("http:") && !first.contains("k1"),
        "{first}"
    );
    assert_eq!(first, key_of("k1", r#"{"text":"a"}"#).await);
    assert_ne!(first, key_of("k2", r#"{"text":"a"}"#).await);
    assert_ne!(
        first,
        key_of("k1", r#"{"text":"b"}"#).await,
        "another body, another digest"
    );
    let unkeyed = fixture
        .post("POST", "/api/v1/test/write", &[JSON], "{}")
        .await;
    assert!(unkeyed.json()["key"].is_null());
    let long = "k".repeat(256);
    for wrong in [&*long, "\tk", "a b"] {
        let headers = [JSON, ("idempotency-key", wrong)];
        let answer = fixture
            .post("POST", "/api/v1/test/write", &headers, "{}")
            .await;
        assert_eq!(answer.status, 400);
    }
}

#[tokio::test]
async fn refusals_and_panics_become_problems() {
    let fixture = Fixture::new();
    let refuse = async |with: &str| {
        let path = format!("/api/v1/test/refuse?with={with}");
        fixture.send("GET", &path, &[]).await
    };
    let answer = refuse("conflict").await;
    assert_eq!(answer.status, 409);
    assert_eq!(
        answer.json(),
        json!({"type": "about:blank", "title": "Conflict", "status": 409, "detail": "it is taken",
               "code": "conflict", "hint": "wait"})
    );
    assert_eq!(refuse("nothing").await.code(), "not_found");
    assert_eq!(refuse("panic").await.code(), "internal");
}

/// Guards I1.
#[tokio::test]
async fn without_the_lease_commands_are_not_admitted_and_reads_are() {
    let fixture = Fixture::new();
    fixture.owner.0.store(false, Ordering::SeqCst);
    let answer = fixture
        .post("POST", "/api/v1/test/write", &[JSON], "{}")
        .await;
    assert_eq!(
        (answer.status.as_u16(), &*answer.code()),
        (503, "not_serving")
    );
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(
        fixture.send("GET", "/api/v1/test/echo", &[]).await.status,
        200
    );
    let lease = fixture
        .send("GET", "/lease", &[("authorization", "")])
        .await
        .json();
    assert_eq!(lease["serving"], false);
}

#[tokio::test]
async fn the_liveness_probe_names_the_owner_to_anyone_here() {
    let answer = Fixture::new()
        .send("GET", "/lease", &[("authorization", "")])
        .await;
    assert_eq!(
        answer.json(),
        json!({"instance": "0123456789abcdef0123456789abcdef", "root_id": ROOT_ID, "epoch": 7,
               "serving": true, "auth": "bearer"})
    );
    let open = Fixture::with(Auth::Off, Limits::default());
    assert_eq!(open.send("GET", "/lease", &[]).await.json()["auth"], "off");
}

#[tokio::test]
async fn the_description_has_every_route() {
    let document = Fixture::new()
        .send("GET", "/openapi.json", &[])
        .await
        .json();
    let paths = document["paths"].as_object().unwrap();
    for path in [
        "/api/v1/test/echo",
        "/api/v1/test/write",
        "/lease",
        "/api/v1/sign-in",
    ] {
        assert!(paths.contains_key(path), "{path}");
    }
    assert!(
        document.get("servers").is_none(),
        "the address is the one it was read from"
    );
}

/// Guards I14.
#[tokio::test]
async fn swagger_ui_is_whole_and_never_looks_elsewhere() {
    let fixture = Fixture::new();
    let public = [("authorization", "")];
    let answer = fixture.send("GET", "/docs", &public).await;
    assert_eq!(
        (
            answer.status.as_u16(),
            answer.headers["location"].to_str().unwrap()
        ),
        (303, "/docs/")
    );
    let page = fixture.send("GET", "/docs/", &public).await;
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("img-src 'self' data:") && policy.contains("frame-ancestors 'none'"));
    assert!(!policy.contains("unsafe-eval") && !policy.contains("script-src 'self' 'unsafe"));
    let text = String::from_utf8(page.body).unwrap();
    let mut loaded = 0;
    for reference in text.split('"').filter(|part| part.starts_with('/')) {
        let file = fixture.send("GET", reference, &public).await;
        assert_eq!(file.status, 200, "{reference}");
        assert!(!file.body.is_empty(), "{reference}");
        loaded += 1;
    }
    assert_eq!(loaded, 5);
    assert!(!text.contains("http:") && !text.contains("https:"));
    let bundle = fixture
        .send("GET", "/docs/swagger-ui-bundle.js", &public)
        .await;
    assert_eq!(bundle.headers["content-type"], "text/javascript");
    for absent in [
        "/docs/index.html",
        "/docs/swagger-initializer.js",
        "/docs/../Cargo.toml",
        "/docs/x",
    ] {
        assert_eq!(
            fixture.send("GET", absent, &public).await.status,
            404,
            "{absent}"
        );
    }
}

/// Guards I14.
#[tokio::test]
async fn a_page_signs_in_with_a_code_and_gets_a_token_of_its_own() {
    let fixture = Fixture::new();
    let minted = fixture
        .send("POST", "/api/v1/sign-in/codes", &[])
        .await
        .json();
    let code = minted["code"].as_str().unwrap();
    assert_eq!(minted["path"], format!("/docs/#code={code}"));
    let body = json!({"code": code}).to_string();
    let page = [
        ("authorization", ""),
        ("origin", "http://127.0.0.1:20123"),
        JSON,
    ];
    let answer = fixture
        .post("POST", "/api/v1/sign-in", &page, body.clone())
        .await;
    assert_eq!(answer.status, 200);
    assert!(answer.headers.get("set-cookie").is_none());
    let token = answer.json()["token"].as_str().unwrap().to_owned();
    assert!(!token.contains(TOKEN));
    let bearer = format!("Bearer {token}");
    let signed_in = [("authorization", &*bearer)];
    assert_eq!(
        fixture
            .send("GET", "/openapi.json", &signed_in)
            .await
            .status,
        200
    );
    assert_eq!(
        fixture
            .send("POST", "/api/v1/sign-in/codes", &signed_in)
            .await
            .status,
        403
    );
    let renewed = fixture
        .send("POST", "/api/v1/sign-in/renew", &signed_in)
        .await;
    assert_eq!(renewed.json()["expires_in"], 3600);
    let again = fixture.post("POST", "/api/v1/sign-in", &page, body).await;
    assert_eq!(
        (again.status.as_u16(), &*again.code()),
        (401, "unauthorized")
    );
    assert_eq!(
        fixture
            .send("POST", "/api/v1/sign-in/renew", &[])
            .await
            .status,
        403
    );
    let key = [JSON, ("authorization", &*bearer), ("idempotency-key", "k")];
    let keyed = fixture
        .post("POST", "/api/v1/test/write", &key, "{}")
        .await
        .json();
    let by_token = [JSON, ("idempotency-key", "k")];
    let other = fixture
        .post("POST", "/api/v1/test/write", &by_token, "{}")
        .await
        .json();
    assert!(keyed["key"].is_string());
    assert_ne!(
        keyed["key"], other["key"],
        "a page's keys are its own, whatever others use"
    );
}

/// Guards I14.
#[tokio::test]
async fn a_stranger_cannot_send_much_to_the_sign_in() {
    let fixture = Fixture::new();
    let headers = [("authorization", ""), JSON];
    for (body, status) in [
        ("x".repeat(5000), 413),
        ("{".to_owned(), 400),
        ("{}".to_owned(), 422),
        (r#"{"code":""}"#.to_owned(), 401),
    ] {
        let answer = fixture
            .post("POST", "/api/v1/sign-in", &headers, body)
            .await;
        assert_eq!(answer.status, status);
    }
}
