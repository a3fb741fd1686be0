//! Crowds: at the edge of a bound everybody is served, past it the answer is the documented one.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::json;

use crate::http::served;
use crate::support::wait::holds_for;
use crate::support::{BOUND, Client, Http, Reply, Repository, checks, wait_for};

/// Guards I15: the more listen, the later news is told that comes soon after the last; it is never lost.
#[test]
fn who_reads_the_peers_only_when_told_to_sees_the_last_of_many_announcements() {
    let repository = Repository::new();
    let author = repository.attached("author");
    let reader = repository.attached("reader");
    let crowd: Vec<Client> = (0..30)
        .map(|number| repository.attached(&format!("listener-{number}")))
        .collect();
    let peers = json!({ "uri": "majordomus://peers" });
    reader.result("resources/subscribe", &peers);
    reader.inbox().forget_messages();
    let reads = |intent: &str| {
        let intents = || {
            reader.notification("notifications/resources/updated", |_| true);
            reader.inbox().forget_messages();
            let list = reader.tool("majordomus_peers", &json!({}));
            checks::peer(&list, "author").map(checks::intents)
        };
        while intents() != Some(vec![intent.to_owned()]) {}
    };
    for number in 0..20 {
        let intent = format!("number {number}");
        author.tool(
            "majordomus_announce",
            &json!({ "intent": intent, "scope": ["a"] }),
        );
        reads(&intent);
    }
    drop(crowd);
}

/// Raises the number of open files that this process may have, which is also that of its children at most.
fn raise_descriptors() {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
}

/// Guards I15.
#[test]
fn with_every_http_connection_at_work_the_next_is_told_so_and_links_and_the_probe_go_on() {
    raise_descriptors();
    let (repository, owner, http) = served();
    let open = |number| {
        let session = http.session(&format!("session-{number}"), &json!({}));
        session.get("/mcp").expects(200)
    };
    let mut streams: Vec<Reply> = (0..511).map(open).collect();
    let last = http.session("the last", &json!({}));
    assert_eq!(
        last.ask("ping", &json!({})).json()["result"],
        json!({}),
        "at the edge"
    );
    streams.push(last.get("/mcp").expects(200));
    let refused = last.get("/api/v1/peers");
    assert_eq!(refused.status, 503, "past it");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(http.get("/lease").status, 200);
    checks::succeeded(&owner.call("conformance_safe", &json!({})));
    let newcomer = repository.attached("newcomer");
    checks::succeeded(&newcomer.call("conformance_safe", &json!({})));
    drop(streams.pop());
    wait_for("a place that was given back", BOUND, || {
        http.get("/api/v1/peers").status == 200
    });
}

/// Guards I15.
#[test]
fn with_every_http_request_at_work_the_next_is_told_so_and_the_probe_goes_on() {
    raise_descriptors();
    let (_repository, owner, http) = served();
    let head = http.head("GET", "/api/v1/conformance/slow?ms=600000");
    let request = format!("{head}\r\n");
    let begin = || {
        let mut stream = TcpStream::connect(http.address()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    };
    let mut running: Vec<TcpStream> = (0..255).map(|_| begin()).collect();
    assert_eq!(http.get("/api/v1/peers").status, 200, "at the edge");
    running.push(begin());
    let mut refused = None;
    wait_for("a refusal past it", BOUND, || {
        let reply = http.get("/api/v1/peers");
        let is_refused = reply.status == 503;
        refused = Some(reply).filter(|_| is_refused);
        is_refused
    });
    assert_eq!(refused.unwrap().header("retry-after"), Some("1"));
    assert_eq!(http.get("/lease").status, 200);
    checks::succeeded(&owner.call("conformance_safe", &json!({})));
    drop(running);
    wait_for("places that were given back", BOUND, || {
        http.get("/api/v1/peers").status == 200
    });
}

/// Guards I15.
#[test]
fn the_calls_of_one_client_past_the_bound_wait_for_one_of_its_own_and_for_nobody_else() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let client = repository.attached("client");
    let slow = json!({ "ms": 600_000 });
    let begin = || client.begin_call("conformance_slow", &slow);
    let running: Vec<_> = (0..255).map(|_| begin()).collect();
    checks::succeeded(&client.call("conformance_safe", &json!({})));
    let last = begin();
    let waiting = client.begin_call("conformance_safe", &json!({}));
    checks::succeeded(&owner.call("conformance_safe", &json!({})));
    holds_for("it waits", Duration::from_millis(200), || {
        client.inbox().count(&waiting) == 0
    });
    client.notify("notifications/cancelled", &json!({ "requestId": last }));
    let answer = client.answer(&waiting);
    checks::succeeded(&answer);
    assert_eq!(checks::degraded(&answer), None, "{answer}");
    assert_eq!(client.inbox().count(&running[0]), 0);
}

/// Guards I15.
#[test]
fn of_a_crowd_five_hundred_are_shown_and_the_rest_is_counted() {
    let (_repository, owner, http) = served();
    let shown = || {
        let list = owner.tool("majordomus_peers", &json!({}));
        (checks::peers(&list).len(), list["omitted"].as_u64())
    };
    let open = |number| http.session(&format!("session-{number}"), &json!({}));
    let _crowd: Vec<Http> = (0..499).map(open).collect();
    assert_eq!(shown(), (500, None), "at the edge");
    let one_more = open(499);
    assert_eq!(shown(), (500, Some(1)));
    assert_eq!(one_more.send("DELETE", "/mcp").status, 204);
    assert_eq!(shown(), (500, None));
}

/// Guards I15.
#[test]
fn announcements_past_what_a_board_holds_are_refused_until_some_are_withdrawn() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let others: Vec<Client> = (0..8)
        .map(|number| repository.attached(&format!("client-{number}")))
        .collect();
    let scope = |client: &Client, label: usize| {
        let entry = |number| format!("{}/{label}/{number}/{}", client.name(), "x".repeat(480));
        (0..64).map(entry).collect::<Vec<_>>()
    };
    let announce = |client: &Client, label: usize| {
        let arguments = json!({
            "intent": "much", "label": label.to_string(), "scope": scope(client, label),
        });
        client.call("majordomus_announce", &arguments)
    };
    let clients: Vec<&Client> = others.iter().chain([&owner]).collect();
    let mut refused = None;
    'full: for client in clients {
        for label in 0..32 {
            let answer = announce(client, label);
            if checks::failed(&answer) {
                refused = Some((client, label, answer));
                break 'full;
            }
        }
    }
    let (client, label, answer) = refused.expect("a board that is full");
    let text = answer["result"]["content"][0]["text"].to_string();
    assert!(text.contains("too large for the board"), "{answer}");
    let withdrawn = json!({ "intent": "", "label": "0" });
    checks::succeeded(&others[0].call("majordomus_announce", &withdrawn));
    checks::succeeded(&announce(client, label));
}

/// Guards I3, I15: links are bounded by the open files that the owner may have.
#[test]
fn whoever_finds_no_place_for_a_link_is_served_alone_and_joins_when_there_is_one() {
    let repository = Repository::new();
    let few = r#"ulimit -n 40; exec "$@""#;
    let wrapper = ["sh", "-c", few, "sh"].map(Into::into).to_vec();
    let owner = repository.launch().name("owner").wrapped(wrapper).start();
    owner.attach();
    repository.ready();
    let crowd: Vec<Client> = (0..40)
        .map(|number| {
            let client = repository.client(&format!("client-{number}"));
            client.initialize();
            client
        })
        .collect();
    let is_alone = |client: &Client| {
        let answer = client.call("conformance_safe", &json!({}));
        checks::succeeded(&answer);
        checks::degraded(&answer).is_some()
    };
    let (alone, attached): (Vec<_>, Vec<_>) = crowd.into_iter().partition(is_alone);
    assert!(!alone.is_empty() && !attached.is_empty(), "{}", alone.len());
    checks::succeeded(&owner.call("conformance_safe", &json!({})));
    drop(attached);
    // There may be fewer places than clients that wait for one.
    wait_for("one that was alone joins", BOUND, || {
        !alone.iter().all(is_alone)
    });
}
