//! Whatever stands where the lease document or the lock should be, the next process starts and replaces it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::{BOUND, Client, Repository, checks, wait_some};

/// Guards I2: each of these is found at start; the process owns, replaces it and names what it found.
#[test]
fn whatever_the_document_holds_the_next_process_starts_and_replaces_it() {
    let mut foreign = json!({ "schema": "somebody-elses/v9", "url": "http://127.0.0.1:9/" });
    foreign["pid"] = json!(1);
    let texts: [(&str, Vec<u8>); 9] = [
        ("empty", Vec::new()),
        ("garbage", b"not json at all".to_vec()),
        ("binary", (0..=255).collect()),
        (
            "half",
            br#"{"schema":"majordomus-mcp-lease/v1","state":"rea"#.to_vec(),
        ),
        ("foreign", foreign.to_string().into_bytes()),
        (
            "of the wrong types",
            br#"{"schema":"majordomus-mcp-lease/v1","state":5,"pid":"x","epoch":-1,"link":[]}"#
                .to_vec(),
        ),
        ("an array", b"[1,2,3]".to_vec()),
        ("deep", [vec![b'['; 100_000], vec![b']'; 100_000]].concat()),
        ("null", b"null".to_vec()),
    ];
    for (what, bytes) in texts {
        let repository = Repository::new();
        fs::create_dir_all(repository.state()).unwrap();
        fs::write(repository.document(), bytes).unwrap();
        owns(&repository, what);
    }
}

/// Guards I2, I15.
#[test]
fn a_huge_document_is_not_read() {
    let repository = Repository::new();
    fs::create_dir_all(repository.state()).unwrap();
    let file = fs::File::create(repository.document()).unwrap();
    file.set_len(8 << 30).unwrap();
    let client = owns(&repository, "huge");
    if let Some(memory) = client.resident_kib() {
        assert!(memory < 128 * 1024, "{memory} KiB");
    }
}

/// Guards I2.
#[test]
fn a_document_that_is_a_symlink_is_replaced_and_its_target_is_left_alone() {
    let repository = Repository::new();
    fs::create_dir_all(repository.state()).unwrap();
    let target = repository.outside().join("target.json");
    fs::write(&target, "precious").unwrap();
    std::os::unix::fs::symlink(&target, repository.document()).unwrap();
    let _client = owns(&repository, "a symlink");
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
    assert!(
        fs::symlink_metadata(repository.document())
            .unwrap()
            .is_file()
    );
}

/// Guards I2.
#[test]
fn a_lock_that_is_a_symlink_is_not_followed() {
    let repository = Repository::new();
    fs::create_dir_all(repository.state()).unwrap();
    let target = repository.outside().join("target.lock");
    std::os::unix::fs::symlink(&target, repository.state().join("server.lock")).unwrap();
    let client = repository.client("client");
    client.initialize();
    checks::succeeded(&client.call("majordomus_peers", &json!({})));
    assert!(!target.exists(), "created through the symlink");
}

/// Guards I2.
#[test]
fn a_document_that_is_a_directory_or_a_fifo_stops_nobody() {
    for what in ["directory", "fifo"] {
        let repository = Repository::new();
        fs::create_dir_all(repository.state()).unwrap();
        if what == "directory" {
            fs::create_dir(repository.document()).unwrap();
            fs::write(repository.document().join("inside"), "x").unwrap();
        } else {
            let mode = nix::sys::stat::Mode::S_IRWXU;
            nix::unistd::mkfifo(&repository.document(), mode).unwrap();
        }
        owns(&repository, what);
    }
}

/// Guards I2: as root it is merely replaced; as a user it cannot be read.
#[test]
fn an_unreadable_document_is_replaced() {
    let repository = Repository::new();
    fs::create_dir_all(repository.state()).unwrap();
    fs::write(repository.document(), "{}").unwrap();
    fs::set_permissions(repository.document(), fs::Permissions::from_mode(0o000)).unwrap();
    owns(&repository, "unreadable");
}

/// Starts a client, expects that it owns and that the log names what was found.
#[track_caller]
fn owns(repository: &Repository, what: &str) -> Client {
    let client = repository.attached("client");
    let lease = wait_some(
        &format!("a document in place of one that is {what}"),
        BOUND,
        || repository.lease().filter(|lease| lease["state"] == "ready"),
    );
    assert_eq!(lease["pid"], client.pid(), "{what}: {lease}");
    let second = repository.attached("second");
    let list = second.tool("majordomus_peers", &json!({}));
    assert_eq!(
        checks::attached(&list),
        ["client", "second"],
        "{what}: {list}"
    );
    let log = repository.log();
    assert!(
        log.contains("found") || log.contains("took over") || log.contains("replac"),
        "{what}: {log}"
    );
    client
}

/// Guards I3: what is no database is named for what it is, and nobody waits for it.
#[test]
fn a_board_that_is_no_file_is_named_and_costs_durable_writes_only() {
    for kind in ["a FIFO", "a folder", "a symbolic link"] {
        let repository = Repository::new();
        let board = repository.shared().join("board.db");
        fs::create_dir_all(repository.shared()).unwrap();
        match kind {
            "a folder" => fs::create_dir(&board).unwrap(),
            "a FIFO" => nix::unistd::mkfifo(&board, nix::sys::stat::Mode::S_IRWXU).unwrap(),
            _ => {
                std::os::unix::fs::symlink(repository.outside().join("elsewhere"), &board).unwrap();
            }
        }
        let owner = repository.attached("owner");
        owner.tool(
            "majordomus_announce",
            &json!({ "intent": "x", "scope": ["a"] }),
        );
        let body = json!({ "intent": "x", "scope": ["a"] });
        let refused = repository
            .http()
            .post("/api/v1/peers/announce", &body)
            .expects(503)
            .json();
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains("board.db"), "{kind}: {refused}");
        assert!(!detail.contains("disk"), "{kind}: {refused}");
        println!("{kind}: {detail}");
        assert!(refused["hint"].is_string(), "{kind}: {refused}");
    }
}

/// Guards I2, I15: a disk that damages every file does not fill up with them.
#[test]
fn of_damaged_boards_the_last_few_are_kept() {
    let repository = Repository::new();
    let shared = repository.root().join(".git/majordomus");
    fs::create_dir_all(&shared).unwrap();
    for turn in 0..6 {
        fs::write(
            shared.join("board.db"),
            format!("damaged {turn}").repeat(99),
        )
        .unwrap();
        for log in ["board.db-wal", "board.db-shm"] {
            drop(fs::remove_file(shared.join(log)));
        }
        let client = repository.attached("client");
        client.close();
        client.exit();
    }
    let names = fs::read_dir(&shared).unwrap().map(|entry| entry.unwrap());
    let mut kept: Vec<_> = names
        .filter(|entry| entry.file_name().to_string_lossy().contains("db.damaged-"))
        .map(|entry| fs::read_to_string(entry.path()).unwrap()[..9].to_owned())
        .collect();
    kept.sort();
    assert_eq!(kept, ["damaged 3", "damaged 4", "damaged 5"]);
}

/// Guards I4: what a killed process was writing aside goes at a later start, and nothing else does.
#[test]
fn what_a_killed_process_was_writing_aside_is_swept_at_a_later_start() {
    let repository = Repository::new();
    let first = repository.attached("first");
    first.close();
    first.exit();
    let root = repository.root();
    let old = |path: &str| {
        let path = root.join(path);
        fs::write(&path, "half").unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
        path
    };
    let left = [
        ".ai/.majordomus.toml.new-0123456789abcdef",
        ".ai/local/..gitignore.new-0123456789abcdef",
        ".ai/local/state/mcp/.server.json.new-0123456789abcdef",
        ".ai/local/state/mcp/.init.json.new-0123456789abcdef",
        ".git/majordomus/.token.new-0123456789abcdef",
    ]
    .map(old);
    let others = [
        ".ai/local/gitignore.new-0123456789abcdef",
        ".ai/local/.notes.new-draft",
        ".ai/local/.server.json.old-0123456789abcdef",
    ]
    .map(old);
    // One that may be in the middle of its write.
    let fresh = root.join(".ai/local/..gitignore.new-fedcba9876543210");
    fs::write(&fresh, "half").unwrap();

    let next = repository.attached("next");
    repository.ready_when("the next owner", |lease| lease["pid"] == next.pid());
    for path in left {
        assert!(!path.exists(), "{} was left", path.display());
    }
    for path in others.iter().chain([&fresh]) {
        assert!(path.exists(), "{} is not ours to remove", path.display());
    }
}
