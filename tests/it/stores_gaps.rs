//! Stores: more of what a merge of newer rows gets wrong, a test a gap (docs/STORES.md lists them all).

use std::fs;

use rusqlite::Connection;

use super::support::mnemon::{Era, Machine, exchange, pair};

#[track_caller]
fn same(machines: [&Machine; 2], query: &str, expected: &str) {
    for machine in machines {
        assert_eq!(machine.value(query), expected, "{query}");
    }
}

#[test]
fn gap_3_dates_are_compared_by_what_they_mean() {
    for (later, earlier) in [
        ("2026-06-06T20:00:00.500Z", "2026-06-06T20:00:00Z"),
        ("2026-06-06T20:00:00Z", "2026-06-06T21:30:00+02:00"),
        ("2026-06-06 23:00:00", "2026-06-06T22:00:00Z"),
        ("2026-06-06T20:00:01Z", "2026-06-06T20:00:00+00:00"),
    ] {
        let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
        for (machine, what, date) in [(&a, "later", later), (&b, "earlier", earlier)] {
            machine.remember("x", "x");
            machine.sql(&format!(
                "UPDATE insights SET entities='[\"{what}\"]', updated_at='{date}'"
            ));
        }
        exchange(&a, &b);
        same([&a, &b], "SELECT entities FROM insights", "[\"later\"]");
    }
}

#[test]
fn gap_11_a_column_that_an_old_store_lacks_is_not_emptied_by_it() {
    let (_carried, old, new) = pair(Era::Base, Era::Supersedes);
    new.remember("x", "x");
    new.sql("UPDATE insights SET embedding=x'0000803f'");
    exchange(&old, &new);
    old.sql("UPDATE insights SET entities='[\"old\"]', updated_at='2027-01-01T00:00:00Z'");
    exchange(&old, &new);
    assert_eq!(new.value("SELECT entities FROM insights"), "[\"old\"]");
    assert_eq!(new.value("SELECT hex(embedding) FROM insights"), "0000803F");
}

#[test]
fn gap_18_more_than_mnemon_keeps_is_told() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    let fill = |machine: &Machine, ids: std::ops::Range<u32>| {
        let row = "INSERT INTO insights(id, content, created_at, updated_at)
             VALUES(?1, ?1, '2026-06-06T19:00:00Z', '2026-06-06T19:00:00Z')";
        let db = machine.open();
        db.execute_batch("BEGIN").unwrap();
        for id in ids {
            db.execute(row, [id.to_string()]).unwrap();
        }
        db.execute_batch("COMMIT").unwrap();
    };
    fill(&a, 0..600);
    fill(&b, 600..1200);
    exchange(&a, &b);
    let status = a.done(&["status", "--json"])["stores"][0].clone();
    assert_eq!(status["alive"], 1200, "{status}");
    let advice = status["advice"][0].as_str().unwrap();
    assert!(advice.contains("MNEMON_MAX_INSIGHTS"), "{status}");
    let mut raised = a.command(&["status", "--json"]);
    let told = raised.env("MNEMON_MAX_INSIGHTS", "2000").output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(told["stores"][0]["advice"], serde_json::json!([]), "{told}");
}

#[test]
fn gap_22_what_is_sent_of_a_large_store_is_what_is_new() {
    let (carried, a, _b) = pair(Era::Supersedes, Era::Supersedes);
    let embedding = "UPDATE insights SET embedding=randomblob(3072) WHERE embedding IS NULL";
    for id in 0..200 {
        a.remember_logged(&id.to_string(), "x");
    }
    a.sql(embedding);
    a.sync();
    a.remember_logged("new", "new");
    a.sql(embedding);
    let exported = a.done(&["export", "--json"]);
    assert_eq!(exported["stores"][0]["sent"], 1, "{exported}");
    let device = exported["stores"][0]["device"].as_str().unwrap();
    let folder = fs::read_dir(carried.path().join("default").join(device)).unwrap();
    let mut sizes: Vec<_> = folder
        .map(|file| file.unwrap().metadata().unwrap().len())
        .collect();
    sizes.sort_unstable();
    assert!(sizes.len() == 2 && sizes[0] <= 8192, "{sizes:?}");
}

#[test]
fn gap_24_a_writer_that_does_not_wait_writes_between_the_batches() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    let db = a.open();
    db.execute_batch("BEGIN").unwrap();
    for id in 0..400 {
        let row = "INSERT INTO insights(id, content, created_at, updated_at, embedding)
             VALUES(?1, ?1, '2026-06-06T19:00:00Z', '2026-06-06T19:00:00Z', randomblob(3072))";
        db.execute(row, [id.to_string()]).unwrap();
    }
    db.execute_batch("COMMIT").unwrap();
    a.sync();
    let writer = Connection::open(b.path()).unwrap();
    writer.busy_timeout(std::time::Duration::ZERO).unwrap();
    let mut import = b.start(&["import"]);
    let mut between = 0;
    while import.try_wait().unwrap().is_none() {
        let write = "INSERT INTO oplog(operation, created_at) VALUES('x','2026-06-06T19:00:00Z')";
        let count = "SELECT count(*) FROM insights";
        if writer.execute(write, []).is_ok() {
            let there: u32 = writer.query_row(count, [], |row| row.get(0)).unwrap();
            between += u32::from((1..400).contains(&there));
        }
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    }
    assert!(
        between > 0,
        "the lock was held from the first row to the last"
    );
    assert_eq!(b.value("SELECT count(*) FROM insights"), "400");
}

#[test]
fn gap_37_a_machine_that_was_dark_for_long_brings_nothing_back() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    a.remember("y", "y");
    a.link("x", "y", "semantic", 0.5);
    exchange(&a, &b);
    a.sql("DELETE FROM edges");
    a.sync();
    a.sql("UPDATE insights SET deleted_at='2026-06-07T00:00:00Z' WHERE id='x'");
    for id in 0..40 {
        a.remember_logged(&id.to_string(), "x");
        a.sync();
    }
    let names = fs::read_dir(carried.path().join("default")).unwrap();
    assert_eq!(names.count(), 1, "the other machine had nothing to say");
    // It knows neither, and its segments were written before a base took their place.
    b.sql(
        "UPDATE insights SET embedding=x'0000803f', updated_at='2036-01-01T00:00:00Z' WHERE id='x'",
    );
    exchange(&a, &b);
    same(
        [&a, &b],
        "SELECT group_concat(id) FROM insights WHERE deleted_at IS NOT NULL",
        "x",
    );
    same([&a, &b], "SELECT count(*) FROM edges", "0");
}

#[test]
fn gap_38_mnemons_log_stays_on_its_machine() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember_logged("x", "x");
    exchange(&a, &b);
    assert_eq!(b.value("SELECT count(*) FROM insights"), "1");
    assert_eq!(b.value("SELECT count(*) FROM oplog"), "0");
}

#[test]
fn gap_40_one_fact_that_two_machines_wrote_stays_two_and_is_named() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("one", "the same fact");
    b.remember("two", "the same fact");
    b.remember("other", "another fact");
    exchange(&a, &b);
    same(
        [&a, &b],
        "SELECT count(*) FROM insights WHERE deleted_at IS NULL",
        "3",
    );
    for machine in [&a, &b] {
        let told = machine.done(&["verify", "--json"]);
        assert_eq!(
            told["stores"][0]["same"],
            serde_json::json!([["one", "two"]]),
            "{told}"
        );
    }
}

/// Whose id is larger is chance, so several machines try.
#[test]
fn what_a_machine_was_given_is_not_sent_back_as_its_own() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    a.link("x", "x", "semantic", 0.5);
    b.remember("x", "x");
    b.link("x", "x", "semantic", 0.5);
    exchange(&a, &b);
    for _ in 0..6 {
        let c = Machine::empty(carried.path());
        c.done(&["enable", "default", "--json"]);
        c.sync();
        let again = c.sync();
        assert_eq!(
            (&again["changed_here"], &again["sent"]),
            (&0.into(), &0.into()),
            "{again}"
        );
    }
    let quiet = a.sync();
    assert_eq!(
        (&quiet["taken_in"], &quiet["sent"]),
        (&0.into(), &0.into()),
        "{quiet}"
    );
}
