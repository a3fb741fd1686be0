//! Stores of mnemon on two machines, through a folder; each promise where the row-wise merge of whole files breaks.

use std::fs;
use std::path::{Path, PathBuf};

use super::support::mnemon::{Era, Machine, exchange, pair};
use super::support::{BOUND, wait_for};

#[track_caller]
fn same(machines: [&Machine; 2], query: &str, expected: &str) {
    for machine in machines {
        assert_eq!(machine.value(query), expected, "{query}");
    }
}

#[track_caller]
fn agree(one: &Machine, other: &Machine) {
    let digest =
        |machine: &Machine| machine.done(&["verify", "--json"])["stores"][0]["digest"].clone();
    assert_eq!(digest(one), digest(other));
}

/// Every segment in a folder.
fn segments(folder: &Path) -> Vec<PathBuf> {
    let devices = fs::read_dir(folder.join("default")).unwrap();
    let files = devices.flat_map(|device| fs::read_dir(device.unwrap().path()).unwrap());
    files.map(|file| file.unwrap().path()).collect()
}

#[test]
fn what_one_machine_remembers_the_other_one_has() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "from a");
    b.remember("y", "from b");
    a.link("x", "x", "semantic", 0.5);
    exchange(&a, &b);
    same(
        [&a, &b],
        "SELECT group_concat(content) FROM (SELECT content FROM insights ORDER BY id)",
        "from a,from b",
    );
    same([&a, &b], "SELECT count(*) FROM edges", "1");
    agree(&a, &b);
    let before = segments(carried.path());
    let quiet = a.sync();
    assert_eq!(
        (&quiet["written"], &quiet["sent"]),
        (&0.into(), &0.into()),
        "{quiet}"
    );
    assert_eq!(
        segments(carried.path()),
        before,
        "nothing new, nothing written"
    );
    let status = a.done(&["status", "--json"]);
    assert_eq!(
        status["stores"][0]["peers"].as_array().unwrap().len(),
        1,
        "{status}"
    );
}

#[test]
fn gap_1_equal_dates_are_no_tie() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "old");
    exchange(&a, &b);
    a.sql("UPDATE insights SET entities='[\"a\"]', updated_at='2026-06-06T20:00:00Z'");
    b.sql("UPDATE insights SET entities='[\"b\"]', updated_at='2026-06-06T20:00:00Z'");
    exchange(&a, &b);
    assert_eq!(
        a.value("SELECT entities FROM insights"),
        b.value("SELECT entities FROM insights")
    );
    agree(&a, &b);
}

#[test]
fn gap_2_and_5_a_forget_beats_derived_writes_of_any_date() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "old");
    exchange(&a, &b);
    a.sql(
        "UPDATE insights SET deleted_at='2026-06-06T20:00:00Z', updated_at='2026-06-06T20:00:00Z'",
    );
    b.sql("UPDATE insights SET embedding=x'0000803f', updated_at='2026-06-06T20:05:00Z'");
    exchange(&a, &b);
    same(
        [&a, &b],
        "SELECT deleted_at FROM insights",
        "2026-06-06T20:00:00Z",
    );
    agree(&a, &b);
}

#[test]
fn gap_4_a_date_in_the_year_9999_freezes_nothing() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "old");
    a.sql("UPDATE insights SET updated_at='9999-12-31T23:59:59Z', entities='[\"poison\"]'");
    exchange(&a, &b);
    b.sql("UPDATE insights SET entities='[\"after\"]', updated_at='2026-06-06T20:00:00Z'");
    exchange(&a, &b);
    same([&a, &b], "SELECT entities FROM insights", "[\"after\"]");
}

#[test]
fn gap_6_and_7_edges_are_taken_away_and_changed_for_everybody() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    for id in ["x", "y"] {
        a.remember(id, id);
    }
    a.link("x", "y", "semantic", 0.5);
    a.link("y", "x", "semantic", 0.5);
    exchange(&a, &b);
    a.sql("DELETE FROM edges WHERE source_id='x'");
    b.link("y", "x", "semantic", 0.9);
    exchange(&a, &b);
    same(
        [&a, &b],
        "SELECT group_concat(source_id || weight) FROM edges",
        "y0.9",
    );
    agree(&a, &b);
}

#[test]
fn gap_8_and_12_an_edge_that_cannot_stand_here_holds_up_nothing() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Float32);
    a.sql("PRAGMA foreign_keys=OFF; INSERT INTO edges VALUES('x','nobody','semantic',0.5,'{}','2026-06-06T19:00:00Z')");
    a.remember("x", "x");
    a.remember("y", "y");
    a.link("x", "y", "supersedes", 1.0);
    a.link("x", "y", "semantic", 1.0);
    exchange(&a, &b);
    assert_eq!(
        b.value("SELECT group_concat(edge_type) FROM edges"),
        "semantic"
    );
    assert_eq!(b.value("SELECT count(*) FROM insights"), "2");
    let status = b.done(&["status", "--json"]);
    assert_eq!(
        status["stores"][0]["troubles"].as_array().unwrap().len(),
        1,
        "{status}"
    );
    agree(&a, &b);
}

#[test]
fn gap_9_and_10_a_row_that_the_store_refuses_holds_up_nothing() {
    let (_carried, a, b) = pair(Era::Fork, Era::Fork);
    for (machine, id) in [(&a, "from-a"), (&b, "from-b")] {
        machine.remember(id, "same ticket");
        machine.sql("UPDATE insights SET external_ref='JIRA-1'");
    }
    a.remember("free", "nothing in the way");
    exchange(&a, &b);
    assert_eq!(
        b.value("SELECT content FROM insights WHERE id='free'"),
        "nothing in the way"
    );
    assert_eq!(
        b.value("SELECT count(*) FROM insights WHERE id='from-a'"),
        "0"
    );
    let told = b.sync();
    assert!(
        told["troubles"][0].as_str().unwrap().contains("from-a"),
        "{told}"
    );
    b.sql("UPDATE insights SET external_ref='JIRA-2' WHERE id='from-b'");
    b.sync();
    assert_eq!(
        b.value("SELECT count(*) FROM insights WHERE id='from-a'"),
        "1",
        "it heals"
    );
    let (_carried, a, b) = pair(Era::Supersedes, Era::Strict);
    a.remember("x", "x");
    exchange(&a, &b);
    assert_eq!(b.value("SELECT count(*) FROM insights"), "0");
}

#[test]
fn gap_13_counts_are_added_up() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    a.sql("UPDATE insights SET access_count=2");
    exchange(&a, &b);
    a.sql(
        "UPDATE insights SET access_count=access_count+2, last_accessed_at='2026-06-06T21:00:00Z'",
    );
    b.sql(
        "UPDATE insights SET access_count=access_count+1, last_accessed_at='2026-06-06T20:00:00Z'",
    );
    exchange(&a, &b);
    exchange(&a, &b);
    same([&a, &b], "SELECT access_count FROM insights", "5");
    same(
        [&a, &b],
        "SELECT last_accessed_at FROM insights",
        "2026-06-06T21:00:00Z",
    );
}

#[test]
fn gap_14_embeddings_are_of_the_width_of_each_store() {
    let (_carried, a, b) = pair(Era::Float64, Era::Float32);
    a.remember("x", "x");
    // 1.0 and -2.5.
    let wide = "000000000000f03f00000000000004c0";
    a.sql(&format!("UPDATE insights SET embedding=x'{wide}'"));
    exchange(&a, &b);
    assert_eq!(
        b.value("SELECT hex(embedding) FROM insights"),
        "0000803F000020C0"
    );
    assert_eq!(
        a.value("SELECT lower(hex(embedding)) FROM insights"),
        wide,
        "what stands there stays as it is"
    );
}

#[test]
fn gap_15_and_16_dates_of_insertion_stay_here_and_a_migrations_forget_is_one() {
    let (_carried, a, b) = pair(Era::Stored, Era::Stored);
    a.remember("x", "x");
    a.sql("UPDATE insights SET stored_at='2020-01-01T00:00:00Z'");
    exchange(&a, &b);
    assert_ne!(
        b.value("SELECT stored_at FROM insights"),
        "2020-01-01T00:00:00Z"
    );
    a.sql("UPDATE insights SET deleted_at='2026-06-06 23:00:00'");
    exchange(&a, &b);
    assert_eq!(
        b.value("SELECT deleted_at FROM insights"),
        "2026-06-06T23:00:00Z"
    );
}

#[test]
fn gap_17_a_prune_stays_on_its_machine_and_a_forget_does_not() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("pruned", "x");
    a.remember("forgotten", "x");
    exchange(&a, &b);
    a.sql(
        "UPDATE insights SET deleted_at='2026-06-06T20:00:00Z';
         INSERT INTO oplog(operation, insight_id, created_at) VALUES('prune','pruned','2026-06-06T20:00:00Z');
         INSERT INTO oplog(operation, insight_id, created_at) VALUES('forget','forgotten','2026-06-06T20:00:00Z');",
    );
    exchange(&a, &b);
    assert_eq!(
        a.value("SELECT count(*) FROM insights WHERE deleted_at IS NULL"),
        "0"
    );
    assert_eq!(
        b.value("SELECT group_concat(id) FROM insights WHERE deleted_at IS NULL"),
        "pruned"
    );
    agree(&a, &b);
}

#[test]
fn gap_19_what_is_in_the_log_alone_is_sent() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    let open = a.open();
    // Whoever has looked at the store keeps its log from being folded in.
    open.query_row("SELECT count(*) FROM insights", [], |_| Ok(()))
        .unwrap();
    a.remember("x", "in the log");
    exchange(&a, &b);
    assert_eq!(b.value("SELECT content FROM insights"), "in the log");
    assert!(
        a.path()
            .with_file_name("mnemon.db-wal")
            .metadata()
            .unwrap()
            .len()
            > 0,
        "it is not folded in"
    );
    drop(open);
}

#[test]
fn gap_20_a_restored_backup_takes_nothing_back() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    a.remember("kept", "x");
    exchange(&a, &b);
    a.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    let backup = fs::read(a.path()).unwrap();
    b.sql("UPDATE insights SET access_count=4 WHERE id='kept'; UPDATE insights SET deleted_at='2026-06-06T20:00:00Z' WHERE id='x'");
    exchange(&a, &b);
    for suffix in ["", "-wal", "-shm"] {
        drop(fs::remove_file(
            a.home()
                .join(format!(".mnemon/data/default/mnemon.db{suffix}")),
        ));
    }
    fs::write(a.path(), backup).unwrap();
    a.sql("UPDATE insights SET access_count=access_count+1 WHERE id='kept'");
    assert_eq!(
        a.value("SELECT count(*) FROM insights WHERE deleted_at IS NULL"),
        "2"
    );
    let told = a.sync();
    assert_eq!(told["restored"], true, "{told}");
    exchange(&a, &b);
    same(
        [&a, &b],
        "SELECT group_concat(id) FROM insights WHERE deleted_at IS NULL",
        "kept",
    );
    same(
        [&a, &b],
        "SELECT access_count FROM insights WHERE id='kept'",
        "4",
    );
    agree(&a, &b);
}

#[test]
fn gap_25_and_26_a_torn_segment_is_named_and_makes_no_store() {
    let (carried, a, _b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    a.sync();
    let segment = &segments(carried.path())[0];
    let whole = fs::read(segment).unwrap();
    fs::write(segment, &whole[..whole.len() / 2]).unwrap();
    let c = Machine::empty(carried.path());
    c.done(&["enable", "default", "--json"]);
    let told = c.sync();
    assert!(
        told["troubles"][0]
            .as_str()
            .unwrap()
            .contains("cannot be unpacked"),
        "{told}"
    );
    assert!(!c.path().exists());
    fs::write(segment, whole).unwrap();
    c.done(&["import", "--json"]);
    assert_eq!(c.value("SELECT content FROM insights"), "x");
}

#[test]
fn gap_27_a_copy_of_a_machine_takes_an_id_of_its_own() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    exchange(&a, &b);
    let c = Machine::empty(carried.path());
    let copy = |from: &Path, to: &Path| {
        let mut command = super::support::command::hermetic("cp", from, from);
        super::support::command::succeed(command.arg("-a").arg(from.join(".")).arg(to));
    };
    copy(a.home(), c.home());
    // Shadows lie by the path of their stores.
    let shadows = c.home().join(".local/state/majordomus/stores");
    let old = fs::read_dir(&shadows)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    c.done(&["enable", "default", "--json"]);
    let new = fs::read_dir(&shadows)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| *path != old)
        .unwrap();
    copy(&old, &new);
    a.remember("from-a", "x");
    a.sync();
    c.remember("from-c", "x");
    let told = c.sync();
    assert!(
        told["troubles"][0]
            .as_str()
            .unwrap()
            .contains("takes a new id"),
        "{told}"
    );
    for machine in [&a, &c, &b] {
        machine.sync();
    }
    assert_eq!(b.value("SELECT count(*) FROM insights"), "3");
    c.sync();
    assert_eq!(c.value("SELECT count(*) FROM insights"), "3");
}

#[test]
fn gap_29_to_33_what_is_no_segment_is_not_read() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    a.sync();
    let segment = segments(carried.path()).remove(0);
    let stem = segment.file_stem().unwrap().to_str().unwrap().to_owned();
    for name in [
        format!("{stem}.sync-conflict-20260101-000000-ABCDEFG.seg"),
        format!("{stem} 2.seg"),
        "a' AS q;\n.shell touch PWNED\nSELECT '.seg".to_owned(),
    ] {
        fs::copy(&segment, segment.with_file_name(name)).unwrap();
    }
    let link = segment.with_file_name("0123456789abcdef-00000001.seg");
    std::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
    let told = b.sync();
    let troubles: Vec<_> = told["troubles"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it.as_str())
        .collect();
    assert_eq!(troubles.len(), 2, "{troubles:?}");
    assert!(
        troubles.iter().any(|it| it.starts_with("3 files")),
        "{troubles:?}"
    );
    assert!(
        troubles.iter().any(|it| it.contains("is a symbolic link")),
        "{troubles:?}"
    );
    assert_eq!(b.value("SELECT count(*) FROM insights"), "1");
}

#[test]
fn gap_34_and_35_a_store_is_merged_by_name_and_only_where_somebody_agreed() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    let refused = a.store(&["enable", "../default"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is no name of a store"));
    a.remember("x", "x");
    a.done(&["disable", "default", "--json"]);
    let refused = a.store(&["export", "default"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        said.contains("is not enabled") && said.contains("hint: majordomus store enable"),
        "{said}"
    );
    assert!(
        a.done(&["sync", "--json"])["stores"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert!(!carried.path().join("default").exists());
    fs::create_dir_all(b.home().join(".claude")).unwrap();
    fs::write(
        b.home().join(".claude/settings.json"),
        r#"{"hooks":{"Stop":[{"hooks":[{"command":"~/.mnemon/sync/bin/mnemon-sync export"}]}]}}"#,
    )
    .unwrap();
    let refused = b.store(&["enable", "default"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("mnemon-sync uninstall-hooks"));
}

#[test]
fn a_folder_that_would_give_the_stores_away_is_refused() {
    let carried = tempfile::TempDir::with_prefix("majordomus-it-").unwrap();
    let a = Machine::new(Era::Supersedes, carried.path());
    for folder in [
        ".mnemon",
        ".mnemon/data",
        ".mnemon/data/default",
        ".mnemon/data/sync",
    ] {
        let inside = Machine::empty(&a.home().join(folder));
        let mut command = super::support::command::hermetic(
            super::support::command::MAJORDOMUS,
            a.home(),
            a.home(),
        );
        command
            .env("MNEMON_SYNC_DIR", a.home().join(folder))
            .args(["store", "enable", "default"]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{folder}");
        drop(inside);
    }
}

#[test]
fn stores_of_every_era_meet() {
    for era in Era::ALL.into_iter().filter(|era| *era != Era::Strict) {
        let (_carried, a, b) = pair(era, Era::Supersedes);
        a.remember("x", "from an old one");
        b.remember("y", "from a new one");
        exchange(&a, &b);
        same([&a, &b], "SELECT count(*) FROM insights", "2");
        agree(&a, &b);
        let quiet = b.sync();
        assert_eq!(
            quiet["changed_here"], 0,
            "{era:?}: what we wrote is no edit: {quiet}"
        );
    }
}

#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    let told = a.done(&["export", "--dry-run", "--json"]);
    assert_eq!(told["stores"][0]["sent"], 1, "{told}");
    assert!(!carried.path().join("default").exists());
    a.sync();
    let told = b.done(&["import", "--dry-run", "--json"]);
    assert_eq!(
        (
            &told["stores"][0]["taken_in"],
            &told["stores"][0]["written"]
        ),
        (&1.into(), &1.into()),
        "{told}"
    );
    assert_eq!(b.value("SELECT count(*) FROM insights"), "0");
    b.sync();
    assert_eq!(b.value("SELECT count(*) FROM insights"), "1");
}

/// The import dies after each batch that it writes, most often before it can note that it has.
#[test]
fn counts_are_exact_however_often_an_import_is_killed() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    let rows = 60;
    for number in 0..rows {
        a.remember(&format!("x{number}"), "x");
    }
    exchange(&a, &b);
    b.sql("UPDATE insights SET access_count=access_count+3");
    b.sync();
    let counted = "SELECT sum(access_count) FROM insights";
    let (mut kills, mut told) = (0, None);
    while told.is_none() {
        let before = a.value(counted);
        let mut child = a.start(&["import", "default", "--json"]);
        wait_for("a batch, or the end", BOUND, || {
            told = child.try_wait().unwrap();
            told.is_some() || a.value(counted) != before
        });
        if told.is_none() {
            child.kill().unwrap();
            child.wait().unwrap();
            a.sql("UPDATE insights SET access_count=access_count+1 WHERE id='x0'");
            kills += 1;
        }
    }
    assert!(kills > 1, "it was killed {kills} times");
    exchange(&a, &b);
    let expected = format!("{}", 3 * rows + kills);
    same(
        [&a, &b],
        "SELECT sum(access_count) FROM insights",
        &expected,
    );
    agree(&a, &b);
}

#[test]
fn mnemons_own_tables_stay_as_they_are() {
    let (_carried, a, b) = pair(Era::Stored, Era::Fork);
    let tables = "SELECT group_concat(sql, char(10)) FROM sqlite_schema WHERE name NOT LIKE '%majordomus_applied%'";
    let before = [a.value(tables), b.value(tables)];
    a.remember("x", "x");
    exchange(&a, &b);
    assert_eq!([a.value(tables), b.value(tables)], before);
}
