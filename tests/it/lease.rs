//! Election as a client meets it: who owns, who attaches, what the document says.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::wait::holds_for;
use crate::support::{BOUND, Repository, checks, frames, wait_for};

/// Guards I1.
#[test]
fn the_first_client_owns_and_publishes_a_readable_document() {
    let repository = Repository::new();
    let client = repository.attached("first");
    let lease = repository.ready();
    assert_eq!(lease["schema"], "majordomus-mcp-lease/v1");
    assert_eq!(lease["pid"], client.pid());
    let hex = |field: &str, length: usize| {
        let text = lease[field].as_str().unwrap_or_default();
        assert_eq!(text.len(), length, "{field} of {lease}");
        assert!(
            text.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{field} of {lease}"
        );
    };
    hex("instance", 32);
    hex("root_id", 32);
    hex("scope", 16);
    assert!(
        lease["epoch"].as_u64().is_some_and(|epoch| epoch >= 1),
        "{lease}"
    );
    assert!(
        lease["url"]
            .as_str()
            .is_some_and(|url| url.starts_with("http://127.0.0.1:")),
        "{lease}"
    );
    assert!(
        lease["link"]
            .as_str()
            .is_some_and(|link| link.starts_with("127.0.0.1:")),
        "{lease}"
    );
    assert_eq!(lease["version"], env!("CARGO_PKG_VERSION"));
    let started = lease["started_at"].as_str().unwrap_or_default();
    assert!(started.len() >= 20 && started.contains('T'), "{lease}");
}

/// Guards I1.
#[test]
fn a_second_client_attaches_to_the_running_server() {
    let repository = Repository::new();
    let first = repository.attached("first");
    let lease = repository.ready();
    let second = repository.attached("second");
    for client in [&first, &second] {
        let list = client.tool("majordomus_peers", &json!({}));
        assert_eq!(checks::attached(&list), ["first", "second"], "{list}");
    }
    assert_eq!(repository.ready()["instance"], lease["instance"]);
}

/// Guards I15.
#[test]
fn the_document_holds_no_secret_and_the_secret_is_for_its_owner_only() {
    let repository = Repository::new();
    let _client = repository.attached("first");
    repository.ready();
    let token = repository.token().expect("a token");
    assert_eq!(token.len(), 64);
    assert!(token.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(repository.shared().join("token")), 0o600);
    assert_eq!(mode(repository.state().join("server.lock")), 0o600);
    assert_eq!(
        fs::metadata(repository.state().join("server.lock"))
            .unwrap()
            .len(),
        0
    );
    let document = fs::read_to_string(repository.document()).unwrap();
    assert!(!document.contains(&token));
    assert!(!repository.log().contains(&token));
}

/// Guards I13.
#[test]
fn nothing_tracked_is_touched_and_nothing_written_can_be_committed() {
    let repository = Repository::new();
    let index = fs::read(repository.root().join(".git/index")).unwrap();
    let config = fs::read(repository.root().join(".git/config")).unwrap();
    let client = repository.attached("first");
    client.tool(
        "majordomus_announce",
        &json!({ "intent": "try", "scope": ["src/**"] }),
    );
    assert_eq!(
        repository.git(&["status", "--porcelain", "--untracked-files=all"]),
        ""
    );
    assert_eq!(
        fs::read_to_string(repository.root().join(".ai/local/.gitignore"))
            .unwrap()
            .trim(),
        "*"
    );
    client.close();
    client.exit();
    assert_eq!(
        fs::read(repository.root().join(".git/index")).unwrap(),
        index
    );
    assert_eq!(
        fs::read(repository.root().join(".git/config")).unwrap(),
        config
    );
}

/// Guards I2.
#[test]
fn each_owner_counts_the_epoch_on_and_keeps_keys_it_does_not_know() {
    let repository = Repository::new();
    let first = repository.attached("first");
    let lease = repository.ready();
    first.kill();
    let mut edited = lease.clone();
    edited["x-note"] = json!("of a later version");
    fs::write(repository.document(), edited.to_string()).unwrap();
    let second = repository.attached("second");
    let next = repository.ready_when("the second owner's document", |next| {
        next["pid"] == second.pid()
    });
    assert!(
        next["epoch"].as_u64() > lease["epoch"].as_u64(),
        "{lease} then {next}"
    );
    assert_ne!(next["instance"], lease["instance"]);
    assert_eq!(next["x-note"], "of a later version", "{next}");
}

/// Guards I1.
#[test]
fn a_client_started_in_a_subfolder_finds_the_same_server() {
    let repository = Repository::new();
    let folder = repository.root().join("deep/er");
    fs::create_dir_all(&folder).unwrap();
    let first = repository.attached("first");
    let second = repository
        .launch()
        .name("second")
        .directory(&folder)
        .start();
    second.attach();
    let list = first.tool("majordomus_peers", &json!({}));
    assert_eq!(checks::attached(&list), ["first", "second"]);
    assert!(!folder.join(".ai").exists());
}

/// Guards I1.
#[test]
fn git_dir_of_a_hook_does_not_mislead() {
    let repository = Repository::new();
    let other = Repository::new();
    let first = repository.attached("first");
    let second = repository
        .launch()
        .name("second")
        .variable("GIT_DIR", other.root().join(".git"))
        .variable("GIT_WORK_TREE", other.root())
        .start();
    second.attach();
    let list = first.tool("majordomus_peers", &json!({}));
    assert_eq!(checks::attached(&list), ["first", "second"]);
    assert!(!other.document().exists());
}

/// Guards I1.
#[test]
fn a_path_through_a_symlink_is_the_same_checkout() {
    let repository = Repository::new();
    let link = repository.outside().join("link");
    std::os::unix::fs::symlink(repository.root(), &link).unwrap();
    let first = repository.attached("first");
    let second = repository.launch().name("second").directory(&link).start();
    second.attach();
    let list = first.tool("majordomus_peers", &json!({}));
    assert_eq!(checks::attached(&list), ["first", "second"]);
}

/// Guards I1.
#[test]
fn clients_share_a_server_in_a_path_with_spaces_quotes_and_other_scripts() {
    let repository = Repository::named("a \"quoted\" 'path' ünï 日本 $HOME");
    share_and_look(&repository);
}

/// Guards I1.
#[test]
fn clients_share_a_server_in_a_linked_worktree_that_is_not_the_main_one() {
    let repository = Repository::new();
    let worktree = repository.worktree("side");
    let main = repository.attached("main");
    share_and_look(&worktree);
    let list = main.tool("majordomus_peers", &json!({}));
    assert!(
        checks::attached(&list).contains(&"main".to_owned()),
        "{list}"
    );
    assert_ne!(repository.ready()["root_id"], worktree.ready()["root_id"]);
    assert_eq!(
        repository.token(),
        worktree.token(),
        "one token per repository"
    );
}

/// Guards I1.
#[test]
fn clients_share_a_server_where_there_is_no_git() {
    share_and_look(&Repository::without_git());
}

/// Owner, bridge and direct HTTP in one checkout see each other.
fn share_and_look(repository: &Repository) {
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let http = repository.http();
    let _session = http
        .clone()
        .with("Accept", "application/json, text/event-stream")
        .post(
            "/mcp",
            &frames::request(
                &json!(1),
                "initialize",
                &frames::initialize("direct", frames::LEGACY),
            ),
        )
        .expects(200);
    for client in [&owner, &bridge] {
        let list = client.tool("majordomus_peers", &json!({}));
        assert_eq!(
            checks::attached(&list),
            ["bridge", "direct", "owner"],
            "{list}"
        );
    }
    let list = http.get("/api/v1/peers").json();
    assert_eq!(
        checks::attached(&list),
        ["bridge", "direct", "owner"],
        "{list}"
    );
}

/// Guards I3.
#[test]
fn a_folder_that_is_nobodys_checkout_is_served_alone_and_left_as_it_was() {
    let folder = Repository::bare_folder();
    let client = folder.client("lonely");
    client.initialize();
    let list = client.tool("majordomus_peers", &json!({}));
    assert_eq!(checks::attached(&list), ["lonely"], "{list}");
    client.close();
    assert!(client.exit().success());
    assert!(
        folder.fingerprint().is_empty(),
        "{:?}",
        folder.fingerprint().keys()
    );
}

#[test]
fn a_path_that_does_not_exist_is_an_error_and_never_a_fallback() {
    let repository = Repository::new();
    let output = repository.cli(&["--repo", "/nowhere/at/all", "mcp", "--inspect"]);
    assert!(!output.status.success());
    assert!(!repository.root().join(".ai").exists());
    assert!(!output.stderr.is_empty());
}

#[test]
fn a_client_that_only_discovers_never_becomes_the_owner() {
    let repository = Repository::new();
    let probe = repository.client("probe");
    let answer = probe.modern("server/discover", &json!({}));
    assert!(answer["result"]["supportedVersions"].is_array(), "{answer}");
    holds_for("no owner", Duration::from_millis(600), || {
        repository.lease().is_none()
    });
    probe.signal(Signal::SIGTERM);
    probe.exit();
    assert!(repository.lease().is_none());
}

#[test]
fn a_person_who_starts_it_by_hand_sees_where_the_documentation_is() {
    let repository = Repository::new();
    let silent = repository.client("silent");
    let lease = repository.ready_when("a url", |lease| lease["url"].is_string());
    let docs = format!(
        "{}/docs/",
        lease["url"].as_str().unwrap().trim_end_matches('/')
    );
    wait_for("the documentation's url on stderr", BOUND, || {
        silent.stderr().contains(&docs)
    });
    wait_for("the documentation's url in the log", BOUND, || {
        repository.log().contains(&docs)
    });
    assert!(
        silent.inbox().strays().is_empty(),
        "stdout is the protocol's"
    );
}

/// Guards I1.
#[test]
fn a_port_can_be_asked_for() {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let repository = Repository::new();
    let client = repository
        .launch()
        .argument("--port")
        .argument(&port.to_string())
        .start();
    client.initialize();
    let lease: Value = repository.ready_when("a url", |lease| lease["url"].is_string());
    assert!(
        lease["url"].as_str().unwrap().contains(&format!(":{port}")),
        "{lease}"
    );
}
