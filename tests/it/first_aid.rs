//! `logs` and `bug-report`: what somebody reads, or hands on, when something went wrong.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::command::hermetic;
use crate::support::{BOUND, Repository, wait_some};

#[test]
fn logs_are_told_oldest_first_through_a_rotation_and_as_they_come() {
    let repository = Repository::new();
    let nothing = repository.cli(&["logs"]);
    assert_eq!(nothing.status.code(), Some(1));
    let said = String::from_utf8(nothing.stderr).unwrap();
    assert!(
        said.contains("no server has logged") && said.contains("hint: "),
        "{said}"
    );

    let first = repository.attached("first");
    repository.ready();
    first.signal(Signal::SIGINT);
    first.exit();
    let log = repository.state().join("server.log");
    fs::rename(&log, repository.state().join("server.log.1")).unwrap();
    let second = repository.attached("second");
    repository.ready();
    let told = repository.cli(&["logs"]);
    let told = String::from_utf8(told.stdout).unwrap();
    let released = told.find("released").unwrap_or_else(|| panic!("{told}"));
    let serving = told.rfind("serving").unwrap_or_else(|| panic!("{told}"));
    assert!(released < serving, "{told}");
    let why = told.find("told to end signal=SIGINT");
    assert!(why.is_some_and(|why| why < released), "{told}");
    assert!(!told.contains('{'), "for people: {told}");

    let last = repository.cli(&["logs", "--lines", "2", "--json"]);
    let last: Value = serde_json::from_slice(&last.stdout).unwrap();
    assert_eq!(last.as_array().unwrap().len(), 2, "{last}");
    assert!(last[0]["timestamp"].is_string(), "{last}");

    let mut follow = repository.command(&["logs", "--follow", "--json", "-n", "1"]);
    let mut follow = follow.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let line = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let mut line = line;
    assert!(line()["message"].is_string());
    let third = repository.attached("third");
    let came = wait_some("the third client's line", BOUND, || {
        let entry = line();
        (entry["message"] == "attached").then_some(entry)
    });
    assert!(came["peer"].is_string(), "{came}");
    follow.kill().unwrap();
    follow.wait().unwrap();
    drop((second, third));
}

#[test]
fn a_bug_report_says_what_is_wrong_and_holds_no_secret_and_no_path() {
    let repository = Repository::named("it's \"here\" ü");
    let owner = repository.attached("owner");
    repository.ready_when("a url", |lease| lease["url"].is_string());
    let token = repository.token().unwrap();
    // Whatever came into the log, by whatever way.
    let root = repository.root().display().to_string();
    let home = repository.home().display().to_string();
    let mut log = fs::read_to_string(repository.state().join("server.log")).unwrap();
    for words in [&root, &home, &token, &"/etc/shadow".to_owned()] {
        let line = serde_json::json!({ "level": "WARN", "message": format!("at {words} it fell") });
        log.push_str(&line.to_string());
        log.push('\n');
    }
    log.push_str(&"long ".repeat(20_000));
    log.push('\n');
    log.push_str("cut off ```");
    log.push('\n');
    fs::write(repository.state().join("server.log"), log).unwrap();

    for arguments in [&["bug-report"][..], &["bug-report", "--json"]] {
        let output = repository.cli(arguments);
        assert_eq!(output.status.code(), Some(0));
        let report = String::from_utf8(output.stdout).unwrap();
        for part in ["serving", "it fell", "problem", "0.1.0"] {
            assert!(report.contains(part), "{part}: {report}");
        }
        for secret in [&root, &home, &token, "/etc/shadow", "/tmp/"] {
            assert!(!report.contains(secret), "{secret} is told: {report}");
        }
    }
    let report = repository.cli(&["bug-report"]).stdout;
    let report = String::from_utf8(report).unwrap();
    assert_eq!(report.matches("```").count(), 2, "one block: {report}");
    let longest = report.lines().map(str::len).max();
    assert!(longest < Some(1_000), "a line of {longest:?} bytes");
    drop(owner);
}

#[test]
fn every_command_has_a_manual_page() {
    let repository = Repository::bare_folder();
    let page = |arguments: &[&str]| {
        let output = repository.cli(arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), text)
    };
    let (code, whole) = page(&["man"]);
    assert_eq!(code, Some(0));
    assert!(
        whole.starts_with('.') && whole.contains("doctor"),
        "{whole}"
    );
    assert!(page(&["man", "logs"]).1.contains("follow"));
    assert_eq!(page(&["man", "nothing"]).0, Some(2));
}

#[test]
fn a_shell_completes_commands_and_flags() {
    let repository = Repository::bare_folder();
    let script = repository.cli(&["completions", "bash"]);
    assert_eq!(script.status.code(), Some(0));
    let at = repository.outside().join("completions.bash");
    fs::write(&at, script.stdout).unwrap();
    // What bash does at a tabulator: it sets the words, calls the function and reads the replies.
    let press = r#"
        source "$0" || exit 9
        COMP_WORDS=(majordomus "$@") COMP_CWORD=$# last="${!#}" before=majordomus
        [ $# -eq 1 ] || before="${@: -2:1}"
        _majordomus majordomus "$last" "$before"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let completed = |words: &[&str]| {
        let mut bash = hermetic("bash", repository.root(), repository.home());
        bash.args(["--norc", "-c", press]).arg(&at).args(words);
        let output = bash.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{said}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(completed(&["doc"]).trim(), "doctor");
    assert_eq!(completed(&["logs", "--fol"]).trim(), "--follow");
    for shell in ["zsh", "fish"] {
        let script = repository.cli(&["completions", shell]);
        let script = String::from_utf8(script.stdout).unwrap();
        assert!(script.contains("bug-report"), "{shell}: {script}");
    }
    let unknown = repository.cli(&["completions", "nothing"]);
    assert_eq!(unknown.status.code(), Some(2));
}
