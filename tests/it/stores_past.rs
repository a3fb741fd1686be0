//! Stores: what was done, how it is taken back, what machines lack of each other, and a machine that is gone for good.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::support::mnemon::{Era, Machine, exchange, pair};

/// This machine's id in its store.
fn device(machine: &Machine) -> String {
    let status = machine.done(&["status", "--json"]);
    status["stores"][0]["device"].as_str().unwrap().to_owned()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect()
}

#[track_caller]
fn agree(one: &Machine, other: &Machine) {
    let digest =
        |machine: &Machine| machine.done(&["verify", "--json"])["stores"][0]["digest"].clone();
    assert_eq!(digest(one), digest(other));
}

#[test]
fn an_import_is_taken_back_for_everybody() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    a.remember("y", "y");
    a.link("x", "y", "semantic", 0.5);
    exchange(&a, &b);
    b.remember("new", "new");
    b.link("new", "x", "causal", 1.0);
    b.sql("UPDATE insights SET deleted_at='2026-06-07T00:00:00Z' WHERE id='y'; DELETE FROM edges WHERE target_id='y'");
    b.sql(r#"UPDATE insights SET entities='["b"]' WHERE id='x'"#);
    b.sync();
    a.sync();
    assert_eq!(
        a.value("SELECT count(*) FROM insights WHERE deleted_at IS NULL"),
        "2"
    );
    let dry = a.done(&["undo", "default", "--dry-run", "--json"]);
    assert!(
        dry["stores"][0]["changed_here"].as_u64().unwrap() > 0,
        "{dry}"
    );
    assert_eq!(
        a.value("SELECT count(*) FROM insights WHERE deleted_at IS NULL"),
        "2"
    );
    let log = a.done(&["log", "default", "--json"]);
    let last = log["runs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|run| run["can_undo"] == true);
    let number = last.unwrap()["number"].to_string();
    a.done(&["undo", "default", "--run", &number, "--json"]);
    let alive = "SELECT group_concat(id) FROM (SELECT id FROM insights WHERE deleted_at IS NULL ORDER BY id)";
    exchange(&a, &b);
    for machine in [&a, &b] {
        assert_eq!(machine.value(alive), "x,y");
        assert_eq!(
            machine.value("SELECT entities FROM insights WHERE id='x'"),
            "[]"
        );
        assert_eq!(
            machine.value("SELECT group_concat(source_id || target_id) FROM edges"),
            "xy"
        );
    }
    agree(&a, &b);
    // To take back is an edit, and can be taken back.
    let told = a.store(&["log", "default"]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains(&format!("took back run {number}")), "{told}");
    a.done(&["undo", "default", "--json"]);
    exchange(&a, &b);
    for machine in [&a, &b] {
        assert_eq!(machine.value(alive), "new,x");
    }
    // A forget of what was once taken back is one.
    a.sql("UPDATE insights SET deleted_at='2036-06-08T00:00:00Z' WHERE id='x'");
    exchange(&a, &b);
    assert_eq!(b.value(alive), "new");
    agree(&a, &b);
}

#[test]
fn what_cannot_be_taken_back_is_said() {
    let (_carried, a, _b) = pair(Era::Supersedes, Era::Supersedes);
    let said = a.refused(&["undo", "default"]);
    assert!(
        said.contains("can be taken back") && said.contains("hint: majordomus store log"),
        "{said}"
    );
    let said = a.refused(&["undo", "default", "--run", "7"]);
    assert!(said.contains("can be taken back"), "{said}");
}

#[test]
fn two_machines_are_told_what_they_lack_of_each_other() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    exchange(&a, &b);
    b.remember("y", "y");
    b.sync();
    a.remember("z", "z");
    a.link("z", "x", "semantic", 0.5);
    a.done(&["export", "--json"]);
    let b_id = device(&b);
    let diff = a.done(&["diff", &b_id, "--json"]);
    assert_eq!(names(&diff["theirs"]), ["y"], "{diff}");
    assert_eq!(names(&diff["ours"]), ["z", "z -semantic-> x"], "{diff}");
    assert_eq!(diff["acknowledged"], 1, "{diff}");
    let told = a.store(&["diff", &b_id[..8], "--store", "default"]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("< y") && told.contains("> z"), "{told}");
    let said = a.refused(&["diff", "nobody"]);
    assert!(
        said.contains("exactly one other machine")
            && said.contains("hint: majordomus store status"),
        "{said}"
    );
    exchange(&a, &b);
    b.remember("last", "last");
    b.sync();
    let diff = a.done(&["diff", &b_id, "--json"]);
    assert_eq!(
        (names(&diff["theirs"]), names(&diff["ours"])),
        (vec!["last"], vec![]),
        "{diff}"
    );
}

#[test]
fn what_is_known_of_a_store_and_cannot_be_used_is_kept_aside() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    exchange(&a, &b);
    a.sql("UPDATE insights SET access_count=2");
    a.sync();
    let shadows = fs::read_dir(a.home().join(".local/state/majordomus/stores")).unwrap();
    let shadow = shadows
        .flatten()
        .next()
        .unwrap()
        .path()
        .join("default/shadow.db");
    let garbage = b"no database".repeat(1000);
    fs::write(&shadow, &garbage).unwrap();
    let said = a.refused(&["status"]);
    assert!(said.contains("hint: majordomus store sync"), "{said}");
    let told = a.sync();
    let trouble = told["troubles"][0].as_str().unwrap();
    assert!(trouble.contains("shadow.db.damaged-1"), "{told}");
    assert_eq!(
        fs::read(shadow.with_file_name("shadow.db.damaged-1")).unwrap(),
        garbage
    );
    // One of an earlier build has other tables.
    fs::remove_file(&shadow).unwrap();
    rusqlite::Connection::open(&shadow)
        .unwrap()
        .execute_batch("CREATE TABLE insight(id)")
        .unwrap();
    assert!(
        a.sync()["troubles"][0]
            .as_str()
            .unwrap()
            .contains("shadow.db.damaged-2")
    );
    exchange(&a, &b);
    // Everything of it is gone, of a machine that took something in before.
    fs::remove_dir_all(b.home().join(".local/state")).unwrap();
    b.done(&["enable", "default", "--json"]);
    exchange(&a, &b);
    for machine in [&a, &b] {
        assert_eq!(machine.value("SELECT access_count FROM insights"), "2");
    }
    agree(&a, &b);
}

/// The folder of a device.
fn folder(carried: &Path, device: &str) -> std::path::PathBuf {
    carried.join("default").join(device)
}

#[test]
fn gap_28_a_machine_that_is_gone_is_taken_over_and_can_come_back() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    exchange(&a, &b);
    b.remember("y", "y");
    b.sync();
    let old = device(&b);
    let dry = a.done(&["retire", &old, "--dry-run", "--json"]);
    assert_eq!(dry["stores"][0]["segments_read"], 1, "{dry}");
    assert!(folder(carried.path(), &old).exists());
    a.done(&["retire", &old, "--json"]);
    assert!(!folder(carried.path(), &old).exists());
    let c = Machine::empty(carried.path());
    c.done(&["enable", "default", "--json"]);
    c.sync();
    assert_eq!(
        c.value("SELECT count(*) FROM insights"),
        "2",
        "what it knew is carried on"
    );
    // It comes back with something nobody has seen.
    b.remember("late", "late");
    let told = b.sync();
    assert!(
        told["troubles"][0]
            .as_str()
            .unwrap()
            .contains("goes on under a new id"),
        "{told}"
    );
    assert_ne!(device(&b), old);
    exchange(&a, &b);
    c.sync();
    for machine in [&a, &c] {
        assert_eq!(machine.value("SELECT count(*) FROM insights"), "3");
    }
    exchange(&a, &c);
    b.sync();
    agree(&a, &b);
    agree(&a, &c);
}

#[test]
fn a_machine_whose_segments_cannot_be_read_is_not_retired() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    b.remember("y", "y");
    b.sync();
    let id = device(&b);
    let segment = fs::read_dir(folder(carried.path(), &id))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    fs::write(&segment, b"torn").unwrap();
    let output = a.store(&["retire", &id, "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(segment.exists());
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        told["stores"][0]["troubles"][0]
            .as_str()
            .unwrap()
            .contains("cannot be unpacked"),
        "{told}"
    );
}

#[test]
fn an_edge_to_what_dies_when_it_is_written_goes_with_it() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    exchange(&a, &b);
    b.remember("new", "new");
    b.sync();
    a.sync();
    // Somebody has the store's lock, so what was decided is not written yet.
    let lock = a.open();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let said = a.refused(&["undo", "default"]);
    assert!(said.contains("locked"), "{said}");
    lock.execute_batch("ROLLBACK").unwrap();
    a.link("new", "x", "semantic", 0.5);
    exchange(&a, &b);
    for machine in [&a, &b] {
        assert_eq!(
            machine.value("SELECT count(*) FROM insights WHERE deleted_at IS NULL"),
            "1"
        );
        assert_eq!(machine.value("SELECT count(*) FROM edges"), "0");
    }
    agree(&a, &b);
}
