//! The owner dies or leaves; nobody else notices.

use std::os::unix::process::ExitStatusExt as _;

use nix::sys::signal::Signal;
use serde_json::json;

use crate::support::{BOUND, Client, Repository, checks, frames, wait_for};

/// Guards I4, I6.
#[test]
fn a_bridge_takes_over_after_kill_9_without_a_frame_of_its_client() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let before = repository.ready();
    owner.kill();
    let after = repository.ready_when("the bridge's document", |lease| {
        lease["pid"] == bridge.pid()
    });
    assert!(after["epoch"].as_u64() > before["epoch"].as_u64());
    assert_eq!(after["url"], before["url"], "the address is stable");
    let list = bridge.tool("majordomus_peers", &json!({}));
    assert_eq!(checks::attached(&list), ["bridge"], "{list}");
}

/// Guards I6.
#[test]
fn peers_keep_their_ids_and_announcements_across_a_takeover() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridges: Vec<Client> = ["a", "b", "c"].map(|name| repository.attached(name)).into();
    for bridge in &bridges {
        let intent = format!("work of {}", bridge.name());
        bridge.tool(
            "majordomus_announce",
            &json!({ "intent": intent, "scope": [format!("{}/**", bridge.name())] }),
        );
        bridge.tool(
            "majordomus_announce",
            &json!({ "intent": "second line", "scope": ["b.txt"], "label": "sub" }),
        );
    }
    let list = owner.tool("majordomus_peers", &json!({}));
    let ids = |list: &serde_json::Value| {
        ["a", "b", "c"].map(|name| checks::peer(list, name).map(|peer| peer["id"].clone()))
    };
    let before = ids(&list);
    assert!(before.iter().all(Option::is_some), "{list}");
    owner.kill();
    for bridge in &bridges {
        wait_for("the whole room", BOUND, || {
            let list = bridge.tool("majordomus_peers", &json!({}));
            ids(&list) == before
                && checks::attached(&list) == ["a", "b", "c"]
                && ["a", "b", "c"]
                    .iter()
                    .all(|name| checks::intents(checks::peer(&list, name).unwrap()).len() == 2)
                && list["collisions"]
                    .as_array()
                    .is_some_and(|collisions| !collisions.is_empty())
        });
    }
}

/// Guards I6: after a takeover `peers.*` wait for the room, or say that it is not complete.
#[test]
fn the_first_list_after_a_takeover_is_whole_or_says_that_it_is_not() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridges: Vec<Client> = (0..5)
        .map(|n| repository.attached(&format!("b{n}")))
        .collect();
    for (n, bridge) in bridges.iter().enumerate() {
        let (intent, path) = (format!("work {n}"), format!("src/{n}"));
        let arguments = json!({ "intent": intent, "scope": [path] });
        bridge.tool("majordomus_announce", &arguments);
    }
    owner.kill();
    let asked: Vec<_> = bridges
        .iter()
        .map(|bridge| bridge.begin_call("majordomus_peers", &json!({})))
        .collect();
    for (bridge, id) in bridges.iter().zip(asked) {
        let answer = bridge.answer(&id);
        checks::succeeded(&answer);
        let list = &answer["result"]["structuredContent"];
        let announced = checks::peers(list)
            .iter()
            .filter(|peer| checks::intents(peer).len() == 1)
            .count();
        let all = checks::attached(list).len() == 5 && announced == 5;
        assert!(all || list["complete"] == false, "{list}");
    }
}

/// Guards I4, I11.
#[test]
fn a_signal_releases_the_lease_and_kills_with_that_signal() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let repository = Repository::new();
        let owner = repository.attached("owner");
        let bridge = repository.attached("bridge");
        repository.ready();
        owner.signal(signal);
        let (status, time) = owner.exit_timed();
        println!("{signal}: gone after {time:?}");
        assert_eq!(status.signal(), Some(signal as i32), "{status}");
        repository.ready_when("the bridge's document", |lease| {
            lease["pid"] == bridge.pid()
        });
        bridge.tool("majordomus_peers", &json!({}));
    }
}

/// Guards I4: some clients send a second signal right after the first.
#[test]
fn a_second_signal_leaves_the_release_its_time() {
    for _ in 0..5 {
        let repository = Repository::new();
        let owner = repository.attached("owner");
        repository.ready();
        owner.signal(Signal::SIGTERM);
        owner.signal(Signal::SIGINT);
        let status = owner.exit();
        let signal = status.signal().expect("killed by a signal");
        assert!(
            [Signal::SIGTERM as i32, Signal::SIGINT as i32].contains(&signal),
            "{status}"
        );
        assert!(!repository.document().exists(), "a document is left behind");
    }
}

/// Guards I11.
#[test]
fn the_owner_whose_client_leaves_hands_over_and_ends() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    owner.close();
    assert!(owner.exit().success(), "an orderly end");
    repository.ready_when("the bridge's document", |lease| {
        lease["pid"] == bridge.pid()
    });
    let list = bridge.tool("majordomus_peers", &json!({}));
    assert_eq!(checks::attached(&list), ["bridge"], "{list}");
}

/// Guards I4, I11.
#[test]
fn the_last_one_to_leave_removes_the_document_and_leaves_no_process() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    repository.ready();
    bridge.close();
    assert!(bridge.exit().success());
    owner.close();
    assert!(owner.exit().success());
    assert!(!repository.document().exists(), "{:?}", repository.lease());
    assert!(
        repository.state().join("server.lock").exists(),
        "never unlinked"
    );
}

/// Guards I11.
#[test]
fn two_clients_in_the_process_of_leaving_at_once_leave_nothing_behind() {
    for round in 0..6 {
        let repository = Repository::new();
        let clients: Vec<Client> = ["a", "b", "c"].map(|name| repository.attached(name)).into();
        repository.ready();
        for client in &clients {
            if round % 2 == 0 {
                client.close();
            } else {
                client.signal(Signal::SIGTERM);
            }
        }
        for client in &clients {
            client.exit();
        }
        // The owner may have counted on one that was leaving too: then that one removes what it left.
        let left = repository.lease();
        assert!(
            left.is_none(),
            "round {round}: {left:?}\n{}",
            repository.log()
        );
        let next = repository.attached("next");
        repository.ready_when("the next one's document", |lease| {
            lease["pid"] == next.pid()
        });
        let list = next.tool("majordomus_peers", &json!({}));
        assert_eq!(checks::attached(&list), ["next"], "{list}");
    }
}

/// Guards I6.
#[test]
fn a_safe_call_in_flight_at_the_owners_death_is_answered_once() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let id = bridge.begin_call("conformance_slow", &json!({ "ms": 600 }));
    bridge.tool("conformance_echo", &json!({ "value": 1 }));
    owner.kill();
    checks::succeeded(&bridge.answer(&id));
    bridge.tool("conformance_echo", &json!({ "value": 2 }));
    assert_eq!(bridge.inbox().count(&id), 1);
}

/// Guards I4, I6: SIGTERM of the owner loses no request of a bridge.
#[test]
fn a_call_in_flight_when_the_owner_is_terminated_is_answered_once() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let slow = bridge.begin_call("conformance_slow", &json!({ "ms": 800 }));
    bridge.tool("conformance_echo", &json!({ "value": 1 }));
    owner.signal(Signal::SIGTERM);
    owner.exit();
    checks::succeeded(&bridge.answer(&slow));
    assert_eq!(bridge.inbox().count(&slow), 1);
}

/// Guards I6: what must not run twice is not sent twice, and the client is told.
#[test]
fn a_once_call_in_flight_at_the_owners_death_has_an_unknown_outcome() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let id = bridge.begin_call(
        "conformance_once",
        &json!({ "file": "once.txt", "text": "done", "ms": 20_000 }),
    );
    let file = repository.conformance_file("once.txt");
    wait_for("the effect", BOUND, || file.exists());
    owner.kill();
    let answer = bridge.answer(&id);
    assert!(checks::failed(&answer), "{answer}");
    assert!(
        answer
            .to_string()
            .replace('_', " ")
            .contains("outcome unknown")
            || answer.to_string().contains("not known"),
        "{answer}"
    );
    assert_eq!(bridge.inbox().count(&id), 1);
}

/// Guards I6.
#[test]
fn a_subscription_outlives_its_owner_and_is_told_once_that_things_may_have_changed() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let other = repository.attached("other");
    bridge.result(
        "resources/subscribe",
        &json!({ "uri": "majordomus://peers" }),
    );
    bridge.inbox().forget_messages();
    owner.kill();
    let peers = |message: &serde_json::Value| message["params"]["uri"] == "majordomus://peers";
    bridge.notification("notifications/resources/updated", peers);
    wait_for("the room", BOUND, || {
        checks::attached(&bridge.tool("majordomus_peers", &json!({}))).len() == 2
    });
    bridge.inbox().forget_messages();
    other.tool(
        "majordomus_announce",
        &json!({ "intent": "after", "scope": ["a"] }),
    );
    bridge.notification("notifications/resources/updated", peers);
}

/// Guards I6: a request that is never sent again because it was cancelled.
#[test]
fn a_cancelled_call_is_not_sent_to_the_next_owner() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    owner.signal(Signal::SIGSTOP);
    let file = repository.conformance_file("cancelled.txt");
    let id = bridge.begin_call(
        "conformance_keyed",
        &json!({ "file": "cancelled.txt", "text": "must not appear" }),
    );
    bridge.notify(
        "notifications/cancelled",
        &json!({ "requestId": id, "reason": "test" }),
    );
    // Answered means that the bridge has read the cancellation, which stood before it.
    let ping = bridge.begin("ping", &json!({}));
    owner.kill();
    bridge.answer(&ping);
    bridge.tool("conformance_echo", &json!({ "value": 1 }));
    assert!(!file.exists(), "it ran");
    assert_eq!(
        bridge.inbox().count(&id),
        0,
        "a cancelled request is not answered"
    );
}

/// Guards I6.
#[test]
fn http_sessions_are_adopted_by_the_next_owner() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let http = repository
        .http()
        .with("Accept", "application/json, text/event-stream");
    let reply = http
        .post(
            "/mcp",
            &frames::request(
                &json!(1),
                "initialize",
                &frames::initialize("direct", frames::LEGACY),
            ),
        )
        .expects(200);
    let session = reply
        .header("mcp-session-id")
        .expect("a session id")
        .to_owned();
    let http = http
        .with("Mcp-Session-Id", &session)
        .with("MCP-Protocol-Version", frames::LEGACY);
    owner.kill();
    repository.ready_when("the bridge's document", |lease| {
        lease["pid"] == bridge.pid()
    });
    let mut reply = http
        .post(
            "/mcp",
            &frames::request(&json!(2), "tools/list", &json!({})),
        )
        .expects(200);
    assert!(reply.json()["result"]["tools"].is_array());
    let mut reply = http.post(
        "/mcp",
        &frames::request(
            &json!(3),
            "tools/call",
            &frames::call("majordomus_peers", &json!({})),
        ),
    );
    let list = reply.json()["result"]["structuredContent"].clone();
    assert_eq!(checks::attached(&list), ["bridge", "direct"], "{list}");
}

/// Guards I6: an ended session is not adopted.
#[test]
fn an_http_session_that_was_ended_stays_ended_after_a_takeover() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let http = repository
        .http()
        .with("Accept", "application/json, text/event-stream");
    let reply = http.post(
        "/mcp",
        &frames::request(
            &json!(1),
            "initialize",
            &frames::initialize("direct", frames::LEGACY),
        ),
    );
    let session = reply
        .header("mcp-session-id")
        .expect("a session id")
        .to_owned();
    let http = http
        .with("Mcp-Session-Id", &session)
        .with("MCP-Protocol-Version", frames::LEGACY);
    assert!((200..300).contains(&http.send("DELETE", "/mcp").status));
    owner.kill();
    repository.ready_when("the bridge's document", |lease| {
        lease["pid"] == bridge.pid()
    });
    let reply = http.post(
        "/mcp",
        &frames::request(&json!(2), "tools/list", &json!({})),
    );
    assert_eq!(reply.status, 404);
}

/// Guards I7: the time is printed; `torture` measures it at length.
#[test]
fn calls_go_on_through_ten_owners_in_a_row() {
    let repository = Repository::new();
    let last = repository.attached("last");
    let mut owners: Vec<Client> = vec![last];
    for number in 0..10 {
        owners.push(repository.attached(&format!("next-{number}")));
    }
    let caller = owners.pop().expect("eleven clients");
    while !owners.is_empty() {
        let pid = repository.ready()["pid"].clone();
        if pid == caller.pid() {
            break;
        }
        let index = owners.iter().position(|client| pid == client.pid());
        let Some(index) = index else { continue };
        let owner = owners.swap_remove(index);
        owner.kill();
        let start = std::time::Instant::now();
        caller.tool("conformance_echo", &json!({ "value": 1 }));
        println!("answered {:?} after the owner's death", start.elapsed());
        repository.ready_when("another owner", |lease| lease["pid"] != pid);
    }
    caller.tool("majordomus_peers", &json!({}));
}
