//! Links that come while servers start, serve and stop: somebody who may write in the checkout swaps files and folders of
//! the state folder for links to what lies outside, again and again.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use serde_json::json;

use crate::support::Repository;
use crate::support::random::Random;
use crate::support::wait::pause;

/// How many servers come and go under each kind of attack.
const ROUNDS: usize = 12;
/// What a victim's file says before and after.
const WORDS: &str = "a victim's words";
/// The files that stand in the state folder, some of the time.
const FILES: [&str; 6] = [
    "server.json",
    "server.lock",
    "server.log",
    "server.log.1",
    "open.html",
    "init.json",
];

/// A place with a file for each of ours, and folders as ours are.
fn trap(repository: &Repository) -> PathBuf {
    let trap = repository.outside().join("trap");
    let mcp = trap.join("local/state/mcp");
    fs::create_dir_all(&mcp).unwrap();
    for name in FILES {
        fs::write(mcp.join(name), WORDS).unwrap();
    }
    trap
}

/// Everything below a folder, with what it says.
fn contents(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.clone());
                all.insert(path, String::new());
            } else {
                let said = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                all.insert(path, said);
            }
        }
    }
    all
}

/// Puts `link` where `ours` stands and takes it away again; what stood there comes back, unless there is a new one.
fn swap(ours: &Path, link: &Path) -> bool {
    let exchanged = |one: &Path, other: &Path| {
        renameat2(AT_FDCWD, one, AT_FDCWD, other, RenameFlags::RENAME_EXCHANGE).is_ok()
    };
    if !exchanged(ours, link) {
        return false;
    }
    for _ in 0..50 {
        thread::yield_now();
    }
    exchanged(ours, link)
}

/// Lets servers come and go while `attack` runs over and over, and looks at what lies outside.
fn race(repository: &Repository, attack: impl Fn(&mut Random) -> bool + Sync) {
    // The folders are there, so that there is something to swap.
    let first = repository.attached("first");
    first.close();
    first.exit();
    let trap = trap(repository);
    let before = contents(&trap);
    let (over, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random::new(7);
            while !over.load(Ordering::Relaxed) {
                if attack(&mut random) {
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
                // Between two attacks the servers come a step on.
                pause(Duration::from_micros(200));
            }
        });
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for round in 0..ROUNDS {
                let clients = ["one", "two"].map(|name| repository.client(name));
                for client in &clients {
                    client.initialize();
                    let announced = json!({ "intent": "x", "scope": [format!("a{round}")] });
                    let answer = client.call("majordomus_announce", &announced);
                    let refused = answer["error"]["message"].as_str();
                    assert!(
                        answer.get("result").is_some() || refused.is_some(),
                        "{answer}"
                    );
                }
                for client in clients {
                    client.close();
                    client.exit();
                }
            }
        }));
        over.store(true, Ordering::Relaxed);
        done.unwrap();
    });
    assert!(
        swaps.load(Ordering::Relaxed) > ROUNDS,
        "nothing was swapped"
    );
    let after = contents(&trap);
    let token = repository.token();
    for (path, said) in &after {
        let token = token.as_deref().is_some_and(|token| said.contains(token));
        assert!(!token, "the token lies in {}", path.display());
    }
    assert_eq!(after, before, "something outside was written to");
}

/// Guards I2, I14.
#[test]
fn files_that_become_links_while_servers_come_and_go_are_never_written_through() {
    let repository = Repository::new();
    let links = repository.outside().join("links");
    fs::create_dir(&links).unwrap();
    let mcp = repository.outside().join("trap/local/state/mcp");
    for name in FILES {
        symlink(mcp.join(name), links.join(name)).unwrap();
    }
    race(&repository, |random| {
        let name = FILES[random.below(FILES.len())];
        let (ours, link) = (repository.state().join(name), links.join(name));
        if !link.is_symlink() {
            // A server has put its own in the link's place meanwhile.
            drop(fs::remove_file(&link));
            drop(symlink(mcp.join(name), &link));
        }
        swap(&ours, &link)
    });
}

/// Guards I2, I14.
#[test]
fn folders_that_become_links_while_servers_come_and_go_are_never_written_through() {
    let repository = Repository::new();
    let trap = repository.outside().join("trap");
    let links = repository.outside().join("links");
    fs::create_dir(&links).unwrap();
    let local = repository.root().join(".ai/local");
    let folders = ["local", "local/state", "local/state/mcp"];
    for (number, folder) in folders.iter().enumerate() {
        symlink(trap.join(folder), links.join(number.to_string())).unwrap();
    }
    race(&repository, |random| {
        let number = random.below(folders.len());
        let below = Path::new(folders[number]).strip_prefix("local").unwrap();
        let ours = if below.as_os_str().is_empty() {
            local.clone()
        } else {
            local.join(below)
        };
        swap(&ours, &links.join(number.to_string()))
    });
}
