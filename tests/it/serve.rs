//! `serve`, and the two ways to look without taking part: `--inspect` and `--standalone`.

use std::fs;

use serde_json::{Value, json};

use crate::support::{BOUND, Repository, checks, wait_for};

/// Guards I13.
#[test]
fn inspecting_writes_nothing() {
    for repository in [Repository::new(), Repository::without_git()] {
        let before = repository.fingerprint();
        let output = repository.cli(&["mcp", "--inspect"]);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("majordomus_peers"), "{text}");
        assert!(
            text.contains("token"),
            "what tools/list costs a model: {text}"
        );
        let json = repository.cli(&["mcp", "--inspect", "--json"]);
        serde_json::from_slice::<Value>(&json.stdout).unwrap();
        assert_eq!(repository.fingerprint(), before);
    }
}

/// Guards I13.
#[test]
fn standing_alone_by_request_writes_nothing_and_refuses_by_name() {
    for repository in [Repository::new(), Repository::without_git()] {
        let before = repository.fingerprint();
        let client = repository
            .launch()
            .name("alone")
            .arguments(&["mcp", "--standalone"])
            .start();
        client.initialize();
        let list = client.tool("majordomus_peers", &json!({}));
        assert_eq!(checks::attached(&list), ["alone"], "{list}");
        let answer = client.call(
            "majordomus_announce",
            &json!({ "intent": "x", "scope": ["a"] }),
        );
        assert!(checks::failed(&answer), "{answer}");
        assert!(answer.to_string().contains("standalone"), "{answer}");
        client.close();
        assert!(client.exit().success());
        assert_eq!(repository.fingerprint(), before);
    }
}

/// Guards I1: beside a running server, standing alone is really alone.
#[test]
fn standing_alone_beside_a_running_server_does_not_join_it() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    repository.ready();
    let alone = repository
        .launch()
        .name("alone")
        .arguments(&["mcp", "--standalone"])
        .start();
    alone.initialize();
    let list = alone.tool("majordomus_peers", &json!({}));
    assert_eq!(checks::attached(&list), ["alone"], "{list}");
    checks::one_board(&[&owner]);
}

#[test]
fn serve_defers_to_a_running_server() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let lease = repository.ready_when("a url", |lease| lease["url"].is_string());
    let output = repository.cli(&["serve"]);
    assert!(output.status.success(), "{output:?}");
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains(lease["url"].as_str().unwrap()), "{text}");
    assert_eq!(repository.ready()["instance"], lease["instance"]);
    checks::one_board(&[&owner]);
}

/// Guards I11.
#[test]
fn serve_hosts_without_a_client_and_ends_with_its_input_or_a_signal() {
    let repository = Repository::new();
    let serve = repository
        .launch()
        .name("serve")
        .arguments(&["serve", "--conformance"])
        .start();
    repository.ready_when("the document of serve", |lease| lease["pid"] == serve.pid());
    let bridge = repository.attached("bridge");
    checks::one_board(&[&bridge]);
    serve.close();
    serve.exit();
    repository.ready_when("the bridge's document", |lease| {
        lease["pid"] == bridge.pid()
    });
    checks::one_board(&[&bridge]);
}

/// Guards I5: it has no client to wait for, and stands again by itself.
#[test]
fn serve_stands_again_after_its_lock_was_replaced() {
    let repository = Repository::new();
    let serve = repository
        .launch()
        .name("serve")
        .arguments(&["serve", "--conformance"])
        .start();
    for _ in 0..3 {
        let before =
            repository.ready_when("the document of serve", |lease| lease["pid"] == serve.pid());
        fs::remove_dir_all(repository.root().join(".ai/local")).unwrap();
        repository.ready_when("another document of serve", |lease| {
            lease["pid"] == serve.pid() && lease["instance"] != before["instance"]
        });
    }
    assert!(serve.ended().is_none());
    let bridge = repository.attached("bridge");
    checks::one_board(&[&bridge]);
    assert_eq!(repository.owner_pid(), Some(serve.pid()));
}

/// Guards I11: /dev/null as input is no end of input.
#[test]
fn serve_stays_when_its_input_is_no_pipe_and_stops_when_asked() {
    let repository = Repository::new();
    let serve = repository
        .launch()
        .name("serve")
        .arguments(&["serve"])
        .wrapped(
            ["sh", "-c", r#"exec "$@" </dev/null"#, "sh"]
                .map(Into::into)
                .to_vec(),
        )
        .start();
    repository.ready_when("the document of serve", |lease| lease["pid"] == serve.pid());
    assert!(serve.ended().is_none());
    let output = repository.cli(&["stop"]);
    assert!(output.status.success(), "{output:?}");
    serve.exit();
    assert!(!repository.document().exists());
    let again = repository.cli(&["stop"]);
    assert_eq!(again.status.code(), Some(1), "{again:?}");
}

#[test]
fn the_time_since_when_it_serves_never_moves() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let http = repository.http();
    let started = || http.get("/api/v1/status").json()["started_at"].clone();
    let first = started();
    for _ in 0..200 {
        assert_eq!(started(), first);
    }
}

#[test]
fn the_log_tells_why_a_server_serves_with_another_epoch_than_it_was_elected_with() {
    let repository = Repository::new();
    let first = repository.attached("first");
    repository.ready();
    first.close();
    first.exit();
    let second = repository.attached("second");
    let epoch = repository.ready()["epoch"].clone();
    wait_for("the line between", BOUND, || {
        repository.log().contains("the epoch counts on")
    });
    assert!(epoch.as_u64() > Some(1), "{epoch}");
    drop(second);
}

#[test]
fn what_could_not_be_printed_is_a_failure_unless_nobody_reads() {
    let repository = Repository::new();
    for words in [
        &["--help"][..],
        &["--version"],
        &["mcp", "--help"],
        &["capabilities"],
    ] {
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let ended = repository.command(words).stdout(full).output().unwrap();
        assert_eq!(ended.status.code(), Some(1), "{words:?}");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(said.contains("standard output"), "{words:?}: {said}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = repository.command(words).stdout(writer).output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{words:?} for nobody");
        assert!(ended.stderr.is_empty(), "{words:?} for nobody");
    }
}

/// Guards I14: the code in it is used or too old by then.
#[test]
fn a_redirect_of_an_earlier_server_is_gone_when_the_next_one_starts() {
    let repository = Repository::new();
    let first = repository.attached("first");
    let opened = repository.cli(&["open", "--json"]);
    assert!(opened.status.success(), "{opened:?}");
    let page = repository.state().join("open.html");
    assert!(page.exists());
    first.close();
    first.exit();
    let _second = repository.attached("second");
    repository.ready();
    assert!(!page.exists(), "a used redirect stays behind");
}
