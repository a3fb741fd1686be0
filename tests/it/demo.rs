//! `majordomus demo`: the whole story with real processes, told as it happens, with nothing left behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Repository, build};

/// The words of a line, without what differs from run to run.
fn story(text: &str) -> Vec<String> {
    let plain = |word: &str| word.chars().filter(|c| !c.is_ascii_digit()).collect();
    let line = |line: &str| {
        line.split_whitespace()
            .map(plain)
            .collect::<Vec<String>>()
            .join(" ")
    };
    let lines = text.lines().map(line);
    lines.filter(|line| !line.is_empty()).collect()
}

#[test]
fn three_clients_meet_and_two_go_on_after_a_kill() {
    let elsewhere = Repository::bare_folder();
    let temporary = elsewhere.outside().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let mut command = elsewhere.command(&["demo"]);
    let output = command.env("TMPDIR", &temporary).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let told = String::from_utf8(output.stdout).unwrap();
    let position = |text: &str| {
        told.find(text)
            .unwrap_or_else(|| panic!("no {text:?}: {told}"))
    };
    assert!(
        position("hosts the server") < position("is told at once"),
        "{told}"
    );
    assert!(position("is told at once") < position("kill -9"), "{told}");
    assert!(position("kill -9") < position("took over"), "{told}");
    assert!(!told.contains("degraded"), "{told}");
    let left = fs::read_dir(&temporary).unwrap().count();
    assert_eq!(left, 0, "a folder is left behind");
    assert_eq!(fs::read_dir(elsewhere.root()).unwrap().count(), 0);

    // The picture in README shows what is told here.
    let picture = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images/demo.svg");
    let picture = fs::read_to_string(picture).unwrap();
    let mut shown = String::new();
    for line in picture.lines().filter(|line| line.contains("<text")) {
        let mut inside = true;
        for c in line.chars() {
            match c {
                '<' => inside = false,
                '>' => inside = true,
                c if inside => shown.push(c),
                _ => {}
            }
            // Spans stand apart by where they begin.
            if c == '>' {
                shown.push(' ');
            }
        }
        shown.push('\n');
    }
    let shown = shown
        .replace("&gt;", ">")
        .replace("&lt;", "<")
        .replace("&amp;", "&");
    let shown: BTreeSet<_> = story(&shown).into_iter().collect();
    for line in story(&told) {
        assert!(
            shown.contains(&line),
            "not in the picture: {line:?}: {shown:#?}"
        );
    }
}

#[test]
fn the_steps_can_be_read_by_a_program() {
    let elsewhere = Repository::bare_folder();
    let output = elsewhere.cli(&["demo", "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let owners: BTreeSet<_> = told["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|step| step["owner"].as_u64())
        .collect();
    assert_eq!(owners.len(), 2, "one before and one after: {told:#}");
    assert!(told["steps"].as_array().unwrap().last().unwrap()["at_ms"].as_u64() < Some(10_000));
}

#[test]
fn without_a_folder_to_play_in_it_says_so() {
    let elsewhere = Repository::bare_folder();
    let mut command = elsewhere.command(&["demo"]);
    let output = command
        .env("TMPDIR", elsewhere.outside().join("none"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("no folder to play in") && said.contains("hint: "),
        "{said}"
    );
}

#[test]
fn where_git_fails_the_story_is_told_without_it_and_without_its_complaints() {
    let elsewhere = Repository::bare_folder();
    let folder = elsewhere.outside().join("bin");
    fs::create_dir(&folder).unwrap();
    let git = folder.join("git");
    build::executable(&git, "#!/bin/sh\necho broken; echo broken >&2; exit 1\n");
    let mut command = elsewhere.command(&["demo"]);
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let output = command.env("PATH", path).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("took over") && !said.contains("broken"),
        "{said}"
    );
}
