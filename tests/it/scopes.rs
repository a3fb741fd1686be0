//! One checkout in two scopes: network namespaces that cannot reach each other, and boots of a kernel.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::command::{MAJORDOMUS, hermetic};
use crate::support::confine::is_root;
use crate::support::network::Network;
use crate::support::{
    BOUND, Client, Http, Repository, checks, frames, preload, wait_for, wait_some,
};

/// The documents of owners beside.
fn beside(repository: &Repository) -> Vec<PathBuf> {
    let state = fs::read_dir(repository.state());
    let paths = state
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path());
    paths
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("server.") && name.ends_with(".json") && name != "server.json"
        })
        .collect()
}

/// The document of the one owner beside, once it is ready and `fits`.
#[track_caller]
fn ready_beside(repository: &Repository, fits: impl Fn(&Value) -> bool) -> Value {
    wait_some("a ready document beside", BOUND, || {
        let paths = beside(repository);
        let [path] = paths.as_slice() else {
            return None;
        };
        let document: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        (document["state"] == "ready" && fits(&document)).then_some(document)
    })
}

fn start(repository: &Repository, words: Vec<OsString>, name: &str) -> Client {
    repository.launch().name(name).wrapped(words).start()
}

#[track_caller]
fn attached(repository: &Repository, network: &Network, name: &str) -> Client {
    let client = start(repository, network.enter(), name);
    client.attach();
    client
}

/// Runs a command of the CLI in there.
pub(crate) fn told(repository: &Repository, words: &[OsString], arguments: &[&str]) -> Output {
    let words = [words, &[MAJORDOMUS.into()]].concat();
    hermetic(&words[0], repository.root(), repository.home())
        .args(&words[1..])
        .args(arguments)
        .output()
        .unwrap()
}

/// The same, as JSON.
#[track_caller]
fn tells(repository: &Repository, words: &[OsString], command: &str) -> Value {
    let output = told(repository, words, &[command, "--json"]);
    let printed = serde_json::from_slice(&output.stdout);
    printed.unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Guards I1.
#[test]
fn two_network_namespaces_have_an_owner_each_and_status_names_both() {
    let repository = Repository::new();
    let Some(network) = Network::new(&repository) else {
        return;
    };
    let out = [repository.attached("a"), repository.attached("b")];
    let inside = ["c", "d"].map(|name| attached(&repository, &network, name));
    checks::one_board(&[&out[0], &out[1]]);
    checks::one_board(&[&inside[0], &inside[1]]);
    let common = repository.ready();
    assert!(out.iter().any(|client| common["pid"] == client.pid()));
    let other = ready_beside(&repository, |_| true);
    assert!(inside.iter().any(|client| other["pid"] == client.pid()));

    for (words, own, other) in [
        (vec!["env".into()], &common, &other),
        (network.enter(), &other, &common),
    ] {
        let status = tells(&repository, &words, "status");
        assert_eq!(status["state"], "ready", "{status}");
        assert_eq!(status["pid"], own["pid"], "{status}");
        assert_eq!(status["others"][0]["pid"], other["pid"], "{status}");
        let plain = told(&repository, &words, &["status"]);
        let plain = String::from_utf8(plain.stdout).unwrap();
        let pid = |document: &Value| document["pid"].to_string();
        assert!(
            plain.contains(&pid(own)) && plain.contains(&pid(other)),
            "{plain}"
        );
        let report = tells(&repository, &words, "doctor");
        let finding = |check: &str| {
            let mut findings = report["findings"].as_array().unwrap().iter();
            let found = findings.find(|finding| finding["check"] == check);
            assert_eq!(found.unwrap()["verdict"], "ok", "{report}");
            found.unwrap()["text"].to_string()
        };
        assert!(finding("server").contains(&pid(own)), "{report}");
        let is_beside = finding("board").contains(other["scope"].as_str().unwrap_or("?"));
        assert!(!is_beside, "the other scope's board: {report}");
        finding("client");
    }
    let listed = tells(&repository, &network.enter(), "status");
    let exists: Vec<&str> = listed["files"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|file| file["exists"] == true)
        .filter_map(|file| file["path"].as_str())
        .collect();
    let scope = other["scope"].as_str().unwrap();
    for name in ["json", "lock"] {
        let path = format!(".ai/local/state/mcp/server.{scope}.{name}");
        assert!(exists.contains(&path.as_str()), "{exists:?}");
    }

    // Two databases: what one keeps is not the other's.
    for board in ["board.db".to_owned(), format!("board.{scope}.db")] {
        assert!(repository.shared().join(&board).exists(), "{board}");
    }
    for client in out.iter().chain(&inside) {
        client.close();
        client.exit();
    }
    assert_eq!(beside(&repository), Vec::<PathBuf>::new());
    assert!(!repository.document().exists(), "nothing stays behind");
}

/// Guards I1: with abstract names, and where there are none.
#[test]
fn who_takes_the_common_lock_finds_the_owner_beside_of_its_own_scope() {
    let repository = Repository::new();
    let Some(network) = Network::new(&repository) else {
        return;
    };
    let text = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <errno.h>\n#include <sys/socket.h>\n\
        int bind(int file, const struct sockaddr *to, socklen_t length) {\n\
        if (to->sa_family == AF_UNIX) { errno = EACCES; return -1; }\n\
        int (*next)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, \"bind\");\n\
        return next(file, to, length); }\n";
    let library = preload::library(&repository, "names", text);
    for names in [true, false] {
        let client = |words: Vec<OsString>, name: &str| {
            let mut launch = repository.launch().name(name).wrapped(words);
            if !names {
                launch = launch.variable("LD_PRELOAD", &library);
            }
            let client = launch.start();
            client.initialize();
            client
        };
        let here = || vec!["env".into()];
        let first = client(here(), "first");
        repository.ready_when("the first owner", |lease| lease["pid"] == first.pid());
        let inside = client(network.enter(), "inside");
        let owner = ready_beside(&repository, |lease| lease["pid"] == inside.pid());
        // While it sleeps, a newcomer must stand for election, and finds the common lock free.
        inside.signal(Signal::SIGSTOP);
        first.kill();
        let newcomer = client(network.enter(), "newcomer");
        let answer = newcomer.call("majordomus_peers", &json!({}));
        let reason = checks::degraded(&answer).unwrap_or_default();
        let holder = format!("process {}", inside.pid());
        assert!(reason.contains(&holder), "names: {names}: {answer}");
        assert_eq!(repository.owner_pid(), Some(first.pid()), "names: {names}");

        inside.signal(Signal::SIGCONT);
        checks::one_board(&[&inside, &newcomer]);
        let still = ready_beside(&repository, |_| true);
        assert_eq!(still["instance"], owner["instance"], "names: {names}");

        // The other scope elects at the common files again, and this one beside when its owner dies.
        let second = client(here(), "second");
        repository.ready_when("an owner outside", |lease| lease["pid"] == second.pid());
        inside.kill();
        checks::one_board(&[&newcomer]);
        ready_beside(&repository, |lease| lease["pid"] == newcomer.pid());
        let last = client(network.enter(), "last");
        checks::one_board(&[&newcomer, &last]);
        checks::one_board(&[&second]);
        for client in [&second, &last, &newcomer] {
            client.close();
            client.exit();
        }
    }
}

/// Guards I1: a free lock proves nothing of another scope where locks lie outside the file system, so neither takes the
/// other's document away.
#[test]
fn where_file_locks_do_not_work_two_scopes_have_an_owner_each_too() {
    let repository = Repository::new();
    let Some(network) = Network::new(&repository) else {
        return;
    };
    let text = "#include <errno.h>\nint flock(int file, int how) { errno = ENOLCK; return -1; }\n";
    let library = preload::library(&repository, "locks", text);
    let client = |words: Vec<OsString>, name: &str| {
        let launch = repository.launch().name(name).wrapped(words);
        let client = launch.variable("LD_PRELOAD", &library).start();
        client.attach();
        client
    };
    let out = client(vec!["env".into()], "out");
    let common = repository.ready();
    let inside = client(network.enter(), "inside");
    ready_beside(&repository, |lease| lease["pid"] == inside.pid());
    let newcomers = [
        client(vec!["env".into()], "more out"),
        client(network.enter(), "more inside"),
    ];
    checks::one_board(&[&out, &newcomers[0]]);
    checks::one_board(&[&inside, &newcomers[1]]);
    assert_eq!(repository.ready()["instance"], common["instance"]);
    inside.kill();
    checks::one_board(&[&newcomers[1]]);
    ready_beside(&repository, |lease| lease["pid"] == newcomers[1].pid());
    assert_eq!(repository.ready()["instance"], common["instance"]);
}

/// Guards I2: with the other scope's owner gone, what an owner beside left by dying is cleared up by the next owner.
#[test]
fn a_scope_comes_back_to_the_common_files_when_nobody_is_in_its_way() {
    let repository = Repository::new();
    let Some(network) = Network::new(&repository) else {
        return;
    };
    let first = repository.attached("first");
    let inside = attached(&repository, &network, "inside");
    ready_beside(&repository, |_| true);
    first.kill();
    inside.kill();
    let next = attached(&repository, &network, "next");
    repository.ready_when("an owner inside", |lease| lease["pid"] == next.pid());
    assert_eq!(beside(&repository), Vec::<PathBuf>::new());
}

/// Guards I1: a free lock is what tells the two apart, and it stays a file.
#[test]
fn what_a_dead_namespace_left_beside_is_swept_and_a_living_ones_stays() {
    let repository = Repository::new();
    let (Some(living), Some(dead)) = (Network::new(&repository), Network::new(&repository)) else {
        return;
    };
    let first = repository.attached("first");
    let lives = attached(&repository, &living, "lives");
    let stays = ready_beside(&repository, |lease| lease["pid"] == lives.pid());
    let dies = attached(&repository, &dead, "dies");
    let left = wait_some("a second document beside", BOUND, || {
        let mut paths = beside(&repository).into_iter();
        paths.find(|path| {
            let document = fs::read(path).unwrap_or_default();
            serde_json::from_slice(&document)
                .is_ok_and(|lease: Value| lease["pid"] == dies.pid() && lease["state"] == "ready")
        })
    });
    dies.kill();
    drop(dead);
    assert!(left.exists(), "who is killed removes nothing");

    first.close();
    first.exit();
    let next = repository.attached("next");
    repository.ready_when("the next owner outside", |lease| lease["pid"] == next.pid());
    assert!(!left.exists(), "nobody serves there: {left:?}");
    assert!(left.with_extension("lock").exists(), "{left:?}");
    let now = ready_beside(&repository, |_| true);
    assert_eq!(now["instance"], stays["instance"]);
    let newcomer = attached(&repository, &living, "newcomer");
    checks::one_board(&[&lives, &newcomer]);
    let now = ready_beside(&repository, |_| true);
    assert_eq!(now["instance"], stays["instance"]);
    assert_eq!(now["epoch"], stays["epoch"]);
}

/// Guards I6: the board beside is not the one of the owner that follows, which cannot know what ended there.
#[test]
fn an_http_session_that_ended_beside_stays_ended_where_the_scope_comes_back_to_the_common_files() {
    let repository = Repository::new();
    let Some(network) = Network::new(&repository) else {
        return;
    };
    // Inside, so that the one beside is out here and can be reached.
    let inside = attached(&repository, &network, "inside");
    repository.ready();
    let out = repository.attached("out");
    let document = ready_beside(&repository, |lease| lease["pid"] == out.pid());
    let http = Http::new(document["url"].as_str().unwrap());
    let http = http.with_token(repository.token().as_deref());
    let open = frames::request(
        &json!(1),
        "initialize",
        &frames::initialize("leaves", frames::LEGACY),
    );
    let opened = http.post("/mcp", &open);
    let id = opened.header("mcp-session-id").expect("a session id");
    let session = http.with("Mcp-Session-Id", id);
    assert_eq!(session.send("DELETE", "/mcp").status, 204);
    inside.kill();
    out.kill();
    let next = repository.attached("next");
    let lease = repository.ready_when("an owner", |lease| lease["pid"] == next.pid());
    assert_eq!(beside(&repository), Vec::<PathBuf>::new());
    let after = Http::new(lease["url"].as_str().unwrap())
        .with_token(repository.token().as_deref())
        .with("Mcp-Session-Id", id);
    let ping = frames::request(&json!(1), "ping", &json!({}));
    assert_eq!(after.post("/mcp", &ping).status, 404);
}

/// Guards I5.
#[test]
fn removing_the_state_folder_under_two_owners_heals_both() {
    let repository = Repository::new();
    let Some(network) = Network::new(&repository) else {
        return;
    };
    let out = [repository.attached("a"), repository.attached("b")];
    let inside = ["c", "d"].map(|name| attached(&repository, &network, name));
    repository.ready();
    ready_beside(&repository, |_| true);
    fs::remove_dir_all(repository.root().join(".ai/local")).unwrap();
    checks::one_board(&[&out[0], &out[1]]);
    checks::one_board(&[&inside[0], &inside[1]]);
    let newcomers = [
        repository.attached("e"),
        attached(&repository, &network, "f"),
    ];
    checks::one_board(&[&out[0], &out[1], &newcomers[0]]);
    checks::one_board(&[&inside[0], &inside[1], &newcomers[1]]);
}

/// Words that start a program under another boot id, where mounts are possible.
pub(crate) fn another_boot(repository: &Repository) -> Option<Vec<OsString>> {
    let file = repository.outside().join("boot_id");
    fs::write(&file, "00000000-0000-4000-8000-000000000000\n").unwrap();
    let flags = if is_root() { "-m" } else { "-rm" };
    let script = r#"mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@""#;
    let words = ["unshare", flags, "sh", "-c", script].map(OsString::from);
    let words = [&words[..], &[file.into()]].concat();
    let tried = hermetic(&words[0], repository.outside(), repository.home())
        .args(&words[1..])
        .arg("true")
        .output()
        .unwrap();
    if !tried.status.success() {
        assert!(!is_root(), "no other boot id: {tried:?}");
        eprintln!("no user namespaces here: nothing is shown");
        return None;
    }
    Some(words)
}

/// Guards I2: of a kernel that is no more, with its lock free; and of one that holds it.
#[test]
fn a_document_of_another_boot_is_replaced_when_its_lock_is_free_and_gone_beside_when_not() {
    let repository = Repository::new();
    let (Some(boot), Some(network)) = (another_boot(&repository), Network::new(&repository)) else {
        return;
    };
    let first = repository.attached("first");
    let before = repository.ready();
    first.kill();
    let second = start(&repository, boot, "second");
    second.attach();
    let after = repository.ready_when("an owner of the next boot", |lease| {
        lease["pid"] == second.pid()
    });
    assert_ne!(after["scope"], before["scope"]);
    assert!(
        after["epoch"].as_u64() > before["epoch"].as_u64(),
        "{after}"
    );
    assert_eq!(beside(&repository), Vec::<PathBuf>::new());

    // Another kernel has another network as well.
    let third = attached(&repository, &network, "third");
    ready_beside(&repository, |lease| lease["pid"] == third.pid());
    checks::one_board(&[&second]);
    wait_for("the lease of the other boot", BOUND, || {
        repository.owner_pid() == Some(second.pid())
    });
}
