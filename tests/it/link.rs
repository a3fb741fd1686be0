//! Every build that was ever released speaks to this one: recordings of the link, kept for ever and played from either
//! side (`link/README.md`).

mod as_bridge;
mod as_owner;
mod recording;
mod relay;
mod scenes;
mod wire;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;

use crate::support::checks;
use recording::{Terms, Voice, parts};

/// The newest version of the link, whose recordings may be added to.
const NEWEST: &str = "v1";

/// Where new recordings go, if any are wanted: `MAJORDOMUS_RECORD_LINK=folder cargo test --test it link::the_scenes`.
const RECORD: &str = "MAJORDOMUS_RECORD_LINK";

/// The words of the link, as the source has them.
fn words() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = fs::read_to_string(root.join("src/link/line.rs")).unwrap();
    let table = source.split_once("const WORDS").unwrap().1;
    let table = table.split_once("];").unwrap().0;
    let words = table.split('"').skip(1).step_by(2);
    words.map(str::to_owned).collect()
}

/// A verb that no recording says would be nobody's promise.
#[test]
fn every_verb_of_the_link_is_recorded_and_documented() {
    let words = words();
    assert!(words.contains("hello"), "{words:?}");
    let mut said = BTreeSet::new();
    for name in recording::names(NEWEST) {
        let lines = recording::read(NEWEST, &name);
        let verbs = lines
            .iter()
            .filter(|line| matches!(line.voice, Voice::Bridge | Voice::Host))
            .filter_map(|line| Some(parts(&line.text)?.verb.to_owned()));
        said.extend(verbs);
    }
    assert_eq!(
        said, words,
        "recorded, and known: see tests/it/link/README.md"
    );

    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/MCP.md")).unwrap();
    let table = page.split_once("| verb | from |").unwrap().1;
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let documented: BTreeSet<String> = rows
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|cell| cell.split(','))
        .map(|word| word.trim().trim_matches('`').to_owned())
        .collect();
    assert_eq!(documented, words, "documented in docs/MCP.md, and known");
}

/// The proof of a real handshake, so that the players' own way of making one cannot drift along with the program's.
#[test]
fn the_players_make_the_proofs_that_were_made_when_the_link_was_recorded() {
    let text = fs::read_to_string(recording::folder(NEWEST).join("proof.txt")).unwrap();
    let word = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        line.unwrap().trim().to_owned()
    };
    let terms = Terms {
        token: word("token"),
        bridge_nonce: word("bridge-nonce"),
        host_nonce: word("host-nonce"),
        instance: word("instance"),
        root: word("root"),
        ..Terms::default()
    };
    assert_eq!(terms.mac("majordomus-link host"), word("host-mac"));
    assert_eq!(terms.mac("majordomus-link bridge"), word("bridge-mac"));
}

/// Every recording of every version, which are the folders beside this file.
fn recordings() -> Vec<(String, String)> {
    let folder = recording::folder("");
    let entries = fs::read_dir(folder).unwrap();
    let versions = entries
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok());
    let mut all: Vec<(String, String)> = versions
        .flat_map(|version| {
            let names = recording::names(&version).into_iter();
            names.map(move |name| (version.clone(), name))
        })
        .collect();
    all.sort();
    assert!(all.len() >= scenes::SCENES.len(), "{all:?}");
    all
}

/// Runs `play` on each recording, all at once, since most of their time is waiting; names those that fail.
fn each(play: impl Fn(&str, &[recording::Said]) + Sync) {
    let failed: Vec<String> = thread::scope(|scope| {
        let played: Vec<_> = recordings()
            .into_iter()
            .map(|(version, name)| {
                let play = &play;
                let title = format!("{version}/{name}");
                let said = recording::read(&version, &name);
                (title, scope.spawn(move || play(&name, &said)))
            })
            .collect();
        let ended = played
            .into_iter()
            .map(|(title, played)| (title, played.join()));
        ended
            .filter(|(_, end)| end.is_err())
            .map(|(title, _)| title)
            .collect()
    });
    assert!(failed.is_empty(), "{failed:?} failed; see above");
}

/// Guards I6: a bridge of an older build is attached to today's owner.
#[test]
fn a_recorded_bridge_is_served_by_todays_owner() {
    each(|_, said| as_bridge::play(said));
}

/// Guards I6: today's bridge is attached to the owner of an older build.
#[test]
fn a_recorded_owner_serves_todays_bridge() {
    each(|_, said| {
        let mut owner = as_owner::Owner::elected();
        let client = owner.repository.client("recorded");
        owner.play(said, &client);
        owner.each_answered_once(&client);
    });
}

/// A version that was not agreed on in the upgrade: the owner takes no such bridge.
#[test]
fn a_hello_of_a_version_that_nobody_speaks_is_refused() {
    let refused = recording::read(NEWEST, "refused");
    let asked: Vec<recording::Said> = refused
        .into_iter()
        .map(|mut said| {
            said.text = said.text.replace(
                "\"link\":1,\"nonce\":\"{bridge",
                "\"link\":0,\"nonce\":\"{bridge",
            );
            said.text = said.text.replace("2020-02-20", "2025-11-25");
            said
        })
        .collect();
    assert!(
        asked
            .iter()
            .any(|said| said.text.contains("hello {\"link\":0"))
    );
    as_bridge::play(&asked);
}

/// And a bridge tells no such owner who it is; its client is served alone, and told why. Guards I3.
#[test]
fn a_proof_of_a_version_that_nobody_speaks_ends_the_handshake() {
    let mut said = recording::read(NEWEST, "refused");
    for line in said.iter_mut().filter(|said| said.text.contains(" proof ")) {
        line.text = line.text.replace("\"link\":1", "\"link\":0");
    }
    let mut owner = as_owner::Owner::elected();
    let client = owner.repository.client("client");
    let done = AtomicBool::new(false);
    // Behind the recorded upgrade's request and its end.
    let handshake: Vec<_> = said
        .into_iter()
        .skip_while(|said| !said.text.is_empty())
        .skip(1)
        .collect();
    thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let _done = Done(&done);
            client.initialize();
            client.call("conformance_echo", &json!({ "value": 1 }))
        });
        owner.puts_off(&handshake, &done);
        let answer = asking.join().unwrap();
        checks::succeeded(&answer);
        let why = checks::degraded(&answer).unwrap_or_default();
        assert!(why.contains("no version of the link in common"), "{why}");
    });
}

/// Says that something is done, also where it panicked.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The scenes can still be acted: whoever adds a verb records it with them.
#[test]
fn the_scenes_of_the_recordings_are_acted_by_todays_two_sides() {
    let into = std::env::var_os(RECORD).map(PathBuf::from);
    for (name, scene) in scenes::SCENES {
        let (recorded, proof) = scenes::act(scene);
        if let Some(folder) = &into {
            fs::write(folder.join(format!("{name}.link")), recorded).unwrap();
            fs::write(folder.join("proof.txt"), proof).unwrap();
        }
    }
    let refused = scenes::refused();
    assert!(refused.contains("0 refuse "), "{refused}");
    if let Some(folder) = &into {
        fs::write(folder.join("refused.link"), refused).unwrap();
    }
}
