//! A process that cannot share serves its own client alone, says why in one line, and goes on trying (I3).

use std::fs;

use serde_json::{Value, json};

use crate::support::confine::{full_disk, no_file_bytes, read_only};
use crate::support::{BOUND, Client, Http, Repository, checks, frames, wait_for};

/// The client is served; whatever it reads works, and the reason stands in one line on stderr.
#[track_caller]
fn served_alone(client: &Client) -> String {
    client.initialize();
    assert!(client.result("tools/list", &json!({}))["tools"].is_array());
    let answer = client.call("majordomus_peers", &json!({}));
    checks::succeeded(&answer);
    assert_eq!(
        checks::attached(&answer["result"]["structuredContent"]),
        [client.name()],
        "{answer}"
    );
    let reason = answer["result"]["_meta"]["majordomus/degraded"]
        .as_str()
        .unwrap_or_default();
    assert!(
        !reason.is_empty() && !reason.contains('\n'),
        "a reason in one line: {answer}"
    );
    wait_for("the reason on stderr", BOUND, || {
        client.stderr().lines().any(|line| line.contains("alone"))
    });
    reason.to_owned()
}

/// Guards I3.
#[test]
fn a_read_only_state_folder_is_served_alone() {
    let repository = Repository::new();
    fs::create_dir_all(repository.root().join(".ai/local")).unwrap();
    let confinement = read_only(&repository.root().join(".ai/local"));
    let client = repository
        .launch()
        .name("confined")
        .wrapped(confinement.wrapper)
        .start();
    println!("{}: {}", confinement.how, served_alone(&client));
    assert!(repository.lease().is_none());
}

/// An owner in a sandbox cannot share the board of those before it, and says so.
#[test]
fn an_owner_that_cannot_write_gits_folder_says_that_its_board_is_its_own() {
    let repository = Repository::new();
    let before = repository.attached("before");
    repository.ready();
    wait_for("the board's file", BOUND, || {
        repository.root().join(".git/majordomus/board.db").exists()
    });
    before.close();
    before.exit();
    let confinement = read_only(&repository.root().join(".git"));
    let client = repository
        .launch()
        .name("confined")
        .wrapped(confinement.wrapper)
        .start();
    client.attach();
    let said = || client.stderr().contains("a board of its own");
    wait_for("a word about the board", BOUND, said);
}

/// Notes have one place: who cannot write there is told so, and reads what is there or is told why not.
#[test]
fn notes_are_in_gits_folder_also_for_who_cannot_write_it() {
    let repository = Repository::new();
    let before = repository.attached("before");
    before.tool(
        "majordomus_remember",
        &json!({ "title": "The limit is 16 MB" }),
    );
    before.close();
    before.exit();
    let confinement = read_only(&repository.root().join(".git"));
    let client = repository
        .launch()
        .name("confined")
        .wrapped(confinement.wrapper)
        .start();
    client.attach();
    let written =
        client.call("majordomus_remember", &json!({ "title": "Another" }))["result"].clone();
    assert_eq!(written["isError"], true, "{written}");
    let said = written.to_string();
    assert!(said.contains("its folder cannot be written"), "{said}");
    for (tool, asked) in [
        ("majordomus_notes", json!({})),
        ("majordomus_recall", json!({ "query": "limit" })),
    ] {
        let read = client.call(tool, &asked)["result"].clone();
        let said = read.to_string();
        let found = said.contains("The limit is 16 MB");
        assert!(found || read["isError"] == true, "{tool}: {said}");
    }
    let fallback = repository.root().join(".ai/local/state/writes.db");
    assert!(!fallback.exists(), "a second place for notes");
}

/// Guards I3.
#[test]
fn a_read_only_state_folder_does_not_keep_anyone_from_attaching() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    repository.ready();
    let confinement = read_only(&repository.root().join(".ai/local"));
    let client = repository
        .launch()
        .name("confined")
        .wrapped(confinement.wrapper)
        .start();
    client.attach();
    let list = owner.tool("majordomus_peers", &json!({}));
    assert_eq!(
        checks::attached(&list),
        ["confined", "owner"],
        "{}: {list}",
        confinement.how
    );
}

/// Guards I3.
#[test]
fn a_full_disk_is_served_and_kills_nobody() {
    let repository = Repository::new();
    fs::create_dir_all(repository.state()).unwrap();
    let confinement = full_disk(&repository.state());
    let client = repository
        .launch()
        .name("confined")
        .wrapped(confinement.wrapper)
        .start();
    println!("{}: {}", confinement.how, served_alone(&client));
    client.close();
    assert!(client.exit().success());
}

/// Guards I3: not even the log and the board can be written.
#[test]
fn a_process_that_can_write_no_file_at_all_is_served() {
    let repository = Repository::new();
    let confinement = no_file_bytes();
    let client = repository
        .launch()
        .name("confined")
        .wrapped(confinement.wrapper)
        .start();
    println!("{}: {}", confinement.how, served_alone(&client));
    client.close();
    assert!(client.exit().success());
}

/// How much room a process has for what it writes.
#[derive(Clone, Copy)]
enum Room {
    Full,
    Enough,
}

/// An owner whose disk can be filled.
#[track_caller]
fn fillable(repository: &Repository) -> Client {
    // The shell sees to it that the limit fails a write in place of killing the process.
    let ignore = ["sh", "-c", r#"trap "" XFSZ; exec "$@""#, "sh"]
        .map(Into::into)
        .to_vec();
    let owner = repository.launch().name("owner").wrapped(ignore).start();
    owner.attach();
    owner
}

/// Fills the disk of one process, or frees it.
#[track_caller]
fn disk(client: &Client, room: Room) {
    let limit = match room {
        Room::Full => "--fsize=0:",
        Room::Enough => "--fsize=unlimited:",
    };
    let place = std::env::temp_dir();
    let limited = crate::support::command::hermetic("prlimit", &place, &place)
        .args(["--pid", &client.pid().to_string(), limit])
        .status();
    assert!(
        limited.is_ok_and(|status| status.success()),
        "prlimit(1) is needed"
    );
}

/// Guards I3: the disk fills up under a live owner; its clients do not notice.
#[test]
fn a_disk_that_fills_up_under_a_live_owner_stops_nobody() {
    let repository = Repository::new();
    let owner = fillable(&repository);
    let bridge = repository.attached("bridge");
    repository.ready();
    disk(&owner, Room::Full);
    for client in [&owner, &bridge] {
        checks::succeeded(&client.call("majordomus_peers", &json!({})));
        // An announcement lives in memory and with its bridge; it may not need the disk.
        client.call(
            "majordomus_announce",
            &json!({ "intent": "x", "scope": ["a"] }),
        );
        client.tool("conformance_echo", &json!({ "value": 1 }));
    }
    let newcomer = repository.attached("newcomer");
    newcomer.tool("conformance_echo", &json!({ "value": 1 }));
}

/// Guards I6: what has ended here, no later owner may know; so it has not ended before that is kept.
#[test]
fn a_session_whose_end_cannot_be_kept_goes_on_until_it_can() {
    let repository = Repository::new();
    let owner = fillable(&repository);
    let next = repository.attached("next");
    let session = repository.http().session("leaves", &json!({}));
    let here = |session: &Http| {
        let ping = frames::request(&json!(1), "ping", &json!({}));
        session.post("/mcp", &ping).status
    };
    disk(&owner, Room::Full);
    let mut refused = session.send("DELETE", "/mcp").expects(503);
    assert_eq!(
        refused.header("content-type"),
        Some("application/problem+json")
    );
    assert_eq!(refused.header("retry-after"), Some("1"));
    let problem = refused.json();
    assert_eq!(problem["code"], "unavailable", "{problem}");
    let detail = problem["detail"].as_str().unwrap_or_default();
    assert!(
        detail.starts_with("the session has not ended: "),
        "{problem}"
    );
    assert!(problem["hint"].is_string(), "{problem}");
    assert_eq!(here(&session), 200);
    let list = owner.tool("majordomus_peers", &json!({}));
    assert_eq!(checks::attached(&list), ["leaves", "next", "owner"]);

    disk(&owner, Room::Enough);
    session.send("DELETE", "/mcp").expects(204);
    assert_eq!(here(&session), 404);
    owner.kill();
    repository.ready_when("the next owner", |lease| lease["pid"] == next.pid());
    assert_eq!(here(&session), 404);
}

/// Guards I3.
#[test]
fn a_state_folder_that_cannot_be_made_is_served_alone_until_it_can() {
    let repository = Repository::new();
    fs::create_dir(repository.root().join(".ai")).unwrap();
    let obstacle = repository.root().join(".ai/local");
    fs::write(&obstacle, "in the way").unwrap();
    let first = repository.client("first");
    println!("{}", served_alone(&first));
    let second = repository.client("second");
    served_alone(&second);
    assert_eq!(fs::read_to_string(&obstacle).unwrap(), "in the way");
    fs::remove_file(&obstacle).unwrap();
    for client in [&first, &second] {
        wait_for("it joined by itself", BOUND, || {
            let list = client.tool("majordomus_peers", &json!({}));
            checks::attached(&list) == ["first", "second"]
        });
    }
}

/// Guards I3: a process that wins the election and cannot serve leaves the lease to others, and goes on looking.
#[test]
fn a_process_whose_host_cannot_start_is_served_alone_until_it_can() {
    let repository = Repository::new();
    let token = repository.shared().join("token");
    fs::create_dir_all(&token).unwrap();
    let first = repository.client("first");
    println!("{}", served_alone(&first));
    let second = repository.client("second");
    assert!(
        served_alone(&second).contains("token"),
        "what stands in the way"
    );
    assert!(
        repository
            .lease()
            .is_none_or(|lease| lease["state"] != "ready")
    );
    fs::remove_dir(&token).unwrap();
    for client in [&first, &second] {
        wait_for("it joined by itself", BOUND, || {
            let list = client.tool("majordomus_peers", &json!({}));
            checks::attached(&list) == ["first", "second"]
        });
    }
    checks::one_board(&[&first, &second]);
}

/// Guards I3: what one process cannot, another one can.
#[test]
fn a_process_that_cannot_serve_joins_one_that_can() {
    let repository = Repository::new();
    let confinement = no_file_bytes();
    let confined = repository.launch().name("confined");
    let confined = confined.wrapped(confinement.wrapper).start();
    println!("{}: {}", confinement.how, served_alone(&confined));
    let able = repository.attached("able");
    checks::one_board(&[&able, &confined]);
    assert_eq!(repository.owner_pid(), Some(able.pid()));
}

/// Guards I3: a state folder that is a symlink out of the checkout is not followed.
#[test]
fn a_state_folder_that_leads_out_of_the_checkout_is_not_used() {
    let repository = Repository::new();
    let elsewhere = repository.outside().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::create_dir(repository.root().join(".ai")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, repository.root().join(".ai/local")).unwrap();
    let client = repository.client("client");
    println!("{}", served_alone(&client));
    assert_eq!(
        fs::read_dir(&elsewhere).unwrap().count(),
        0,
        "written outside the checkout"
    );
}

/// Guards I3: where even loopback is refused.
#[test]
fn a_process_without_loopback_is_served_alone() {
    let repository = Repository::new();
    let namespaces: &[&str] = if crate::support::confine::is_root() {
        &["unshare", "-n"]
    } else {
        &["unshare", "-rn"]
    };
    let allowed =
        crate::support::command::hermetic(namespaces[0], repository.root(), repository.home())
            .args(&namespaces[1..])
            .arg("true")
            .status()
            .is_ok_and(|status| status.success());
    if !allowed {
        println!("no network namespaces here; the case is covered where they are allowed");
        return;
    }
    let wrapper = namespaces.iter().map(Into::into).collect();
    let client = repository
        .launch()
        .name("confined")
        .wrapped(wrapper)
        .start();
    client.initialize();
    let answer: Value = client.call("majordomus_peers", &json!({}));
    checks::succeeded(&answer);
    let list = &answer["result"]["structuredContent"];
    assert_eq!(checks::attached(list), ["confined"], "{answer}");
}
