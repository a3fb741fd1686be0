//! Flags of the commands that no scenario needs, each shown to do what `--help` says.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::{BOUND, Repository, checks, wait_for};

#[track_caller]
fn printed(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {stderr}", output.status);
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The intents of everybody, as `peers --json` lists them.
fn intents(repository: &Repository) -> Vec<String> {
    let list: Value =
        serde_json::from_str(&printed(&repository.cli(&["peers", "--json"]))).unwrap();
    let mut intents: Vec<_> = checks::peers(&list)
        .iter()
        .flat_map(checks::intents)
        .collect();
    intents.sort();
    intents
}

#[test]
fn announcements_under_different_labels_stand_beside_each_other() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let announce = |intent: &str, label: &str| {
        printed(&repository.cli(&["announce", intent, "src", "--label", label]));
    };
    announce("first", "one");
    announce("second", "two");
    assert_eq!(intents(&repository), ["first", "second"]);
    announce("third", "one");
    assert_eq!(intents(&repository), ["second", "third"]);
}

#[test]
fn an_announcement_stays_for_the_time_it_asked_for() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let announce = |time: &str| repository.cli(&["announce", "short", "src", "--for", time]);
    printed(&announce("1s"));
    wait_for("its end", BOUND, || intents(&repository).is_empty());
    printed(&announce("1h"));
    assert_eq!(intents(&repository), ["short"]);
    assert_eq!(announce("soon").status.code(), Some(2));
}

#[test]
fn serve_listens_at_the_port_it_is_given() {
    // Between the checkouts' own ports and those that the system hands out.
    let port = 30_000 + std::process::id() % 2_700;
    let repository = Repository::new();
    let server = repository
        .launch()
        .arguments(&["serve", "--port", &port.to_string()])
        .start();
    let lease = repository.ready_when("a url", |lease| lease["url"].is_string());
    assert_eq!(lease["url"], format!("http://127.0.0.1:{port}"));
    server.close();
    assert!(server.exit().success());
}

#[test]
fn a_command_finds_the_checkout_it_is_given() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    owner.tool(
        "majordomus_announce",
        &json!({ "intent": "here", "scope": ["a"] }),
    );
    let root = repository.root().to_str().unwrap();
    let output = repository.cli_in(repository.outside(), &["--repo", root, "peers"]);
    assert!(printed(&output).contains("here"), "{output:?}");
}

/// Guards I13.
#[test]
fn status_lists_every_file_that_a_server_leaves() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    owner.tool(
        "majordomus_announce",
        &json!({ "intent": "x", "scope": ["a"] }),
    );
    printed(&repository.cli(&["announce", "by hand", "b"]));
    printed(&repository.cli(&["open", "--json"]));
    let status: Value =
        serde_json::from_str(&printed(&repository.cli(&["status", "--json"]))).unwrap();
    let listed: Vec<_> = status["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    let mut folders = vec![repository.root().join(".ai"), repository.shared()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            seen += 1;
            let shown = path
                .strip_prefix(repository.root())
                .unwrap()
                .to_str()
                .unwrap();
            assert!(listed.contains(&shown), "{shown} is not among {listed:?}");
        }
    }
    assert!(seen >= 5, "only {seen} files were there to be listed");
}

#[test]
fn generating_writes_files_that_a_check_then_finds_fresh() {
    let repository = Repository::new();
    let out = repository.home().join("generated");
    let folder = out.to_str().unwrap();
    printed(&repository.cli(&["generate", "--out", folder]));
    printed(&repository.cli(&["generate", "--check", "--out", folder]));

    fs::write(out.join(".mcp.json"), "{}").unwrap();
    let stale = repository.cli(&["generate", "--check", "--out", folder]);
    assert_eq!(stale.status.code(), Some(10));
    let said = String::from_utf8_lossy(&stale.stderr).into_owned();
    assert!(said.contains(".mcp.json"), "{said}");
    assert_eq!(fs::read_to_string(out.join(".mcp.json")).unwrap(), "{}");
}

/// Guards I9: what is committed is what the declarations say.
#[test]
fn the_generated_files_of_this_source_tree_are_fresh() {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR"));
    printed(&Repository::bare_folder().cli_in(tree, &["generate", "--check"]));
}
