//! Many processes started at the same instant: one owner, and everybody on one board.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::super::{BOUND, Client, Repository, checks, wait_some};

/// Starts `count` clients of a fresh checkout at one instant and returns how long it took until each saw all.
#[track_caller]
pub(crate) fn round(count: usize) -> Duration {
    let repository = Repository::new();
    let gate = Barrier::new(count);
    let start = Instant::now();
    let clients: Vec<Client> = thread::scope(|scope| {
        let starting: Vec<_> = (0..count)
            .map(|number| {
                let (repository, gate) = (&repository, &gate);
                scope.spawn(move || {
                    gate.wait();
                    let client = repository.client(&format!("storm-{number:02}"));
                    client.initialize();
                    client
                })
            })
            .collect();
        starting
            .into_iter()
            .map(|client| client.join().expect("the client initializes"))
            .collect()
    });

    let mut expected: Vec<String> = clients
        .iter()
        .map(|client| client.name().to_owned())
        .collect();
    expected.sort();
    for client in &clients {
        wait_some(
            &format!("everybody on the board of {}", client.name()),
            2 * BOUND,
            || {
                let list = client.tool("majordomus_peers", &json!({}));
                (checks::attached(&list) == expected).then_some(())
            },
        );
    }
    let owner = repository.ready()["pid"].as_i64();
    assert!(
        clients
            .iter()
            .any(|client| Some(i64::from(client.pid())) == owner),
        "the document names {owner:?}, which is none of the clients"
    );
    if let Some(holders) = lock_holders(&repository) {
        assert_eq!(holders, 1, "processes that hold the lock");
    }
    start.elapsed()
}

/// How many holders the kernel names for the checkout's lock, where it tells.
pub(crate) fn lock_holders(repository: &Repository) -> Option<usize> {
    use std::os::unix::fs::MetadataExt as _;
    let lock = repository.state().join("server.lock");
    let inode = std::fs::metadata(lock).ok()?.ino();
    let field = format!(":{inode} ");
    let mut holders = 0;
    // The kernel tells the list in pieces, and a list that changes meanwhile can leave a lock out: that there is none is only
    // believed when it is said again and again.
    for _ in 0..LOOKS {
        let locks = std::fs::read_to_string("/proc/locks").ok()?;
        holders = named(&locks, &field);
        if holders > 0 {
            break;
        }
    }
    Some(holders)
}

/// How often the list is read before nobody is said to hold a lock.
const LOOKS: usize = 50;

/// Such a list can also name one lock twice: its number apart, such lines are equal, while two holders differ in their
/// processes.
fn named(locks: &str, field: &str) -> usize {
    let holders: BTreeSet<&str> = locks
        .lines()
        .filter_map(|line| line.split_once(": ").map(|(_, lock)| lock))
        .filter(|lock| lock.contains(field) && lock.contains("FLOCK") && lock.contains("WRITE"))
        .filter(|lock| !lock.contains("->"))
        .collect();
    holders.len()
}
