//! What a bridge carries from one owner to the next, told once and in order, so that its client notices nothing but time.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{BOUND, Client, Repository, checks, frames, wait_for};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const PROGRESS: &str = "notifications/progress";
const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
const UPDATED: &str = "notifications/resources/updated";

/// Opens a `subscriptions/listen` and returns its id.
fn listen(client: &Client, notifications: &Value) -> Value {
    let params = frames::modern(client.name(), &json!({ "notifications": notifications }));
    client.begin("subscriptions/listen", &params)
}

/// The messages of `method` that belong to the listen `id`.
fn heard(client: &Client, method: &str, id: &Value) -> Vec<Value> {
    let mut messages = client.inbox().messages();
    messages.retain(|message| {
        message["method"] == method
            && message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == *id
    });
    messages
}

/// Waits until the process of `client` is the owner.
#[track_caller]
fn takes_over(repository: &Repository, client: &Client) {
    let what = format!("{} is the owner", client.name());
    repository.ready_when(&what, |lease| lease["pid"] == client.pid());
}

/// Guards I6.
#[test]
fn a_listen_is_acknowledged_once_whoever_acknowledges_it() {
    let repository = Repository::new();
    let mut owners = vec![repository.attached("first"), repository.attached("second")];
    let bridge = repository.attached("bridge");
    let peers = json!({ "resourceSubscriptions": ["majordomus://peers"] });
    // The first is acknowledged by the owner that it was sent to, the second by nobody before that owner's death.
    let calm = listen(&bridge, &peers);
    bridge.notification(ACKNOWLEDGED, |_| true);
    owners[0].signal(Signal::SIGSTOP);
    let hasty = listen(&bridge, &peers);
    let both = [calm, hasty];
    while let Some(position) = owners.iter().position(|owner| {
        let pid = repository.owner_pid();
        pid == Some(owner.pid())
    }) {
        let owner = owners.swap_remove(position);
        owner.kill();
        repository.ready_when("another owner", |lease| lease["pid"] != owner.pid());
        for id in &both {
            wait_for("the listen is open at the next owner", BOUND, || {
                // News says so: each listen that is open hears of it, behind its acknowledgement.
                bridge.tool(
                    "majordomus_announce",
                    &json!({ "intent": "x", "scope": ["a"] }),
                );
                !heard(&bridge, UPDATED, id).is_empty()
            });
            assert_eq!(heard(&bridge, ACKNOWLEDGED, id).len(), 1, "of {id}");
            assert_eq!(bridge.inbox().count(id), 0, "{id} is still open");
        }
        bridge.result("ping", &json!({}));
    }
    let whole = bridge.inbox().messages();
    for id in &both {
        assert_eq!(heard(&bridge, ACKNOWLEDGED, id).len(), 1, "{whole:?}");
    }
}

/// Guards I6: also where a server of the process's own acknowledges first, and the shared one later.
#[test]
fn a_listen_that_was_opened_while_the_owner_slept_is_acknowledged_once() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    owner.signal(Signal::SIGSTOP);
    let id = listen(
        &bridge,
        &json!({ "resourceSubscriptions": ["majordomus://peers"] }),
    );
    checks::succeeded(&bridge.call("conformance_echo", &json!({ "value": "answered alone" })));
    owner.signal(Signal::SIGCONT);
    checks::one_board(&[&owner, &bridge]);
    owner.tool(
        "majordomus_announce",
        &json!({ "intent": "x", "scope": ["a"] }),
    );
    wait_for("news on the listen", BOUND, || {
        !heard(&bridge, UPDATED, &id).is_empty()
    });
    assert_eq!(heard(&bridge, ACKNOWLEDGED, &id).len(), 1);
}

/// Begins a call of `ms` that reports its progress under `token`.
fn reporting(client: &Client, ms: u64, token: &str) -> Value {
    let mut params = frames::call("conformance_slow", &json!({ "ms": ms }));
    params["_meta"] = json!({ "progressToken": token });
    client.begin("tools/call", &params)
}

/// Every progress of `token` so far.
fn progress(client: &Client, token: &str) -> Vec<f64> {
    let messages = client.inbox().messages();
    let ours = messages.iter().filter(|message| {
        message["method"] == PROGRESS && message["params"]["progressToken"] == token
    });
    ours.filter_map(|message| message["params"]["progress"].as_f64())
        .collect()
}

/// What is said about `id` comes before its answer, and each time further than before.
#[track_caller]
fn in_order(client: &Client, id: &Value, token: &str) {
    checks::succeeded(&client.answer(id));
    // Answered behind it: what was under way is here.
    client.result("ping", &json!({}));
    let (_, after) = client.inbox().around(id, PROGRESS);
    let late = after
        .iter()
        .find(|message| message["params"]["progressToken"] == token);
    assert_eq!(late, None, "progress of {} after its answer", client.name());
    let seen = progress(client, token);
    assert!(seen.is_sorted_by(|one, next| one < next), "{seen:?}");
    assert_eq!(client.inbox().count(id), 1);
}

/// Guards I6.
#[test]
fn progress_comes_before_the_answer_and_only_goes_on() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    for client in [&owner, &bridge] {
        // Short calls, whose last report and answer are there at the same moment.
        for number in 0..40_u32 {
            let token = format!("short-{number}");
            let id = reporting(client, u64::from(number % 4), &token);
            in_order(client, &id, &token);
            let seen = progress(client, &token);
            let done = seen
                .last()
                .is_some_and(|last| (*last - f64::from(number % 4)).abs() < 1e-9);
            assert!(done, "the last report of {token} is missing: {seen:?}");
        }
        let id = reporting(client, 300, "long");
        in_order(client, &id, "long");
        assert!(progress(client, "long").len() > 2, "{}", client.name());
        client.inbox().forget_messages();
    }
}

/// Guards I6: the next owner begins anew, and the client does not see that.
#[test]
fn progress_does_not_go_back_over_a_takeover() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let id = reporting(&bridge, 1500, "carried");
    let far = |at_least: f64| {
        progress(&bridge, "carried")
            .last()
            .is_some_and(|last| *last > at_least)
    };
    wait_for("half of the work", BOUND, || far(750.0));
    owner.kill();
    takes_over(&repository, &bridge);
    in_order(&bridge, &id, "carried");
    assert!(
        far(1499.0),
        "it goes on where it was: {:?}",
        progress(&bridge, "carried")
    );
}

/// Guards I6, I9: both eras are told when another build, which is another registry, takes over.
#[test]
fn lists_that_changed_with_the_owner_are_told_and_lists_that_did_not_are_not() {
    for other_build in [true, false] {
        let repository = Repository::new();
        let mut owner = repository.launch().name("owner");
        if other_build {
            owner = owner.arguments(&["mcp"]);
        }
        let owner = owner.start();
        owner.attach();
        let next = repository.attached("next");
        let modern = repository.attached("modern");
        let legacy = repository.attached("legacy");
        let named = |client: &Client, answer: &Value| {
            let tools = answer["tools"].as_array().cloned().unwrap_or_default();
            let echo = tools.iter().any(|tool| tool["name"] == "conformance_echo");
            assert_eq!(echo, !other_build, "the lists of {}", client.name());
        };
        named(&legacy, &legacy.result("tools/list", &json!({})));
        named(&modern, &modern.modern("tools/list", &json!({}))["result"]);
        let wanted = json!({
            "toolsListChanged": true, "resourceSubscriptions": ["majordomus://peers"],
        });
        let id = listen(&modern, &wanted);
        let unasked = listen(
            &modern,
            &json!({ "resourceSubscriptions": ["majordomus://peers"] }),
        );
        wait_for("both acknowledgements", BOUND, || {
            [&id, &unasked]
                .iter()
                .all(|id| !heard(&modern, ACKNOWLEDGED, id).is_empty())
        });
        for client in [&modern, &legacy] {
            client.inbox().forget_messages();
        }
        owner.kill();
        // Whoever of them takes over: a listen at a process's own host is told as one over a link is.
        checks::one_board(&[&next, &modern, &legacy]);
        if other_build {
            legacy.notification(TOOLS_CHANGED, |_| true);
            wait_for("the listen is told", BOUND, || {
                !heard(&modern, TOOLS_CHANGED, &id).is_empty()
            });
            let now = modern.modern("tools/list", &json!({}));
            assert!(now.to_string().contains("conformance_echo"), "{now}");
        }
        next.tool(
            "majordomus_announce",
            &json!({ "intent": "x", "scope": ["a"] }),
        );
        for listen in [&id, &unasked] {
            wait_for("news", BOUND, || {
                !heard(&modern, UPDATED, listen).is_empty()
            });
        }
        legacy.result("ping", &json!({}));
        let told = |client: &Client| {
            let messages = client.inbox().messages();
            messages
                .iter()
                .filter(|message| message["method"] == TOOLS_CHANGED)
                .count()
        };
        assert_eq!(
            heard(&modern, TOOLS_CHANGED, &id).len(),
            usize::from(other_build)
        );
        assert_eq!(
            heard(&modern, TOOLS_CHANGED, &unasked).len(),
            0,
            "it did not ask"
        );
        assert_eq!(told(&legacy), usize::from(other_build));
    }
}

/// Guards I6: a modern client replays nothing, and is there all the same before it says its next word.
#[test]
fn a_modern_client_that_is_idle_stays_on_the_board_over_a_takeover() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let witness = repository.attached("witness");
    let modern = repository.client("modern");
    modern.modern("tools/list", &json!({}));
    wait_for("the modern peer", BOUND, || {
        checks::attached(&witness.tool("majordomus_peers", &json!({}))).len() == 3
    });
    let id = |list: &Value| checks::peer(list, "modern").map(|peer| peer["id"].clone());
    let before = id(&witness.tool("majordomus_peers", &json!({})));
    assert!(before.is_some());
    owner.kill();
    repository.ready_when("another owner", |lease| lease["pid"] != owner.pid());
    wait_for("the room", BOUND, || {
        let list = witness.tool("majordomus_peers", &json!({}));
        checks::attached(&list) == ["modern", "witness"] && id(&list) == before
    });
}
