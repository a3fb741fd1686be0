//! Snapshots that mnemon-sync left in the folder, read by machines that have moved over.

use std::fs;
use std::path::Path;

use super::support::mnemon::{Era, Machine, pair};

/// A machine that still runs mnemon-sync, and the snapshot that it writes.
fn snapshot(machine: &Machine, carried: &Path, host: &str) {
    let folder = carried.join("default");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{host}.db"));
    drop(fs::remove_file(&path));
    let into = [path.to_str().unwrap()];
    machine.open().execute("VACUUM INTO ?", into).unwrap();
}

#[test]
fn a_snapshot_is_read_once_as_what_was_there_and_never_as_an_edit() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    let old = Machine::new(Era::Float64, carried.path());
    for machine in [&a, &old] {
        machine.remember("x", "x");
    }
    a.sync();
    a.sql("UPDATE insights SET entities='[\"edited\"]'");
    a.sync();
    old.remember("y", "only there");
    old.link("x", "y", "semantic", 0.5);
    old.sql("UPDATE insights SET entities='[\"stale\"]', updated_at='9999-12-31T23:59:59Z' WHERE id='x'");
    snapshot(&old, carried.path(), "desktop");
    let before = fs::read(carried.path().join("default/desktop.db")).unwrap();
    let told = a.sync();
    assert_eq!(
        (told["segments_read"].as_u64(), told["written"].as_u64()),
        (Some(1), Some(3)),
        "{told}"
    );
    assert_eq!(
        a.value("SELECT entities FROM insights WHERE id='x'"),
        "[\"edited\"]"
    );
    assert_eq!(
        a.value("SELECT content FROM insights WHERE id='y'"),
        "only there"
    );
    assert_eq!(a.value("SELECT count(*) FROM edges"), "1");
    assert_eq!(
        a.sync()["segments_read"],
        0,
        "an unchanged one is not read again"
    );
    assert_eq!(
        fs::read(carried.path().join("default/desktop.db")).unwrap(),
        before
    );
    b.sync();
    assert_eq!(
        b.value("SELECT entities FROM insights WHERE id='x'"),
        "[\"edited\"]"
    );
    old.sql("UPDATE insights SET deleted_at='2026-06-06T20:00:00Z' WHERE id='y'");
    snapshot(&old, carried.path(), "desktop");
    a.sync();
    assert_eq!(
        a.value("SELECT deleted_at FROM insights WHERE id='y'"),
        "2026-06-06T20:00:00Z"
    );
}

#[test]
fn a_hostile_snapshot_is_named_and_holds_up_nothing() {
    let (carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    b.remember("x", "x");
    b.sync();
    let folder = carried.path().join("default");
    fs::write(folder.join("torn.db"), b"SQLite format 3\0 and no more").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", folder.join("link.db")).unwrap();
    let other = rusqlite::Connection::open(folder.join("views.db")).unwrap();
    other
        .execute_batch(
            "CREATE VIEW insights AS SELECT 1 AS id; CREATE VIEW edges AS SELECT 1 AS id;",
        )
        .unwrap();
    drop(other);
    fs::write(folder.join("a'; ATTACH.db"), b"").unwrap();
    let told = a.sync();
    let troubles = told["troubles"].as_array().unwrap();
    assert_eq!(troubles.len(), 3, "{told}");
    for name in ["torn", "link", "views"] {
        let is_named = troubles.iter().any(|it| {
            it.as_str()
                .unwrap()
                .contains(&format!("snapshot {name}.db"))
        });
        assert!(is_named, "{name}: {told}");
    }
    assert_eq!(a.value("SELECT content FROM insights"), "x");
}
