//! The OpenAPI document and the page that shows it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::Repository;

/// The document of a running server.
fn document(repository: &Repository) -> Value {
    let mut reply = repository.http().get("/openapi.json");
    assert_eq!(reply.status, 200);
    reply.json()
}

/// Guards I9.
#[test]
fn the_document_is_openapi_3_1_and_every_reference_in_it_resolves() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let document = document(&repository);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    let mut references = BTreeSet::new();
    collect(&document, &mut references);
    for reference in references {
        let pointer = reference.strip_prefix('#').expect("only local references");
        assert!(
            document.pointer(pointer).is_some(),
            "{reference} leads nowhere"
        );
    }
}

/// Guards I9: no body is `{}`, so a body is wanted where `{}` is too little.
#[test]
fn the_document_wants_a_body_where_a_call_without_one_is_refused() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let document = document(&repository);
    for (path, wanted) in [
        ("/api/v1/peers/announce", true),
        ("/api/v1/conformance/once", false),
    ] {
        let told = &document["paths"][path]["post"]["requestBody"]["required"];
        assert_eq!(*told, wanted, "{path}");
        let status = if wanted { 422 } else { 200 };
        repository.http().send("POST", path).expects(status);
    }
}

/// What no declaration of a capability says: the header that makes a command safe to send again.
#[test]
fn the_document_says_which_idempotency_keys_are_taken() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let document = document(&repository);
    let parameter = &document["paths"]["/api/v1/peers/announce"]["post"]["parameters"][0];
    assert_eq!(parameter["name"], "Idempotency-Key");
    assert_eq!(
        parameter["schema"],
        json!({"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"})
    );
    let longest = "k".repeat(255);
    let too_long = "k".repeat(256);
    for (key, status) in [
        ("!k~", 200),
        (&*longest, 200),
        (&*too_long, 400),
        ("", 400),
        ("a b", 400),
        ("\u{e9}", 400),
    ] {
        let reply = repository
            .http()
            .with("Idempotency-Key", key)
            .post("/api/v1/peers/announce", &json!({"intent": ""}));
        assert_eq!(reply.status, status, "{key}");
    }
}

#[test]
fn a_server_that_asks_for_no_token_says_so_in_its_document() {
    let repository = Repository::new();
    let serve = repository
        .launch()
        .name("serve")
        .arguments(&["serve", "--auth", "off"])
        .start();
    repository.ready_when("a url", |lease| lease["url"].is_string());
    let stranger = repository.http().with_token(None);
    let open = stranger.get("/openapi.json").expects(200).json();
    assert_eq!(open["security"], json!([]));
    assert!(
        !open["info"]["description"]
            .as_str()
            .unwrap()
            .contains("needs"),
        "{}",
        open["info"]
    );
    // A page's token is renewed, whoever else needs one.
    let renew = "/api/v1/sign-in/renew";
    assert_eq!(
        open["paths"][renew]["post"]["security"],
        json!([{"bearer": []}])
    );
    stranger.send("POST", renew).expects(401);
    drop(serve);
}

fn collect(value: &Value, references: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                if let ("$ref", Value::String(target)) = (key.as_str(), inner) {
                    references.insert(target.clone());
                }
                collect(inner, references);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, references)),
        _ => {}
    }
}

/// Guards I9: what the document says exists, and what it lists as readable can be read.
#[test]
fn every_get_without_required_parameters_answers_200_and_no_get_changes_anything() {
    let repository = Repository::new();
    // Without the fixtures, some of which are there to fail.
    let owner = repository.launch().arguments(&["mcp"]).start();
    owner.attach();
    let http = repository.http();
    let document = document(&repository);
    let paths = document["paths"].as_object().unwrap();
    for needed in ["/api/v1/peers", "/api/v1/peers/announce"] {
        assert!(paths.contains_key(needed), "{needed} in {:?}", paths.keys());
    }
    let mut asked = 0;
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().unwrap() {
            assert!(operation["operationId"].is_string(), "{method} {path}");
            let required = operation["parameters"]
                .as_array()
                .is_some_and(|all| all.iter().any(|one| one["required"] == true));
            if method == "get" && !required && !path.contains('{') && path.starts_with("/api/") {
                http.get(path).expects(200);
                asked += 1;
            }
        }
    }
    assert!(asked >= 3, "only {asked} routes asked");
    assert_eq!(http.send("POST", "/api/v1/peers").status, 405);
    assert_eq!(http.get("/api/v1/peers/announce").status, 405);
}

/// Guards I9: the same declaration, seen through each projection.
#[test]
fn tools_routes_and_descriptions_tell_the_same_story() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let tools = owner.result("tools/list", &json!({}));
    let tools: BTreeSet<&str> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let text = String::from_utf8(repository.cli(&["capabilities", "--json"]).stdout).unwrap();
    let listed: Value = serde_json::from_str(&text).unwrap();
    for tool in tools.iter().filter(|tool| tool.starts_with("majordomus_")) {
        assert!(text.contains(tool), "{tool} in {listed}");
    }
    let document = document(&repository).to_string();
    assert!(document.contains("peers.announce") || document.contains("peers_announce"));
}

#[test]
fn the_page_works_offline_and_asks_nothing_of_other_hosts() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let http = repository.http().with_token(None);
    let redirect = http.get("/docs");
    assert_eq!(redirect.status, 303);
    assert!(
        redirect
            .header("location")
            .is_some_and(|to| to.ends_with("/docs/"))
    );
    let mut page = http.get("/docs/");
    assert_eq!(page.status, 200);
    assert!(
        page.header("content-type")
            .is_some_and(|kind| kind.starts_with("text/html"))
    );
    let policy = page
        .header("content-security-policy")
        .expect("a policy")
        .to_owned();
    assert!(
        !policy.contains("http:") && !policy.contains("https:") && !policy.contains('*'),
        "{policy}"
    );
    let html = page.text();
    let mut assets = 0;
    for attribute in ["src=\"", "href=\""] {
        for part in html.split(attribute).skip(1) {
            let target = part.split('"').next().unwrap();
            assert!(!target.contains("//"), "an address of elsewhere: {target}");
            if target.starts_with("data:") || target.starts_with('#') {
                continue;
            }
            let path = if target.starts_with('/') {
                target.to_owned()
            } else {
                format!("/docs/{}", target.trim_start_matches("./"))
            };
            let mut asset = http.get(&path);
            assert_eq!(asset.status, 200, "{path}");
            assert!(!asset.bytes().is_empty(), "{path}");
            assets += 1;
        }
    }
    assert!(assets >= 3, "only {assets} assets in {html}");
}
