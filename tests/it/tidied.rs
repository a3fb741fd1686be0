//! What many writes leave is packed by a server that starts, beside its work, and whoever is killed over it loses nothing.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::command::{hermetic, succeed};
use crate::support::{BOUND, Repository, build, wait_for};

/// More than what is let lie about, in objects.
const MANY: usize = 1200;

fn library(repository: &Repository) -> PathBuf {
    repository.root().join(".git/majordomus/memory.git")
}

#[track_caller]
fn git(repository: &Repository, arguments: &[&str]) -> String {
    let mut git = hermetic("git", repository.root(), repository.outside());
    git.arg("--git-dir")
        .arg(library(repository))
        .args(arguments);
    let output = succeed(&mut git);
    String::from_utf8(output.stdout).unwrap()
}

/// Files of one object each.
fn loose(repository: &Repository) -> usize {
    let said = git(repository, &["count-objects"]);
    said.split(' ').next().unwrap().parse().unwrap()
}

/// A repository in whose notes much lies about, and the titles of these.
fn untidy() -> (Repository, Vec<String>) {
    let repository = Repository::new();
    let client = repository.attached("writer");
    let mut titles = Vec::new();
    while titles.len() < 20 || loose(&repository) <= MANY {
        for _ in 0..20 {
            let title = format!("fact {}", titles.len());
            let answer = client.tool("majordomus_remember", &json!({ "title": title }));
            assert_eq!(answer["sync"]["status"], "committed-no-remote", "{answer}");
            titles.push(title);
        }
    }
    client.close();
    client.exit();
    titles.sort();
    (repository, titles)
}

#[track_caller]
fn hold(repository: &Repository, titles: &[String]) {
    let mut found: Vec<String> = git(
        repository,
        &["log", "--format=%s", "refs/majordomus/memory"],
    )
    .lines()
    .map(|line| line.trim_start_matches("memory: ").to_owned())
    .collect();
    found.sort();
    assert_eq!(found, titles);
    git(repository, &["fsck", "--strict"]);
}

#[test]
fn many_writes_are_packed_by_the_next_server() {
    let (repository, mut titles) = untidy();
    let client = repository.attached("next");
    wait_for("the objects to be packed", BOUND, || {
        loose(&repository) < 100
    });
    // Who had the repository open meanwhile goes on in it.
    client.tool("majordomus_remember", &json!({ "title": "afterwards" }));
    titles.push("afterwards".to_owned());
    titles.sort();
    hold(&repository, &titles);
    let found: Value = client.tool("majordomus_recall", &json!({ "query": "fact 7" }));
    assert!(!found["notes"].as_array().unwrap().is_empty(), "{found}");
}

#[test]
fn a_packing_that_hangs_holds_up_no_write_and_may_be_killed() {
    let (repository, mut titles) = untidy();
    // It begins, says so, and does not end.
    let began = repository.outside().join("packing");
    let bin = repository.outside().join("bin");
    fs::create_dir(&bin).unwrap();
    build::executable(
        &bin.join("git"),
        format!(
            "#!/bin/sh\nPATH=\"$REAL_PATH\"\ncase \" $* \" in *' repack '*) : >'{}'; cp -r '{}' '{}'; exec sleep 1000;; esac\nexec git \"$@\"\n",
            began.display(),
            library(&repository).join("objects/17").display(),
            library(&repository).join("objects/pack/tmp_half").display(),
        ),
    );
    let path = std::env::var("PATH").unwrap();
    let client = repository
        .launch()
        .name("next")
        .variable("PATH", format!("{}:{path}", bin.display()))
        .variable("REAL_PATH", path)
        .start();
    client.attach();
    wait_for("the packing to begin", BOUND, || began.exists());
    let answer = client.tool("majordomus_remember", &json!({ "title": "meanwhile" }));
    assert_eq!(answer["sync"]["status"], "committed-no-remote", "{answer}");
    titles.push("meanwhile".to_owned());
    titles.sort();
    client.kill();
    hold(&repository, &titles);
    let _after = repository.attached("after");
    wait_for("the objects to be packed", BOUND, || {
        loose(&repository) < 100
    });
    hold(&repository, &titles);
}
