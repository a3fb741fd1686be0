//! The first fetch brings the newest commit alone; whatever needs the history gets it, and no answer is less true.

use std::fs;

use serde_json::Value;

use crate::support::Repository;
use crate::support::command::{hermetic, succeed};
use crate::support::remote::{REF, Remote};

const TRACKING: &str = "refs/remotes/team/memory";

#[track_caller]
fn answered(repository: &Repository, arguments: &[&str]) -> Value {
    let output = succeed(&mut repository.command(&[arguments, &["--json"]].concat()));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// How many commits of the team's history are here.
#[track_caller]
fn commits(repository: &Repository) -> usize {
    let mut git = hermetic("git", repository.root(), repository.outside());
    git.arg("--git-dir")
        .arg(repository.root().join(".git/majordomus/memory.git"))
        .args(["rev-list", "--count", TRACKING]);
    let count = succeed(&mut git).stdout;
    String::from_utf8(count).unwrap().trim().parse().unwrap()
}

/// A team with four notes, and the ids of these.
fn team() -> (Remote, Repository, Vec<String>) {
    let remote = Remote::new();
    let there = remote.sharing();
    let ids = ["one", "two", "three", "four"].map(|title| {
        let answer = answered(&there, &["remember", title]);
        answer["id"].as_str().unwrap().to_owned()
    });
    (remote, there, ids.to_vec())
}

#[test]
fn who_joins_gets_every_note_and_the_newest_commit_alone() {
    let (remote, there, _) = team();
    let here = remote.sharing();
    answered(&here, &["sync"]);
    assert_eq!(commits(&here), 1);
    let listed = answered(&here, &["notes"]);
    assert_eq!(listed["notes"].as_array().unwrap().len(), 4, "{listed}");
    // What is written here leads on from all of the history, and what comes is added to it.
    let answer = answered(&here, &["remember", "five"]);
    assert_eq!(answer["sync"]["status"], "published", "{answer}");
    answered(&there, &["remember", "six"]);
    answered(&here, &["sync"]);
    assert_eq!(commits(&here), 3);
    assert_eq!(remote.subjects().len(), 6);
    remote.git(&["fsck", "--strict"]);
    // Who has something to send already gets the whole history: it may be in there.
    let late = remote.sharing();
    remote.hook("#!/bin/sh\nexit 1\n");
    answered(&late, &["remember", "seven"]);
    remote.without_hook();
    let synced = answered(&late, &["sync"]);
    assert_eq!(synced["sync"]["status"], "published", "{synced}");
    assert_eq!(commits(&late), 7);
}

#[test]
fn a_history_that_was_rewritten_is_refused_by_whoever_has_its_end_alone() {
    let (remote, there, _) = team();
    let tip = remote.git(&["rev-parse", REF]);
    let here = remote.sharing();
    answered(&here, &["sync"]);
    let refused = |why: &str| {
        let output = here.cli(&["sync", "--json"]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["sync"]["status"], "rewritten", "{why}: {answer}");
    };
    // Back to where only what was never fetched leads.
    remote.git(&["update-ref", REF, &format!("{tip}~2")]);
    refused("a commit before what is here");
    refused("and again");
    let tree = format!("{tip}^{{tree}}");
    let author = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
    let made = [&author[..], &["commit-tree", &tree, "-m", "anew"]].concat();
    let made = remote.git(&made);
    remote.git(&["update-ref", REF, &made]);
    refused("the same notes without a history");
    // As it was, and further: nothing is in the way.
    remote.git(&["update-ref", REF, &tip]);
    answered(&there, &["remember", "five"]);
    let synced = answered(&here, &["sync"]);
    assert_eq!(synced["sync"]["status"], "published", "{synced}");
}

#[test]
fn a_note_is_purged_by_whoever_had_its_end_alone() {
    let (remote, _there, ids) = team();
    let here = remote.sharing();
    answered(&here, &["sync"]);
    assert_eq!(commits(&here), 1);
    let purged = answered(&here, &["notes", "purge", &ids[1], "--confirm", &ids[1]]);
    assert_eq!(purged["status"], "published", "{purged}");
    assert_eq!(
        remote.subjects(),
        ["memory: one", "memory: three", "memory: four"]
    );
    assert_eq!(commits(&here), 3);
    assert!(!fs::exists(here.root().join(".git/majordomus/memory.git/shallow")).unwrap());
}
