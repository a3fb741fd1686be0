//! What the system gives a process: few files, a wrong clock.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::support::command::{hermetic, succeed};
use crate::support::{Repository, checks, preload};

/// A clock in 1960, for a process that loads it first: what asks for the wall clock is told so, and all else is not.
const OLD_CLOCK: &str = r"
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, id, now);
    if (!failed && id == CLOCK_REALTIME) now->tv_sec -= 2100000000L;
    return failed;
}
";

/// What `serve` says on standard error from its start to its end, with this log filter.
fn said_with_filter(filter: &str) -> String {
    let repository = Repository::new();
    let server = repository
        .command(&["serve"])
        .env("MAJORDOMUS_LOG", filter)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    repository.ready();
    assert!(repository.cli(&["stop"]).status.success());
    let output = server.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_is_logged_is_what_the_filter_asks_for() {
    assert!(said_with_filter("").contains("INFO"));
    assert_eq!(said_with_filter("error"), "");
    assert!(said_with_filter("error,majordomus::host=info").contains("INFO"));
    assert_eq!(said_with_filter("error,majordomus::memory=info"), "");
    let said = said_with_filter("majordomus=loud");
    assert!(said.contains("the log filter is not understood"), "{said}");
    assert!(said.contains("INFO"), "{said}");
}

/// Guards I15: every client is a file, and the usual soft limit is low.
#[test]
#[cfg(target_os = "linux")]
fn the_number_of_open_files_is_raised_to_what_is_allowed() {
    let repository = Repository::new();
    let low = |arguments: &[&str]| {
        let launch = repository.launch().arguments(arguments);
        launch.wrapped(
            ["sh", "-c", r#"ulimit -Sn 64; exec "$@""#, "sh"]
                .map(Into::into)
                .to_vec(),
        )
    };
    let owner = low(&["mcp", "--conformance"]).name("owner").start();
    owner.attach();
    let bridge = low(&["mcp", "--conformance"]).name("bridge").start();
    bridge.attach();
    let elsewhere = Repository::new();
    let serve = elsewhere.launch().name("serve").arguments(&["serve"]);
    let wrapper = ["sh", "-c", r#"ulimit -Sn 64; exec "$@""#, "sh"];
    let serve = serve.wrapped(wrapper.map(Into::into).to_vec()).start();
    elsewhere.ready();
    for process in [&owner, &bridge, &serve] {
        let limits = fs::read_to_string(format!("/proc/{}/limits", process.pid())).unwrap();
        let line = limits
            .lines()
            .find(|line| line.starts_with("Max open files"));
        let numbers: Vec<u64> = line
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let [soft, hard] = numbers[..] else {
            panic!("two numbers in {line:?}");
        };
        assert!(hard > 64, "the hard limit was left alone");
        assert_eq!(soft, hard.min(16_384), "{}: {line:?}", process.name());
    }
}

/// Guards I3: HTTP has no dates before 1970, so nobody can serve others then; nothing else is amiss.
#[cfg(target_os = "linux")]
#[test]
fn a_clock_before_1970_costs_the_shared_server_and_no_client() {
    let repository = Repository::new();
    let library = preload::library(&repository, "clock", OLD_CLOCK);
    let date = succeed(
        hermetic("date", repository.root(), repository.home())
            .arg("+%Y")
            .env("LD_PRELOAD", &library),
    );
    let year = String::from_utf8(date.stdout).unwrap();
    assert!(year.trim() < "1970", "the clock says {year}");
    let launch = |name: &str| {
        let launch = repository.launch().name(name);
        launch.variable("LD_PRELOAD", &library)
    };
    let [first, second] = ["first", "second"].map(|name| launch(name).start());
    for client in [&first, &second] {
        client.initialize();
        client.result("tools/list", &json!({}));
        let answer = client.call("majordomus_peers", &json!({}));
        checks::succeeded(&answer);
        let reason = checks::degraded(&answer).unwrap_or_default();
        assert!(reason.contains("1970"), "the reason: {answer}");
    }
    let serve = succeed_not(repository.command(&["serve"]).env("LD_PRELOAD", &library));
    assert!(serve.contains("1970") && serve.contains("hint:"), "{serve}");

    // A process whose clock is right serves those whose clock is not.
    let today = repository.attached("today");
    checks::one_board(&[&first, &second, &today]);
    for client in [&first, &second, &today] {
        let said = json!({ "intent": "x", "scope": ["a"] });
        client.tool("majordomus_announce", &said);
        client.tool(
            "conformance_keyed",
            &json!({ "file": "clock.txt", "text": "once" }),
        );
        assert!(!client.stderr().contains("panicked"), "{}", client.stderr());
    }
}

/// What a command that fails says on standard error.
fn succeed_not(command: &mut std::process::Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}
