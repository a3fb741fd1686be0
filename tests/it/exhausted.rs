//! A process that its system gives no more of something: it says what, goes on, and serves its client.

use serde_json::{Value, json};

use crate::support::command::hermetic;
use crate::support::{BOUND, Client, Repository, checks, wait_for};

/// What a call over HTTP came to, for a durable write.
fn announced(repository: &Repository, intent: &str) -> (u16, Value) {
    let body = json!({ "intent": intent, "scope": ["a"], "name": "by hand" });
    let mut reply = repository.http().post("/api/v1/peers/announce", &body);
    (reply.status, reply.json())
}

/// Changes a limit of a process that runs.
fn limit(repository: &Repository, process: &Client, limit: &str) {
    let limited = hermetic("prlimit", repository.root(), repository.home())
        .args(["--pid", &process.pid().to_string(), limit])
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

/// The bytes of address space that a process has.
fn address_space(process: &Client) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kib: u64 = line
        .unwrap()
        .trim()
        .strip_suffix(" kB")
        .unwrap()
        .parse()
        .unwrap();
    kib * 1024
}

/// The stack of a new thread does not fit, and what is small does. The C library keeps stacks of a usual size for the
/// next thread, so these are larger.
#[test]
fn a_server_without_a_thread_to_write_on_says_so_and_writes_again_later() {
    let repository = Repository::new();
    let owner = repository
        .launch()
        .name("owner")
        .variable("RUST_MIN_STACK", (64 << 20).to_string())
        .start();
    owner.attach();
    repository.ready();
    assert_eq!(announced(&repository, "before").0, 200);
    let none = address_space(&owner) + 1024 * 1024;
    limit(&repository, &owner, &format!("--as={none}:unlimited"));
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
    limit(&repository, &owner, "--as=unlimited:unlimited");
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
