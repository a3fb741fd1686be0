//! The launcher and the client files that name it, black box: a real shell, real processes, a stand-in for cargo.
//!
//! What they hold: a client that starts never waits for a build if there is anything to run; stdout belongs to the
//! server; a running executable is never written to; a build outlives the client that caused it.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot set itself up has failed"
)]

mod fixture;

use std::fs::{self, File};
use std::io::Seek as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::Value;

use fixture::{
    Checkout, Run, Setsid, command, completed, completed_with, date, finish, found, wait_until,
};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
const PRIVATE: &str = "target/launcher/majordomus";

/// A checkout whose installed executable is a day old and whose sources are an hour old.
fn outdated() -> Checkout {
    let checkout = Checkout::new();
    checkout.server(PRIVATE, "old", DAY);
    checkout.sources(HOUR);
    checkout
}

fn content(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn the_first_start_builds_and_then_serves_the_client_that_waited() {
    let checkout = Checkout::new();
    checkout.open_gate();
    let run = completed(checkout.start().args(["--port", "0"]));
    run.served_by("built as debug");
    assert!(
        run.stdout.contains("argument --port\nargument 0\n"),
        "{run:?}"
    );
    assert!(run.stderr.contains("cargo speaks on stdout"), "{run:?}");
    let root = checkout.root().display().to_string();
    assert_eq!(
        checkout.calls(),
        [format!(
            "build --locked --bin majordomus --target-dir {root}/target"
        )]
    );
    assert_eq!(checkout.leftovers(), [""; 0]);
}

#[test]
fn the_start_after_the_first_build_asks_for_a_release_build_beside() {
    let checkout = Checkout::new();
    checkout.open_gate();
    completed(&mut checkout.start());
    completed(&mut checkout.start()).served_by("built as debug");
    wait_until("the release build", || {
        content(&checkout.private()).contains("built as release")
    });
    completed(&mut checkout.start()).served_by("built as release");
    assert_eq!(
        checkout.calls().len(),
        2,
        "the third start had nothing to build"
    );
}

#[test]
fn an_outdated_executable_serves_at_once_while_its_successor_is_built() {
    let checkout = outdated();
    let mut running = File::open(checkout.private()).unwrap();

    completed(&mut checkout.start()).served_by("old");
    wait_until("the build to begin", || checkout.calls().len() == 1);
    assert!(
        checkout.calls()[0].contains("--release"),
        "{:?}",
        checkout.calls()
    );
    assert!(
        content(&checkout.private()).contains("server old"),
        "the gate is shut"
    );

    checkout.open_gate();
    wait_until("the successor", || {
        content(&checkout.private()).contains("built as release")
    });
    running.rewind().unwrap();
    let bytes = std::io::read_to_string(running).unwrap();
    assert!(
        bytes.contains("server old"),
        "the running executable was written to"
    );
    completed(&mut checkout.start()).served_by("built as release");
    assert!(checkout.log().contains("cargo speaks on stdout"));
}

#[test]
fn a_fresh_executable_is_started_and_nothing_is_built() {
    let checkout = Checkout::new();
    checkout.sources(DAY);
    checkout.server(PRIVATE, "fresh", HOUR);
    completed(&mut checkout.start()).served_by("fresh");
    assert_eq!(checkout.calls(), [""; 0]);
}

#[test]
fn an_executable_that_cargo_left_is_taken_at_once() {
    let checkout = Checkout::new();
    checkout.server("target/debug/majordomus", "left by cargo", Duration::ZERO);
    completed(&mut checkout.start()).served_by("left by cargo");
    wait_until("the release build beside", || checkout.calls().len() == 1);
    checkout.open_gate();
    wait_until("its copy", || {
        content(&checkout.private()).contains("built as release")
    });
}

#[test]
fn an_edit_during_the_build_makes_its_result_outdated() {
    let checkout = outdated();
    completed(&mut checkout.start()).served_by("old");
    wait_until("the build to begin", || checkout.calls().len() == 1);
    date(&checkout.root().join("src/main.rs"), Duration::ZERO);
    checkout.open_gate();
    wait_until("the copy", || {
        content(&checkout.private()).contains("built as release")
    });
    completed(&mut checkout.start()).served_by("built as release");
    wait_until("the second build", || checkout.calls().len() == 2);
}

#[test]
fn a_build_outlives_the_client_that_gives_up() {
    outlives(Setsid::Present, "sh");
}

#[test]
fn a_build_outlives_the_client_where_there_is_no_setsid() {
    // A shell with job control is what macOS has; dash refuses job control without a terminal.
    outlives(Setsid::Absent, "bash");
}

fn outlives(setsid: Setsid, shell: &str) {
    let checkout = Checkout::named("checkout", setsid);
    let mut client = checkout
        .start_as(&found(shell))
        .arg(checkout.launcher())
        .spawn()
        .unwrap();
    wait_until("the build to begin", || checkout.calls().len() == 1);
    killpg(
        Pid::from_raw(client.id().try_into().unwrap()),
        Signal::SIGKILL,
    )
    .unwrap();
    client.wait().unwrap();
    drop(client);
    checkout.open_gate();
    wait_until("the executable", || checkout.private().exists());
    completed(&mut checkout.start()).served_by("built as debug");
}

#[test]
fn several_first_starts_are_all_served() {
    let checkout = Checkout::new();
    let clients: Vec<_> = (0..4).map(|_| checkout.start().spawn().unwrap()).collect();
    wait_until("a build to begin", || !checkout.calls().is_empty());
    checkout.open_gate();
    for client in clients {
        Run::of(&finish(client)).served_by("built as debug");
    }
    wait_until("all builds to end", || checkout.leftovers().is_empty());
}

#[test]
fn a_failed_first_build_says_what_failed_and_what_to_do() {
    let checkout = Checkout::new();
    checkout.break_builds();
    checkout.open_gate();
    let run = completed(&mut checkout.start());
    run.refused("the build failed");
    assert!(run.stderr.contains("cargo speaks on stderr"), "{run:?}");
    assert_eq!(checkout.leftovers(), [""; 0]);
}

#[test]
fn a_failed_build_beside_leaves_the_old_executable_in_use() {
    let checkout = outdated();
    checkout.break_builds();
    checkout.open_gate();
    for starts in 1..=2 {
        completed(&mut checkout.start()).served_by("old");
        wait_until("the build to be tried", || checkout.calls().len() == starts);
        wait_until("its end", || checkout.leftovers().is_empty());
    }
}

#[test]
fn without_cargo_an_outdated_executable_serves_and_a_missing_one_is_explained() {
    let checkout = outdated();
    checkout.remove_cargo();
    completed(&mut checkout.start()).served_by("old");
    fs::remove_file(checkout.private()).unwrap();
    completed(&mut checkout.start()).refused("no cargo to build one");
}

#[test]
fn majordomus_bin_is_run_and_nothing_is_built() {
    let checkout = outdated();
    checkout.server("elsewhere/majordomus", "elsewhere", DAY);
    let elsewhere = checkout.root().join("elsewhere/majordomus");
    let run = completed(checkout.start().env("MAJORDOMUS_BIN", elsewhere));
    run.served_by("elsewhere");
    assert_eq!(checkout.calls(), [""; 0]);

    let run = completed(checkout.start().env("MAJORDOMUS_BIN", checkout.root()));
    run.refused("MAJORDOMUS_BIN names no executable");
}

#[test]
fn the_real_executable_answers_through_the_launcher_of_this_tree() {
    let checkout = Checkout::new();
    let launcher = Path::new(env!("CARGO_MANIFEST_DIR")).join("bin/majordomus-mcp");
    let run = completed_with(
        checkout
            .start_as(&launcher)
            .env("MAJORDOMUS_BIN", env!("CARGO_BIN_EXE_majordomus")),
        r#"{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"launcher","version":"1"}}}"#,
    );
    assert_eq!(run.code, Some(0), "{run:?}");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["id"], "first");
    assert_eq!(answer["result"]["serverInfo"]["name"], "majordomus");
}

#[test]
fn majordomus_no_build_never_builds() {
    let checkout = outdated();
    let no_build = || {
        let mut start = checkout.start();
        start.env("MAJORDOMUS_NO_BUILD", "1");
        start
    };
    completed(&mut no_build()).served_by("old");
    checkout.server("target/release/majordomus", "built by hand", Duration::ZERO);
    completed(&mut no_build()).served_by("built by hand");
    fs::remove_dir_all(checkout.root().join("target")).unwrap();
    completed(&mut no_build()).refused("MAJORDOMUS_NO_BUILD forbids");
    assert_eq!(checkout.calls(), [""; 0]);
}

#[test]
fn it_works_from_any_folder_through_links_and_in_a_path_with_odd_characters() {
    let checkout = Checkout::named("it's \"odd\" $HOME – ž čárka", Setsid::Present);
    checkout.open_gate();
    let links = checkout.outside().join("links");
    fs::create_dir(&links).unwrap();
    symlink(checkout.launcher(), links.join("absolute")).unwrap();
    symlink("absolute", links.join("relative")).unwrap();

    let run = completed(&mut checkout.start_as(&links.join("relative")));
    run.served_by("built as debug");
    let share = format!("share {}\n", checkout.root().join("share").display());
    assert!(run.stdout.contains(&share), "{run:?}");
    let folder = format!("folder {}\n", checkout.outside().display());
    assert!(
        run.stdout.contains(&folder),
        "the working folder is the client's: {run:?}"
    );
}

#[test]
fn a_share_folder_named_by_the_user_is_kept() {
    let checkout = Checkout::new();
    checkout.server(PRIVATE, "fresh", Duration::ZERO);
    let run = completed(checkout.start().env("MAJORDOMUS_SHARE", "/elsewhere"));
    assert!(run.stdout.contains("share /elsewhere\n"), "{run:?}");
}

/// What a client file says about the server.
#[derive(Debug, PartialEq)]
struct Entry {
    command: String,
    args: Vec<String>,
    timeout: Duration,
}

fn client_file(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn entry_of_json(path: &str) -> Entry {
    let file: Value = serde_json::from_str(&client_file(path)).unwrap();
    let server = &file["mcpServers"]["majordomus"];
    Entry {
        command: server["command"].as_str().unwrap().to_owned(),
        args: serde_json::from_value(server["args"].clone()).unwrap(),
        timeout: Duration::from_millis(server["timeout"].as_u64().unwrap()),
    }
}

/// Reads the few lines we write ourselves; a change of their form is a change of this test.
fn entry_of_toml(path: &str) -> Entry {
    let file = client_file(path);
    let value = |key: &str| {
        let line = file
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{key} = ")));
        line.unwrap_or_else(|| panic!("{path} has no {key}"))
            .to_owned()
    };
    let args = value("args");
    let literal = args
        .strip_prefix("[\"-c\", '")
        .and_then(|rest| rest.strip_suffix("']"));
    Entry {
        command: value("command").trim_matches('"').to_owned(),
        args: vec!["-c".to_owned(), literal.unwrap().to_owned()],
        timeout: Duration::from_secs(value("startup_timeout_sec").parse().unwrap()),
    }
}

#[test]
fn the_three_client_files_start_the_same_command_with_the_same_patience() {
    let claude = entry_of_json(".mcp.json");
    assert_eq!(entry_of_json(".gemini/settings.json"), claude);
    assert_eq!(entry_of_toml(".codex/config.toml"), claude);
    assert_eq!(claude.command, "sh");
    // Clients count in 31-bit milliseconds; past that a timer fires at once.
    assert!(i32::try_from(claude.timeout.as_millis()).is_ok());
}

#[test]
fn the_command_of_the_client_files_finds_the_launcher_from_any_folder_of_a_checkout() {
    let checkout = Checkout::named("with 'quotes' and spaces", Setsid::Present);
    checkout.server(PRIVATE, "fresh", Duration::ZERO);
    let made = command(found("git"))
        .args(["init", "-q"])
        .arg(checkout.root())
        .status()
        .unwrap();
    assert!(made.success());
    let below = checkout.root().join("src/deeper");
    fs::create_dir(&below).unwrap();
    date(&below, HOUR);
    checkout.sources(HOUR);
    let entry = entry_of_json(".mcp.json");
    let mut start = checkout.start_as(Path::new(&found(&entry.command)));
    completed(start.args(&entry.args).current_dir(below)).served_by("fresh");
}
