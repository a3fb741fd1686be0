//! A process that its system gives no more of something: it says what, goes on, and serves its client.

use std::ffi::OsString;

use serde_json::{Value, json};

use crate::support::command::{MAJORDOMUS, hermetic};
use crate::support::{BOUND, Client, Repository, checks, wait_for};

/// What a call over HTTP came to, for a durable write.
fn announced(repository: &Repository, intent: &str) -> (u16, Value) {
    let body = json!({ "intent": intent, "scope": ["a"], "name": "by hand" });
    let mut reply = repository.http().post("/api/v1/peers/announce", &body);
    (reply.status, reply.json())
}

/// Changes how many processes the user of one that runs may have, as that user.
fn processes(repository: &Repository, process: &Client, user: &[OsString], limit: u32) {
    let mut words = user.to_vec();
    let pid = process.pid().to_string();
    words.extend(["prlimit", "--pid", &pid, &format!("--nproc={limit}:")].map(Into::into));
    let limited = hermetic(&words[0], repository.root(), repository.home())
        .args(&words[1..])
        .status();
    assert!(
        limited.is_ok_and(|status| status.success()),
        "prlimit(1) is needed"
    );
}

/// Starts a client under a limit that its shell sets.
fn limited(repository: &Repository, limit: &str) -> Client {
    let script = format!(r#"ulimit {limit}; exec "$@""#);
    let wrapper = ["sh", "-c", &script, "sh"].map(Into::into).to_vec();
    repository.launch().name("limited").wrapped(wrapper).start()
}

/// Gives all of a repository's folders to a user whom a limit of processes holds; the kernel exempts root.
fn held_by_limits(repository: &Repository, uid: u32) -> Vec<OsString> {
    if !crate::support::confine::is_root() {
        return Vec::new();
    }
    for folder in [repository.root(), repository.home(), repository.outside()] {
        let given = hermetic("chown", repository.root(), repository.home())
            .args(["-R", &format!("{uid}:{uid}")])
            .arg(folder)
            .status();
        assert!(given.is_ok_and(|status| status.success()));
    }
    let top = repository.root().ancestors().nth(1).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(top, open).unwrap();
    let (user, group) = (format!("--reuid={uid}"), format!("--regid={uid}"));
    ["setpriv", &user, &group, "--clear-groups"]
        .map(Into::into)
        .to_vec()
}

#[test]
fn a_server_without_a_thread_to_write_on_says_so_and_writes_again_later() {
    // Git minds whose a checkout is.
    let repository = Repository::without_git();
    let user = held_by_limits(&repository, 65_534);
    let owner = repository
        .launch()
        .name("owner")
        .wrapped(user.clone())
        .start();
    owner.attach();
    repository.ready();
    assert_eq!(announced(&repository, "before").0, 200);
    processes(&repository, &owner, &user, 1);
    let refused = || {
        let (status, answer) = announced(&repository, "in need");
        (status == 503).then_some(answer)
    };
    let answer = crate::support::wait_some("a refusal", BOUND, refused);
    let detail = answer["detail"].as_str().unwrap();
    assert!(detail.contains("thread"), "{answer}");
    assert!(
        answer["hint"].as_str().unwrap().contains("ulimit"),
        "{answer}"
    );
    checks::succeeded(&owner.call("majordomus_peers", &json!({})));
    processes(&repository, &owner, &user, 4096);
    wait_for("it writes again", BOUND, || {
        announced(&repository, "after").0 == 200
    });
}

#[test]
fn a_process_without_any_thread_to_be_had_says_which_limit_it_met() {
    let repository = Repository::without_git();
    let mut words = held_by_limits(&repository, 65_533);
    words.extend(["prlimit", "--nproc=1", MAJORDOMUS, "mcp"].map(Into::into));
    let ended = hermetic(&words[0], repository.root(), repository.home())
        .args(&words[1..])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("hint: ulimit -u"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

/// Guards I3: the kernel's own answer to a write past `ulimit -f` is a signal that kills.
#[test]
fn a_process_that_may_write_no_byte_to_a_file_is_served() {
    let repository = Repository::new();
    let client = limited(&repository, "-f 0");
    client.initialize();
    let answer = client.call("majordomus_peers", &json!({}));
    checks::succeeded(&answer);
    let reason = checks::degraded(&answer).unwrap_or_default();
    assert!(reason.contains("too large"), "{answer}");
    client.close();
    assert!(client.exit().success());
}

/// Guards I3: with too few files something fails, in one place or another; the reason is always that one.
#[test]
fn a_process_that_may_open_few_files_is_served_and_blames_nobody() {
    for files in 14..30 {
        let repository = Repository::new();
        let client = limited(&repository, &format!("-n {files}"));
        client.initialize();
        let answer = client.call("majordomus_peers", &json!({}));
        checks::succeeded(&answer);
        let said = format!("{answer}\n{}", client.stderr());
        for wrong in ["taken away", "is lost", "was replaced"] {
            assert!(!said.contains(wrong), "{files} files: {said}");
        }
        if let Some(reason) = checks::degraded(&answer) {
            assert!(reason.contains("open"), "{files} files: {answer}");
        }
    }
}

/// Guards I15: whoever comes finds a way in, although others hold connections that they do not use.
#[test]
fn idle_connections_that_hold_every_descriptor_give_way_to_a_newcomer() {
    let repository = Repository::new();
    let owner = limited(&repository, "-n 40");
    owner.attach();
    let url = repository.ready()["url"].as_str().unwrap().to_owned();
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let idle: Vec<_> = (0..60)
        .map(|_| std::net::TcpStream::connect(address).unwrap())
        .collect();
    let newcomer = repository.attached("newcomer");
    checks::one_board(&[&owner, &newcomer]);
    drop(idle);
}

/// Guards I3: the library that watches the state folder panics where it gets no thread, and again when it is put away.
#[test]
fn a_server_that_gets_no_thread_for_its_watch_goes_on() {
    let repository = Repository::without_git();
    // The limit counts all processes of a user, so it takes one who has no others.
    let user = held_by_limits(&repository, 54_321);
    if user.is_empty() {
        println!("a user without other processes can be had by root only");
        return;
    }
    for limit in 4..=7 {
        let mut words: Vec<OsString> = vec!["prlimit".into(), format!("--nproc={limit}:").into()];
        words.extend(user.clone());
        let client = repository
            .launch()
            .name(&format!("limited to {limit}"))
            .wrapped(words)
            .start();
        client.initialize();
        let said = || client.stderr().contains("serving") || client.stderr().contains("alone");
        wait_for("a server, or none", BOUND, said);
        // The state folder is watched when the server says so; a call later it has been tried.
        for _ in 0..20 {
            client.call("conformance_safe", &json!({}));
        }
        client.close();
        assert!(client.exit().success(), "{limit}: {}", client.stderr());
        assert!(!client.stderr().contains("panic"), "{}", client.stderr());
    }
}
