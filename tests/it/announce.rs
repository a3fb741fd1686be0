//! Announcements from outside: the command line, and plain HTTP.

use std::sync::Barrier;
use std::thread;

use serde_json::{Value, json};

use crate::support::{BOUND, Http, Repository, checks, wait_for};

const ROUTE: &str = "/api/v1/peers/announce";

/// The labels that stand under the only peer without a link.
fn labels(list: &Value) -> Vec<String> {
    let outside = checks::peers(list)
        .iter()
        .find(|peer| peer["transport"] == "api");
    let standing = outside.and_then(|peer| peer["announcements"].as_array());
    let label = |each: &Value| each["label"].as_str().unwrap().to_owned();
    standing.into_iter().flatten().map(label).collect()
}

#[test]
fn each_announcement_ends_when_it_was_asked_to() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    for (label, time) in [("short", "1s"), ("long", "1h")] {
        let made = repository.cli(&["announce", "work", label, "--label", label, "--for", time]);
        assert!(made.status.success(), "{made:?}");
    }
    let list = || owner.tool("majordomus_peers", &json!({}));
    wait_for("the short one ends, the long one stays", BOUND, || {
        labels(&list()) == ["long"]
    });
    // The next owner reads it from the file, with its end.
    repository.cli(&["announce", "work", "--label", "short", "--for", "1s"]);
    let epoch = repository.ready()["epoch"].clone();
    repository.cli(&["stop"]);
    repository.ready_when("another owner", |lease| lease["epoch"] != epoch);
    wait_for("the same under the next owner", BOUND, || {
        labels(&list()) == ["long"]
    });
}

/// Guards I6: an `Idempotency-Key` holds for what converges, too, and where it cannot hold it is refused.
#[test]
fn an_idempotency_key_makes_an_announcement_stand_once() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let post = |key: &str, body: Value| {
        let http = repository.http().with("Idempotency-Key", key);
        http.post(ROUTE, &body)
    };
    let body = json!({ "intent": "by hand", "scope": ["a"] });
    let first = post("k1", body.clone()).expects(200).json();
    let again = post("k1", body.clone()).expects(200).json();
    assert_eq!(first, again, "the same peer and handle");
    assert!(first["peer"].is_string(), "{first}");
    let list = owner.tool("majordomus_peers", &json!({}));
    assert_eq!(checks::peers(&list).len(), 2, "{list}");

    let other = post("k1", json!({ "intent": "another", "scope": ["a"] })).expects(409);
    assert_eq!(
        other.header("content-type"),
        Some("application/problem+json")
    );

    let newer = json!({ "intent": "newer", "scope": ["b"], "peer": first["peer"] });
    post("k2", newer).expects(200);
    let late = post("k1", body).expects(200).json();
    assert_eq!(
        late["scope"],
        json!(["b"]),
        "a late copy overwrites nothing"
    );
    let list = owner.tool("majordomus_peers", &json!({}));
    assert!(list.to_string().contains("newer"), "{list}");

    let stop = repository.http().with("Idempotency-Key", "k3");
    let refused = stop
        .post("/api/v1/server/stop", &json!({}))
        .expects(422)
        .json();
    assert!(
        refused["detail"].as_str().unwrap().contains("server.stop"),
        "{refused}"
    );
    assert_eq!(post("a b", json!({ "intent": "x" })).status, 400);
}

/// The answers to the same request, sent eight times at once.
fn at_once(http: &Http, body: &Value) -> Vec<Value> {
    let gate = Barrier::new(8);
    thread::scope(|scope| {
        let one = || {
            gate.wait();
            http.post(ROUTE, body).expects(200).json()
        };
        let all: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
        all.into_iter().map(|each| each.join().unwrap()).collect()
    })
}

/// Guards I6: a copy that does not wait for the first answer finds the same peer, under this owner and the next.
#[test]
fn an_announcement_sent_many_times_at_once_stands_once() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let bodies = [
        json!({ "intent": "by key", "scope": ["a"] }),
        json!({ "intent": "by name", "scope": ["b"], "name": "terminal" }),
    ];
    let send = || {
        let keyed = repository.http().with("Idempotency-Key", "k1");
        let answers = [
            at_once(&keyed, &bodies[0]),
            at_once(&repository.http(), &bodies[1]),
        ];
        let list = bridge.tool("majordomus_peers", &json!({}));
        (answers, list)
    };
    let outside = |list: &Value| {
        let api = checks::peers(list).iter();
        let api = api.filter(|peer| peer["transport"] == "api");
        let mut intents: Vec<_> = api.map(checks::intents).collect();
        intents.sort();
        intents
    };
    let (first, list) = send();
    for answers in &first {
        for each in answers {
            assert_eq!(*each, answers[0], "{list}");
        }
        assert!(answers[0]["collisions"].as_array().unwrap().is_empty());
    }
    assert_eq!(outside(&list), [["by key"], ["by name"]], "{list}");

    owner.kill();
    repository.ready_when("the bridge's document", |lease| {
        lease["pid"] == bridge.pid()
    });
    // Until everybody is back an answer says that it may not be complete, and so it differs.
    wait_for("everybody is back", BOUND, || {
        bridge.tool("majordomus_peers", &json!({}))["complete"] == true
    });
    let (again, list) = send();
    assert_eq!(again, first);
    assert_eq!(outside(&list), [["by key"], ["by name"]], "{list}");
}

/// Guards I14: nobody's words can hide, or turn a reader's line around.
#[test]
fn words_that_deceive_a_reader_are_refused_or_stripped() {
    let repository = Repository::new();
    let owner = repository.attached("owner\u{202e}\u{200b}");
    for hidden in [
        "\u{202e}", "\u{2066}", "\u{2069}", "\u{200b}", "\u{feff}", "\u{1b}",
    ] {
        let word = format!("a{hidden}b");
        for (place, body) in [
            ("intent", json!({ "intent": word, "scope": ["a"] })),
            ("label", json!({ "intent": "x", "label": word })),
            ("scope", json!({ "intent": "x", "scope": [word] })),
        ] {
            let refused = repository.http().post(ROUTE, &body).expects(422).json();
            assert_eq!(refused["code"], "invalid_input", "{place}: {refused}");
        }
        let body = json!({ "intent": "x", "name": word });
        repository.http().post(ROUTE, &body).expects(200);
    }
    let list = owner.tool("majordomus_peers", &json!({}));
    let mut names: Vec<_> = checks::peers(&list)
        .iter()
        .filter_map(|peer| peer["name"].as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["ab", "owner"], "{list}");
}
