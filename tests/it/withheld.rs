//! Secrets are looked for in what is about to leave, whoever committed it: what is held back stays here and is named, and the
//! rest is sent.

use std::fs;

use serde_json::{Value, json};

use crate::support::Repository;
use crate::support::command::{hermetic, succeed};
use crate::support::remote::{REF, Remote};

/// Put together here, so that no key stands in this file.
fn secret() -> String {
    format!("AKIA{}", "Q3EGRIPTKMLB5XYZ")
}

#[track_caller]
fn answered(repository: &Repository, arguments: &[&str]) -> Value {
    let output = succeed(&mut repository.command(&[arguments, &["--json"]].concat()));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Git in the repository of the notes, with an index of its own.
#[track_caller]
fn by_hand(repository: &Repository, arguments: &[&str]) -> String {
    let mut git = hermetic("git", repository.root(), repository.outside());
    git.arg("--git-dir")
        .arg(repository.root().join(".git/majordomus/memory.git"))
        .env("GIT_INDEX_FILE", repository.outside().join("index"))
        .args(["-c", "user.name=Hand", "-c", "user.email=hand@example.org"])
        .args(arguments);
    let output = succeed(&mut git);
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Commits a file beside everything else that is there.
#[track_caller]
fn commit_by_hand(repository: &Repository, path: &str, text: &str, message: &str) {
    let file = repository.outside().join("text");
    fs::write(&file, text).unwrap();
    by_hand(repository, &["read-tree", REF]);
    let blob = by_hand(
        repository,
        &["hash-object", "-w", "--", file.to_str().unwrap()],
    );
    let entry = format!("100644,{blob},{path}");
    by_hand(
        repository,
        &["update-index", "--add", "--cacheinfo", &entry],
    );
    let tree = by_hand(repository, &["write-tree"]);
    let commit = by_hand(
        repository,
        &["commit-tree", &tree, "-p", REF, "-m", message],
    );
    by_hand(repository, &["update-ref", REF, &commit]);
}

/// Everything that the remote has, also what no ref leads to.
fn everything(remote: &Remote) -> String {
    let all = remote.git(&[
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname) %(objecttype)",
    ]);
    all.lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(id, kind)| match kind {
            "tree" => remote.git(&["ls-tree", id]),
            kind => remote.git(&["cat-file", kind, id]),
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_commit_by_hand_that_holds_a_secret_is_held_back_and_the_rest_is_sent() {
    let remote = Remote::new();
    let repository = remote.sharing();
    remote.hook("#!/bin/sh\nexit 1\n");
    let first = answered(&repository, &["remember", "Deploys happen on Thursdays"]);
    let path = first["path"].as_str().unwrap();
    let id = first["id"].as_str().unwrap();
    answered(&repository, &["remember", "a fact between"]);
    let key = secret();
    let text = by_hand(&repository, &["show", &format!("{REF}:{path}")]);
    commit_by_hand(
        &repository,
        path,
        &format!("{text}\n\nThe key is {key}\n"),
        "by hand",
    );
    commit_by_hand(&repository, "README", "harmless", &format!("say {key}"));
    commit_by_hand(&repository, "ENV", &format!("key {key}\n"), "a file");
    let last = answered(&repository, &["remember", "a fact afterwards"]);
    assert_eq!(last["sync"]["published"], false);
    remote.without_hook();

    let synced = answered(&repository, &["sync"]);
    assert_eq!(synced["sync"]["status"], "published", "{synced}");
    assert_eq!(
        remote.subjects(),
        [
            "memory: Deploys happen on Thursdays",
            "memory: a fact between",
            "memory: a fact afterwards"
        ]
    );
    assert!(!everything(&remote).contains(&key));
    remote.git(&["fsck", "--strict"]);

    // The answer names it, and so do the list and `doctor`; none repeats it.
    let listed = answered(&repository, &["notes"]);
    let held = &synced["withheld"][0];
    assert_eq!(held["id"], id, "{synced}");
    assert_eq!(held["rule"], "aws-access-key", "{synced}");
    assert_eq!(held["preview"], "AKIA…", "{synced}");
    let line = held["line"].as_u64().unwrap();
    assert!(line > text.lines().count() as u64, "{synced}");
    let what = listed["withheld"][0].as_str().unwrap();
    for word in [id, "aws-access-key", "AKIA…", &format!("line {line} ")] {
        assert!(what.contains(word), "{what}");
    }
    for answer in [&synced, &listed] {
        assert!(!answer.to_string().contains(&key), "{answer}");
    }
    let said = synced["sync"]["message"].as_str().unwrap();
    assert!(said.contains("held back") && said.contains(id), "{said}");
    let doctor = repository.cli(&["doctor"]);
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    assert!(
        doctor.contains("aws-access-key") && doctor.contains(id) && !doctor.contains(&key),
        "{doctor}"
    );
    assert!(doctor.contains("refs/majordomus/withheld"), "{doctor}");

    // Nothing is lost here: the note is as it was, its change is a draft, and the commits are under a ref of their own.
    let pending = answered(&repository, &["notes", "pending"]);
    assert_eq!(pending["notes"][0]["id"], id, "{pending}");
    let aside = by_hand(
        &repository,
        &[
            "for-each-ref",
            "--format=%(refname)",
            "refs/majordomus/withheld",
        ],
    );
    let kept = by_hand(&repository, &["log", "--format=%s", &aside]);
    assert!(kept.contains("a file"), "{kept}");

    // Somebody has to say that it is none.
    let unasked = repository.cli(&["notes", "acknowledge", id]);
    assert_eq!(unasked.status.code(), Some(1));
    let done = answered(&repository, &["notes", "acknowledge", id, "--yes"]);
    assert_eq!(done["sync"]["status"], "published", "{done}");
    assert!(everything(&remote).contains(&key));
    let trailer = remote.git(&[
        "log",
        "-1",
        "--format=%(trailers:key=Not-Secret,valueonly)",
        REF,
    ]);
    assert_eq!(trailer, "Ann");
    assert_eq!(answered(&repository, &["notes"])["withheld"], Value::Null);
}

#[test]
fn an_agent_cannot_say_that_a_secret_is_none_and_a_person_can() {
    let remote = Remote::new();
    let repository = remote.sharing();
    let agent = repository.attached("agent");
    let key = secret();
    let asked = json!({ "title": "where the key is", "body": key, "not_secret": true });
    let answer = agent.tool("majordomus_remember", &asked);
    assert_eq!(answer["sync"]["status"], "withheld", "{answer}");
    assert_eq!(answer["sync"]["published"], false);
    let id = answer["id"].as_str().unwrap();
    let said = answer["sync"]["message"].as_str().unwrap();
    assert!(said.contains("notes acknowledge"), "{said}");
    assert!(!answer.to_string().contains(&key), "{answer}");
    assert_eq!(remote.git(&["for-each-ref"]), "");
    // Others go on.
    let other = agent.tool("majordomus_remember", &json!({ "title": "another" }));
    assert_eq!(other["sync"]["status"], "published", "{other}");
    assert!(!everything(&remote).contains(&key));
    // It is corrected and promoted: of the secret nothing ever left.
    agent.tool(
        "majordomus_note_change",
        &json!({ "action": "edit", "id": id, "version": answer["version"], "body": "in the vault" }),
    );
    let answer = agent.tool(
        "majordomus_note_change",
        &json!({ "action": "promote", "id": id }),
    );
    assert_eq!(answer["sync"]["status"], "published", "{answer}");
    assert!(!everything(&remote).contains(&key));

    let body = format!("an example: {key}");
    let of_a_person = ["remember", "a person's", "--body", &body, "--not-secret"];
    let answer = answered(&repository, &of_a_person);
    assert_eq!(answer["sync"]["status"], "published", "{answer}");
    assert!(everything(&remote).contains(&key));
}

#[test]
fn a_secret_that_was_corrected_before_it_left_never_leaves() {
    let remote = Remote::new();
    let repository = remote.clone_of();
    let key = secret();
    let body = format!("it is {key}");
    let agent = repository.attached("agent");
    let asked = json!({ "title": "where the key is", "body": body, "not_secret": true });
    let answer = agent.tool("majordomus_remember", &asked);
    assert_eq!(answer["sync"]["status"], "not-shared", "{answer}");
    let id = answer["id"].as_str().unwrap();
    agent.tool(
        "majordomus_note_change",
        &json!({ "action": "edit", "id": id, "version": answer["version"], "body": "in the vault" }),
    );
    succeed(&mut repository.command(&["notes", "share", "--unreviewed", "--yes"]));
    let synced = answered(&repository, &["sync"]);
    assert_eq!(synced["sync"]["status"], "published", "{synced}");
    assert!(!everything(&remote).contains(&key));
    let there = remote.git(&["grep", "vault", REF]);
    assert!(there.contains(id), "the note keeps its id: {there}");
}
