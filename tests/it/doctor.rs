//! `majordomus doctor`: a sound checkout has no problem, and each broken one is told its own cause and what helps.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::command::{MAJORDOMUS, hermetic};
use crate::support::{Repository, build, confine};

/// Makes `majordomus` a program of this text in a folder, and returns a PATH that begins with it.
fn path_with(repository: &Repository, program: Option<&str>) -> String {
    let folder = repository.outside().join("bin");
    fs::create_dir_all(&folder).unwrap();
    let at = folder.join("majordomus");
    match program {
        None => drop(symlink(MAJORDOMUS, &at)),
        Some(text) => {
            drop(fs::remove_file(&at));
            build::executable(&at, text);
        }
    }
    format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", folder.display())
}

/// Words before the command, and what else a doctor is started with.
fn wrapped(repository: &Repository, wrapper: &[std::ffi::OsString]) -> Command {
    let arguments = ["doctor", "--json"];
    let mut command = match wrapper.split_first() {
        None => repository.command(&arguments),
        Some((program, rest)) => {
            let mut command = hermetic(program, repository.root(), repository.home());
            command.args(rest).arg(MAJORDOMUS).args(arguments);
            command
        }
    };
    command.env("PATH", path_with(repository, None));
    command
}

fn report(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    let healthy = report["healthy"] == true;
    assert_eq!(
        output.status.code(),
        Some(i32::from(!healthy)),
        "{report:#}"
    );
    report
}

fn doctor(repository: &Repository) -> Value {
    report(&wrapped(repository, &[]).output().unwrap())
}

/// A checkout whose usual clients know the server.
fn told(repository: &Repository) {
    let mut init = repository.command(&["init", "--yes", "--client", "claude"]);
    init.env("PATH", path_with(repository, None));
    assert!(init.status().unwrap().success());
}

fn sound() -> Repository {
    let repository = Repository::new();
    told(&repository);
    repository
}

/// The finding must be there, with a command that helps.
#[track_caller]
fn names(report: &Value, check: &str, verdict: &str, text: &str) {
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| {
        finding["check"] == check
            && finding["verdict"] == verdict
            && finding["text"].as_str().unwrap().contains(text)
    });
    let found = found.unwrap_or_else(|| panic!("no {verdict} of {check} {text:?}: {report:#}"));
    let says = found["text"].as_str().unwrap();
    assert!(
        !says.ends_with('.') && !says.contains("unexpected"),
        "{says}"
    );
}

/// As [`names`], and a command stands beside it.
#[track_caller]
fn helps(report: &Value, check: &str, verdict: &str, text: &str) {
    names(report, check, verdict, text);
    let findings = report["findings"].as_array().unwrap();
    let with = findings.iter().any(|finding| {
        finding["check"] == check
            && finding["verdict"] == verdict
            && finding["hint"]
                .as_str()
                .is_some_and(|hint| !hint.is_empty())
    });
    assert!(with, "{check} says nothing of what helps: {report:#}");
}

#[track_caller]
fn healthy(report: &Value) {
    assert_eq!(report["healthy"], true, "{report:#}");
}

#[test]
fn a_sound_checkout_has_no_problem_and_is_left_as_it_was() {
    let repository = sound();
    let report = doctor(&repository);
    healthy(&report);
    names(&report, "client", "ok", "shares the server");
    names(&report, "lock", "ok", "exclude others");
    names(&report, "path", "ok", "this version");
    names(&report, "clients", "ok", ".mcp.json");
    let left: Vec<_> = fs::read_dir(repository.state())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("trial") || name == "server.json")
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(
        repository.git(&["status", "--porcelain"]).trim(),
        "?? .mcp.json"
    );

    let mut text = repository.command(&["doctor"]);
    let output = text
        .env("PATH", path_with(&repository, None))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("everything works"), "{said}");
}

#[test]
fn with_clients_open_the_server_is_asked_and_goes_on() {
    let repository = sound();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    repository.ready_when("a url", |lease| lease["url"].is_string());
    let report = doctor(&repository);
    healthy(&report);
    names(&report, "server", "ok", &format!("process {}", owner.pid()));
    names(&report, "url", "ok", "2 clients attached");
    crate::support::checks::one_board(&[&owner, &bridge]);
    let said = report.to_string();
    assert!(
        !said.contains(&repository.token().unwrap()),
        "the token is told"
    );
    assert!(
        !said.contains(repository.root().to_str().unwrap()),
        "a path is told: {said}"
    );
}

#[test]
fn no_checkout() {
    let repository = Repository::bare_folder();
    let report = doctor(&repository);
    helps(&report, "checkout", "problem", "no checkout");
}

#[test]
fn folders_that_cannot_be_made_or_written() {
    let repository = Repository::without_git();
    fs::remove_dir_all(repository.root().join(".ai")).unwrap();
    fs::write(repository.root().join(".ai"), "").unwrap();
    let mut command = wrapped(&repository, &[]);
    let report = report(command.args(["--repo", "."]).output().as_ref().unwrap());
    helps(&report, "folder", "problem", "cannot make .ai");
    helps(&report, "client", "problem", "alone");

    let repository = sound();
    fs::remove_dir_all(repository.root().join(".ai/local")).unwrap();
    symlink(repository.outside(), repository.root().join(".ai/local")).unwrap();
    helps(
        &doctor(&repository),
        "folder",
        "problem",
        "symbolic link out of the checkout",
    );
}

#[test]
fn a_read_only_folder() {
    let repository = sound();
    fs::create_dir_all(repository.state()).unwrap();
    let confinement = confine::read_only(&repository.state());
    let output = wrapped(&repository, &confinement.wrapper).output().unwrap();
    let report = report(&output);
    helps(&report, "folder", "problem", "cannot be written");
    helps(&report, "client", "problem", "alone");
}

#[test]
fn a_full_disk() {
    let repository = sound();
    fs::create_dir_all(repository.state()).unwrap();
    let confinement = confine::full_disk(&repository.state());
    let output = wrapped(&repository, &confinement.wrapper).output().unwrap();
    helps(&report(&output), "folder", "problem", "cannot be written");
}

#[test]
fn a_lock_that_is_none() {
    for kind in ["a directory", "a symbolic link"] {
        let repository = sound();
        fs::create_dir_all(repository.state()).unwrap();
        let lock = repository.state().join("server.lock");
        if kind == "a directory" {
            fs::create_dir(&lock).unwrap();
        } else {
            symlink("elsewhere", &lock).unwrap();
        }
        let report = doctor(&repository);
        helps(&report, "lock", "problem", kind);
        helps(&report, "client", "problem", "alone");
    }
}

#[test]
fn a_scopes_lock_that_is_none_is_named_with_what_removes_it() {
    let repository = sound();
    let owner = repository.attached("owner");
    let scope = repository.ready()["scope"].as_str().unwrap().to_owned();
    owner.close();
    owner.exit();
    let name = format!("server.{scope}.lock");
    fs::create_dir(repository.state().join(&name)).unwrap();
    let report = doctor(&repository);
    helps(&report, "lock", "problem", &name);
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["check"] == "lock");
    let hint = found.unwrap()["hint"].as_str().unwrap();
    assert_eq!(hint, format!("rm -r .ai/local/state/mcp/{name}"));
}

#[test]
fn boards_of_other_scopes_are_counted_and_left() {
    let repository = sound();
    let owner = repository.attached("owner");
    owner.close();
    owner.exit();
    let folder = repository.root().join(".git/majordomus");
    let left = folder.join("board.0123456789abcdef.db");
    fs::write(&left, "").unwrap();
    let report = doctor(&repository);
    helps(&report, "boards", "note", "1 board");
    assert!(left.exists());
}

#[test]
fn tokens_that_nobody_should_trust() {
    type Break = fn(&Path);
    let broken: [(&str, Break); 3] = [
        ("open to others", |token| {
            fs::set_permissions(token, fs::Permissions::from_mode(0o644)).unwrap();
        }),
        ("damaged", |token| fs::write(token, "short\n").unwrap()),
        ("is a directory", |token| {
            fs::remove_file(token).unwrap();
            fs::create_dir(token).unwrap();
        }),
    ];
    for (text, breaks) in broken {
        let repository = sound();
        let client = repository.attached("first");
        repository.ready();
        client.close();
        client.exit();
        breaks(&repository.shared().join("token"));
        helps(&doctor(&repository), "token", "problem", text);
    }
}

#[test]
fn documents_that_are_left_over() {
    let repository = sound();
    fs::create_dir_all(repository.state()).unwrap();
    fs::write(repository.document(), "{ garbage").unwrap();
    let report = doctor(&repository);
    helps(&report, "server", "note", "is no lease document");
    healthy(&report);

    let repository = sound();
    let killed = repository.attached("killed");
    repository.ready_when("a url", |lease| lease["url"].is_string());
    killed.kill();
    let copy = repository.copied();
    helps(&doctor(&repository), "server", "note", "nothing answers");
    names(&doctor(&copy), "server", "note", "moved or copied");
}

#[test]
fn a_stranger_at_the_published_port() {
    let repository = sound();
    let killed = repository.attached("killed");
    let mut lease = repository.ready_when("a url", |lease| lease["url"].is_string());
    killed.kill();
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port();
    std::thread::spawn(move || {
        // It closes every connection without a word.
        for visitor in stranger.incoming() {
            drop(visitor);
        }
    });
    lease["url"] = json!(format!("http://127.0.0.1:{port}"));
    fs::write(repository.document(), lease.to_string()).unwrap();
    helps(
        &doctor(&repository),
        "server",
        "note",
        "not this checkout's server",
    );
}

#[test]
fn a_server_of_another_boot_or_container() {
    let repository = sound();
    let killed = repository.attached("killed");
    let mut lease = repository.ready_when("a url", |lease| lease["url"].is_string());
    killed.kill();
    lease["scope"] = json!("0123456789abcdef");
    fs::write(repository.document(), lease.to_string()).unwrap();
    helps(&doctor(&repository), "server", "note", "another kernel");
}

#[test]
fn the_own_port_taken_by_somebody_else() {
    let repository = sound();
    let first = repository.attached("first");
    let lease = repository.ready_when("a url", |lease| lease["url"].is_string());
    let url = lease["url"]
        .as_str()
        .unwrap()
        .trim_end_matches('/')
        .to_owned();
    let port: u16 = url.rsplit(':').next().unwrap().parse().unwrap();
    first.close();
    first.exit();
    let _taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let report = doctor(&repository);
    helps(&report, "port", "note", &port.to_string());
    healthy(&report);
}

#[test]
fn a_server_that_is_stopped() {
    let repository = sound();
    let owner = repository.attached("owner");
    repository.ready_when("a url", |lease| lease["url"].is_string());
    owner.signal(Signal::SIGSTOP);
    let report = doctor(&repository);
    owner.signal(Signal::SIGCONT);
    helps(&report, "server", "problem", "does not answer");
    helps(&report, "client", "problem", "alone");
}

#[test]
fn an_executable_that_clients_do_not_find_or_that_is_another() {
    let repository = sound();
    let with = |path: &str| {
        let mut command = repository.command(&["doctor", "--json"]);
        report(&command.env("PATH", path).output().unwrap())
    };
    helps(&with("/usr/bin:/bin"), "path", "problem", "not in PATH");
    let other = path_with(&repository, Some("#!/bin/sh\necho majordomus 0.0.1\n"));
    helps(&with(&other), "path", "note", "majordomus 0.0.1");
    let broken = path_with(&repository, Some("#!/bin/sh\nexit 3\n"));
    helps(&with(&broken), "path", "problem", "does not run");
}

#[test]
fn client_files_that_start_nothing_or_something_else() {
    let repository = Repository::new();
    helps(
        &doctor(&repository),
        "clients",
        "problem",
        "no client is told",
    );
    fs::create_dir(repository.home().join(".claude")).unwrap();
    helps(
        &doctor(&repository),
        "clients",
        "problem",
        "Claude Code is in use",
    );

    let file = repository.root().join(".mcp.json");
    fs::write(&file, "{ \"mcpServers\": ").unwrap();
    helps(&doctor(&repository), "clients", "problem", "cannot be read");
    fs::write(&file, "{ \"mcpServers\": [] }").unwrap();
    helps(
        &doctor(&repository),
        "clients",
        "problem",
        "something else than a table",
    );
    fs::write(
        &file,
        r#"{ "mcpServers": { "majordomus": { "command": "x" } } }"#,
    )
    .unwrap();
    helps(
        &doctor(&repository),
        "clients",
        "note",
        "starts something else",
    );
    fs::remove_file(&file).unwrap();
    symlink("elsewhere.json", &file).unwrap();
    helps(
        &doctor(&repository),
        "clients",
        "problem",
        "is a symbolic link",
    );
}

#[test]
fn a_board_that_is_damaged_or_in_the_way() {
    let repository = sound();
    fs::create_dir_all(repository.shared()).unwrap();
    let board = repository.shared().join("board.db");
    fs::write(
        &board,
        "no database, and longer than a header needs to be".repeat(50),
    )
    .unwrap();
    let report = doctor(&repository);
    helps(&report, "board", "note", "is damaged");
    healthy(&report);

    let repository = sound();
    fs::create_dir_all(repository.shared().join("board.db")).unwrap();
    helps(&doctor(&repository), "board", "problem", "is a directory");
}

#[test]
fn a_lease_that_git_carries_to_others() {
    let repository = sound();
    fs::create_dir_all(repository.state()).unwrap();
    fs::write(repository.document(), "{}").unwrap();
    repository.git(&["add", "--force", ".ai/local/state/mcp/server.json"]);
    helps(&doctor(&repository), "git", "problem", "tracked by git");
}

#[test]
fn a_process_that_may_open_few_files() {
    let repository = sound();
    let wrapper: Vec<_> = ["sh", "-c", r#"ulimit -n 64; exec "$@""#, "sh"]
        .map(Into::into)
        .to_vec();
    let output = wrapped(&repository, &wrapper).output().unwrap();
    helps(&report(&output), "files", "problem", "64 files");
}

#[test]
fn a_network_without_loopback() {
    let repository = sound();
    let user = if confine::is_root() { "-n" } else { "-rn" };
    let wrapper: Vec<_> = ["unshare", user].map(Into::into).to_vec();
    let output = wrapped(&repository, &wrapper).output().unwrap();
    if output.stdout.is_empty() {
        // No namespaces here: nothing can be shown.
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("unshare"), "{said}");
        return;
    }
    helps(
        &report(&output),
        "loopback",
        "problem",
        "127.0.0.1 cannot be used",
    );
}
