//! Who may start long-lived tasks, what does no I/O, and where no capability is named.

use super::source::Source;
use super::{none_of, rust_files};

/// Ways to start something that may outlive its caller. `spawn_blocking` ends with its work.
const STARTS: &[&str] = &[
    "tokio::spawn",
    "task::spawn",
    "spawn_local",
    "thread::spawn",
    "thread::Builder",
    "runtime::Builder",
    "JoinSet::new",
    "TaskTracker::new",
];

/// Where that is allowed, and why.
const STARTERS: &[(&str, &str)] = &[
    (
        "src/host/",
        "owns the life of everything: I4 needs one place that can end it",
    ),
    ("src/bridge/", "owns its client's pipes and its link"),
    (
        "src/http/server.rs",
        "the accept loop: a task a connection, in a set that dies with the loop's future",
    ),
    (
        "src/http/work.rs",
        "what runs for a request past its connection, in a set that the host ends",
    ),
    (
        "src/floor/worker.rs",
        "blocking work that is queued, and ends with it; the runtime's pool panics where there is no thread to be had",
    ),
    (
        "src/cli/owner.rs",
        "a command's one exchange with the server; ends with the command",
    ),
];

/// Ways to let time pass.
const PAUSES: &[&str] = &[
    "sleep",
    "sleep_until",
    "interval_at",
    "time::interval",
    "park_timeout",
    "wait_timeout",
    "recv_timeout",
];

/// Where time passes, the edge that starts it and what ends it. None of them looks at a disk or a remote again and
/// again on behalf of nobody (I12).
const WAITERS: &[(&str, &str)] = &[
    (
        "src/lease/attach.rs",
        "between two looks of one election, which has a deadline",
    ),
    (
        "src/lease/failpoint.rs",
        "pauses of the torture test, never in a release",
    ),
    (
        "src/floor/database.rs",
        "while two open a new file at once, half a second at most",
    ),
    (
        "src/http/endpoint/events.rs",
        "an open stream says that it is there, and finds out whether its client is",
    ),
    (
        "src/http/server.rs",
        "after a failed accept, before the next",
    ),
    (
        "src/http/stream.rs",
        "the deadline of a connection that does not move",
    ),
    (
        "src/stores/apply.rs",
        "after a batch, until the store's own program has had its turn",
    ),
    (
        "src/memory/remote/lock.rs",
        "while another process publishes, until a call's deadline",
    ),
    (
        "src/registry/changes.rs",
        "after a piece of news, until the next one may be told",
    ),
    (
        "src/host/hosting.rs",
        "its own client gone, until the HTTP peers are",
    ),
    (
        "src/host/signals.rs",
        "a second signal lets the release that the first began end",
    ),
    (
        "src/memory/library/turn.rs",
        "two seconds of looks at a turn that somebody else has for one rename",
    ),
    ("src/host/port.rs", "ten seconds of retries for a port"),
    (
        "src/host/door.rs",
        "after a file event, until the burst it belongs to is over",
    ),
    (
        "src/host/parent.rs",
        "where the kernel tells nobody of a parent's end, one system call now and then",
    ),
    (
        "src/host/watchdog.rs",
        "its own ticks, which look at the host's thread and nothing else",
    ),
    (
        "src/bridge/mod.rs",
        "while a request waits, and until a silent client is served",
    ),
    (
        "src/bridge/quest.rs",
        "a bridge that serves alone looks for somebody to share with, ever less often",
    ),
    (
        "src/cli/commands/stop.rs",
        "a command waits for the end it asked for",
    ),
    (
        "src/cli/errand.rs",
        "a command waits two seconds at most for a server that is just starting",
    ),
    (
        "src/capabilities/conformance.rs",
        "slow calls, in the fixtures of the conformance suite",
    ),
];

/// What does no I/O and takes time as an argument, so that a model checker or a property can run it.
const PURE: &[&str] = &[
    "src/lease/election.rs",
    "src/lease/election/",
    "src/link/",
    "src/stores/clock.rs",
    "src/stores/instant.rs",
    "src/stores/merge.rs",
    "src/stores/observe.rs",
    "src/stores/registers.rs",
    "src/floor/jsonrpc.rs",
    "src/floor/jsonrpc/",
];

/// Ways to touch the world.
const WORLD: &[&str] = &[
    "std::fs",
    "std::net",
    "std::os",
    "std::process",
    "std::env",
    "std::thread",
    "std::io",
    "tokio",
    "nix",
    "rusqlite",
    "getrandom",
    "Instant::now",
    "SystemTime",
    "crate::floor::clock",
    "crate::floor::fs",
    "crate::floor::git",
];

/// Where frames are carried, whatever they say: no capability is named there (I9).
const CARRIERS: &[&str] = &["src/http/", "src/mcp/", "src/bridge/", "src/link/"];

fn within(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| path.starts_with(place)) && !is_test(path)
}

/// Whether only tests compile the file.
fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

fn starts(path: &str, text: &str) -> Vec<String> {
    let allowed: Vec<_> = STARTERS.iter().map(|(place, _)| *place).collect();
    if within(path, &allowed) || is_test(path) {
        return Vec::new();
    }
    let source = Source::shipped(text);
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    let is_whole = |start: &&&str| {
        let mut ends = source
            .code
            .match_indices(**start)
            .map(|(at, _)| at + start.len());
        ends.any(|end| !source.code[end..].starts_with(joins))
    };
    let found = STARTS.iter().filter(is_whole);
    found
        .map(|start| format!("{path}: starts a task or thread with `{start}`"))
        .collect()
}

fn pauses(path: &str, text: &str) -> Vec<String> {
    let source = Source::shipped(text);
    let is_called = |pause: &&&str| {
        let direct = [
            "",
            "tokio::",
            "tokio::time::",
            "time::",
            "std::thread::",
            "thread::",
        ];
        let mut paths = direct.iter().map(|path| format!("{path}{pause}("));
        paths.any(|path| source.names(&path)) || source.code.contains(&format!(".{pause}("))
    };
    let found = PAUSES.iter().filter(is_called);
    found
        .map(|pause| format!("{path}: lets time pass with `{pause}`"))
        .collect()
}

fn impurities(path: &str, text: &str) -> Vec<String> {
    if !within(path, PURE) {
        return Vec::new();
    }
    let source = Source::shipped(text);
    let found = WORLD.iter().filter(|touch| source.names(touch));
    found
        .map(|touch| format!("{path}: does I/O or reads a clock through `{touch}`"))
        .collect()
}

fn named(path: &str, text: &str, names: &[String]) -> Vec<String> {
    if !within(path, CARRIERS) {
        return Vec::new();
    }
    let source = Source::shipped(text);
    let is_name = |literal: &&String| {
        names.contains(*literal)
            || literal.starts_with("majordomus://")
            || literal.starts_with("majordomus_")
    };
    let found = source.strings.iter().filter(is_name);
    found
        .map(|literal| format!("{path}: names the capability or its face {literal:?}"))
        .collect()
}

/// The ids that capabilities are declared under, and the tools, URIs and routes they appear as.
fn names(text: &str) -> Vec<String> {
    let declared = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("id: \""));
    let ids = declared
        .filter_map(|rest| rest.split('"').next())
        .map(str::to_owned);
    let literals = Source::shipped(text).strings.into_iter();
    let faces = literals.filter(|literal| {
        let prefixes = ["majordomus_", "majordomus://", "/api/v1/"];
        prefixes.iter().any(|prefix| literal.starts_with(prefix))
    });
    ids.chain(faces).collect()
}

#[test]
fn only_the_host_and_the_bridge_start_what_lives_long() {
    let found: Vec<_> = rust_files("src")
        .iter()
        .flat_map(|(path, text)| starts(path, text))
        .collect();
    none_of(&found);
}

/// Guards I12.
#[test]
fn time_passes_only_where_an_edge_began_it() {
    let files = rust_files("src");
    let places: Vec<_> = WAITERS.iter().map(|(place, _)| *place).collect();
    let shipped = files.iter().filter(|(path, _)| !is_test(path));
    let elsewhere = shipped.filter(|(path, _)| !places.contains(&path.as_str()));
    none_of(
        &elsewhere
            .flat_map(|(path, text)| pauses(path, text))
            .collect::<Vec<_>>(),
    );
    let waits = |place: &&&str| {
        let file = files.iter().find(|(path, _)| path == **place);
        file.is_none_or(|(path, text)| pauses(path, text).is_empty())
    };
    let stale: Vec<_> = places.iter().filter(waits).collect();
    assert!(stale.is_empty(), "no time passes there any more: {stale:?}");
}

#[test]
fn election_link_and_frames_do_no_io() {
    let found: Vec<_> = rust_files("src")
        .iter()
        .flat_map(|(path, text)| impurities(path, text))
        .collect();
    none_of(&found);
}

/// Guards I9.
#[test]
fn no_transport_names_a_capability() {
    let names: Vec<_> = rust_files("src/capabilities")
        .iter()
        .flat_map(|(_, text)| names(text))
        .collect();
    let found: Vec<_> = rust_files("src")
        .iter()
        .flat_map(|(path, text)| named(path, text, &names))
        .collect();
    none_of(&found);
}

#[test]
fn a_planted_task_is_caught() {
    let task = "fn f() { tokio::spawn(async {}); }";
    assert_eq!(starts("src/registry/call.rs", task).len(), 1);
    assert_eq!(
        starts("src/lease/watch.rs", "std::thread::spawn(f);").len(),
        1
    );
    none_of(&starts("src/host/run.rs", task));
    none_of(&starts(
        "src/registry/call.rs",
        "tokio::task::spawn_blocking(f); // tokio::spawn(f)",
    ));
    none_of(&starts(
        "src/registry/call.rs",
        "#[cfg(test)]\nmod tests { fn f() { tokio::spawn(g); } }",
    ));
}

#[test]
fn a_planted_timer_is_caught() {
    assert_eq!(
        pauses("src/board/store.rs", "tokio::time::sleep(MINUTE).await;").len(),
        1
    );
    assert_eq!(
        pauses(
            "src/board/store.rs",
            "use tokio::time::sleep;\nsleep(MINUTE).await;"
        )
        .len(),
        1
    );
    assert_eq!(
        pauses(
            "src/board/store.rs",
            "let mut ticks = tokio::time::interval(MINUTE);"
        )
        .len(),
        1
    );
    assert_eq!(
        pauses("src/board/store.rs", "bell.wait_timeout(guard, MINUTE)").len(),
        1
    );
    none_of(&pauses(
        "src/board/store.rs",
        "fn asleep() {} // sleep(MINUTE)",
    ));
}

#[test]
fn planted_io_is_caught() {
    assert_eq!(
        impurities("src/link/line.rs", "use std::fs::File;").len(),
        1
    );
    assert_eq!(
        impurities("src/lease/election.rs", "let now = Instant::now();").len(),
        1
    );
    assert_eq!(
        impurities("src/floor/jsonrpc.rs", "use tokio::io::AsyncRead;").len(),
        1
    );
    none_of(&impurities("src/lease/driver.rs", "use std::fs::File;"));
    none_of(&impurities(
        "src/link/line.rs",
        "use std::fmt; /// like std::fs",
    ));
}

#[test]
fn a_planted_capability_name_is_caught() {
    let names = names(
        "Capability {\n    id: \"peers.list\",\n    route: Some(\"/api/v1/peers\"),\n    title: \"Peers\",\n}",
    );
    assert_eq!(names, ["peers.list", "/api/v1/peers"]);
    let caught = |text: &str| named("src/http/router.rs", text, &names).len();
    assert_eq!(caught("call(\"peers.list\")"), 1);
    assert_eq!(caught("route(\"/api/v1/peers\")"), 1);
    assert_eq!(caught("\"majordomus_anything\""), 1);
    assert_eq!(caught("\"tools/list\" // \"peers.list\""), 0);
    none_of(&named(
        "src/capabilities/peers.rs",
        "\"peers.list\"",
        &names,
    ));
}
