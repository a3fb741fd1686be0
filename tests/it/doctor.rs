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

/// The finding must be there.
#[track_caller]
fn names(report: &Value, check: &str, verdict: &str, text: &str) {
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| {
        finding["check"] == check
            && finding["verdict"] == verdict
            && finding["text"].as_str().unwrap().contains(text)
    });
    assert!(
        found.is_some(),
        "no {verdict} of {check} {text:?}: {report:#}"
    );
}

#[track_caller]
fn names_no(report: &Value, check: &str) {
    let findings = report["findings"].as_array().unwrap();
    let found = findings
        .iter()
        .find(|finding| finding["check"] == check && finding["verdict"] != "ok");
    assert_eq!(found, None);
}

/// What a broken set-up must be told: the check, its verdict, words of the cause, and the whole hint beside it.
type Cause<'a> = (&'a str, &'a str, &'a str, &'a str);

/// These are the findings that are not `ok`, in this order, each with its own words and its own hint; and nothing that is
/// fine is blamed, since there is no other.
#[track_caller]
fn blames(report: &Value, causes: &[Cause<'_>]) {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let expects_port = causes.iter().any(|(check, ..)| *check == "port");
    let told: Vec<_> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["verdict"] != "ok")
        // The checkout's own port is one of many thousands, and any process of the machine may have it, truly.
        .filter(|finding| expects_port || finding["check"] != "port")
        .map(|finding| ["check", "verdict", "text", "hint"].map(|key| text(finding, key)))
        .collect();
    let fits = told.len() == causes.len()
        && told.iter().zip(causes).all(|([c, v, t, h], cause)| {
            (c.as_str(), v.as_str(), h.as_str()) == (cause.0, cause.1, cause.3)
                && t.contains(cause.2)
        });
    assert!(fits, "expected {causes:#?}, told {told:#?}");
    for [_, _, says, _] in &told {
        assert!(
            !says.ends_with('.') && !says.contains("unexpected"),
            "{says}"
        );
    }
}

/// What the client of the examination is told where it finds no others: the reason is the cause's own sentence.
const fn alone(reason: &str) -> Cause<'_> {
    ("client", "problem", reason, "majordomus status")
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
    blames(
        &report,
        &[("checkout", "problem", "no checkout", "majordomus init")],
    );
}

#[test]
fn folders_that_cannot_be_made_or_written() {
    let repository = sound();
    fs::remove_dir_all(repository.root().join(".ai")).unwrap();
    fs::write(repository.root().join(".ai"), "").unwrap();
    let folder = ("folder", "problem", "cannot make .ai", "ls -ld .ai");
    blames(
        &doctor(&repository),
        &[folder, alone("cannot make .ai: not a directory")],
    );

    let repository = Repository::without_git();
    told(&repository);
    fs::remove_dir_all(repository.root().join(".ai")).unwrap();
    fs::write(repository.root().join(".ai"), "").unwrap();
    let mut command = wrapped(&repository, &[]);
    let report = report(command.args(["--repo", "."]).output().as_ref().unwrap());
    // Nothing below that folder is to blame: neither the token nor the board, nor a document.
    blames(
        &report,
        &[
            ("checkout", "note", "without git", ""),
            folder,
            alone("there is no checkout here"),
        ],
    );

    let repository = sound();
    fs::remove_dir_all(repository.root().join(".ai/local")).unwrap();
    symlink(repository.outside(), repository.root().join(".ai/local")).unwrap();
    let reason = ".ai/local is a symbolic link out of the checkout";
    blames(
        &doctor(&repository),
        &[("folder", "problem", reason, "rm .ai/local"), alone(reason)],
    );
}

#[test]
fn a_read_only_folder() {
    let repository = sound();
    fs::create_dir_all(repository.state()).unwrap();
    let confinement = confine::read_only(&repository.state());
    let output = wrapped(&repository, &confinement.wrapper).output().unwrap();
    let report = report(&output);
    let hint = "findmnt -T .ai/local/state/mcp";
    blames(
        &report,
        &[
            ("folder", "problem", "Read-only file system", hint),
            alone("Read-only file system"),
        ],
    );
}

#[test]
fn a_full_disk() {
    let repository = sound();
    fs::create_dir_all(repository.state()).unwrap();
    let confinement = confine::full_disk(&repository.state());
    let output = wrapped(&repository, &confinement.wrapper).output().unwrap();
    let hint = "df -h .ai/local/state/mcp";
    blames(
        &report(&output),
        &[
            ("folder", "problem", "No space left on device", hint),
            alone("No space left on device"),
        ],
    );
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
        let reason = format!(".ai/local/state/mcp/server.lock is {kind}");
        let hint = "rm -r .ai/local/state/mcp/server.lock";
        blames(
            &report,
            &[("lock", "problem", &reason, hint), alone(&reason)],
        );
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
    // The common lock beside it is as it should be, and the client's reason does not name that one.
    let reason = format!(".ai/local/state/mcp/{name} is a directory");
    let hint = format!("rm -r .ai/local/state/mcp/{name}");
    blames(
        &report,
        &[("lock", "problem", &reason, &hint), alone(&reason)],
    );
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
    let hint = "ls -l .git/majordomus, then rm what of board.SCOPE.db* is older than the last boot (uptime -s)";
    blames(&report, &[("boards", "note", "1 board", hint)]);
    assert!(left.exists());
}

#[test]
fn tokens_that_nobody_should_trust() {
    type Break = fn(&Path);
    let remove = "rm .git/majordomus/token, then start the clients again";
    let broken: [(&str, &str, Break); 3] = [
        ("open to others", remove, |token| {
            fs::set_permissions(token, fs::Permissions::from_mode(0o644)).unwrap();
        }),
        ("damaged", remove, |token| {
            fs::write(token, "short\n").unwrap();
        }),
        ("is a directory", "ls -l .git/majordomus/token", |token| {
            fs::remove_file(token).unwrap();
            fs::create_dir(token).unwrap();
        }),
    ];
    for (text, hint, breaks) in broken {
        let repository = sound();
        let client = repository.attached("first");
        repository.ready();
        client.close();
        client.exit();
        breaks(&repository.shared().join("token"));
        blames(
            &doctor(&repository),
            &[("token", "problem", text, hint), alone(text)],
        );
    }
}

#[test]
fn documents_that_are_left_over() {
    let repository = sound();
    fs::create_dir_all(repository.state()).unwrap();
    fs::write(repository.document(), "{ garbage").unwrap();
    let report = doctor(&repository);
    let hint = "majordomus serve, or open an MCP client in this checkout";
    blames(&report, &[("server", "note", "is no lease document", hint)]);
    healthy(&report);

    let repository = sound();
    let killed = repository.attached("killed");
    repository.ready_when("a url", |lease| lease["url"].is_string());
    killed.kill();
    let copy = repository.copied();
    blames(
        &doctor(&repository),
        &[("server", "note", "nothing answers", hint)],
    );
    let hint = "majordomus serve, or open an MCP client in the folder where it is now";
    blames(
        &doctor(&copy),
        &[("server", "note", "moved or copied", hint)],
    );
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
    let hint = "majordomus serve, or open an MCP client in this checkout";
    blames(
        &doctor(&repository),
        &[("server", "note", "not this checkout's server", hint)],
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
    let hint = "majordomus status, where the server runs";
    blames(
        &doctor(&repository),
        &[("server", "note", "another kernel", hint)],
    );
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
    let hint = format!("ss -ltnp 'sport = :{port}'");
    blames(&report, &[("port", "note", &port.to_string(), &hint)]);
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
    // Its port is its own still: `port` is asked about, and must not be named.
    names_no(&report, "port");
    let pid = owner.pid();
    let hint = format!("ps -o pid,stat,args -p {pid}");
    let holds = format!("process {pid} holds this checkout, but it does not answer");
    let silent = format!("process {pid}, does not answer");
    blames(
        &report,
        &[("server", "problem", &silent, &hint), alone(&holds)],
    );
}

#[test]
fn an_executable_that_clients_do_not_find_or_that_is_another() {
    let repository = sound();
    let with = |path: &str| {
        let mut command = repository.command(&["doctor", "--json"]);
        report(&command.env("PATH", path).output().unwrap())
    };
    let install =
        "cargo install --path . (in the source tree; then see that ~/.cargo/bin is in PATH)";
    blames(
        &with("/usr/bin:/bin"),
        &[("path", "problem", "not in PATH", install)],
    );
    let other = path_with(&repository, Some("#!/bin/sh\necho majordomus 0.0.1\n"));
    blames(
        &with(&other),
        &[("path", "note", "majordomus 0.0.1", install)],
    );
    let broken = path_with(&repository, Some("#!/bin/sh\nexit 3\n"));
    let hint = "majordomus --version";
    blames(&with(&broken), &[("path", "problem", "does not run", hint)]);
}

#[test]
fn client_files_that_start_nothing_or_something_else() {
    let repository = Repository::new();
    let blamed = |verdict: &str, text: &str, hint: &str| {
        blames(&doctor(&repository), &[("clients", verdict, text, hint)]);
    };
    blamed("problem", "no client is told", "majordomus init");
    fs::create_dir(repository.home().join(".claude")).unwrap();
    blamed("problem", "Claude Code is in use", "majordomus init");

    let file = repository.root().join(".mcp.json");
    let why = "majordomus init --client claude --json";
    fs::write(&file, "{ \"mcpServers\": ").unwrap();
    blamed("problem", "cannot be read", why);
    fs::write(&file, "{ \"mcpServers\": [] }").unwrap();
    blamed("problem", "something else than a table", why);
    let other = r#"{ "mcpServers": { "majordomus": { "command": "x" } } }"#;
    fs::write(&file, other).unwrap();
    blamed(
        "note",
        "starts something else",
        "majordomus init --client claude",
    );
    fs::remove_file(&file).unwrap();
    symlink("elsewhere.json", &file).unwrap();
    blamed("problem", "is a symbolic link", "ls -l .mcp.json");
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
    let hint = "ls -l .git/majordomus/board.db*";
    blames(&report, &[("board", "note", "is damaged", hint)]);
    healthy(&report);

    let repository = sound();
    fs::create_dir_all(repository.shared().join("board.db")).unwrap();
    let text = "board.db cannot be used: is a directory";
    let hint = "ls -ld .git/majordomus/board.db";
    blames(&doctor(&repository), &[("board", "problem", text, hint)]);
}

#[test]
fn a_lease_that_git_carries_to_others() {
    let repository = sound();
    fs::create_dir_all(repository.state()).unwrap();
    fs::write(repository.state().join("server.log"), "").unwrap();
    repository.git(&["add", "--force", ".ai/local/state/mcp/server.log"]);
    let hint = "git rm -r --cached .ai/local";
    blames(
        &doctor(&repository),
        &[("git", "problem", "tracked by git", hint)],
    );
}

#[test]
fn a_process_that_may_open_few_files() {
    let repository = sound();
    let wrapper: Vec<_> = ["sh", "-c", r#"ulimit -n 64; exec "$@""#, "sh"]
        .map(Into::into)
        .to_vec();
    let output = wrapped(&repository, &wrapper).output().unwrap();
    blames(
        &report(&output),
        &[("files", "problem", "64 files", "ulimit -Hn")],
    );
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
    let text = "127.0.0.1 cannot be used";
    let hint = "ip address show lo";
    blames(&report(&output), &[("loopback", "problem", text, hint)]);
}
