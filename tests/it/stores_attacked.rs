//! Stores: rows, files and disks that are in the way hold up themselves, and nothing beside them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::support::command::{MAJORDOMUS, hermetic};
use super::support::mnemon::{Era, Machine, exchange, pair};

/// The folder that a machine writes in.
fn own(carried: &Path, machine: &Machine) -> PathBuf {
    let device = machine.sync()["device"].as_str().unwrap().to_owned();
    carried.join("default").join(device)
}

#[track_caller]
fn is_in_the_way(told: &Value, what: &str) {
    let troubles = told["troubles"].as_array().unwrap();
    let is_told = |trouble: &Value| trouble.as_str().unwrap().contains(what);
    assert!(troubles.iter().any(is_told), "{what}: {told}");
}

#[test]
fn what_no_segment_takes_stays_and_holds_up_nothing() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    for id in ["ok", "", "large", &"i".repeat(300)] {
        a.remember(id, "x");
    }
    a.sql("UPDATE insights SET content=hex(randomblob(10000000)) WHERE id='large'");
    is_in_the_way(&a.sync(), "3 insights or edges stay on this machine");
    assert_eq!(b.sync()["troubles"], json!([]));
    assert_eq!(b.value("SELECT group_concat(id) FROM insights"), "ok");
    // It is in nobody's way later, either: what is new goes as a segment of its own.
    a.remember("next", "x");
    let told = a.sync();
    assert_eq!(
        (&told["sent"], &told["segments_written"]),
        (&1.into(), &1.into()),
        "{told}"
    );
    assert_eq!(a.sync()["segments_written"], 0);
    a.sql("UPDATE insights SET content='small' WHERE id='large'");
    exchange(&a, &b);
    assert_eq!(
        b.value("SELECT content FROM insights WHERE id='large'"),
        "small"
    );
}

#[test]
fn more_columns_than_a_segment_takes_are_told_by_their_own_machine() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("ok", "x");
    exchange(&a, &b);
    for number in 0..64 {
        a.sql(&format!(
            "ALTER TABLE insights ADD COLUMN extra{number} TEXT DEFAULT 'x'"
        ));
    }
    is_in_the_way(&a.sync(), "1 insights or edges stay on this machine");
    assert_eq!(b.sync()["troubles"], json!([]));
}

#[test]
fn a_base_in_which_one_insight_has_very_many_edges_can_be_read() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("hub", "x");
    for number in 0..20 {
        let id = format!("{number}");
        a.remember(&id, "x");
        a.link("hub", &id, "semantic", 0.5);
    }
    a.sql("UPDATE edges SET metadata=hex(randomblob(1000000))");
    assert_eq!(a.sync()["troubles"], json!([]));
    let told = b.sync();
    assert_eq!(told["troubles"], json!([]));
    assert_eq!(b.value("SELECT count(*) FROM edges"), "20");
}

#[test]
fn the_shadow_of_another_store_is_not_used() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    let work = a.home().join(".mnemon/data/work/mnemon.db");
    let db = Era::Supersedes.create(&work);
    db.execute_batch(
        "INSERT INTO insights(id, content, created_at, updated_at)
         VALUES('secret', 'of work', '2026-06-06T19:00:00Z', '2026-06-06T19:00:00Z')",
    )
    .unwrap();
    drop(db);
    a.done(&["enable", "work", "--json"]);
    a.remember("x", "x");
    exchange(&a, &b);
    let stores = a.home().join(".local/state/majordomus/stores");
    let shadows = fs::read_dir(stores).unwrap().next().unwrap();
    let shadows = shadows.unwrap().path();
    fs::copy(
        shadows.join("work/shadow.db"),
        shadows.join("default/shadow.db"),
    )
    .unwrap();
    is_in_the_way(&a.sync(), "is the shadow of the store `work`");
    b.sync();
    for machine in [&a, &b] {
        assert_eq!(machine.value("SELECT group_concat(id) FROM insights"), "x");
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_written_behind_a_link_that_nobody_reads() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    exchange(&a, &b);
    let (own, aside) = (own(carried.path(), &a), carried.path().join("aside"));
    fs::rename(&own, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &own).unwrap();
    a.remember("y", "y");
    is_in_the_way(&a.sync(), "is no folder");
    fs::remove_file(&own).unwrap();
    fs::rename(&aside, &own).unwrap();
    assert_eq!(a.sync()["troubles"], json!([]));
    b.sync();
    assert_eq!(b.value("SELECT count(*) FROM insights"), "2");
}

#[test]
fn a_folder_that_was_away_and_comes_back_is_no_copy_of_a_machine() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    exchange(&a, &b);
    let (own, aside) = (own(carried.path(), &a), carried.path().join("aside"));
    fs::rename(&own, &aside).unwrap();
    a.remember("y", "y");
    a.sync();
    for file in fs::read_dir(&aside).unwrap() {
        let file = file.unwrap();
        fs::rename(file.path(), own.join(file.file_name())).unwrap();
    }
    a.remember("z", "z");
    let told = a.sync();
    assert_eq!(
        (&told["troubles"], &told["sent"]),
        (&json!([]), &1.into()),
        "{told}"
    );
    assert!(own.ends_with(told["device"].as_str().unwrap()));
    b.sync();
    assert_eq!(b.value("SELECT count(*) FROM insights"), "3");
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_is_told_as_that_and_nothing_is_lost() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    for number in 0..100 {
        b.remember(&format!("{number}"), "x");
    }
    b.sql("UPDATE insights SET content=hex(randomblob(20000))");
    b.sync();
    let mut command = hermetic("sh", a.home(), a.home());
    command.env("MNEMON_SYNC_DIR", carried.path());
    // No file becomes larger than a megabyte or two.
    let script = r#"trap "" XFSZ; ulimit -f 2000; exec "$0" store import --json"#;
    let output = command.args(["-c", script, MAJORDOMUS]).output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let told = &told["stores"][0];
    assert!(!output.status.success(), "{told}");
    is_in_the_way(told, "in SQLite");
    assert!(!told.to_string().contains("rollback"), "{told}");
    assert_eq!(a.sync()["troubles"], json!([]));
    assert_eq!(a.value("SELECT count(*) FROM insights"), "100");
}

/// A segment of somebody who writes what he likes, with an insight `top` that was set then.
fn forge(carried: &Path, ms: u64, label: &str) {
    let device = "ab".repeat(16);
    let head = json!({"format": "majordomus-store", "version": 1, "store": "default", "device": device,
        "label": label, "written_ms": 1, "number": 1});
    let column = |text: &str| json!({"s": {"k": "e", "m": ms, "n": u32::MAX, "d": device}, "v": {"t": text}});
    let date = "2026-06-06T19:00:00Z";
    let columns = json!({"content": column("theirs"), "created_at": column(date), "updated_at": column(date)});
    let mut text = format!("{head}\n{}\n", json!({"insight": ["top", {"c": columns}]}));
    let digest = Sha256::digest(text.as_bytes());
    let sha256: Vec<_> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let sha256 = sha256.concat();
    text += &json!({ "sha256": sha256 }).to_string();
    text.push('\n');
    let folder = carried.join("default").join(device);
    fs::create_dir_all(&folder).unwrap();
    let bytes = zstd::encode_all(text.as_bytes(), 1).unwrap();
    fs::write(folder.join("0123456789abcdef-00000001.seg"), bytes).unwrap();
}

#[test]
fn a_stamp_at_the_end_of_time_keeps_nobody_from_being_read() {
    let last = 253_402_300_799_999;
    for (ms, is_beaten) in [(last, true), (last + 24 * 60 * 60 * 1000, false)] {
        let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
        forge(carried.path(), ms, "theirs\nmine");
        exchange(&a, &b);
        assert_eq!(
            b.value("SELECT content FROM insights WHERE id='top'"),
            "theirs",
            "it is read at all"
        );
        a.sql("UPDATE insights SET content='mine' WHERE id='top'");
        a.remember("after", "x");
        exchange(&a, &b);
        assert_eq!(b.sync()["troubles"], json!([]));
        assert_eq!(
            b.value("SELECT content FROM insights WHERE id='after'"),
            "x"
        );
        if is_beaten {
            assert_eq!(
                b.value("SELECT content FROM insights WHERE id='top'"),
                "mine"
            );
        }
        let digest =
            |machine: &Machine| machine.done(&["verify", "--json"])["stores"][0]["digest"].clone();
        assert_eq!(digest(&a), digest(&b));
        let status = a.store(&["status"]);
        let status = String::from_utf8_lossy(&status.stdout).into_owned();
        assert!(
            status.contains("theirsmine ("),
            "no line of its own: {status}"
        );
    }
}
