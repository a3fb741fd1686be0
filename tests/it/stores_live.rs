//! Stores that a server meets by itself: what its start takes in, what a client that leaves sends, who is asked, and whose
//! stores are meant.

use std::fs;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::command::succeed;
use super::support::mnemon::{Era, Machine};
use super::support::{BOUND, Client, Repository, wait_for};

/// The other machine, which goes through the folder as a person does.
fn elsewhere(carried: &Path) -> Machine {
    let machine = Machine::new(Era::Supersedes, carried);
    machine.done(&["enable", "default", "--json"]);
    machine
}

/// The person's stores at this checkout.
fn data(repository: &Repository) -> std::path::PathBuf {
    repository.home().join(".mnemon")
}

fn live(data: &Path) -> Connection {
    Connection::open(data.join("data/default/mnemon.db")).unwrap()
}

fn count(data: &Path) -> u64 {
    let count = "SELECT count(*) FROM insights";
    live(data).query_row(count, [], |row| row.get(0)).unwrap()
}

fn remember(data: &Path, id: &str) {
    let now = "2026-06-06T19:00:00Z";
    let insert = "INSERT INTO insights(id, content, created_at, updated_at) VALUES(?1,?1,?2,?2)";
    live(data).execute(insert, [id, now]).unwrap();
}

fn store(repository: &Repository, carried: &Path, arguments: &[&str]) -> Command {
    let mut command = repository.command(&[&["store"], arguments].concat());
    command.env("MNEMON_SYNC_DIR", carried);
    command
}

fn told(command: &mut Command) -> Value {
    serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
}

/// Makes a store in a folder of mnemon, and agrees to it.
fn enable(repository: &Repository, data: &Path, carried: &Path) {
    drop(Era::Supersedes.create(&data.join("data/default/mnemon.db")));
    succeed(store(repository, carried, &["enable", "default"]).env("MNEMON_DATA_DIR", data));
}

fn start(repository: &Repository, name: &str, data: &Path) -> Client {
    let launch = repository.launch().name(name);
    let client = launch
        .variable("MNEMON_DATA_DIR", data)
        .variable("MNEMON_SYNC_HOST", name)
        .start();
    client.attach();
    client
}

fn segments(carried: &Path) -> Vec<std::path::PathBuf> {
    let devices = fs::read_dir(carried.join("default")).into_iter().flatten();
    let files = devices.flat_map(|device| fs::read_dir(device.unwrap().path()).unwrap());
    let mut found: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    found.sort();
    found
}

#[test]
fn the_start_takes_in_and_whoever_leaves_sends() {
    let carried = TempDir::with_prefix("majordomus-it-").unwrap();
    let other = elsewhere(carried.path());
    other.remember("x", "from elsewhere");
    other.sync();
    let (repository, own) = (
        Repository::new(),
        TempDir::with_prefix("majordomus-it-").unwrap(),
    );
    enable(&repository, &data(&repository), carried.path());
    enable(&repository, own.path(), carried.path());

    let owner = start(&repository, "owner", &data(&repository));
    wait_for("the start to take in", BOUND, || {
        count(&data(&repository)) == 1
    });
    // A client with other stores than the owner's has its own met.
    let peer = start(&repository, "peer", own.path());
    wait_for("the peer's store to have it", BOUND, || {
        count(own.path()) == 1
    });
    let before = segments(carried.path());
    remember(own.path(), "of-the-peer");
    remember(&data(&repository), "of-the-owner");
    assert_eq!(
        segments(carried.path()),
        before,
        "nothing is sent by a timer"
    );
    peer.close();
    peer.exit();
    wait_for("the peer's store to be sent", BOUND, || {
        segments(carried.path()).len() > before.len()
    });
    other.sync();
    assert_eq!(
        other.value("SELECT group_concat(id) FROM (SELECT id FROM insights ORDER BY id)"),
        "of-the-peer,x"
    );
    // The last one sends before its process is gone.
    owner.close();
    owner.exit();
    other.sync();
    assert_eq!(other.value("SELECT count(*) FROM insights"), "3");
    let label = other.done(&["status", "--json"])["stores"][0]["peers"].to_string();
    assert!(
        label.contains("\"owner\"") && label.contains("\"peer\""),
        "{label}"
    );
}

#[test]
fn a_signal_loses_nothing_that_was_remembered() {
    let carried = TempDir::with_prefix("majordomus-it-").unwrap();
    let repository = Repository::new();
    enable(&repository, &data(&repository), carried.path());
    let owner = start(&repository, "owner", &data(&repository));
    remember(&data(&repository), "x");
    owner.signal(nix::sys::signal::Signal::SIGTERM);
    owner.exit();
    let other = elsewhere(carried.path());
    other.sync();
    assert_eq!(other.value("SELECT id FROM insights"), "x");
}

#[test]
fn nothing_happens_to_a_store_that_nobody_enabled() {
    let carried = TempDir::with_prefix("majordomus-it-").unwrap();
    let repository = Repository::new();
    let data = data(&repository);
    drop(Era::Supersedes.create(&data.join("data/default/mnemon.db")));
    let owner = start(&repository, "owner", &data);
    let tools = owner.result("tools/list", &json!({})).to_string();
    assert!(!tools.contains("majordomus_stores"), "{tools}");
    remember(&data, "x");
    owner.close();
    owner.exit();
    assert_eq!(segments(carried.path()), Vec::<std::path::PathBuf>::new());
    assert!(!repository.home().join(".local").exists());
}

#[test]
fn the_tool_and_the_routes_tell_of_the_callers_stores() {
    let carried = TempDir::with_prefix("majordomus-it-").unwrap();
    let (repository, own) = (
        Repository::new(),
        TempDir::with_prefix("majordomus-it-").unwrap(),
    );
    enable(&repository, &data(&repository), carried.path());
    enable(&repository, own.path(), carried.path());
    let owner = start(&repository, "owner", &data(&repository));
    let peer = start(&repository, "peer", own.path());
    let known = |client: &Client| client.tool("majordomus_stores", &json!({}))["stores"][0].clone();
    let (of_owner, of_peer) = (known(&owner), known(&peer));
    assert_eq!(of_owner["store"], "default");
    assert_ne!(of_owner["device"], of_peer["device"]);
    let asked = repository.http().get("/api/v1/stores").expects(200).json();
    assert_eq!(asked["stores"][0]["device"], of_owner["device"], "{asked}");

    remember(&data(&repository), "x");
    let only = json!({ "direction": "export", "dry_run": true });
    let met = repository
        .http()
        .post("/api/v1/stores/sync", &only)
        .expects(200)
        .json();
    assert_eq!(
        (&met["dry_run"], &met["stores"][0]["sent"]),
        (&json!(true), &json!(1)),
        "{met}"
    );
    assert_eq!(segments(carried.path()).len(), 0);
    let refused = json!({ "store": "none" });
    let refused = repository
        .http()
        .post("/api/v1/stores/sync", &refused)
        .text();
    assert!(
        refused.contains("not enabled") && refused.contains("store enable"),
        "{refused}"
    );
    let relative = json!({ "data": "somewhere" });
    let relative = repository
        .http()
        .post("/api/v1/stores/sync", &relative)
        .expects(422)
        .text();
    assert!(relative.contains("absolute"), "{relative}");
}

/// The same words, the same answer: the owner does it where there is one, the command where there is none.
#[test]
fn a_command_asks_the_owner_and_says_the_same_without_one() {
    let carried = TempDir::with_prefix("majordomus-it-").unwrap();
    let repository = Repository::new();
    enable(&repository, &data(&repository), carried.path());
    remember(&data(&repository), "x");
    succeed(&mut store(&repository, carried.path(), &["import"]));
    let dry = ["sync", "--dry-run", "--json"];
    let alone = told(&mut store(&repository, carried.path(), &dry));
    let alone_status = told(&mut store(
        &repository,
        carried.path(),
        &["status", "--json"],
    ));
    let nowhere = {
        let mut command = store(&repository, carried.path(), &dry);
        command.current_dir(repository.outside());
        told(&mut command)
    };
    assert_eq!(alone, nowhere);
    let owner = repository.launch().name("owner").start();
    owner.attach();
    repository.ready();
    assert_eq!(told(&mut store(&repository, carried.path(), &dry)), alone);
    let status = told(&mut store(
        &repository,
        carried.path(),
        &["status", "--json"],
    ));
    assert_eq!(
        status["stores"][0]["device"],
        alone_status["stores"][0]["device"]
    );
    assert_eq!(
        status["stores"][0]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>(),
        alone_status["stores"][0]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>()
    );
    // Whoever types means their own stores, and the owner has others.
    let own = TempDir::with_prefix("majordomus-it-").unwrap();
    enable(&repository, own.path(), carried.path());
    remember(own.path(), "y");
    let mut export = store(&repository, carried.path(), &["export", "--json"]);
    let sent = told(
        export
            .env("MNEMON_DATA_DIR", own.path())
            .env("MNEMON_SYNC_HOST", "mine"),
    );
    assert_eq!(sent["stores"][0]["sent"], 1, "{sent}");
    assert_eq!(count(&data(&repository)), 1);
    // An owner that does not answer keeps nobody from their own stores.
    owner.signal(nix::sys::signal::Signal::SIGSTOP);
    let met = told(&mut store(
        &repository,
        carried.path(),
        &["import", "--json"],
    ));
    owner.signal(nix::sys::signal::Signal::SIGCONT);
    assert_eq!(met["stores"][0]["taken_in"], 1, "{met}");
    assert_eq!(count(&data(&repository)), 2);
}

/// Two checkouts' owners have one person's store: one of them meets it, the other one leaves it be without a word.
#[test]
fn two_checkouts_never_meet_one_store_at_once() {
    let carried = TempDir::with_prefix("majordomus-it-").unwrap();
    let one = Repository::new();
    let other = one.at(one.outside().join("another checkout"));
    fs::create_dir(other.root()).unwrap();
    other.git(&["init", "-q", "-b", "main"]);
    enable(&one, &data(&one), carried.path());
    // Whoever has the lock, as another checkout's owner in the middle of its merge.
    let shadows = fs::read_dir(one.home().join(".local/state/majordomus/stores")).unwrap();
    let shadow = shadows.flatten().next().unwrap().path().join("default");
    let lock = fs::File::create(shadow.join("lock")).unwrap();
    lock.lock().unwrap();
    remember(&data(&one), "x");
    let client = start(&one, "first", &data(&one));
    client.close();
    client.exit();
    assert_eq!(segments(carried.path()).len(), 0);
    assert!(!client.stderr().contains("store"), "{}", client.stderr());
    let busy = store(&one, carried.path(), &["sync", "default"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&busy.stderr).into_owned();
    assert!(
        said.contains("another process") && said.contains("hint: "),
        "{said}"
    );
    drop(lock);
    assert!(!shadow.join("export.json").exists(), "that is no trouble");
    let clients = [
        start(&one, "first", &data(&one)),
        start(&other, "second", &data(&one)),
    ];
    for client in &clients {
        client.close();
    }
    for client in &clients {
        client.exit();
    }
    let there = elsewhere(carried.path());
    there.sync();
    assert_eq!(there.value("SELECT count(*) FROM insights"), "1");
    assert_eq!(segments(carried.path()).len(), 1, "it was sent once");
}
