//! Two builds in one checkout: a new one is installed while the old one runs, and clients restart when they like.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::support::build::{self, OURS};
use crate::support::command::{MAJORDOMUS, hermetic};
use crate::support::{BOUND, Client, Repository, checks, wait_for};

/// A version that sorts before ours and one that sorts behind it, both as long as ours.
const OLDER: &str = "0.0.9";
const NEWER: &str = "0.9.9";
/// What makes the link of a build one that ours does not know.
const OTHER_LINK: (&str, &str) = ("majordomus-link/1", "majordomus-link/0");
const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

/// Where a test puts an executable.
fn place(repository: &Repository, name: &str) -> PathBuf {
    let folder = repository.outside().join("bin");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// A client of this executable that an owner serves.
fn attached(repository: &Repository, executable: &Path, name: &str) -> Client {
    let client = repository
        .launch()
        .executable(executable)
        .name(name)
        .start();
    client.attach();
    client
}

/// Runs a command of this executable.
fn run(repository: &Repository, executable: &Path, words: &[&str]) -> Output {
    let mut command = hermetic(executable, repository.root(), repository.home());
    command.args(words).output().expect("the executable starts")
}

/// Everything that a command said.
fn text(output: &Output) -> String {
    let both = [&output.stdout, &output.stderr];
    both.map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

fn status(repository: &Repository, executable: &Path) -> Value {
    let output = run(repository, executable, &["status", "--json"]);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)))
}

/// Asks for an upgrade to `protocols`; returns the head and what comes with it.
fn ask_for(link: &str, protocols: &str) -> String {
    let mut stream = TcpStream::connect(link).unwrap();
    stream.set_read_timeout(Some(BOUND)).unwrap();
    let head = format!(
        "GET /mcp HTTP/1.1\r\nHost: {link}\r\nConnection: Upgrade\r\nUpgrade: {protocols}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let (mut answer, mut buffer) = (String::new(), [0; 4096]);
    while !answer.contains("\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => answer.push_str(&String::from_utf8_lossy(&buffer[..count])),
            _ => break,
        }
    }
    answer
}

#[test]
fn the_newest_common_version_of_the_link_is_spoken_and_where_there_is_none_both_are_named() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let lease = repository.ready();
    let link = lease["link"].as_str().unwrap();
    for offered in [
        "majordomus-link/1",
        "majordomus-link/2, majordomus-link/1",
        "majordomus-link/1, majordomus-link/0",
    ] {
        let answer = ask_for(link, offered);
        assert!(answer.starts_with("HTTP/1.1 101 "), "{offered}: {answer}");
        assert!(
            answer.contains("upgrade: majordomus-link/1\r\n"),
            "{answer}"
        );
    }
    for offered in ["majordomus-link/0", "majordomus-link/3, majordomus-link/2"] {
        let answer = ask_for(link, offered);
        assert!(answer.starts_with("HTTP/1.1 426 "), "{offered}: {answer}");
        assert!(
            answer.contains("upgrade: majordomus-link/1\r\n"),
            "{answer}"
        );
    }
    let answer = ask_for(link, "websocket");
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

/// Guards I3, I5b: no link can be had, so each serves its own; nobody hangs, and everybody is told.
#[test]
fn builds_without_a_common_link_serve_alone_and_name_each_other() {
    for other_owns in [true, false] {
        let repository = Repository::new();
        let other = place(&repository, "other");
        build::of_version(&other, OLDER, &[OTHER_LINK]);
        let ours = Path::new(MAJORDOMUS);
        let (first, second) = if other_owns {
            (&*other, ours)
        } else {
            (ours, &*other)
        };
        let owner = attached(&repository, first, "owner");
        let (owns, comes) = if other_owns {
            (OLDER, OURS)
        } else {
            (OURS, OLDER)
        };

        let guest = repository.launch().executable(second).name("guest").start();
        guest.initialize();
        let safe = guest.call("conformance_echo", &json!({ "value": 1 }));
        checks::succeeded(&safe);
        let why = checks::degraded(&safe)
            .expect("it is served alone")
            .to_owned();
        for word in [owns, comes, "link", &owner.pid().to_string()] {
            assert!(why.contains(word), "{word} in: {why}");
        }
        let refused = guest.call("conformance_keyed", &json!({ "file": "a", "text": "x" }));
        assert!(checks::failed(&refused), "{refused}");
        let said = refused.to_string();
        assert!(
            said.contains(owns) && said.contains("hint: majordomus"),
            "{said}"
        );
        assert!(!repository.conformance_file("a").exists());
        owner.tool(
            "conformance_keyed",
            &json!({ "file": "a", "text": "served" }),
        );

        // The commands reach the owner all the same, and say what runs where.
        let told = status(&repository, second);
        assert_eq!(told["version"], owns, "{told}");
        assert_eq!(told["command_version"], comes, "{told}");
        let doctor = text(&run(&repository, second, &["doctor"]));
        assert!(doctor.contains(owns) && doctor.contains(comes), "{doctor}");

        owner.close();
        assert!(owner.exit().success());
        wait_for("the guest is the owner", BOUND, || {
            let answer = guest.call("majordomus_peers", &json!({}));
            checks::degraded(&answer).is_none()
        });
        assert_eq!(repository.ready()["version"], comes);
        assert_eq!(
            guest.inbox().total(),
            guest_requests(&guest),
            "each is answered once"
        );
    }
}

/// How many requests a client has begun.
fn guest_requests(client: &Client) -> usize {
    let next = client.next_id().as_u64().unwrap();
    usize::try_from(next).unwrap() - 1
}

/// Guards I7: the executable is replaced under running processes, as an installation does.
#[test]
fn a_new_build_is_installed_while_the_old_one_runs() {
    let repository = Repository::new();
    let installed = place(&repository, "majordomus");
    build::executable(&installed, fs::read(MAJORDOMUS).unwrap());
    let owner = attached(&repository, &installed, "owner");
    let bridge = attached(&repository, &installed, "bridge");
    bridge.tool(
        "majordomus_announce",
        &json!({ "intent": "go on", "scope": ["a"] }),
    );
    build::of_version(&installed, NEWER, &[]);

    let fresh = attached(&repository, &installed, "fresh");
    checks::one_board(&[&owner, &bridge, &fresh]);
    let told = status(&repository, &installed);
    assert_eq!(told["version"], OURS, "the server: {told}");
    assert_eq!(told["command_version"], NEWER, "{told}");
    let builds = json!([{ "version": OURS, "links": 2 }, { "version": NEWER, "links": 1 }]);
    assert_eq!(told["builds"], builds, "{told}");
    let words = text(&run(&repository, &installed, &["status"]));
    assert!(words.contains(OURS) && words.contains(NEWER), "{words}");
    let doctor = text(&run(&repository, &installed, &["doctor"]));
    for word in [OURS, NEWER, "2 clients", "restart"] {
        assert!(doctor.contains(word), "{word} in: {doctor}");
    }

    // What the old processes were started from is gone, and they take over all the same.
    let slow = bridge.begin_call("conformance_slow", &json!({ "ms": 600 }));
    owner.kill();
    checks::succeeded(&bridge.answer(&slow));
    checks::one_board(&[&bridge, &fresh]);
    let list = fresh.tool("majordomus_peers", &json!({}));
    let peer = checks::peer(&list, "bridge").expect("it is here");
    assert_eq!(checks::intents(peer), ["go on"]);
    let pid = repository.ready()["pid"].clone();
    let (next, last) = if pid == bridge.pid() {
        (bridge, fresh)
    } else {
        (fresh, bridge)
    };
    next.kill();
    checks::one_board(&[&last]);
    let one = attached(&repository, &installed, "one more");
    checks::one_board(&[&last, &one]);
}

/// A call to a tool that the living owner lacks is told where to look.
#[track_caller]
fn lacking(answer: &Value) {
    assert!(checks::failed(answer), "{answer}");
    let said = answer.to_string();
    assert!(
        said.contains("conformance_echo") && said.contains("tools/list"),
        "{said}"
    );
}

/// Guards I9: what a client is offered is what the living owner has, whichever build its bridge is of.
#[test]
fn a_client_is_offered_what_the_living_owner_has() {
    for grows in [true, false] {
        let repository = Repository::new();
        let older = place(&repository, "older");
        build::of_version(&older, OLDER, &[]);
        let (small, large): (&[&str], &[&str]) = (&["mcp"], &["mcp", "--conformance"]);
        let started = |executable: &Path, words: &[&str], name: &str| {
            let launch = repository.launch().executable(executable).arguments(words);
            let client = launch.name(name).start();
            client.attach();
            client
        };
        let ours = Path::new(MAJORDOMUS);
        let (owner, heir) = if grows {
            (
                started(&older, small, "owner"),
                started(ours, large, "heir"),
            )
        } else {
            (
                started(ours, large, "owner"),
                started(&older, small, "heir"),
            )
        };
        let offers = |client: &Client| {
            let tools = client.result("tools/list", &json!({})).to_string();
            tools.contains("conformance_echo")
        };
        let call = |client: &Client| client.call("conformance_echo", &json!({ "value": 1 }));
        assert_eq!(offers(&heir), !grows, "what the owner has");
        if grows {
            lacking(&call(&heir));
        } else {
            checks::succeeded(&call(&heir));
        }
        owner.kill();
        heir.notification(TOOLS_CHANGED, |_| true);
        checks::one_board(&[&heir]);
        assert_eq!(offers(&heir), grows, "what the next one has");
        if grows {
            checks::succeeded(&call(&heir));
        } else {
            lacking(&call(&heir));
        }
    }
}

/// Guards I6, I11: the owner gives way on request while calls of every retry class run.
#[test]
fn an_owner_that_is_asked_to_give_way_loses_no_call_and_runs_none_twice() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let clients = ["one", "two"].map(|name| repository.attached(name));
    let mut began = Vec::new();
    for client in clients.iter().chain([&owner]) {
        let name = client.name();
        let line = |text: &str, ms: u64| json!({ "file": name, "text": text, "ms": ms });
        let safe = client.begin_call("conformance_slow", &json!({ "ms": 300 }));
        let late = client.begin_call("conformance_slow", &json!({ "ms": 3000 }));
        let once = client.begin_call("conformance_once", &line("once", 300));
        let lost = client.begin_call("conformance_once", &line("lost", 60_000));
        began.push((client, safe, late, once, lost));
    }
    for client in clients.iter().chain([&owner]) {
        wait_for("the effects of the calls that run", BOUND, || {
            lines(&repository, client.name()) == 2
        });
    }
    let mut stop = repository.command(&["stop"]);
    let stop = stop.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut keyed = Vec::new();
    for (client, ..) in &began {
        for number in 0..20 {
            let arguments =
                json!({ "file": format!("{}-keyed", client.name()), "text": number.to_string() });
            keyed.push((*client, client.begin_call("conformance_keyed", &arguments)));
            let intent = json!({ "intent": format!("{number}"), "scope": ["a"] });
            keyed.push((*client, client.begin_call("majordomus_announce", &intent)));
        }
    }
    assert!(stop.wait_with_output().unwrap().status.success());
    for (client, id) in &keyed {
        checks::succeeded(&client.answer(id));
    }
    for (client, safe, late, once, lost) in &began {
        for id in [safe, late, once] {
            checks::succeeded(&client.answer(id));
        }
        // Begun by an owner that is gone: nobody may run it again, and nobody knows what became of it.
        assert!(
            checks::failed(&client.answer(lost)),
            "{}",
            client.answer(lost)
        );
        client.result("ping", &json!({}));
        for id in [safe, late, once, lost] {
            assert_eq!(
                client.inbox().count(id),
                1,
                "answers to {id} of {}",
                client.name()
            );
        }
        assert_eq!(
            lines(&repository, client.name()),
            2,
            "effects of {}",
            client.name()
        );
        assert_eq!(lines(&repository, &format!("{}-keyed", client.name())), 20);
    }
    for (client, id) in &keyed {
        assert_eq!(client.inbox().count(id), 1);
    }
    checks::one_board(&[&owner, &clients[0], &clients[1]]);
    let list = owner.tool("majordomus_peers", &json!({}));
    for name in ["owner", "one", "two"] {
        assert_eq!(
            checks::intents(checks::peer(&list, name).unwrap()),
            ["19"],
            "{list}"
        );
    }
}

/// How many lines a file of the conformance provider has.
fn lines(repository: &Repository, name: &str) -> usize {
    let text = fs::read_to_string(repository.conformance_file(name));
    text.map_or(0, |text| text.lines().count())
}
