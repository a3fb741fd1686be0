//! What is refused before any route is reached.

use axum::body::Body;
use axum::http::Request;

use super::fixture::{Fixture, TOKEN};
use crate::http::{Auth, Limits};

/// Every kind of route there is.
const ROUTES: &[&str] = &[
    "/",
    "/lease",
    "/docs",
    "/docs/",
    "/docs/swagger-ui.css",
    "/web/style.css",
    "/openapi.json",
    "/api/v1/test/echo",
    "/api/v1/sign-in",
    "/mcp",
    "/nothing",
    "/.well-known/oauth-protected-resource",
];

/// Guards I14.
#[tokio::test]
async fn every_route_checks_host_and_origin() {
    let fixture = Fixture::new();
    for path in ROUTES {
        for host in [
            "evil.example",
            "localhost.evil.example:20123",
            "192.168.0.1",
            "127.1",
        ] {
            let answer = fixture.send("GET", path, &[("host", host)]).await;
            assert_eq!(
                (answer.status.as_u16(), &*answer.code()),
                (403, "foreign_host"),
                "{path} {host}"
            );
        }
        let answer = fixture.send("GET", path, &[("host", "")]).await;
        assert_eq!(answer.status, 400, "{path} without a host");
        if path.starts_with("/.well-known") {
            continue;
        }
        for origin in [
            "http://evil.example",
            "null",
            "https://127.0.0.1:20123",
            "http://localhost:1",
        ] {
            let answer = fixture.send("GET", path, &[("origin", origin)]).await;
            assert_eq!(
                (answer.status.as_u16(), &*answer.code()),
                (403, "foreign_origin"),
                "{path} {origin}"
            );
        }
    }
}

/// Guards I14.
#[tokio::test]
async fn other_machines_are_refused_whatever_they_send() {
    let fixture = Fixture::new();
    for peer in [
        "192.168.1.2:1000",
        "[2001:db8::1]:1000",
        "[::ffff:10.0.0.1]:1000",
    ] {
        let request = Request::get("/lease")
            .header("host", "127.0.0.1")
            .body(Body::empty())
            .unwrap();
        assert_eq!(
            fixture.raw(request, peer).await.code(),
            "foreign_peer",
            "{peer}"
        );
    }
    for peer in [
        "127.0.0.1:1",
        "127.9.9.9:1",
        "[::1]:1",
        "[::ffff:127.0.0.1]:1",
    ] {
        let request = Request::get("/lease")
            .header("host", "[::1]:1")
            .body(Body::empty())
            .unwrap();
        assert_eq!(fixture.raw(request, peer).await.status, 200, "{peer}");
    }
}

/// Guards I14.
#[tokio::test]
async fn an_absolute_target_or_a_second_host_changes_nothing() {
    let fixture = Fixture::new();
    let absolute = Request::get("http://evil.example/lease")
        .header("host", "127.0.0.1")
        .body(Body::empty())
        .unwrap();
    assert_eq!(
        fixture.raw(absolute, "127.0.0.1:1").await.code(),
        "foreign_host"
    );
    let twice = Request::get("/lease")
        .header("host", "127.0.0.1")
        .header("host", "evil.example")
        .body(Body::empty())
        .unwrap();
    assert_eq!(fixture.raw(twice, "127.0.0.1:1").await.status, 400);
}

/// Guards I14.
#[tokio::test]
async fn a_browser_acting_for_another_site_may_only_follow_a_link() {
    let fixture = Fixture::new();
    for site in ["cross-site", "same-site"] {
        let image = [("sec-fetch-site", site), ("sec-fetch-mode", "no-cors")];
        assert_eq!(
            fixture
                .send("GET", "/api/v1/test/echo", &image)
                .await
                .code(),
            "foreign_origin"
        );
        let form = [("sec-fetch-site", site), ("sec-fetch-mode", "navigate")];
        assert_eq!(
            fixture
                .send("POST", "/api/v1/test/write", &form)
                .await
                .code(),
            "foreign_origin"
        );
        let link = [("sec-fetch-site", site), ("sec-fetch-mode", "navigate")];
        assert_eq!(fixture.send("GET", "/docs/", &link).await.status, 200);
    }
    let node = [("sec-fetch-mode", "cors")];
    assert_eq!(
        fixture.send("GET", "/api/v1/test/echo", &node).await.status,
        200
    );
    let own = [
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-mode", "cors"),
        ("origin", "http://127.0.0.1:20123"),
    ];
    assert_eq!(
        fixture.send("GET", "/api/v1/test/echo", &own).await.status,
        200
    );
}

/// Guards I14.
#[tokio::test]
async fn only_the_probe_and_static_files_go_without_a_token() {
    let fixture = Fixture::new();
    let wrong = [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Basic {TOKEN}"),
        format!("Bearer {}", &TOKEN[1..]),
        format!("Bearer {TOKEN}0"),
        TOKEN.to_owned(),
    ];
    for path in [
        "/openapi.json",
        "/api/v1/test/echo",
        "/api/v1/test/write",
        "/mcp",
        "/api/v1/sign-in/codes",
    ] {
        for header in &wrong {
            let answer = fixture
                .send("GET", path, &[("authorization", header)])
                .await;
            assert_eq!(
                (answer.status.as_u16(), &*answer.code()),
                (401, "unauthorized"),
                "{path}"
            );
            assert_eq!(answer.headers["www-authenticate"], "Bearer");
        }
    }
    let good = format!("bearer  {TOKEN}");
    let answer = fixture
        .send("GET", "/openapi.json", &[("authorization", &good)])
        .await;
    assert_eq!(answer.status, 200);
    for path in ["/", "/lease", "/docs/", "/web/docs.js", "/favicon.ico"] {
        let answer = fixture.send("GET", path, &[("authorization", "")]).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(!String::from_utf8_lossy(&answer.body).contains(TOKEN));
    }
    for path in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/x/y",
        "/register",
        "/authorize",
    ] {
        let answer = fixture.send("POST", path, &[("authorization", "")]).await;
        assert_eq!(answer.status, 404, "{path}");
    }
}

/// Guards I14.
#[tokio::test]
async fn without_tokens_the_guards_still_hold() {
    let fixture = Fixture::with(Auth::Off, Limits::default());
    let open = [("authorization", "")];
    assert_eq!(
        fixture.send("GET", "/api/v1/test/echo", &open).await.status,
        200
    );
    let evil = [("authorization", ""), ("origin", "http://evil.example")];
    assert_eq!(
        fixture.send("GET", "/api/v1/test/echo", &evil).await.status,
        403
    );
    let rebound = [("authorization", ""), ("host", "evil.example")];
    assert_eq!(
        fixture
            .send("GET", "/api/v1/test/echo", &rebound)
            .await
            .status,
        403
    );
}

/// Guards I14.
#[tokio::test]
async fn every_answer_carries_the_security_headers_and_none_of_cors() {
    let fixture = Fixture::new();
    for path in ROUTES {
        for headers in [
            &[][..],
            &[("host", "evil.example")],
            &[("authorization", "")],
        ] {
            let answer = fixture.send("GET", path, headers).await;
            let value = |name: &str| answer.headers[name].to_str().unwrap();
            assert_eq!(value("cache-control"), "no-store");
            assert_eq!(value("x-content-type-options"), "nosniff");
            assert_eq!(value("referrer-policy"), "no-referrer");
            assert!(value("content-security-policy").contains("frame-ancestors 'none'"));
            assert!(
                !answer
                    .headers
                    .keys()
                    .any(|name| name.as_str().starts_with("access-control"))
            );
            assert!(answer.headers.get("set-cookie").is_none());
        }
    }
}

/// Guards I15.
#[tokio::test]
async fn past_the_running_requests_only_the_probe_is_answered() {
    let limits = Limits {
        requests: 1,
        ..Limits::default()
    };
    let fixture = Fixture::with(Auth::Bearer, limits);
    let waiting = fixture.send("GET", "/api/v1/test/wait", &[]);
    let others = async {
        let answer = fixture.send("GET", "/api/v1/test/echo", &[]).await;
        assert_eq!((answer.status.as_u16(), &*answer.code()), (503, "busy"));
        assert_eq!(answer.headers["retry-after"], "1");
        assert_eq!(fixture.send("GET", "/lease", &[]).await.status, 200);
        fixture.go.notify_one();
    };
    let (answer, ()) = tokio::join!(waiting, others);
    assert_eq!(answer.status, 200);
    assert_eq!(
        fixture.send("GET", "/api/v1/test/echo", &[]).await.status,
        200
    );
}
