//! Thirty ways in which bridges between stdio and HTTP have failed their users, and what ours does.
//!
//! `docs/BRIDGES.md` is the table: each failure names the test that shows its opposite, or says why it cannot happen.
//! Here are those tests that no other scenario already was, and the one that reads the table.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::http::Http;
use crate::support::{BOUND, Client, Repository, checks, frames, wait_for};

/// Every `.rs` file below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Whether `file::test`, with any path before it, is a test.
fn is_a_test(name: &str, files: &[PathBuf]) -> bool {
    let mut parts = name.rsplit("::");
    let (Some(test), Some(file)) = (parts.next(), parts.next()) else {
        return false;
    };
    let mut named = files
        .iter()
        .filter(|path| path.file_stem().is_some_and(|stem| stem == file));
    named.any(|path| {
        let source = fs::read_to_string(path).unwrap();
        let head = source
            .split(&format!("fn {test}("))
            .next()
            .filter(|head| head.len() < source.len());
        head.is_some_and(|head| {
            let attributes = head.lines().rev().take(4);
            attributes
                .map(str::trim_start)
                .any(|line| line.starts_with("#[") && line.contains("test"))
        })
    })
}

/// Thirty rows; each names tests that exist, or argues.
#[test]
fn every_failure_is_shown_not_to_happen_or_argued_away() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = fs::read_to_string(root.join("docs/BRIDGES.md")).unwrap();
    let mut files = Vec::new();
    for folder in ["src", "tests/it"] {
        sources(&root.join(folder), &mut files);
    }
    let rows = table.lines().filter(|line| line.starts_with('|')).skip(2);
    let mut numbers = Vec::new();
    let mut named = HashSet::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [number, failed, here, shown] = cells[..] else {
            panic!("four cells: {row}");
        };
        numbers.push(number.parse::<usize>().expect("a number"));
        assert!(!failed.is_empty() && !here.is_empty(), "{row}");
        let tests: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
        let argued = shown
            .strip_prefix("cannot happen: ")
            .is_some_and(|why| !why.is_empty());
        assert!(
            argued || !tests.is_empty(),
            "neither shown nor argued: {row}"
        );
        for test in tests {
            assert!(is_a_test(test, &files), "{test} is no test: {row}");
            named.insert(test.to_owned());
        }
    }
    assert_eq!(numbers, (1..=30).collect::<Vec<_>>());
    let own = fs::read_to_string(root.join("tests/it/bridge_failures.rs")).unwrap();
    let own = own.split("#[test]\nfn ").skip(2);
    for test in own.filter_map(|rest| rest.split('(').next()) {
        let name = format!("bridge_failures::{test}");
        assert!(named.contains(&name), "{name} is in no row");
    }
}

/// Guards I6. Failures 1 and 4.
#[test]
fn the_bridge_heals_inside_and_its_client_never_begins_anew() {
    let repository = Repository::new();
    let mut clients: Vec<Client> = ["a", "b", "c", "d"]
        .map(|name| repository.attached(name))
        .into();
    while clients.len() > 1 {
        let lease = repository.ready_when("a living owner", |lease| {
            clients.iter().any(|client| lease["pid"] == client.pid())
        });
        let owner = clients
            .iter()
            .position(|client| lease["pid"] == client.pid());
        clients.remove(owner.unwrap()).kill();
        for client in &clients {
            let answer = client.call("conformance_echo", &json!({ "value": 1 }));
            checks::succeeded(&answer);
            let said = client.inbox().messages();
            let asked = said.iter().find(|message| message.get("id").is_some());
            assert_eq!(asked, None, "nothing is asked of the client");
        }
    }
}

/// Guards I6. Failure 5.
#[test]
fn a_bridge_that_slept_through_a_change_of_owner_is_served_when_it_wakes() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let sleeper = repository.attached("sleeper");
    let other = repository.attached("other");
    sleeper.signal(Signal::SIGSTOP);
    owner.kill();
    repository.ready_when("the other's document", |lease| lease["pid"] == other.pid());
    sleeper.signal(Signal::SIGCONT);
    for n in 0..3 {
        checks::succeeded(&sleeper.call("conformance_echo", &json!({ "value": n })));
    }
    checks::one_board(&[&sleeper, &other]);
}

fn mcp(repository: &Repository) -> Http {
    repository
        .http()
        .with("Accept", "application/json, text/event-stream")
}

/// A legacy session of its own over HTTP.
fn session(http: &Http, name: &str) -> Http {
    let open = frames::initialize(name, frames::LEGACY);
    let opened = http.post(
        "/mcp",
        &frames::request(&json!("open"), "initialize", &open),
    );
    let id = opened.header("mcp-session-id").unwrap().to_owned();
    http.clone()
        .with("Mcp-Session-Id", &id)
        .with("MCP-Protocol-Version", frames::LEGACY)
}

/// Failure 6: clients begin anew on 404 and on nothing else.
#[test]
fn a_session_that_is_not_there_is_404_whatever_is_asked_of_it() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let http = mcp(&repository);
    let ended = session(&http, "ended");
    assert!(ended.send("DELETE", "/mcp").status < 300);
    let forged = http.with("Mcp-Session-Id", "5bf1c1ba9e6c4e0f8c1d");
    let list = frames::request(&json!(1), "tools/list", &json!({}));
    for gone in [ended, forged] {
        assert_eq!(gone.post("/mcp", &list).status, 404);
        assert_eq!(gone.send("GET", "/mcp").status, 404);
        assert_eq!(gone.send("DELETE", "/mcp").status, 404);
    }
}

/// Open descriptors of a process, where the system tells.
fn descriptors(pid: i32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

/// Guards I15. Failure 10.
#[test]
fn who_leaves_without_a_word_leaves_nothing_behind() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let http = mcp(&repository);
    let session = session(&http, "streams");
    let list = || owner.tool("majordomus_peers", &json!({}));
    let here = checks::attached(&list()).len();
    let before = descriptors(owner.pid());
    let streams: Vec<_> = (0..20).map(|_| session.send("GET", "/mcp")).collect();
    let bridges: Vec<Client> = (0..4)
        .map(|n| repository.attached(&format!("b{n}")))
        .collect();
    for bridge in &bridges {
        bridge.kill();
    }
    drop((streams, bridges));
    wait_for("every descriptor is closed", BOUND, || {
        descriptors(owner.pid()) <= before
    });
    wait_for("the killed peers are gone", BOUND, || {
        checks::attached(&list()).len() == here
    });
}

/// Failure 11: nothing stands between what a client started and the server, so a signal to it reaches the server.
#[test]
fn the_process_that_the_client_started_is_the_server() {
    let repository = Repository::new();
    let launcher = Path::new(env!("CARGO_MANIFEST_DIR")).join("bin/majordomus-mcp");
    let wrapper = ["sh", "-c", r#"launcher=$0; shift; exec "$launcher" "$@""#];
    let mut words: Vec<_> = wrapper.map(Into::into).into();
    words.push(launcher.into());
    let client = repository
        .launch()
        .name("wrapped")
        .variable("MAJORDOMUS_BIN", env!("CARGO_BIN_EXE_majordomus"))
        .wrapped(words)
        .arguments(&["--conformance"])
        .start();
    client.attach();
    let lease = repository.ready_when("its document", |lease| lease["pid"] == client.pid());
    let other = repository.attached("other");
    client.kill();
    repository.ready_when("the other's document", |next| {
        next["pid"] == other.pid() && next["instance"] != lease["instance"]
    });
}

/// Guards I15. Failure 12.
#[test]
fn who_goes_in_the_middle_of_an_answer_takes_nobody_with_it() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let other = repository.attached("other");
    let own = session(&mcp(&repository), "direct");
    let large = frames::call("conformance_large", &json!({ "bytes": 8 * 1024 * 1024 }));
    for n in 0..3 {
        // The rest of the answer meets a closed connection.
        drop(own.post("/mcp", &frames::request(&json!(n), "tools/call", &large)));
        let bridge = repository.attached(&format!("b{n}"));
        bridge.begin("tools/call", &large);
        bridge.kill();
        for client in [&owner, &other] {
            checks::succeeded(&client.call("conformance_echo", &json!({ "value": n })));
        }
    }
    assert_eq!(repository.owner_pid(), Some(owner.pid()));
}

/// Guards I6. Failure 17: the kept `initialize` asks for what the client asked for, and is answered in kind again.
#[test]
fn the_negotiated_revision_outlives_its_owner() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let oldest = repository.client("oldest");
    assert_eq!(
        oldest.initialize_at("2024-11-05")["protocolVersion"],
        "2024-11-05"
    );
    let unknown = repository.client("unknown");
    let newest = unknown.initialize_at("2001-01-01")["protocolVersion"].clone();
    assert_eq!(newest, frames::LEGACY);
    let shown = |client: &Client| {
        let answer = client.call("test_audio_content", &json!({}));
        checks::succeeded(&answer);
        answer["result"]["content"][0]["type"].clone()
    };
    let before = [shown(&oldest), shown(&unknown)];
    assert_eq!(before, ["text", "audio"].map(Value::from));
    owner.kill();
    assert_eq!([shown(&oldest), shown(&unknown)], before);
}

/// Guards I6. Failures 22 and 23.
#[test]
fn equal_ids_of_several_clients_are_never_mixed() {
    // Above what the clients asked to begin with.
    const IDS: std::ops::Range<i64> = 1000..1040;
    let repository = Repository::new();
    let clients: Vec<Client> = ["a", "b", "c"].map(|name| repository.attached(name)).into();
    let http = mcp(&repository);
    let own = |name: &str, id: i64| format!("{name}'s {id}");
    let said = |answer: &Value| answer["result"]["structuredContent"]["value"].clone();
    thread::scope(|scope| {
        for name in ["x", "y"] {
            let direct = session(&http, name);
            scope.spawn(move || {
                for id in IDS {
                    let call = frames::call("conformance_echo", &json!({ "value": own(name, id) }));
                    let call = frames::request(&json!(id), "tools/call", &call);
                    assert_eq!(said(&direct.post("/mcp", &call).json()), own(name, id));
                }
            });
        }
        for id in IDS {
            for client in &clients {
                let value = json!({ "value": own(client.name(), id) });
                let call = frames::call("conformance_echo", &value);
                client.send(&frames::request(&json!(id), "tools/call", &call));
            }
            for client in &clients {
                assert_eq!(said(&client.answer(&json!(id))), own(client.name(), id));
            }
        }
    });
}

/// Guards I14. Failure 29: `localhost` may be another address for each side.
#[test]
fn what_is_published_is_an_address_and_no_name() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let lease = repository.ready();
    let url = lease["url"].as_str().unwrap();
    assert!(url.starts_with("http://127.0.0.1:"), "{lease}");
    let link = lease["link"].as_str().unwrap();
    assert!(link.starts_with("127.0.0.1:"), "{lease}");
}
