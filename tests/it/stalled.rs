//! A suspended owner (I5b): nobody breaks its lock, everybody is answered, and all heal when it wakes.

use std::time::Instant;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::terminal::Terminal;
use crate::support::{Client, Repository, checks};

/// Whether an answer says that it was given without the owner.
fn degraded(answer: &Value) -> bool {
    checks::degraded(answer).is_some()
}

/// Guards I5b.
#[test]
fn safe_calls_are_answered_alone_and_say_so_while_the_owner_sleeps() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let before = repository.ready();
    owner.signal(Signal::SIGSTOP);
    let start = Instant::now();
    let answer = bridge.call("majordomus_peers", &json!({}));
    println!("answered alone after {:?}", start.elapsed());
    checks::succeeded(&answer);
    assert!(degraded(&answer), "{answer}");
    assert_eq!(
        answer["result"]["structuredContent"]["complete"], false,
        "{answer}"
    );
    owner.signal(Signal::SIGCONT);
    checks::one_board(&[&owner, &bridge]);
    let after = repository.ready();
    assert_eq!(
        after["instance"], before["instance"],
        "nobody broke the lock"
    );
}

/// Guards I5b: nobody died.
#[test]
fn a_once_call_of_a_sleeping_owner_is_told_who_sleeps() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    repository.ready();
    owner.signal(Signal::SIGSTOP);
    let answer = bridge.call("conformance_once", &json!({}));
    assert!(checks::failed(&answer), "{answer}");
    let text = answer.to_string();
    for part in [&*owner.pid().to_string(), "stalled", "may or may not"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("died"), "{text}");
    owner.signal(Signal::SIGCONT);
    checks::one_board(&[&owner, &bridge]);
}

/// Guards I5b.
#[test]
fn what_changes_something_is_refused_with_pid_and_state_while_the_owner_sleeps() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    repository.ready();
    let file = repository.conformance_file("stalled.txt");
    owner.signal(Signal::SIGSTOP);
    let answer = bridge.call(
        "conformance_keyed",
        &json!({ "file": "stalled.txt", "text": "must not be done behind our back" }),
    );
    assert!(checks::failed(&answer), "{answer}");
    let text = answer.to_string();
    assert!(text.contains(&owner.pid().to_string()), "the pid in {text}");
    assert!(
        ["stopped", "stalled", "suspended"]
            .iter()
            .any(|word| text.contains(word)),
        "the state in {text}"
    );
    owner.signal(Signal::SIGCONT);
    checks::one_board(&[&owner, &bridge]);
    bridge.tool("conformance_echo", &json!({ "value": 1 }));
    assert!(!file.exists(), "a frame of a closed link was run after all");
}

/// Guards I5b.
#[test]
fn a_newcomer_is_answered_although_the_owner_sleeps_and_joins_when_it_wakes() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    repository.ready();
    owner.signal(Signal::SIGSTOP);
    let newcomer = repository.client("newcomer");
    let start = Instant::now();
    newcomer.initialize();
    println!("initialized after {:?}", start.elapsed());
    newcomer.result("tools/list", &json!({}));
    let answer = newcomer.call("majordomus_peers", &json!({}));
    checks::succeeded(&answer);
    assert!(degraded(&answer), "{answer}");
    assert_eq!(
        repository.owner_pid(),
        Some(owner.pid()),
        "nobody broke the lock"
    );
    owner.signal(Signal::SIGCONT);
    checks::one_board(&[&owner, &newcomer]);
}

/// Guards I5b, I6.
#[test]
fn a_safe_call_in_flight_when_the_owner_falls_asleep_is_answered_once() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let id = bridge.begin_call("conformance_slow", &json!({ "ms": 300 }));
    owner.signal(Signal::SIGSTOP);
    checks::succeeded(&bridge.answer(&id));
    owner.signal(Signal::SIGCONT);
    checks::one_board(&[&owner, &bridge]);
    assert_eq!(bridge.inbox().count(&id), 1);
}

/// Guards I5b.
#[test]
fn many_bridges_stay_served_through_a_nap_and_keep_what_they_announced() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridges: Vec<Client> = (0..6)
        .map(|n| repository.attached(&format!("b{n}")))
        .collect();
    for bridge in &bridges {
        bridge.tool(
            "majordomus_announce",
            &json!({ "intent": "stay", "scope": [bridge.name()] }),
        );
    }
    owner.signal(Signal::SIGSTOP);
    let asked: Vec<(&Client, Value)> = bridges
        .iter()
        .map(|bridge| {
            (
                bridge,
                bridge.begin_call("conformance_echo", &json!({ "value": 1 })),
            )
        })
        .collect();
    for (bridge, id) in asked {
        checks::succeeded(&bridge.answer(&id));
    }
    owner.signal(Signal::SIGCONT);
    let mut all: Vec<&Client> = bridges.iter().collect();
    all.push(&owner);
    checks::one_board(&all);
    let list = owner.tool("majordomus_peers", &json!({}));
    for bridge in &bridges {
        let peer = checks::peer(&list, bridge.name()).unwrap();
        assert_eq!(checks::intents(peer), ["stay"], "{list}");
    }
}

/// Guards I5b, I6.
#[test]
fn a_sleeping_owner_that_is_killed_is_taken_over() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    owner.signal(Signal::SIGSTOP);
    checks::succeeded(&bridge.call("conformance_echo", &json!({ "value": 1 })));
    owner.kill();
    repository.ready_when("the bridge's document", |lease| {
        lease["pid"] == bridge.pid()
    });
    checks::one_board(&[&bridge]);
}

/// Guards I5b: only the sleeper waits.
#[test]
fn a_sleeping_bridge_holds_nobody_up() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let other = repository.attached("other");
    bridge.signal(Signal::SIGSTOP);
    let id = bridge.begin_call("conformance_echo", &json!({ "value": 1 }));
    for client in [&owner, &other] {
        let answer = client.call("majordomus_peers", &json!({}));
        checks::succeeded(&answer);
        assert!(!degraded(&answer), "{answer}");
    }
    bridge.signal(Signal::SIGCONT);
    checks::succeeded(&bridge.answer(&id));
    checks::one_board(&[&owner, &bridge, &other]);
}

/// Guards I5b: Ctrl-Z in a real terminal stops the client, not the server that its process hosts.
#[test]
fn ctrl_z_on_the_owners_client_leaves_the_others_served() {
    let repository = Repository::new();
    let (mut terminal, owner) = Terminal::with_client(&repository, "owner");
    owner.attach();
    repository.ready();
    let bridge = repository.attached("bridge");
    terminal.types(b"\x1a");
    terminal.sees("topped");
    for number in 0..20 {
        let answer = bridge.call("conformance_echo", &json!({ "value": number }));
        checks::succeeded(&answer);
        assert!(!degraded(&answer), "{answer}");
    }
    let list = bridge.tool("majordomus_peers", &json!({}));
    assert_eq!(checks::attached(&list), ["bridge", "owner"], "{list}");
    terminal.types(b"fg\n");
    checks::one_board(&[&owner, &bridge]);
}
