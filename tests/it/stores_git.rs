//! Stores of mnemon on machines that meet through a remote of git: a bare repository on disk, and a host on loopback.

use std::fs;

use super::support::command::{hermetic, succeed};
use super::support::host::{Host, Manner};
use super::support::mnemon::{Era, Machine, exchange};
use super::support::remote::Remote;
use super::support::{BOUND, wait_for};

fn url(remote: &Remote) -> String {
    format!("file://{}", remote.path().display())
}

/// Two machines that meet through this remote alone.
fn pair(remote: &Remote) -> (Machine, Machine) {
    let machine = || Machine::by_git(&url(remote));
    (machine(), machine())
}

#[track_caller]
fn agree(machines: &[&Machine]) {
    let digests: Vec<_> = machines
        .iter()
        .map(|machine| machine.done(&["verify", "--json"])["stores"][0]["digest"].clone())
        .collect();
    assert!(
        digests.windows(2).all(|two| two[0] == two[1]),
        "{digests:?}"
    );
}

fn contents(machine: &Machine) -> String {
    machine.value("SELECT group_concat(id) FROM (SELECT id FROM insights ORDER BY id)")
}

/// The refs of the store on the remote.
fn refs(remote: &Remote) -> Vec<String> {
    let named = remote.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/majordomus/stores/default",
    ]);
    named.lines().map(str::to_owned).collect()
}

#[track_caller]
fn troubles(told: &serde_json::Value) -> Vec<String> {
    let troubles = told["troubles"].as_array().unwrap().iter();
    troubles.map(|it| it.as_str().unwrap().to_owned()).collect()
}

/// Runs git on the remote with something to read.
fn git_with(remote: &Remote, arguments: &[&str], input: &[u8]) -> String {
    let path = remote.base().join("input");
    fs::write(&path, input).unwrap();
    let mut command = hermetic("git", &remote.path(), remote.base());
    command.args(arguments).stdin(fs::File::open(path).unwrap());
    String::from_utf8(succeed(&mut command).stdout)
        .unwrap()
        .trim()
        .to_owned()
}

#[test]
fn two_machines_agree_through_a_remote_and_its_history_never_grows() {
    let remote = Remote::new();
    let (a, b) = pair(&remote);
    a.remember("x", "from a");
    b.remember("y", "from b");
    exchange(&a, &b);
    assert_eq!(
        (contents(&a), contents(&b)),
        ("x,y".to_owned(), "x,y".to_owned())
    );
    agree(&[&a, &b]);
    let status = a.done(&["status", "--json"]);
    assert_eq!(status["stores"][0]["git"], url(&remote), "{status}");
    assert_eq!(
        status["stores"][0]["peers"].as_array().unwrap().len(),
        1,
        "{status}"
    );
    let quiet = remote.git(&["for-each-ref"]);
    assert!(troubles(&a.sync()).is_empty());
    assert_eq!(
        remote.git(&["for-each-ref"]),
        quiet,
        "nothing new, nothing sent"
    );
    for number in 0..20 {
        a.remember(&format!("n{number}"), "more");
        a.sync();
        b.sync();
    }
    assert_eq!(contents(&b), contents(&a));
    assert_eq!(refs(&remote).len(), 2);
    for name in refs(&remote) {
        assert_eq!(remote.git(&["rev-list", "--count", &name]), "1", "{name}");
    }
    agree(&[&a, &b]);
}

#[test]
fn one_new_memory_ships_in_eight_kibibytes() {
    let remote = Remote::new();
    let (a, b) = pair(&remote);
    a.remember("x", "x");
    // Nothing packs it.
    a.sql("UPDATE insights SET embedding=randomblob(300000)");
    exchange(&a, &b);
    let sizes = remote.base().join("sizes");
    remote.hook(&format!(
        "#!/bin/sh\ncat \"$GIT_QUARANTINE_PATH\"/*/* 2>/dev/null | wc -c >'{}'\n",
        sizes.display()
    ));
    a.remember("y", "y");
    a.sync();
    let sent: u64 = fs::read_to_string(sizes).unwrap().trim().parse().unwrap();
    assert!((1..=8192).contains(&sent), "{sent} bytes were sent");
    b.sync();
    assert_eq!(contents(&b), "x,y");
}

#[test]
fn a_machine_with_both_is_a_bridge_between_a_folder_and_a_remote() {
    let remote = Remote::new();
    let carried = tempfile::TempDir::with_prefix("majordomus-it-").unwrap();
    let of_folder = Machine::new(Era::Supersedes, carried.path());
    of_folder.done(&["enable", "default", "--json"]);
    let bridge = Machine::new(Era::Supersedes, carried.path());
    let told = bridge.done(&["enable", "default", "--git", &url(&remote), "--json"]);
    assert!(
        told["folder"].is_string() && told["git"].is_string(),
        "{told}"
    );
    let of_git = Machine::by_git(&url(&remote));
    of_folder.remember("f", "f");
    bridge.remember("b", "b");
    of_git.remember("g", "g");
    for _ in 0..2 {
        for machine in [&of_folder, &of_git, &bridge] {
            assert!(troubles(&machine.sync()).is_empty());
        }
    }
    of_folder.sync();
    of_git.sync();
    for machine in [&of_folder, &bridge, &of_git] {
        assert_eq!(contents(machine), "b,f,g");
    }
    agree(&[&of_folder, &bridge, &of_git]);
    of_git.sql("UPDATE insights SET deleted_at='2026-06-06T20:00:00Z' WHERE id='f'");
    for machine in [&of_git, &bridge, &of_folder] {
        assert!(troubles(&machine.sync()).is_empty());
    }
    assert_eq!(
        of_folder.value("SELECT deleted_at FROM insights WHERE id='f'"),
        "2026-06-06T20:00:00Z"
    );
    // Nobody writes a ref but its own device.
    assert_eq!(refs(&remote).len(), 2);
}

#[test]
fn a_remote_over_http_that_is_away_or_refuses_loses_nothing() {
    let remote = Remote::new();
    remote.git(&["config", "http.receivepack", "true"]);
    let host = Host::new(remote.base());
    let address = host.url("code.git");
    let (a, b) = (Machine::by_git(&address), Machine::by_git(&address));
    a.remember("x", "x");
    exchange(&a, &b);
    assert_eq!(contents(&b), "x");
    a.remember("y", "y");
    for manner in [Manner::Refuse("403 Forbidden"), Manner::CutBefore] {
        host.set(manner);
        let told = troubles(&a.sync());
        assert!(
            told.len() == 1
                && told[0].contains("nothing is lost")
                && told[0].contains("hint: git ls-remote"),
            "{told:?}"
        );
    }
    // It arrives, and nobody hears of it.
    host.set(Manner::CutAfter(99));
    a.remember("z", "z");
    let _told = a.sync();
    host.set(Manner::Serve);
    let told = a.sync();
    assert!(troubles(&told).is_empty(), "{told}");
    b.sync();
    assert_eq!(contents(&b), "x,y,z");
    agree(&[&a, &b]);
}

#[test]
fn a_remote_that_refuses_or_loses_a_ref_is_given_it_again() {
    let remote = Remote::new();
    let (a, b) = pair(&remote);
    a.remember("x", "x");
    remote.hook("#!/bin/sh\necho not today >&2\nexit 1\n");
    let told = troubles(&a.sync());
    assert!(told.len() == 1 && told[0].contains("not today"), "{told:?}");
    remote.without_hook();
    assert!(troubles(&a.sync()).is_empty());
    for name in refs(&remote) {
        remote.git(&["update-ref", "-d", &name]);
    }
    assert!(troubles(&a.sync()).is_empty());
    assert!(troubles(&b.sync()).is_empty());
    assert_eq!(contents(&b), "x");
}

#[test]
fn a_copy_of_a_machine_whose_ref_somebody_else_moved_takes_an_id_of_its_own() {
    let remote = Remote::new();
    let (a, b) = pair(&remote);
    a.remember("x", "x");
    exchange(&a, &b);
    let state = a.home().join(".local/state");
    let kept = tempfile::TempDir::with_prefix("majordomus-it-").unwrap();
    let copy = |from: &std::path::Path, to: &std::path::Path| {
        succeed(
            hermetic("cp", from, from)
                .arg("-a")
                .arg(from.join("."))
                .arg(to),
        );
    };
    copy(&state, kept.path());
    a.remember("first", "x");
    a.sync();
    // The copy: what this machine knew before, under the same id.
    fs::remove_dir_all(&state).unwrap();
    fs::create_dir(&state).unwrap();
    copy(kept.path(), &state);
    a.sql("DELETE FROM edges; DELETE FROM insights WHERE id='first'");
    a.remember("second", "x");
    let told = a.sync();
    assert!(
        troubles(&told)
            .iter()
            .any(|it| it.contains("takes a new id")),
        "{told}"
    );
    assert_eq!(refs(&remote).len(), 2);
    b.sync();
    a.sync();
    assert_eq!(contents(&b), "first,second,x");
    assert_eq!(contents(&a), "first,second,x");
}

#[test]
fn a_hostile_ref_is_named_and_nothing_of_it_is_laid_out() {
    let remote = Remote::new();
    let (a, b) = pair(&remote);
    a.remember("x", "x");
    let device = |digit: &str| digit.repeat(32);
    let name = "0123456789abcdef-00000001.seg";
    let plant = |device: &str, entries: &str| {
        let tree = git_with(&remote, &["mktree", "--missing"], entries.as_bytes());
        let top = git_with(
            &remote,
            &["mktree", "--missing"],
            format!("040000 tree {tree}\t{device}\n").as_bytes(),
        );
        let commit = remote.git(&["commit-tree", "-m", "x", &top]);
        remote.git(&[
            "update-ref",
            &format!("refs/majordomus/stores/default/{device}"),
            &commit,
        ]);
    };
    let small = git_with(
        &remote,
        &["hash-object", "-w", "--stdin"],
        b"../../../../etc/passwd",
    );
    let huge = git_with(
        &remote,
        &["hash-object", "-w", "--stdin"],
        &vec![0; 17 * 1024 * 1024],
    );
    let module = "1".repeat(40);
    plant(&device("1"), &format!("100644 blob {huge}\t{name}\n"));
    plant(
        &device("2"),
        &format!(
            "120000 blob {small}\t{name}\n160000 commit {module}\t0123456789abcdef-00000002.seg\n"
        ),
    );
    // Names that git itself refuses to make are made by hand.
    let mut tree = b"100644 ..\0".to_vec();
    tree.extend((0..20).map(|at| u8::from_str_radix(&small[2 * at..2 * at + 2], 16).unwrap()));
    let dots = git_with(
        &remote,
        &["hash-object", "-t", "tree", "-w", "--literally", "--stdin"],
        &tree,
    );
    let top = git_with(
        &remote,
        &["mktree"],
        format!("040000 tree {dots}\t{}\n", device("3")).as_bytes(),
    );
    let commit = remote.git(&["commit-tree", "-m", "x", &top]);
    remote.git(&[
        "update-ref",
        &format!("refs/majordomus/stores/default/{}", device("3")),
        &commit,
    ]);
    remote.git(&[
        "update-ref",
        &format!("refs/majordomus/stores/default/{}", device("4")),
        &small,
    ]);
    // Nobody's.
    remote.git(&[
        "update-ref",
        "refs/majordomus/stores/default/desktop",
        &commit,
    ]);
    a.sync();
    let told = troubles(&b.sync());
    let said = |digit: &str, what: &str| {
        let device = device(digit);
        assert!(
            told.iter()
                .any(|it| it.contains(&device) && it.contains(what)),
            "{digit}: {told:#?}"
        );
    };
    said("1", "is longer than");
    said("2", "2 things");
    said("3", "does not hold together");
    said("4", "the ref of device");
    assert_eq!(told.len(), 4, "{told:#?}");
    assert_eq!(contents(&b), "x", "everybody else's are read");
    let mut find = hermetic("find", b.home(), b.home());
    let laid_out = succeed(find.args([
        ".local",
        "-path",
        "*/peers/*",
        "(",
        "-type",
        "l",
        "-o",
        "-name",
        "0123456789abcdef*",
        ")",
    ]));
    assert_eq!(String::from_utf8_lossy(&laid_out.stdout), "");
}

#[test]
fn a_remote_that_hangs_is_given_up_and_named() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!(
        "http://127.0.0.1:{}/code.git",
        silent.local_addr().unwrap().port()
    );
    let a = Machine::by_git(&address);
    a.remember("x", "x");
    let told = troubles(&a.sync());
    assert!(
        told.len() == 1 && told[0].contains("did not answer in time"),
        "{told:?}"
    );
    assert!(troubles(&a.done(&["verify", "--json"])["stores"][0].clone()).is_empty());
}

#[test]
fn a_sync_that_is_killed_while_it_pushes_is_made_good_by_the_next() {
    let remote = Remote::new();
    let (a, b) = pair(&remote);
    a.remember("x", "x");
    let began = remote.base().join("began");
    remote.hook(&format!(
        "#!/bin/sh\ntouch '{}'\nexec sleep 300\n",
        began.display()
    ));
    let mut child = a.start(&["sync"]);
    wait_for("the push", BOUND, || began.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    remote.without_hook();
    // The lock is git's until its group has ended.
    wait_for("the next sync", BOUND, || {
        let output = a.store(&["sync", "--json"]);
        output.status.success()
    });
    b.sync();
    assert_eq!(contents(&b), "x");
    agree(&[&a, &b]);
}

#[test]
fn an_address_is_asked_for_and_its_password_is_shown_to_nobody() {
    let carried = tempfile::TempDir::with_prefix("majordomus-it-").unwrap();
    let a = Machine::new(Era::Supersedes, carried.path());
    for address in [
        "ext::sh -c true",
        "http://example.org/x.git",
        "--upload-pack=x",
    ] {
        let said = a.refused(&["enable", "default", &format!("--git={address}")]);
        assert!(
            said.contains("is no address of a remote") && said.contains("hint: "),
            "{said}"
        );
    }
    let told = a.done(&[
        "enable",
        "default",
        "--git",
        "https://ann:secret@127.0.0.1:1/x.git",
        "--json",
    ]);
    assert_eq!(told["git"], "https://127.0.0.1:1/x.git");
    let output = a.store(&["sync"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("cannot be reached") && !said.contains("secret"),
        "{said}"
    );
    assert!(!a.done(&["status", "--json"]).to_string().contains("secret"));
}
