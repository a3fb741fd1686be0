//! Stores: what is read of a store and what is written of it, and no more than that.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::support::command::MAJORDOMUS;
use super::support::mnemon::{Era, Machine, exchange, pair};
use super::support::terminal::Terminal;
use super::support::{BOUND, Repository, wait_for};

/// Every file in the folders of the devices, with its bytes.
fn files(carried: &Path) -> BTreeMap<String, Vec<u8>> {
    let devices = fs::read_dir(carried.join("default")).unwrap();
    let files = devices.flat_map(|device| fs::read_dir(device.unwrap().path()).unwrap());
    files
        .map(|file| {
            let path = file.unwrap().path();
            let name = path.strip_prefix(carried).unwrap().display().to_string();
            (name, fs::read(&path).unwrap())
        })
        .collect()
}

fn sent(machine: &Machine) -> u64 {
    machine.done(&["export", "--json"])["stores"][0]["sent"]
        .as_u64()
        .unwrap()
}

#[test]
fn gap_21_to_23_a_store_in_which_nothing_changed_is_not_read() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember_logged("x", "x");
    exchange(&a, &b);
    let before = files(carried.path());
    wait_for("the store was left alone for long enough", BOUND, || {
        a.sync()["unchanged"] == true
    });
    let store = fs::read(a.path()).unwrap();
    let quiet = a.sync();
    assert_eq!(
        (&quiet["unchanged"], &quiet["segments_read"]),
        (&true.into(), &0.into()),
        "{quiet}"
    );
    assert_eq!(files(carried.path()), before, "nothing is written");
    assert_eq!(
        fs::read(a.path()).unwrap(),
        store,
        "and nothing in the store"
    );
    // What is in SQLite's log alone is a change.
    let open = a.open();
    a.remember_logged("y", "y");
    let told = a.sync();
    assert_eq!(
        (&told["unchanged"], &told["sent"]),
        (&false.into(), &1.into()),
        "{told}"
    );
    drop(open);
    // So is what another machine sent.
    b.sync();
    b.remember_logged("z", "z");
    b.sync();
    a.sync();
    assert_eq!(a.value("SELECT count(*) FROM insights"), "3");
}

#[test]
fn whoever_only_sends_reads_what_mnemons_log_names() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    for id in ["x", "y"] {
        a.remember_logged(id, id);
    }
    exchange(&a, &b);
    // A search counts, and its log names one of what it found.
    a.sql("UPDATE insights SET access_count=access_count+1");
    a.log("recall", "x");
    assert_eq!(sent(&a), 1, "only what the log names");
    a.remember_logged("z", "z");
    a.link("z", "y", "semantic", 0.5);
    assert_eq!(sent(&a), 2, "a new insight and its edge");
    assert_eq!(a.sync()["sent"], 1, "an import looks at everything");
    b.sync();
    assert_eq!(b.value("SELECT sum(access_count) FROM insights"), "2");
    assert_eq!(b.value("SELECT count(*) FROM edges"), "1");
    // Somebody else's write is in no log.
    a.remember("other", "other");
    assert_eq!(sent(&a), 1);
    // A log that was shortened, and one that is another, say nothing.
    a.remember("quiet", "quiet");
    a.sql("DELETE FROM oplog");
    a.log("remember", "z");
    assert_eq!(sent(&a), 1);
}

#[test]
fn what_its_tags_keep_on_a_machine_stays_there() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("open", "open");
    a.remember("mine", "mine");
    a.sql(r#"UPDATE insights SET tags='["home","local-only"]' WHERE id='mine'"#);
    a.link("mine", "open", "semantic", 0.5);
    exchange(&a, &b);
    assert_eq!(b.value("SELECT group_concat(id) FROM insights"), "open");
    let status = a.done(&["status", "--json"])["stores"][0].clone();
    assert_eq!(
        (&status["unsent"], &status["local"]),
        (&0.into(), &2.into()),
        "{status}"
    );
    let all: Vec<u8> = files(carried.path()).into_values().flatten().collect();
    assert!(!all.is_empty() && memchr::memmem::find(&all, b"mine").is_none());
    // What was sent before is merged as before: no tag brings it back.
    a.sql(r#"UPDATE insights SET tags='["local-only"]' WHERE id='open'"#);
    a.sql("UPDATE insights SET tags='[]' WHERE id='mine'");
    exchange(&a, &b);
    assert_eq!(b.value("SELECT count(*) FROM insights"), "2");
    assert_eq!(b.value("SELECT count(*) FROM edges"), "1");
    assert_eq!(
        b.value("SELECT tags FROM insights WHERE id='open'"),
        r#"["local-only"]"#
    );
}

#[test]
fn a_base_takes_the_place_of_many_segments_and_stays_as_it_is() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    for number in 0..40 {
        a.remember_logged(&format!("{number}"), "x");
        assert_eq!(sent(&a), 1);
    }
    let there = files(carried.path());
    assert!(there.len() <= 10, "{:?}", there.keys());
    assert!(
        there.keys().any(|name| name.contains("-b00")),
        "{:?}",
        there.keys()
    );
    b.sync();
    assert_eq!(b.value("SELECT count(*) FROM insights"), "40");
    // Whoever read the segments before reads the base, too, and learns nothing from it.
    for number in 40..80 {
        a.remember_logged(&format!("{number}"), "x");
        assert_eq!(sent(&a), 1);
        b.sync();
    }
    assert_eq!(b.value("SELECT count(*) FROM insights"), "80");
    let c = Machine::empty(carried.path());
    c.done(&["enable", "default", "--json"]);
    c.sync();
    assert_eq!(c.value("SELECT count(*) FROM insights"), "80");
    let digest =
        |machine: &Machine| machine.done(&["verify", "--json"])["stores"][0]["digest"].clone();
    assert_eq!(digest(&a), digest(&c));
}

#[test]
fn what_was_removed_from_the_folder_is_written_again() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    a.sync();
    let there = files(carried.path());
    for name in there.keys() {
        fs::remove_file(carried.path().join(name)).unwrap();
    }
    exchange(&a, &b);
    assert_eq!(b.value("SELECT content FROM insights"), "x");
    let quiet = a.sync();
    assert_eq!(quiet["sent"], 0, "once: {quiet}");
}

#[test]
fn gap_35_a_store_that_was_removed_does_not_come_back_by_itself() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    exchange(&a, &b);
    fs::remove_dir_all(b.path().parent().unwrap()).unwrap();
    let told = b.sync();
    assert!(
        told["troubles"][0]
            .as_str()
            .unwrap()
            .contains("was removed on this machine"),
        "{told}"
    );
    assert!(!b.path().exists());
    let said = b.refused(&["import", "default"]);
    assert!(
        said.contains("hint: majordomus store disable STORE"),
        "{said}"
    );
    assert_eq!(
        a.sync()["troubles"],
        serde_json::json!([]),
        "nobody else loses anything"
    );
    b.done(&["enable", "default", "--json"]);
    exchange(&a, &b);
    assert_eq!(b.value("SELECT content FROM insights"), "x");
}

#[test]
fn long_work_says_how_far_it_has_come_at_a_terminal() {
    let repository = Repository::new();
    let store = repository.home().join(".mnemon/data/default/mnemon.db");
    let db = Era::Supersedes.create(&store);
    db.execute_batch(
        "WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id+1 FROM ids WHERE id<5001)
         INSERT INTO insights(id, content, created_at, updated_at)
         SELECT id, 'x', '2026-06-06T19:00:00Z', '2026-06-06T19:00:00Z' FROM ids",
    )
    .unwrap();
    let mut terminal = Terminal::open(&repository);
    let line = format!("'{MAJORDOMUS}' store enable default && '{MAJORDOMUS}' store export\n");
    terminal.types(line.as_bytes());
    terminal.sees("default: 5000 insights read");
    terminal.sees("5001 sent");
}
