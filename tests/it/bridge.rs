//! What every client gets, whichever side of a link it is on.

use nix::unistd::{Pid, getpgid};
use serde_json::{Value, json};

use crate::support::launch::Streams;
use crate::support::{BOUND, Client, Repository, checks, frames, wait_for};

/// An owner and a bridge, to make the same claim about both.
fn both(claim: impl Fn(&Client)) {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    claim(&owner);
    claim(&bridge);
    assert!(
        owner.inbox().strays().is_empty(),
        "{:?}",
        owner.inbox().strays()
    );
    assert!(
        bridge.inbox().strays().is_empty(),
        "{:?}",
        bridge.inbox().strays()
    );
}

/// Guards I6.
#[test]
fn a_slow_call_holds_back_no_other_call_and_no_ping() {
    both(|client| {
        let slow = client.begin_call("conformance_slow", &json!({ "ms": 1500 }));
        client.result("ping", &json!({}));
        client.tool("conformance_echo", &json!({ "value": "quick" }));
        assert_eq!(
            client.inbox().count(&slow),
            0,
            "the slow call must still run"
        );
        checks::succeeded(&client.answer(&slow));
    });
}

/// Guards I6.
#[test]
fn a_cancelled_call_gets_no_answer_and_the_next_one_does() {
    both(|client| {
        let slow = client.begin_call("conformance_slow", &json!({ "ms": 600 }));
        client.notify("notifications/cancelled", &json!({ "requestId": slow }));
        let after = client.begin_call("conformance_slow", &json!({ "ms": 900 }));
        checks::succeeded(&client.answer(&after));
        assert_eq!(client.inbox().count(&slow), 0);
    });
}

/// Guards I6: 300 cancelled calls would hold every place for calls that one client has, were one of them overlooked.
#[test]
fn a_cancellation_right_behind_its_request_is_honoured() {
    let repository = Repository::new();
    let alone = repository.launch().name("alone").argument("--standalone");
    let alone = alone.start();
    alone.initialize();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    for client in [&owner, &bridge, &alone] {
        let call = |id: &Value, tool: &str, arguments: Value| {
            let params = frames::call(tool, &arguments);
            format!("{}\n", frames::request(id, "tools/call", &params))
        };
        let cancelled: Vec<Value> = (0..300).map(|_| client.next_id()).collect();
        let kept = [client.next_id(), client.next_id()];
        let mut text = call(&kept[0], "conformance_echo", json!({ "value": "before" }));
        for id in &cancelled {
            text.push_str(&call(id, "conformance_slow", json!({ "ms": 600_000 })));
            let (method, params) = ("notifications/cancelled", json!({ "requestId": id }));
            let cancel = json!({ "jsonrpc": "2.0", "method": method, "params": params });
            text.extend([cancel.to_string(), "\n".to_owned()]);
        }
        text.push_str(&call(
            &kept[1],
            "conformance_echo",
            json!({ "value": "behind" }),
        ));
        client.write(text.as_bytes()).unwrap();
        for id in &kept {
            checks::succeeded(&client.answer(id));
        }
        client.result("ping", &json!({}));
        for id in &cancelled {
            assert_eq!(
                client.inbox().count(id),
                0,
                "{} answered {id}",
                client.name()
            );
        }
    }
}

/// Guards I6.
#[test]
fn hundreds_of_calls_at_once_are_answered_once_each() {
    both(|client| {
        let ids: Vec<Value> = (0..300)
            .map(|number| client.begin_call("conformance_echo", &json!({ "value": number })))
            .collect();
        for (number, id) in ids.iter().enumerate() {
            let answer = client.answer(id);
            checks::succeeded(&answer);
            assert_eq!(answer["result"]["structuredContent"]["value"], number);
        }
        client.result("ping", &json!({}));
        for id in &ids {
            assert_eq!(client.inbox().count(id), 1);
        }
    });
}

#[test]
fn ids_come_back_as_they_were_sent() {
    both(|client| {
        for id in [
            json!("text"),
            json!(""),
            json!(9_007_199_254_740_993_i64),
            json!(-4),
            json!("ünï\u{0}\"\\"),
        ] {
            client.send(&frames::request(&id, "ping", &json!({})));
            let answer = client.answer(&id);
            assert_eq!(answer["id"], id);
        }
    });
}

#[test]
fn fields_nobody_knows_pass_and_do_no_harm() {
    both(|client| {
        let value = json!({ "deep": [{ "ünï": 1.5e300, "n": null }], "z": 1, "a": [true, ""] });
        let id = client.next_id();
        client.send(&json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call", "x-future": { "a": 1 },
            "params": {
                "name": "conformance_echo",
                "arguments": { "value": value },
                "_meta": { "claudecode/toolUseId": "t", "x-codex-turn-metadata": { "a": [] } },
                "futureField": 1,
            },
        }));
        let answer = client.answer(&id);
        checks::succeeded(&answer);
        assert_eq!(answer["result"]["structuredContent"]["value"], value);
    });
}

#[test]
fn answers_of_megabytes_arrive_whole() {
    both(|client| {
        let answer = client.call("conformance_large", &json!({ "bytes": 1_500_000 }));
        checks::succeeded(&answer);
        assert!(answer.to_string().len() >= 1_500_000);
    });
}

/// Guards I5b: a client that asks for much at once is served by an owner that is still heard.
#[test]
fn a_flood_of_one_client_makes_nobody_take_the_owner_for_stalled() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let flooding = repository.attached("flooding");
    let witness = repository.attached("witness");
    let large = json!({ "bytes": 300_000 });
    let asked: Vec<_> = (0..100)
        .map(|_| flooding.begin_call("conformance_large", &large))
        .collect();
    for number in 0..20 {
        let answer = witness.call("conformance_echo", &json!({ "value": number }));
        checks::succeeded(&answer);
        assert!(checks::degraded(&answer).is_none(), "{answer}");
    }
    for id in &asked {
        let answer = flooding.answer(id);
        checks::succeeded(&answer);
        assert!(checks::degraded(&answer).is_none(), "degraded");
    }
    for process in [&owner, &flooding, &witness] {
        assert!(
            !process.stderr().contains("stalled"),
            "{}",
            process.stderr()
        );
    }
}

/// Guards I5b.
#[test]
fn every_process_leaves_its_clients_process_group() {
    both(|client| {
        let pid = Pid::from_raw(client.pid());
        assert_eq!(getpgid(Some(pid)).unwrap(), pid);
    });
}

#[test]
fn a_socket_pair_as_stdin_and_stdout_works_as_pipes_do() {
    let repository = Repository::new();
    let owner = repository
        .launch()
        .name("owner")
        .stdio(Streams::Sockets)
        .start();
    let bridge = repository
        .launch()
        .name("bridge")
        .stdio(Streams::Sockets)
        .start();
    for client in [&owner, &bridge] {
        client.attach();
        client.tool("conformance_large", &json!({ "bytes": 500_000 }));
    }
    let list = bridge.tool("majordomus_peers", &json!({}));
    assert_eq!(checks::attached(&list), ["bridge", "owner"]);
    bridge.close();
    assert!(bridge.exit().success());
}

/// Guards I6, I11: what was asked before the end of input is answered before the end of the process.
#[test]
fn answers_in_flight_at_the_end_of_input_are_sent_first() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    // The bridge first: the owner's end makes the bridge the next owner.
    for client in [bridge, owner] {
        let ids: Vec<Value> = (0..10)
            .map(|_| client.begin_call("conformance_slow", &json!({ "ms": 50 })))
            .collect();
        client.close();
        for id in &ids {
            checks::succeeded(&client.answer(id));
        }
        assert!(client.exit().success());
    }
}

/// Guards I11.
#[test]
fn a_process_whose_parent_is_gone_ends_although_its_input_stays_open() {
    let repository = Repository::new();
    // The shell is the client; it keeps our pipe open for its child and is then killed.
    let shell = repository
        .launch()
        .name("orphan")
        .wrapped(
            ["sh", "-c", r#"exec 3<&0; "$@" <&3 & wait"#, "sh"]
                .map(Into::into)
                .to_vec(),
        )
        .start();
    shell.initialize();
    let owner = repository.ready()["pid"].as_i64().unwrap();
    assert_ne!(owner, i64::from(shell.pid()));
    let owner = Pid::from_raw(i32::try_from(owner).unwrap());
    shell.signal(nix::sys::signal::Signal::SIGKILL);
    wait_for("the end of the orphan", BOUND, || {
        nix::sys::signal::kill(owner, None).is_err() || zombie(owner)
    });
}

/// Whether a process has ended and only waits to be reaped, where the system tells.
fn zombie(pid: Pid) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|text| {
        text.rsplit(')')
            .next()
            .is_some_and(|rest| rest.trim().starts_with('Z'))
    })
}

/// Guards I8.
#[test]
fn a_bridge_opens_no_database() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    owner.tool(
        "majordomus_announce",
        &json!({ "intent": "x", "scope": ["a"] }),
    );
    bridge.tool(
        "majordomus_announce",
        &json!({ "intent": "y", "scope": ["a"] }),
    );
    let open = |client: &Client| -> Option<Vec<String>> {
        let links = std::fs::read_dir(format!("/proc/{}/fd", client.pid())).ok()?;
        Some(
            links
                .filter_map(|link| std::fs::read_link(link.ok()?.path()).ok())
                .map(|target| target.to_string_lossy().into_owned())
                .filter(|target| target.contains(".db"))
                .collect(),
        )
    };
    if let Some(files) = open(&bridge) {
        assert!(files.is_empty(), "{files:?}");
    }
}

#[test]
fn a_call_that_panics_fails_alone() {
    both(|client| {
        let panic = client.begin_call("conformance_panic", &json!({}));
        let slow = client.begin_call("conformance_slow", &json!({ "ms": 200 }));
        let answer = client.answer(&panic);
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        checks::succeeded(&client.answer(&slow));
        client.tool("majordomus_peers", &json!({}));
    });
}

/// Guards I14: a proxy of the environment never sees loopback traffic.
#[test]
fn proxy_variables_are_ignored() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let mut launch = repository.launch().name("bridge");
    for name in [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        launch = launch.variable(name, "http://127.0.0.1:1");
    }
    let bridge = launch.start();
    bridge.attach();
    let list = owner.tool("majordomus_peers", &json!({}));
    assert_eq!(checks::attached(&list), ["bridge", "owner"]);
}

/// Guards I6: handshake frames do not wait for an owner that does not come.
#[test]
fn the_handshake_is_answered_although_the_owner_is_frozen() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    repository.ready();
    owner.signal(nix::sys::signal::Signal::SIGSTOP);
    let newcomer = repository.client("newcomer");
    let start = std::time::Instant::now();
    newcomer.initialize();
    let tools = newcomer.result("tools/list", &json!({}));
    println!("first answers after {:?}", start.elapsed());
    assert!(
        tools["tools"]
            .as_array()
            .is_some_and(|tools| !tools.is_empty())
    );
    owner.signal(nix::sys::signal::Signal::SIGCONT);
}
