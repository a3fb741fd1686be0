//! The commands a person types: exit codes, streams, JSON.

use std::io::Read as _;
use std::process::Output;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{BOUND, Repository, checks, wait_for};

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs a command that must succeed and print one JSON value.
#[track_caller]
fn as_json(repository: &Repository, arguments: &[&str]) -> Value {
    let output = repository.cli(arguments);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{arguments:?}: {}",
        stderr(&output)
    );
    serde_json::from_str(&stdout(&output))
        .unwrap_or_else(|error| panic!("{error}: {}", stdout(&output)))
}

#[test]
fn wrong_usage_exits_2_and_says_so_on_stderr_only() {
    let repository = Repository::new();
    for arguments in [
        &["no-such-command"][..],
        &["mcp", "--no-such-flag"],
        &["describe"],
        &[],
    ] {
        let output = repository.cli(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            stdout(&output).is_empty(),
            "{arguments:?}: {}",
            stdout(&output)
        );
        assert!(!stderr(&output).is_empty(), "{arguments:?}");
    }
    assert!(!repository.root().join(".ai").exists());
}

#[test]
fn help_and_version_go_to_stdout() {
    let repository = Repository::new();
    let help = repository.cli(&["--help"]);
    assert_eq!(help.status.code(), Some(0));
    for command in [
        "mcp",
        "serve",
        "status",
        "stop",
        "peers",
        "announce",
        "capabilities",
        "describe",
        "call",
        "open",
        "generate",
        "validate",
    ] {
        assert!(stdout(&help).contains(command), "{command}");
        assert_eq!(
            repository.cli(&[command, "--help"]).status.code(),
            Some(0),
            "{command}"
        );
    }
    assert!(stdout(&repository.cli(&["--version"])).contains(env!("CARGO_PKG_VERSION")));
}

/// Guards I11.
#[test]
fn without_an_owner_commands_say_so_exit_1_and_hint() {
    let repository = Repository::new();
    for arguments in [
        &["peers"][..],
        &["announce", "x", "a"],
        &["call", "peers.list"],
        &["stop"],
    ] {
        let output = repository.cli(arguments);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains("hint:"),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(stdout(&output).is_empty(), "{arguments:?}");
    }
}

#[test]
fn status_tells_who_serves_and_which_files_are_used() {
    let repository = Repository::new();
    let before = repository.cli(&["status", "--json"]);
    serde_json::from_slice::<Value>(&before.stdout).unwrap();
    let owner = repository.attached("owner");
    let lease = repository.ready_when("a url", |lease| lease["url"].is_string());
    let status = as_json(&repository, &["status", "--json"]);
    let text = status.to_string();
    assert!(
        text.contains(lease["url"].as_str().unwrap().trim_end_matches('/')),
        "{text}"
    );
    assert!(text.contains(&owner.pid().to_string()), "{text}");
    for file in ["server.json", "server.lock", "token", "board.db"] {
        assert!(text.contains(file), "{file} in {text}");
    }
    let words = repository.cli(&["status"]);
    assert!(stdout(&words).contains(lease["url"].as_str().unwrap().trim_end_matches('/')));
    assert!(!text.contains(&repository.token().unwrap()));
}

#[test]
fn peers_are_shown_and_announcements_are_made_from_the_command_line() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    owner.tool(
        "majordomus_announce",
        &json!({ "intent": "the parser", "scope": ["src/**"] }),
    );
    let list = as_json(&repository, &["peers", "--json"]);
    assert_eq!(checks::attached(&list), ["owner"], "{list}");
    assert!(stdout(&repository.cli(&["peers"])).contains("the parser"));
    let output = repository.cli(&["announce", "by hand", "src/main.rs", "--json"]);
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{}",
        stderr(&output)
    );
    let answer: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        answer["collisions"].as_array().map(Vec::len),
        Some(1),
        "{answer}"
    );
    let list = owner.tool("majordomus_peers", &json!({}));
    assert!(
        list.to_string().contains("by hand"),
        "it stays after the command has ended: {list}"
    );
    let folder = repository.root().join("sub");
    std::fs::create_dir(&folder).unwrap();
    assert!(repository.cli_in(&folder, &["peers"]).status.success());
    let withdrawn = repository.cli(&["announce", ""]);
    assert!(withdrawn.status.success(), "{withdrawn:?}");
    assert_eq!(stdout(&withdrawn), "withdrawn\n");
}

/// Guards I9.
#[test]
fn capabilities_are_listed_described_and_called_by_id() {
    let repository = Repository::new();
    let list = as_json(&repository, &["capabilities", "--json"]);
    let text = list.to_string();
    for id in [
        "repository.info",
        "server.status",
        "server.stop",
        "capabilities.list",
        "capabilities.describe",
        "peers.list",
        "peers.announce",
    ] {
        assert!(text.contains(id), "{id} in {text}");
        let description = as_json(&repository, &["describe", id, "--json"]);
        assert_eq!(description["id"], id, "{description}");
        assert!(
            description.to_string().contains("\"type\":\"object\""),
            "{description}"
        );
        assert!(!stdout(&repository.cli(&["describe", id])).is_empty());
    }
    assert_eq!(
        repository.cli(&["describe", "no.such"]).status.code(),
        Some(1)
    );
    let _owner = repository.attached("owner");
    repository.ready();
    for id in [
        "repository.info",
        "server.status",
        "capabilities.list",
        "peers.list",
    ] {
        assert!(as_json(&repository, &["call", id]).is_object(), "{id}");
    }
    let answer = as_json(
        &repository,
        &[
            "call",
            "peers.announce",
            "--json",
            r#"{"intent":"called","scope":["a"]}"#,
        ],
    );
    assert!(answer["collisions"].is_array(), "{answer}");
    let wrong = repository.cli(&["call", "peers.announce", "--json", r#"{"intent":5}"#]);
    assert_eq!(wrong.status.code(), Some(1), "{}", stderr(&wrong));
    assert!(stdout(&wrong).is_empty());
    let garbage = repository.cli(&["call", "peers.announce", "--json", "{"]);
    assert!(
        matches!(garbage.status.code(), Some(1 | 2)),
        "{}",
        stderr(&garbage)
    );
    assert_eq!(repository.cli(&["call", "no.such"]).status.code(), Some(1));
}

/// Guards I9.
#[test]
fn the_registry_and_every_projection_validate() {
    let repository = Repository::new();
    let output = repository.cli(&["validate"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let result = as_json(&repository, &["validate", "--json"]);
    assert!(result.is_object() || result.is_array(), "{result}");
    assert!(!repository.root().join(".ai").exists(), "it writes nothing");
}

/// Guards I11.
#[test]
fn stop_demotes_an_owner_with_clients_and_says_who_took_over() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let before = repository.ready();
    let output = repository.cli(&["stop"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let after = repository.ready_when("another owner", |lease| {
        lease["instance"] != before["instance"]
    });
    let text = format!("{}{}", stdout(&output), stderr(&output));
    assert!(
        text.contains(&after["pid"].to_string()),
        "who took over: {text}"
    );
    for client in [&owner, &bridge] {
        wait_for("both are still served", BOUND, || {
            checks::attached(&client.tool("majordomus_peers", &json!({}))) == ["bridge", "owner"]
        });
    }
}

/// Guards I11.
#[test]
fn stop_all_ends_every_process_in_order() {
    let repository = Repository::new();
    let clients = ["a", "b", "c"].map(|name| repository.attached(name));
    repository.ready();
    let output = repository.cli(&["stop", "--all"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for client in &clients {
        assert!(client.exit().success());
    }
    assert!(!repository.document().exists());
}

/// Guards I14: neither the process list nor a log sees what signs in.
#[test]
fn open_hands_the_sign_in_over_in_a_private_file() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    repository.ready();
    // A browser that only notes what it was given.
    let browser = repository.outside().join("browser");
    let noted = repository.outside().join("noted");
    crate::support::build::executable(
        &browser,
        format!(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" >'{}.tmp'\ncp \"${{1#file://}}\" '{}.page' 2>/dev/null\nmv '{0}.tmp' '{0}'\n",
            noted.display(),
            noted.display()
        ),
    );
    let output = crate::support::command::hermetic(
        crate::support::command::MAJORDOMUS,
        repository.root(),
        repository.home(),
    )
    .args(["open", "docs"])
    .env("BROWSER", &browser)
    .output()
    .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    wait_for("the browser was started", BOUND, || noted.exists());
    let arguments = std::fs::read_to_string(&noted).unwrap();
    let token = repository.token().unwrap();
    assert!(
        !arguments.contains(&token) && !arguments.contains('#'),
        "{arguments}"
    );
    let page = std::fs::read_to_string(format!("{}.page", noted.display())).unwrap_or_default();
    assert!(page.contains("/docs/") && !page.contains(&token), "{page}");
    assert!(!repository.log().contains(&token));
}

#[test]
fn the_log_holds_life_cycle_lines_and_no_secret() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let _bridge = repository.attached("bridge");
    owner.tool(
        "conformance_echo",
        &json!({ "value": "do not log this value" }),
    );
    let lease = repository.ready_when("a url", |lease| lease["url"].is_string());
    let log = repository.log();
    assert!(
        log.contains(lease["url"].as_str().unwrap().trim_end_matches('/')),
        "{log}"
    );
    assert!(!log.contains("do not log this value"));
    assert!(!log.contains(&repository.token().unwrap()));
}

#[test]
fn a_reader_that_went_away_ends_a_command_quietly_and_well() {
    let repository = Repository::new();
    for arguments in [&["capabilities"][..], &["--help"], &["completions", "bash"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = repository
            .command(arguments)
            .stdout(writer)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(stderr(&output), "", "{arguments:?}");
    }
}

#[test]
fn colour_is_for_terminals_only() {
    let repository = Repository::new();
    for arguments in [&["status"][..], &["describe", "peers.list"], &["peers"]] {
        let output = repository
            .command(arguments)
            .env("TERM", "xterm-256color")
            .output()
            .unwrap();
        let printed = stdout(&output) + &stderr(&output);
        assert!(!printed.contains('\u{1b}'), "{printed}");
    }
}

/// Guards I15: nobody who reads no log can hold a server up.
#[test]
fn a_server_whose_standard_error_nobody_reads_goes_on_serving() {
    let repository = Repository::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut server = repository
        .command(&["serve"])
        .env("MAJORDOMUS_LOG", "trace")
        .stderr(writer)
        .spawn()
        .unwrap();
    repository.ready();
    for _ in 0..50 {
        as_json(&repository, &["peers", "--json"]);
    }
    drop(reader);
    as_json(&repository, &["peers", "--json"]);
    let output = repository.cli(&["stop"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(server.wait().unwrap().success());
}

/// Guards I14: the link that signs in is for the person at the terminal, so no pipe and no log gets one.
#[test]
fn a_sign_in_link_is_shown_on_a_terminal_and_nowhere_else() {
    let repository = Repository::new();
    let terminal = nix::pty::openpty(None, None).unwrap();
    let mut server = repository
        .command(&["serve"])
        .stderr(terminal.slave)
        .spawn()
        .unwrap();
    let mut screen = std::fs::File::from(terminal.master);
    let mut seen = String::new();
    while !seen.contains("#code=") {
        let mut piece = [0; 1024];
        let read = screen.read(&mut piece).unwrap();
        seen.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
    repository.ready();
    let log = repository.log();
    assert!(log.contains("/docs/") && !log.contains("code="), "{log}");
    repository.cli(&["stop"]);
    assert!(server.wait().unwrap().success());
    let owner = repository.attached("owner");
    assert!(!owner.stderr().contains("code="));
}

#[test]
fn every_refusal_comes_with_something_that_helps() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    repository.ready();
    for arguments in [
        &["announce", "out", "../elsewhere"][..],
        &["call", "peers.list", "--json", "{\"no\":1}"],
        &["describe", "nothing.like.it"],
        &["--repo", "/nonexistent", "peers"],
    ] {
        let output = repository.cli(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(
            said.contains("error: ") && said.contains("\nhint: "),
            "{said}"
        );
    }
}

/// Guards I5b: a stopped owner is named, and no command waits for it for long.
#[test]
fn a_stopped_server_is_named_within_seconds() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    repository.ready();
    owner.signal(Signal::SIGSTOP);
    let output = repository.cli(&["status", "--json"]);
    owner.signal(Signal::SIGCONT);
    assert_eq!(output.status.code(), Some(1));
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["state"], "silent", "{status}");
    assert!(
        status["hint"]
            .to_string()
            .contains(&owner.pid().to_string())
    );
    as_json(&repository, &["peers", "--json"]);
}
