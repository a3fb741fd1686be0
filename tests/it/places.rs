//! Odd places for a checkout: submodules, bare repositories, deep folders, file systems laid over others.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::support::command::hermetic;
use crate::support::{BOUND, Client, Repository, checks, preload, wait_for};

/// Two clients in one place share a server, and git sees nothing of it.
fn shared(repository: &Repository) -> (Client, Client) {
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    checks::one_board(&[&owner, &bridge]);
    (owner, bridge)
}

#[test]
fn a_submodule_is_a_checkout_of_its_own() {
    let outer = Repository::new();
    let inner = Repository::new();
    let from = inner.root().to_str().unwrap();
    outer.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        from,
        "part",
    ]);
    outer.git(&["commit", "-q", "-m", "with a part"]);
    let part = outer.at(outer.root().join("part"));
    let outside = outer.attached("outside");
    let inside = shared(&part);
    checks::one_board(&[&outside]);
    assert_ne!(outer.ready()["root_id"], part.ready()["root_id"]);
    assert_eq!(outer.git(&["status", "--porcelain"]), "");
    assert_eq!(part.git(&["status", "--porcelain"]), "");
    // Its git folder is the outer one's `.git/modules/part`.
    assert!(
        outer
            .root()
            .join(".git/modules/part/majordomus/token")
            .exists()
    );
    drop(inside);
}

#[test]
fn worktrees_of_a_bare_repository_share_one_token() {
    let origin = Repository::new();
    let bare = origin.outside().join("bare.git");
    origin.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let tree = |branch: &str| {
        let root = origin.outside().join(branch);
        let git = [
            "--git-dir",
            bare.to_str().unwrap(),
            "worktree",
            "add",
            "-q",
            "-b",
            branch,
        ];
        origin.git(&[&git[..], &[root.to_str().unwrap()]].concat());
        origin.at(root)
    };
    let (one, two) = (tree("one"), tree("two"));
    let here = shared(&one);
    let there = shared(&two);
    let token = fs::read(bare.join("majordomus/token")).unwrap();
    assert_eq!(token.len(), 65);
    assert!(!one.root().join(".ai/local/state/token").exists());
    drop((here, there));
    // The bare repository itself is nobody's checkout.
    let output = origin.cli_in(&bare, &["status"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(1) && said.contains("hint: "),
        "{said}"
    );
}

#[test]
fn among_a_hundred_worktrees_each_has_its_own_server() {
    let repository = Repository::new();
    let trees: Vec<Repository> = (0..118)
        .map(|n| repository.worktree(&format!("w{n}")))
        .collect();
    let first = shared(&trees[0]);
    let last = shared(&trees[117]);
    let main = shared(&repository);
    assert_eq!(trees[0].token(), trees[117].token());
    drop((first, last, main));
}

#[test]
fn a_path_as_long_as_the_system_takes_is_a_path() {
    let base = Repository::bare_folder();
    let mut root = base.root().to_path_buf();
    // Room for our own names below it, and for git's.
    while root.as_os_str().len() < 3_600 {
        root.push("d".repeat(200));
    }
    fs::create_dir_all(root.join(".ai")).unwrap();
    drop(shared(&base.at(root)));
}

#[test]
fn a_client_that_passes_no_environment_on_is_served() {
    let repository = Repository::new();
    let bare = ["env", "-i"].map(Into::into).to_vec();
    let one = repository.launch().name("one").wrapped(bare).start();
    one.attach();
    let two = repository.attached("two");
    checks::one_board(&[&one, &two]);
}

/// A mount namespace that lives as long as this.
struct Mounts {
    holder: Child,
}

impl Mounts {
    /// Runs `script` in a new namespace; `None` where the system gives none.
    fn new(repository: &Repository, script: &str, words: &[&Path]) -> Option<Self> {
        let user = if crate::support::confine::is_root() {
            "-m"
        } else {
            "-rm"
        };
        let ready = repository.outside().join("mounted");
        let script = format!("{script} && touch '{}' && exec cat", ready.display());
        let mut holder = hermetic("unshare", repository.outside(), repository.home())
            .args([user, "--propagation", "private", "sh", "-c", &script, "sh"])
            .args(words)
            .stdin(Stdio::piped())
            .spawn()
            .ok()?;
        let mut ended = false;
        wait_for("the mounts", BOUND, || {
            ended = holder.try_wait().is_ok_and(|status| status.is_some());
            ended || ready.exists()
        });
        if ended {
            eprintln!("no mounts here: nothing is shown");
            return None;
        }
        Some(Self { holder })
    }

    /// Words that start a program inside.
    fn enter(&self) -> Vec<OsString> {
        let pid = self.holder.id().to_string();
        let user: &[&str] = if crate::support::confine::is_root() {
            &[]
        } else {
            &["-U", "--preserve-credentials"]
        };
        [&["nsenter", "-t", &pid], user, &["-m"]]
            .concat()
            .iter()
            .map(OsString::from)
            .collect()
    }
}

impl Drop for Mounts {
    fn drop(&mut self) {
        drop(self.holder.kill());
        drop(self.holder.wait());
    }
}

/// Starts a client of a checkout that only the namespace sees.
fn inside(mounts: &Mounts, repository: &Repository, root: &Path, name: &str) -> Client {
    let mut words = mounts.enter();
    // The harness looks into the folder from outside, so the folder is entered by a shell in there.
    let script = r#"cd "$0" && exec "$@""#;
    words.extend(["sh".into(), "-c".into(), script.into(), root.into()]);
    let launch = repository
        .launch()
        .name(name)
        .directory(repository.outside());
    launch.wrapped(words).start()
}

#[test]
fn a_checkout_in_a_container_image_is_one() {
    let repository = Repository::new();
    let at = |name: &str| -> PathBuf {
        let path = repository.outside().join(name);
        fs::create_dir(&path).unwrap();
        path
    };
    let (upper, merged) = (at("upper"), at("merged"));
    // The upper layer stands on a file system of its own: one overlay cannot stand on another.
    let script = r#"mount -t tmpfs none "$2" && mkdir "$2/upper" "$2/work" && mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$3""#;
    let words = [repository.root(), upper.as_path(), merged.as_path()];
    let Some(mounts) = Mounts::new(&repository, script, &words) else {
        return;
    };
    let one = inside(&mounts, &repository, &merged, "one");
    one.attach();
    let two = inside(&mounts, &repository, &merged, "two");
    two.attach();
    checks::one_board(&[&one, &two]);
    assert!(
        !repository.root().join(".ai").exists(),
        "the lower layer is as it was"
    );
    one.kill();
    checks::one_board(&[&two]);
}

#[test]
fn a_checkout_that_is_mounted_twice_never_has_two_owners() {
    let repository = Repository::new();
    let second = repository.outside().join("second");
    fs::create_dir(&second).unwrap();
    let words = [repository.root(), second.as_path()];
    let Some(mounts) = Mounts::new(&repository, r#"mount --bind "$1" "$2""#, &words) else {
        return;
    };
    let one = repository.attached("one");
    let two = inside(&mounts, &repository, &second, "two");
    two.initialize();
    let call = json!({ "intent": "x", "scope": ["src"] });
    let answer = two.call("majordomus_announce", &call);
    // By the other path it is another checkout, whose lock somebody holds: it is served alone, and told so.
    let reason = checks::degraded(&answer).unwrap_or_default().to_owned();
    assert!(reason.contains("holds this checkout"), "{answer}");
    let list: Value = one.tool("majordomus_peers", &json!({}));
    assert_eq!(checks::attached(&list), ["one"], "{list}");
    one.close();
    one.exit();
    checks::one_board(&[&two]);
}

/// Guards I1, I3: no locks at all, and locks that everybody is given.
#[cfg(target_os = "linux")]
#[test]
fn where_file_locks_do_not_work_clients_share_a_server_all_the_same() {
    for body in ["errno = ENOLCK; return -1;", "return 0;"] {
        let repository = Repository::new();
        let text = format!("#include <errno.h>\nint flock(int file, int how) {{ {body} }}\n");
        let library = preload::library(&repository, "locks", &text);
        let start = |n: usize| {
            let launch = repository.launch().name(&format!("c{n}"));
            launch.variable("LD_PRELOAD", &library).start()
        };
        // At once, so that they race.
        let mut clients: Vec<Client> = (0..6).map(start).collect();
        for client in &clients {
            client.initialize();
        }
        for round in 0..3 {
            let all: Vec<&Client> = clients.iter().collect();
            checks::one_board(&all);
            let pid = repository.ready_when("an owner among the clients", |lease| {
                clients.iter().any(|client| lease["pid"] == client.pid())
            });
            if round == 1 {
                // Nothing of the lock lies in the folder; its document tells the owner.
                drop(fs::remove_dir_all(repository.root().join(".ai/local")));
                continue;
            }
            let owner = clients.iter().position(|client| pid["pid"] == client.pid());
            clients.swap_remove(owner.unwrap()).kill();
        }
        let all: Vec<&Client> = clients.iter().collect();
        checks::one_board(&all);
        let log = repository.log();
        assert!(log.contains("file locks exclude nobody"), "{log}");

        let mut doctor = repository.command(&["doctor", "--json"]);
        let output = doctor.env("LD_PRELOAD", &library).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap();
        let lock = findings
            .iter()
            .find(|finding| finding["check"] == "lock")
            .unwrap();
        assert_eq!(lock["verdict"], "note", "{lock}");
        let client = findings
            .iter()
            .find(|finding| finding["check"] == "client")
            .unwrap();
        assert_eq!(client["verdict"], "ok", "{client}");
    }
}
