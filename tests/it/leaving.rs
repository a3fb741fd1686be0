//! The end of a client's input, and who is left with what: answers, a process that ends, a sign that is taken down.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::launch::Streams;
use crate::support::wait::pause;
use crate::support::{BOUND, Client, Repository, checks, frames, wait_for};

/// One line of a client's input.
fn line(message: &Value) -> String {
    format!("{message}\n")
}

/// Says everything a client has to say in one write and ends the input: `initialize` and one call for each of `calls`.
fn in_one_breath(client: &Client, calls: &[(&str, Value)]) -> Vec<Value> {
    let opening = frames::initialize(client.name(), frames::LEGACY);
    let mut ids = vec![client.next_id()];
    let mut text = line(&frames::request(&ids[0], "initialize", &opening));
    for (tool, arguments) in calls {
        let id = client.next_id();
        let call = frames::call(tool, arguments);
        text.push_str(&line(&frames::request(&id, "tools/call", &call)));
        ids.push(id);
    }
    client.write(text.as_bytes()).unwrap();
    client.close();
    ids
}

/// Guards I6, I11: a client that says all it has in one breath is answered, with a server there and without one.
#[test]
fn requests_that_come_in_one_breath_with_the_end_of_input_are_answered() {
    let calls: Vec<(&str, Value)> = (0..20)
        .map(|number| ("conformance_echo", json!({ "value": number })))
        .collect();
    let repository = Repository::new();
    let answered = |client: &Client| {
        let ids = in_one_breath(client, &calls);
        for id in &ids {
            checks::succeeded(&client.answer(id));
        }
        assert!(client.exit().success());
        for id in &ids {
            assert_eq!(client.inbox().count(id), 1, "answers to {id}");
        }
        let said = client.stderr();
        assert!(!said.contains("no answer"), "nothing was given up: {said}");
    };
    answered(&repository.client("the only one"));
    let _owner = repository.attached("owner");
    answered(&repository.client("bridge"));
    let alone = repository.launch().name("alone").argument("--standalone");
    answered(&alone.start());
}

/// Guards I6, I11: what takes longer than the process may stay is given up, aloud.
#[test]
fn requests_that_are_given_up_at_the_end_of_input_are_errors_and_counted_in_the_log() {
    let repository = Repository::new();
    let slow = ("conformance_slow", json!({ "ms": 600_000 }));
    let quick = ("conformance_echo", json!({ "value": 1 }));
    let given_up = |client: &Client| {
        let ids = in_one_breath(client, &[slow.clone(), quick.clone(), slow.clone()]);
        for id in [&ids[0], &ids[2]] {
            checks::succeeded(&client.answer(id));
        }
        for id in [&ids[1], &ids[3]] {
            let answer = client.answer(id);
            assert_eq!(answer["error"]["code"], -32603, "{answer}");
        }
        let (status, time) = client.exit_timed();
        println!("{} ended {time:?} after its last answer", client.name());
        assert!(status.success(), "{status}");
        for id in &ids {
            assert_eq!(client.inbox().count(id), 1, "answers to {id}");
        }
        let said = client.stderr();
        let warned = |line: &str| line.contains("WARN") && line.contains("requests=2");
        assert!(said.lines().any(warned), "how many were given up: {said}");
    };
    given_up(&repository.client("the only one"));
    let _owner = repository.attached("owner");
    given_up(&repository.client("bridge"));
    let alone = repository.launch().name("alone").argument("--standalone");
    given_up(&alone.start());
}

/// Guards I11, I15: a client that never reads is heard all the same, above all when it leaves.
#[test]
fn a_client_that_never_reads_and_ends_its_input_leaves_no_process() {
    let repository = Repository::new();
    let deaf = |name: &str| {
        let launch = repository.launch().name(name);
        launch.stdio(Streams::Unread)
    };
    let ends = |client: &Client| {
        let large = ("conformance_echo", json!({ "value": "x".repeat(8000) }));
        thread::scope(|scope| {
            // Far more than pipes and buffers hold, so this returns only if the process goes on reading.
            let saying = scope.spawn(|| in_one_breath(client, &vec![large; 2000]));
            let start = Instant::now();
            while !saying.is_finished() && start.elapsed() < BOUND {
                pause(Duration::from_millis(2));
            }
            if !saying.is_finished() {
                client.kill();
                panic!("{} does not hear its client", client.name());
            }
        });
        let (status, time) = client.exit_timed();
        println!("{} ended {time:?} after its input", client.name());
        assert!(status.success(), "{status}");
        let said = client.stderr();
        let given_up = said
            .lines()
            .filter(|line| line.contains("requests have no answer"));
        assert_eq!(given_up.count(), 1, "said once: {said}");
    };
    let unread = deaf("unread").argument("--standalone").start();
    in_one_breath(
        &unread,
        &[("conformance_large", json!({ "bytes": 300_000 }))],
    );
    assert!(unread.exit().success());
    let said = unread.stderr();
    assert!(!said.contains("no answer"), "it was answered: {said}");

    ends(&deaf("the only one").start());
    wait_for("nothing is left of it", BOUND, || {
        repository
            .lease()
            .is_none_or(|lease| lease["state"] != "ready")
    });
    let owner = repository.attached("owner");
    ends(&deaf("bridge").start());
    ends(&deaf("alone").argument("--standalone").start());
    checks::one_board(&[&owner]);
}

/// Guards I4, I5b: an owner that leaves in order is silent while a slow call of somebody gets its time, and nobody takes
/// that for a stall.
#[test]
fn an_owner_that_drains_is_not_taken_for_a_stalled_one() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let other = repository.attached("other");
    let slow = bridge.begin_call("conformance_slow", &json!({ "ms": 3000 }));
    bridge.tool("conformance_echo", &json!({ "value": 1 }));
    let told = [&bridge, &other].map(|client| client.stderr().len());
    owner.close();
    wait_for("the owner drains", BOUND, || {
        repository
            .lease()
            .is_some_and(|lease| lease["state"] == "draining")
    });
    // One that waits while the owner is silent for longer than a stall takes, in each of them.
    let asked = [&bridge, &other].map(|client| {
        let id = client.begin_call("majordomus_peers", &json!({}));
        (client, id)
    });
    for (client, id) in asked.iter().chain([&(&bridge, slow)]) {
        let answer = client.answer(id);
        checks::succeeded(&answer);
        assert_eq!(checks::degraded(&answer), None, "{answer}");
    }
    assert!(owner.exit().success());
    checks::one_board(&[&bridge, &other]);
    for (client, told) in [&bridge, &other].into_iter().zip(told) {
        let said = client.stderr().split_off(told);
        for word in ["stalled", "alone"] {
            assert!(!said.contains(word), "{word} in: {said}");
        }
    }
    let log = repository.log();
    assert!(!log.contains("stalled"), "{log}");
}
