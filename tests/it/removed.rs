//! The state folder under a live owner: removed, replaced, copied, moved.

use std::fs;

use serde_json::json;

use crate::support::rounds::storm::lock_holders;
use crate::support::{Client, Repository, checks};

/// Guards I5.
#[test]
fn removing_the_state_folder_under_a_live_owner_heals() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    bridge.tool(
        "majordomus_announce",
        &json!({ "intent": "stay", "scope": ["a"] }),
    );
    let before = repository.ready();
    fs::remove_dir_all(repository.root().join(".ai/local")).unwrap();
    let newcomer = repository.attached("newcomer");
    checks::one_board(&[&owner, &bridge, &newcomer]);
    let after = repository.ready();
    assert_ne!(
        after["instance"], before["instance"],
        "the old owner admits nobody any more"
    );
    let list = newcomer.tool("majordomus_peers", &json!({}));
    assert_eq!(
        checks::intents(checks::peer(&list, "bridge").unwrap()),
        ["stay"],
        "{list}"
    );
}

/// Guards I5: without anybody coming, a call of a bridge is enough.
#[test]
fn a_call_notices_that_the_state_folder_is_gone() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    repository.ready();
    fs::remove_dir_all(repository.root().join(".ai/local")).unwrap();
    bridge.tool(
        "majordomus_announce",
        &json!({ "intent": "x", "scope": ["a"] }),
    );
    repository.ready();
    checks::one_board(&[&owner, &bridge]);
}

/// Guards I5.
#[test]
fn a_replaced_lock_file_heals() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    repository.ready();
    let lock = repository.state().join("server.lock");
    fs::remove_file(&lock).unwrap();
    fs::write(&lock, "").unwrap();
    let newcomer = repository.attached("newcomer");
    checks::one_board(&[&owner, &bridge, &newcomer]);
}

/// Guards I5.
#[test]
fn a_document_that_is_lost_or_overwritten_under_a_live_owner_comes_back() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    for ruin in ["removed", "garbage"] {
        repository.ready();
        if ruin == "removed" {
            fs::remove_file(repository.document()).unwrap();
        } else {
            fs::write(repository.document(), "{ garbage").unwrap();
        }
        bridge.tool(
            "majordomus_announce",
            &json!({ "intent": ruin, "scope": ["a"] }),
        );
        repository.ready();
        let newcomer = repository.attached("newcomer");
        checks::one_board(&[&owner, &bridge, &newcomer]);
        newcomer.close();
        newcomer.exit();
    }
}

/// Guards I1, I5: without the token nobody new could reach the owner, so it gives way to one that has a token.
#[test]
fn removing_the_token_under_a_live_owner_heals() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let before = repository.ready();
    let token = repository.token().unwrap();
    fs::remove_file(repository.shared().join("token")).unwrap();
    let newcomer = repository.attached("newcomer");
    checks::one_board(&[&owner, &bridge, &newcomer]);
    assert_ne!(repository.ready()["instance"], before["instance"]);
    let now = repository.token();
    assert!(
        now.as_ref().is_some_and(|now| *now != token),
        "a token of its own"
    );
    if let Some(holders) = lock_holders(&repository) {
        assert_eq!(holders, 1, "holders of the lock");
    }
    assert_eq!(repository.http().get("/api/v1/peers").status, 200);
}

/// Guards I5: nobody is left behind when it happens again and again.
#[test]
fn removing_the_state_folder_five_times_in_a_row_heals_each_time() {
    let repository = Repository::new();
    let clients: Vec<Client> = ["a", "b", "c"].map(|name| repository.attached(name)).into();
    let all: Vec<&Client> = clients.iter().collect();
    for _ in 0..5 {
        repository.ready();
        drop(fs::remove_dir_all(repository.root().join(".ai/local")));
        checks::one_board(&all);
        assert_eq!(repository.ready()["state"], "ready");
    }
}

/// Guards I1: a copy brings its document along, which names another root.
#[test]
fn a_copied_checkout_has_a_server_of_its_own() {
    let original = Repository::new();
    let first = original.attached("first");
    original.ready();
    let copy = original.copied();
    assert!(
        copy.document().exists(),
        "the copy brought the document along"
    );
    let second = copy.attached("second");
    copy.ready_when("the copy's own document", |lease| {
        lease["pid"] == second.pid()
    });
    checks::one_board(&[&first]);
    checks::one_board(&[&second]);
    assert_ne!(original.ready()["root_id"], copy.ready()["root_id"]);
    let third = copy.attached("third");
    checks::one_board(&[&second, &third]);
}

/// Guards I1.
#[test]
fn a_moved_checkout_starts_afresh() {
    let repository = Repository::new();
    let first = repository.attached("first");
    repository.ready();
    let moved = repository.copied();
    first.kill();
    fs::remove_dir_all(repository.root()).unwrap();
    fs::create_dir(repository.root()).unwrap();
    let second = moved.attached("second");
    moved.ready_when("its own document", |lease| lease["pid"] == second.pid());
}

/// Guards I3, I5: status, log and answers say the same of it, and what to do.
#[test]
fn a_checkout_that_moves_under_its_server_is_called_moved_everywhere() {
    let repository = Repository::new();
    let client = repository.attached("client");
    repository.ready();
    let elsewhere = repository.outside().join("elsewhere");
    fs::rename(repository.root(), &elsewhere).unwrap();
    let announce = json!({ "intent": "x", "scope": ["a"] });
    let answer = client.call("majordomus_announce", &announce);
    let reason = checks::degraded(&answer).unwrap_or_default();
    assert!(reason.contains("the checkout was moved"), "{answer}");
    assert!(client.stderr().contains("the checkout was moved"));
    assert!(client.stderr().contains("where it is now"));
    let mut command = repository.command(&["status"]);
    let status = command.current_dir(&elsewhere).output().unwrap();
    let said = String::from_utf8_lossy(&status.stderr).into_owned();
    assert!(said.contains("the checkout was moved"), "{said}");
    assert!(said.contains("where it is now"), "{said}");
}
