//! The commands about notes where no server runs: they do it themselves; where one runs, it does it alone.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::command::succeed;
use crate::support::remote::Remote;
use crate::support::{Repository, build};

#[track_caller]
fn answered(repository: &Repository, arguments: &[&str]) -> Value {
    let output = succeed(&mut repository.command(&[arguments, &["--json"]].concat()));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn refused(repository: &Repository, arguments: &[&str]) -> String {
    let output = repository.cli(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
    assert!(said.contains("hint: "), "{said}");
    said
}

#[test]
fn notes_are_written_found_and_published_where_no_server_runs() {
    let remote = Remote::new();
    let (here, there) = (remote.sharing(), remote.sharing());
    let answer = answered(&here, &["remember", "Deploys happen on Thursdays"]);
    assert_eq!(answer["sync"]["status"], "published", "{answer}");
    assert_eq!(remote.subjects(), ["memory: Deploys happen on Thursdays"]);
    let found = answered(&here, &["recall", "deploys"]);
    assert_eq!(found["notes"][0]["id"], answer["id"], "{found}");
    assert_eq!(found["unpublished"], 0);

    remote.hook("#!/bin/sh\nexit 1\n");
    let answer = answered(&here, &["remember", "Except in May"]);
    assert_eq!(answer["sync"]["status"], "rejected", "{answer}");
    remote.without_hook();
    answered(&here, &["sync"]);
    assert_eq!(remote.subjects().len(), 2);

    assert_eq!(answered(&there, &["notes"])["notes"], json!([]));
    answered(&there, &["sync"]);
    let listed = answered(&there, &["notes"]);
    assert_eq!(listed["notes"].as_array().unwrap().len(), 2, "{listed}");
    let one = answered(&there, &["notes", answer["id"].as_str().unwrap()]);
    assert_eq!(one["notes"][0]["title"], "Except in May");

    // It was no server meanwhile: nothing of a lease is there, and what needs a server still says that there is none.
    assert!(!here.state().exists(), "{:?}", here.state());
    assert!(refused(&here, &["peers"]).contains("no server runs"));
    assert!(refused(&here, &["announce", "x", "a"]).contains("no server runs"));
}

#[test]
fn taking_in_sends_nothing_and_sending_takes_nothing_in() {
    let remote = Remote::new();
    let (here, there) = (remote.sharing(), remote.sharing());
    answered(&there, &["remember", "of the team"]);
    remote.hook("#!/bin/sh\nexit 1\n");
    answered(&here, &["remember", "of this machine"]);
    remote.without_hook();

    let pulled = answered(&here, &["sync", "--pull"]);
    assert_eq!(pulled["sync"]["status"], "taken-in", "{pulled}");
    assert_eq!(pulled["sync"]["published"], false);
    assert_eq!(pulled["unpublished"], 1);
    assert_eq!(remote.subjects(), ["memory: of the team"]);
    let titles = |repository: &Repository| -> Vec<String> {
        let notes = answered(repository, &["notes"]);
        let notes = notes["notes"].as_array().unwrap().iter();
        notes
            .map(|note| note["title"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(titles(&here).len(), 2);

    let pushed = answered(&here, &["sync", "--push"]);
    assert_eq!(pushed["sync"]["status"], "published", "{pushed}");
    assert_eq!(remote.subjects().len(), 2);
    // The other one has nothing to send, and hears of nothing.
    answered(&there, &["sync", "--push"]);
    assert_eq!(titles(&there), ["of the team"]);

    let both = here.cli(&["sync", "--pull", "--push"]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn where_a_server_runs_exactly_the_server_does_it() {
    let remote = Remote::new();
    let repository = remote.sharing();
    let owner = repository.attached("owner");
    repository.ready();
    // A git of the command's own would leave a mark.
    let marked = repository.outside().join("git was started");
    fs::create_dir(repository.outside().join("bin")).unwrap();
    let git = repository.outside().join("bin/git");
    build::executable(
        &git,
        format!("#!/bin/sh\n: >'{}'\nexit 1\n", marked.display()),
    );
    let of_the_command = |arguments: &[&str]| {
        let mut command = repository.command(arguments);
        command.env("PATH", repository.outside().join("bin"));
        command
    };
    succeed(&mut of_the_command(&["remember", "a fact"]));
    succeed(&mut of_the_command(&["sync"]));
    assert!(!marked.exists());
    assert_eq!(remote.subjects(), ["memory: a fact"]);

    // One that sleeps is still the one: nobody does it in its place.
    owner.signal(Signal::SIGSTOP);
    let said = refused(&repository, &["remember", "another fact"]);
    assert!(said.contains("does not answer"), "{said}");
    owner.signal(Signal::SIGCONT);
    assert_eq!(
        answered(&repository, &["recall", "fact"])["notes"]
            .as_array()
            .unwrap()
            .len(),
        1
    );

    // And one that is dead is none, whatever it left behind.
    owner.kill();
    owner.exit();
    assert!(repository.document().exists());
    answered(&repository, &["remember", "another fact"]);
    assert_eq!(remote.subjects().len(), 2);
    assert!(!of_the_command(&["sync"]).output().unwrap().status.success());
    assert!(
        marked.exists(),
        "the command starts a git of its own where nobody serves"
    );
}

#[test]
fn where_there_is_no_git_and_no_server_notes_stay_in_the_folder_of_the_state() {
    let repository = Repository::without_git();
    let answer = answered(&repository, &["remember", "a fact"]);
    assert_eq!(answer["sync"]["status"], "not-shared", "{answer}");
    let found = answered(&repository, &["recall", "fact"]);
    assert_eq!(found["notes"][0]["id"], answer["id"], "{found}");
    let hidden = repository.root().join(".ai/local/.gitignore");
    assert_eq!(fs::read_to_string(hidden).unwrap(), "*\n");
    assert!(refused(&repository, &["remember", "key AKIAIOSFODNN7EXAMPLQ"]).contains("secret"));
}

#[test]
fn what_becomes_of_a_note_is_told_as_json() {
    let remote = Remote::new();
    let here = remote.sharing();
    let draft = |title: &str| {
        let answer = answered(&here, &["remember", title, "--draft"]);
        answer["id"].as_str().unwrap().to_owned()
    };
    let rejected = answered(&here, &["notes", "reject", &draft("Perhaps"), "--yes"]);
    assert_eq!(rejected["sync"]["status"], "rejected-draft", "{rejected}");
    let said = |title: &str| {
        let answer = answered(&here, &["remember", title]);
        answer["id"].as_str().unwrap().to_owned()
    };
    let (old, new) = (
        said("Deploys happen on Thursdays"),
        said("Builds run at noon"),
    );
    let superseded = answered(&here, &["notes", "supersede", &old, "--by", &new]);
    assert_eq!(superseded["sync"]["status"], "published", "{superseded}");
    let forgotten = answered(&here, &["notes", "forget", &new, "--yes"]);
    assert_eq!(forgotten["sync"]["status"], "published", "{forgotten}");
    let folder = here.outside().join("exported");
    let exported = answered(&here, &["notes", "export", folder.to_str().unwrap()]);
    let files = fs::read_dir(&folder).unwrap().count();
    assert!(
        files > 0 && exported["notes"].as_u64().is_some(),
        "{exported}"
    );
}
