//! A process that its system gives no more of something: it says what, goes on, and serves its client.

use std::ffi::OsString;

use serde_json::{Value, json};

use crate::support::command::hermetic;
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
fn held_by_limits(repository: &Repository) -> Vec<OsString> {
    if !crate::support::confine::is_root() {
        return Vec::new();
    }
    for folder in [repository.root(), repository.home(), repository.outside()] {
        let given = hermetic("chown", repository.root(), repository.home())
            .args(["-R", "65534:65534"])
            .arg(folder)
            .status();
        assert!(given.is_ok_and(|status| status.success()));
    }
    let top = repository.root().ancestors().nth(1).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(top, open).unwrap();
    let words = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    words.map(Into::into).to_vec()
}

#[test]
fn a_server_without_a_thread_to_write_on_says_so_and_writes_again_later() {
    // Git minds whose a checkout is.
    let repository = Repository::without_git();
    let user = held_by_limits(&repository);
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
