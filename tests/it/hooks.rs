//! `majordomus hooks`: what clients run by themselves, what it leaves of theirs, the way back, and what the commands do.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::init::{init, path, read, succeeded, tree, write};
use crate::support::Repository;
use crate::support::command::{hermetic, succeed};
use crate::support::remote::Remote;

const CLAUDE: &str = ".claude/settings.json";
const CODEX: &str = ".codex/hooks.json";

fn command(repository: &Repository, arguments: &[&str]) -> Command {
    let mut command = repository.command(&[&["hooks"], arguments].concat());
    command.env("PATH", path(repository));
    command
}

fn hooks(repository: &Repository, arguments: &[&str]) -> Output {
    command(repository, arguments).output().unwrap()
}

fn states(repository: &Repository) -> Vec<String> {
    let listed = hooks(repository, &["--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let hooks = listed["hooks"].as_array().unwrap().iter();
    hooks
        .filter(|hook| hook["part"] == "memory")
        .map(|hook| hook["state"].as_str().unwrap().to_owned())
        .collect()
}

/// The commands of a client's file, by their event.
fn commands(repository: &Repository, path: &str, event: &str) -> Vec<String> {
    let whole: Value = serde_json::from_str(&read(repository, path)).unwrap();
    let groups = whole["hooks"][event]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let hooks = groups
        .iter()
        .flat_map(|group| group["hooks"].as_array().unwrap());
    hooks
        .map(|hook| hook["command"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn hooks_are_installed_once_beside_the_entry_and_taken_back_to_the_byte() {
    let repository = Repository::new();
    let untouched = tree(repository.root());
    let clients = ["--yes", "--client", "claude", "--client", "codex"];
    succeeded(&init(&repository, &clients));
    let before = tree(repository.root());
    assert_eq!(states(&repository), ["absent", "absent"]);

    let said = succeeded(&hooks(&repository, &["install", "memory", "--yes"]));
    assert!(
        said.contains("4 files written") && said.contains("/hooks"),
        "{said}"
    );
    for path in [CLAUDE, CODEX] {
        for (event, way) in [("SessionStart", "--pull"), ("Stop", "--push")] {
            let found = commands(&repository, path, event);
            assert!(
                found.len() == 1 && found[0].contains(way),
                "{path}: {found:?}"
            );
        }
        let whole: Value = serde_json::from_str(&read(&repository, path)).unwrap();
        assert_eq!(whole["hooks"]["Stop"][0]["hooks"][0]["timeout"], 30);
    }
    let entry: Value = serde_json::from_str(&read(&repository, ".mcp.json")).unwrap();
    let env = &entry["mcpServers"]["majordomus"]["env"];
    assert_eq!(env, &json!({ "MAJORDOMUS_SYNC": "off" }));
    let config = read(&repository, ".codex/config.toml");
    assert!(
        config.ends_with("[mcp_servers.majordomus.env]\nMAJORDOMUS_SYNC = \"off\"\n"),
        "{config}"
    );
    assert_eq!(states(&repository), ["installed", "installed"]);

    // Neither a second time nor `init` and `doctor` find anything to do about it.
    let after = tree(repository.root());
    let again = succeeded(&hooks(&repository, &["install", "memory", "--yes"]));
    assert!(again.contains("nothing to write"), "{again}");
    let again = succeeded(&init(&repository, &clients));
    assert!(again.contains("nothing to write"), "{again}");
    assert_eq!(tree(repository.root()), after);
    let mut doctor = repository.command(&["doctor"]);
    let told = doctor.env("PATH", path(&repository)).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(
        told.contains(".mcp.json tells Claude Code to start it"),
        "{told}"
    );

    // One client's are taken back alone, and what is known of the other one stays known.
    succeeded(&hooks(
        &repository,
        &["uninstall", "memory", "--yes", "--client", "codex"],
    ));
    assert_eq!(states(&repository), ["installed", "absent"]);
    succeeded(&hooks(&repository, &["uninstall", "memory", "--yes"]));
    assert_eq!(tree(repository.root()), before);
    succeeded(&init(&repository, &["--undo", "--yes"]));
    assert_eq!(tree(repository.root()), untouched);
}

/// Who takes the entry back first leaves the hooks, which work without it.
#[test]
fn the_entry_can_be_taken_back_before_the_hooks() {
    let repository = Repository::new();
    let untouched = tree(repository.root());
    succeeded(&init(&repository, &["--yes", "--client", "claude"]));
    succeeded(&hooks(&repository, &["install", "memory", "--yes"]));
    succeeded(&init(&repository, &["--undo", "--yes"]));
    assert!(!repository.root().join(".mcp.json").exists());
    assert_eq!(states(&repository), ["installed", "absent"]);
    succeeded(&hooks(&repository, &["uninstall", "memory", "--yes"]));
    assert_eq!(tree(repository.root()), untouched);
    let again = succeeded(&hooks(&repository, &["uninstall", "memory", "--yes"]));
    assert!(again.contains("nothing to write"), "{again}");
}

#[test]
fn hooks_and_settings_of_others_stay_to_the_byte() {
    let repository = Repository::new();
    let others = [
        (
            CLAUDE,
            "{\n\t\"model\":  \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n\t\t],\n\t\t\"PreToolUse\": [ ]\n\t}\n}",
        ),
        (
            CODEX,
            "{\"hooks\":{\"SessionStart\":[{\"matcher\":\"startup\",\"hooks\":[]}]}}\n",
        ),
        (
            ".mcp.json",
            "{ \"mcpServers\": { \"majordomus\": { \"command\": \"sh\", \"args\": [\"-c\", \"exec mine\"],  \"env\": { \"A\": \"b\" } } } }\n",
        ),
        (
            ".codex/config.toml",
            "model = 'x' # best\r\n[mcp_servers.majordomus]\r\ncommand = \"mine\"\r\n\r\n[z]\r\na = 1",
        ),
    ];
    for (path, text) in others {
        write(&repository, path, text);
    }
    let before = tree(repository.root());
    succeeded(&hooks(&repository, &["install", "memory", "--yes"]));
    assert_eq!(commands(&repository, CLAUDE, "Stop").len(), 2);
    assert_eq!(states(&repository), ["installed", "installed"]);
    let entry: Value = serde_json::from_str(&read(&repository, ".mcp.json")).unwrap();
    let env = &entry["mcpServers"]["majordomus"]["env"];
    assert_eq!(env, &json!({ "A": "b", "MAJORDOMUS_SYNC": "off" }));
    for (path, text) in others {
        let now = read(&repository, path);
        for line in text.lines() {
            let kept = line.trim_end_matches(['}', ']', ',', ' ', '\r']);
            assert!(now.contains(kept), "{path} lost {line:?}: {now}");
        }
    }
    let installed = others.map(|(path, _)| (path, read(&repository, path)));

    succeeded(&hooks(&repository, &["uninstall", "memory", "--yes"]));
    assert_eq!(tree(repository.root()), before);

    // Without a record too, ours alone go, and what was added since stays.
    for (path, text) in &installed {
        write(&repository, path, text);
    }
    let since = read(&repository, CLAUDE).replacen("opus", "sonnet", 1);
    write(&repository, CLAUDE, &since);
    succeeded(&hooks(&repository, &["uninstall", "memory", "--yes"]));
    for (path, text) in others {
        assert_eq!(
            read(&repository, path),
            text.replacen("opus", "sonnet", 1),
            "{path}"
        );
    }
}

#[test]
fn nothing_is_written_unless_somebody_agreed_and_what_cannot_be_merged_is_left_alone() {
    let repository = Repository::new();
    let before = tree(repository.root());
    let shown = hooks(&repository, &["install", "memory", "--client", "claude"]);
    assert_eq!(shown.status.code(), Some(1));
    let diff = String::from_utf8_lossy(&shown.stdout);
    assert!(diff.contains("+++ .claude/settings.json"), "{diff}");
    let said = String::from_utf8_lossy(&shown.stderr);
    assert!(said.contains("hint: ") && said.contains("--yes"), "{said}");
    let planned = hooks(&repository, &["install", "memory", "--json"]);
    let plan: Value = serde_json::from_slice(&planned.stdout).unwrap();
    assert_eq!(plan["written"], false);
    assert_eq!(tree(repository.root()), before);
    let unknown = hooks(&repository, &["install", "nothing"]);
    assert_eq!(unknown.status.code(), Some(2));
    let mut lost = command(&repository, &["install", "memory", "--yes"]);
    let lost = lost.env("PATH", "/usr/bin:/bin").output().unwrap();
    assert_eq!(lost.status.code(), Some(1));
    assert_eq!(tree(repository.root()), before);

    // A file that is no JSON, one whose list is none, and a link out of the checkout; the entry keeps sending notes.
    succeeded(&init(&repository, &["--yes", "--client", "claude"]));
    let entry = read(&repository, ".mcp.json");
    for garbage in ["{ \"hooks\": ", "{\"hooks\": {\"Stop\": {}}}"] {
        write(&repository, CLAUDE, garbage);
        let refused = hooks(
            &repository,
            &["install", "memory", "--yes", "--client", "claude"],
        );
        assert_eq!(refused.status.code(), Some(1));
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(said.contains(CLAUDE) && said.contains("hint: "), "{said}");
        assert_eq!(read(&repository, CLAUDE), garbage);
        assert_eq!(read(&repository, ".mcp.json"), entry);
    }
    let outside = repository.outside().join("elsewhere.json");
    fs::write(&outside, "{}").unwrap();
    fs::remove_file(repository.root().join(CLAUDE)).unwrap();
    symlink(&outside, repository.root().join(CLAUDE)).unwrap();
    let refused = hooks(
        &repository,
        &["install", "memory", "--yes", "--client", "claude"],
    );
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains(CLAUDE) && said.contains("hint: "), "{said}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{}");
}

/// Runs every command that stands in a client's file under an event, as the client does; each ends well, without a word on
/// standard output.
#[track_caller]
fn at(event: &str, client: &str, repository: &Repository) -> String {
    let commands = commands(repository, client, event);
    assert!(!commands.is_empty());
    let said = commands.iter().map(|line| {
        let home = repository.outside();
        let mut shell = hermetic("sh", repository.root(), home);
        let output = shell
            .args(["-c", line])
            .env("PATH", path(repository))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    });
    said.collect()
}

#[test]
fn what_stands_in_the_files_takes_notes_in_and_sends_them() {
    let remote = Remote::new();
    let (here, there) = (remote.sharing(), remote.sharing());
    for repository in [&here, &there] {
        succeeded(&init(
            repository,
            &["--yes", "--client", "claude", "--client", "codex"],
        ));
        succeeded(&hooks(repository, &["install", "memory", "--yes"]));
    }
    // A client with the word of its entry leaves the network to its hooks.
    let entry: Value = serde_json::from_str(&read(&here, ".mcp.json")).unwrap();
    let word = entry["mcpServers"]["majordomus"]["env"]["MAJORDOMUS_SYNC"]
        .as_str()
        .unwrap();
    let launch = here
        .launch()
        .name("claude")
        .variable("MAJORDOMUS_SYNC", word);
    let client = launch.start();
    client.attach();
    here.ready();
    let answer = client.tool("majordomus_remember", &json!({ "title": "a fact" }));
    assert_eq!(answer["sync"]["status"], "handed-to-host", "{answer}");
    assert_eq!(remote.git(&["for-each-ref"]), "");
    // The turn ends while the server lives, and the next session starts where none does.
    assert_eq!(at("Stop", CLAUDE, &here), "");
    assert_eq!(remote.subjects(), ["memory: a fact"]);
    assert_eq!(at("SessionStart", CODEX, &there), "");
    let listed = succeed(&mut there.command(&["notes", "--json"]));
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["notes"][0]["title"], "a fact", "{listed}");
}

#[test]
fn a_hook_in_trouble_says_one_line_and_stops_nobody() {
    let remote = Remote::new();
    let repository = remote.sharing();
    succeeded(&hooks(
        &repository,
        &["install", "memory", "--yes", "--client", "claude"],
    ));
    remote.hook("#!/bin/sh\nexit 1\n");
    succeed(&mut repository.command(&["remember", "a fact"]));
    let said = at("Stop", CLAUDE, &repository);
    assert!(
        said.starts_with("hook of notes: ") && said.lines().count() == 1,
        "{said}"
    );
    // A remote that hangs is left when the time is over.
    remote.hook("#!/bin/sh\nexec sleep 600\n");
    let hanging = repository.cli(&["sync", "--push", "--hook", "1"]);
    assert_eq!(hanging.status.code(), Some(0));
    let said = String::from_utf8(hanging.stderr).unwrap();
    assert!(
        said.contains("within 1 s") && said.lines().count() == 1,
        "{said}"
    );
    // And who has no such executable any more is not stopped either.
    let line = commands(&repository, CLAUDE, "Stop").remove(0);
    let mut shell = hermetic("sh", repository.root(), repository.outside());
    succeed(shell.args(["-c", &line]).env("PATH", "/usr/bin:/bin"));
}
