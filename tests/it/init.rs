//! `majordomus init`: what it writes into the files of clients, what it leaves, and the way back.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Repository;
use crate::support::command::{MAJORDOMUS, hermetic};
use crate::support::confine::full_disk;
use crate::support::terminal::Terminal;

const FILES: [&str; 3] = [".mcp.json", ".gemini/settings.json", ".codex/config.toml"];

/// A PATH in which the executable is found by its name.
pub(crate) fn path(repository: &Repository) -> String {
    let folder = repository.outside().join("bin");
    if !folder.exists() {
        fs::create_dir(&folder).unwrap();
        symlink(MAJORDOMUS, folder.join("majordomus")).unwrap();
    }
    format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display())
}

fn command(repository: &Repository, arguments: &[&str]) -> Command {
    let mut command = repository.command(&[&["init"], arguments].concat());
    command.env("PATH", path(repository));
    command
}

pub(crate) fn init(repository: &Repository, arguments: &[&str]) -> Output {
    command(repository, arguments).output().unwrap()
}

#[track_caller]
pub(crate) fn succeeded(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    said
}

/// Every file below the checkout but for `.git` and what is private, with its bytes and its mode.
pub(crate) fn tree(root: &Path) -> BTreeMap<PathBuf, (Vec<u8>, u32)> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let (path, found) = (entry.path(), entry.metadata().unwrap());
            let name = path.strip_prefix(root).unwrap().to_path_buf();
            let ours = name == Path::new(".git") || name == Path::new(".ai");
            if found.is_dir() && !ours {
                folders.push(path);
                files.insert(name, (Vec::new(), 0));
            } else if found.is_file() {
                let mode = found.permissions().mode();
                files.insert(name, (fs::read(&path).unwrap(), mode));
            }
        }
    }
    files
}

pub(crate) fn write(repository: &Repository, path: &str, text: &str) {
    let path = repository.root().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn read(repository: &Repository, path: &str) -> String {
    fs::read_to_string(repository.root().join(path)).unwrap()
}

#[test]
fn the_usual_clients_are_told_and_what_they_are_told_starts_the_server() {
    let main = Repository::new();
    let linked = main.worktree("linked");
    for repository in [&main, &linked, &Repository::without_git()] {
        let before = tree(repository.root());
        let said = succeeded(&init(repository, &["--yes"]));
        assert!(said.contains("3 files written"), "{said}");
        for path in FILES {
            assert!(read(repository, path).contains("majordomus"), "{path}");
        }
        let entry: Value = serde_json::from_str(&read(repository, ".mcp.json")).unwrap();
        let entry = &entry["mcpServers"]["majordomus"];
        let words = entry["args"].as_array().unwrap().iter();
        let line = words.fold(
            entry["command"].as_str().unwrap().to_owned(),
            |line, word| format!("{line} {}", word.as_str().unwrap()),
        );
        let shell = ["sh", "-c", &format!("exec {line}")]
            .map(Into::into)
            .to_vec();
        let launch = repository.launch().name("client").wrapped(shell);
        let client = launch.variable("PATH", path(repository)).start();
        client.attach();
        repository.ready();
        client.tool(
            "majordomus_announce",
            &json!({ "intent": "first", "scope": ["src"] }),
        );
        client.close();
        client.exit();

        let again = succeeded(&init(repository, &["--yes"]));
        assert!(again.contains("nothing to write"), "{again}");
        succeeded(&init(repository, &["--undo", "--yes"]));
        assert_eq!(tree(repository.root()), before);
        let again = succeeded(&init(repository, &["--undo", "--yes"]));
        assert!(again.contains("nothing to write"), "{again}");
    }
}

#[test]
fn what_others_wrote_stays_to_the_byte_and_comes_back_to_the_byte() {
    let repository = Repository::new();
    let others = [
        (
            ".mcp.json",
            "{\n\t\"mcpServers\": {\n\t\t\"other\":   {\"command\": \"x\", \"args\": [1,2,   3]}\n\t}\n}",
        ),
        (
            ".gemini/settings.json",
            "{\r\n  // mine\r\n  \"theme\": \"dark\",\r\n}\r\n",
        ),
        (
            ".codex/config.toml",
            "model = 'x' # best\n[mcp_servers.other]\ncommand = \"y\"",
        ),
        (".zed/settings.json", "{\"a\":1.50}"),
    ];
    for (path, text) in others {
        write(&repository, path, text);
    }
    let secret = repository.root().join(".gemini/settings.json");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o640)).unwrap();
    let before = tree(repository.root());
    succeeded(&init(&repository, &["--yes"]));
    succeeded(&init(
        &repository,
        &["--yes", "--client", "zed", "--client", "cursor"],
    ));
    let after = tree(repository.root());
    for (path, text) in others {
        let now = read(&repository, path);
        assert!(now.contains("majordomus"), "{path}: {now}");
        for line in text.lines() {
            let kept = line.trim_end_matches(['}', ',']);
            assert!(now.contains(kept), "{path} lost {line:?}: {now}");
        }
        let mode = |tree: &BTreeMap<PathBuf, (Vec<u8>, u32)>| tree[Path::new(path)].1;
        assert_eq!(mode(&before), mode(&after), "{path}");
    }
    assert!(after.contains_key(Path::new(".cursor/mcp.json")));
    succeeded(&init(&repository, &["--undo", "--yes"]));
    assert_eq!(tree(repository.root()), before);
}

#[test]
fn the_way_back_takes_the_entry_alone_from_what_was_changed_since() {
    let repository = Repository::new();
    succeeded(&init(
        &repository,
        &["--yes", "--client", "claude", "--client", "gemini"],
    ));
    let text = read(&repository, ".mcp.json");
    let edited = text.replacen("{\n", "{\n  \"since\": true,\n", 1);
    write(&repository, ".mcp.json", &edited);
    // Whoever removes the private folder loses the record, and nothing else.
    fs::remove_dir_all(repository.root().join(".ai")).unwrap();
    succeeded(&init(&repository, &["--undo", "--yes"]));
    let left: Value = serde_json::from_str(&read(&repository, ".mcp.json")).unwrap();
    assert_eq!(left, json!({ "since": true }));
    let left: Value = serde_json::from_str(&read(&repository, ".gemini/settings.json")).unwrap();
    assert_eq!(left, json!({}));
}

#[test]
fn nothing_is_written_unless_somebody_agreed_and_the_executable_is_found() {
    let repository = Repository::new();
    let before = tree(repository.root());
    let shown = init(&repository, &[]);
    assert_eq!(shown.status.code(), Some(1));
    let diff = String::from_utf8_lossy(&shown.stdout);
    assert!(
        diff.contains("+++ .mcp.json") && diff.contains("+[mcp_servers.majordomus]"),
        "{diff}"
    );
    let said = String::from_utf8_lossy(&shown.stderr);
    assert!(said.contains("hint: ") && said.contains("--yes"), "{said}");

    let planned = init(&repository, &["--json", "--all"]);
    succeeded(&planned);
    let plan: Value = serde_json::from_slice(&planned.stdout).unwrap();
    assert_eq!(plan["written"], false);
    assert_eq!(plan["files"].as_array().unwrap().len(), 8, "{plan}");

    let lost = command(&repository, &["--yes"])
        .env("PATH", "/usr/bin")
        .output()
        .unwrap();
    assert_eq!(lost.status.code(), Some(1));
    let said = String::from_utf8_lossy(&lost.stderr);
    assert!(
        said.contains("not in PATH") && said.contains("cargo install"),
        "{said}"
    );
    assert_eq!(tree(repository.root()), before);
    assert!(!repository.root().join(".ai").exists());
}

/// Whatever stands at the path of a client file, it is not harmed, and the other files are written.
#[test]
fn what_cannot_be_merged_is_left_alone_and_named() {
    let repository = Repository::new();
    let outside = repository.outside().join("elsewhere.json");
    fs::write(&outside, "{}").unwrap();
    symlink(&outside, repository.root().join(".mcp.json")).unwrap();
    symlink(repository.outside(), repository.root().join(".gemini")).unwrap();
    write(&repository, ".qwen/settings.json", "{ not json");
    write(&repository, ".vscode/mcp.json", "{\"servers\": []}");
    fs::create_dir_all(repository.root().join("opencode.json")).unwrap();
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(50_000), "]".repeat(50_000));
    write(&repository, ".zed/settings.json", &deep);
    fs::create_dir(repository.root().join(".cursor")).unwrap();
    fs::write(repository.root().join(".cursor/mcp.json"), b"\xff\xfe{}").unwrap();
    let output = init(&repository, &["--yes", "--all"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    for path in [
        ".mcp.json",
        ".gemini/settings.json",
        ".qwen/settings.json",
        ".vscode/mcp.json",
        "opencode.json",
        ".zed/settings.json",
        ".cursor/mcp.json",
    ] {
        assert!(said.contains(&format!("error: {path} ")), "{path}: {said}");
    }
    assert!(
        !said.contains("panicked") && said.contains("hint: "),
        "{said}"
    );
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{}");
    assert_eq!(read(&repository, ".qwen/settings.json"), "{ not json");
    assert_eq!(read(&repository, ".zed/settings.json"), deep);
    assert!(read(&repository, ".codex/config.toml").contains("[mcp_servers.majordomus]"));
    assert!(!repository.outside().join("settings.json").exists());
}

/// What `init` refuses, `doctor` does not send to `init`; and both say why in words that can be understood.
#[test]
fn what_cannot_be_merged_is_named_alike_by_doctor() {
    let begin = "cannot be read: it begins with a byte order mark";
    let lines = "is written in a way that cannot be changed without touching other lines";
    for (text, reason) in [
        ("null", "holds something else than a table"),
        ("[]", "holds something else than a table"),
        ("\u{feff}{\r\n}\r\n", begin),
        (r#"{"mcpServers":{"a":{}},"mcpServers":{"b":{}}}"#, lines),
    ] {
        let repository = Repository::new();
        write(&repository, ".mcp.json", text);
        let output = init(&repository, &["--client", "claude", "--yes"]);
        let said = String::from_utf8_lossy(&output.stderr);
        let expected = format!("error: .mcp.json {reason}, and is left as it is\n");
        assert!(said.contains(&expected), "{text}: {said}");
        assert_eq!(read(&repository, ".mcp.json"), text);
        let output = repository.command(&["doctor"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let hint = "hint: majordomus init --client claude --json\n";
        let named = said.contains(&format!(".mcp.json {reason}\n")) && said.contains(hint);
        assert!(named, "{text}: {said}");
    }
}

/// Nobody finds a full disk by looking at a folder's mode.
#[test]
fn a_full_disk_is_named_by_what_helps() {
    for folder in [".ai", ".codex"] {
        let repository = Repository::new();
        let full = repository.root().join(folder);
        fs::create_dir(&full).unwrap();
        let confinement = full_disk(&full);
        if confinement.how != "full tmpfs" {
            println!("no mounts here: nothing is shown");
            return;
        }
        let mut words = confinement.wrapper.into_iter();
        let output = hermetic(words.next().unwrap(), repository.root(), repository.home())
            .args(words)
            .args([MAJORDOMUS, "init", "--client", "codex", "--yes"])
            .env("PATH", path(&repository))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let cause = "No space left on device (os error 28)\nhint: df -h\n";
        assert!(said.contains(cause), "{folder}: {said}");
    }
}

/// Words of a repository that is not to be trusted do not move the reader's cursor.
#[test]
fn a_diff_shows_escapes_as_something_strange() {
    let repository = Repository::new();
    write(
        &repository,
        ".zed/settings.json",
        "{\n  // \u{1b}[2J gone\n  \"a\": 1\n}\n",
    );
    let shown = init(&repository, &["--client", "zed"]);
    let diff = String::from_utf8_lossy(&shown.stdout);
    assert!(
        diff.contains("gone") && !diff.contains('\u{1b}'),
        "{diff:?}"
    );
}

#[test]
fn this_repositorys_own_files_are_left_to_generate() {
    let repository = Repository::new();
    write(
        &repository,
        "Cargo.toml",
        "[package]\nname = \"majordomus\"\n",
    );
    let output = init(&repository, &["--yes"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("majordomus generate"));
    assert!(!repository.root().join(".mcp.json").exists());
}

/// A client may write to its own file while a person reads the difference.
#[test]
fn what_changed_while_the_question_stood_is_not_overwritten() {
    let repository = Repository::new();
    write(&repository, ".mcp.json", "{}\n");
    let mut terminal = Terminal::open(&repository);
    let path = path(&repository);
    let line = format!("PATH='{path}' majordomus init --client claude; echo ended $?\n");
    terminal.types(line.as_bytes());
    terminal.sees("[y/N]");
    let since = "{ \"mcpServers\": { \"other\": {} } }\n";
    write(&repository, ".mcp.json", since);
    terminal.types(b"y\n");
    terminal.sees("ended 1");
    assert_eq!(read(&repository, ".mcp.json"), since);
    terminal.types(line.as_bytes());
    terminal.sees("[y/N]");
    terminal.types(b"y\n");
    terminal.sees("ended 0");
    let now: Value = serde_json::from_str(&read(&repository, ".mcp.json")).unwrap();
    assert_eq!(now["mcpServers"].as_object().unwrap().len(), 2);
}

#[test]
fn the_way_back_leaves_what_is_somebody_elses_and_remembers_what_it_could_not_take() {
    let repository = Repository::new();
    let outside = repository.outside().join("elsewhere.json");
    fs::write(&outside, "{}").unwrap();
    symlink(&outside, repository.root().join("opencode.json")).unwrap();
    write(&repository, ".zed/settings.json", "{\"a\":1.50,}");
    write(&repository, ".codex/config.toml", "model = 'x'");
    let before = tree(repository.root());
    let clients = ["--yes", "--client", "codex", "--client", "zed"];
    succeeded(&init(&repository, &clients));
    let ours = read(&repository, ".codex/config.toml");
    write(
        &repository,
        ".codex/config.toml",
        &ours.replace("\"mcp\"", "\"other\""),
    );
    let output = init(&repository, &["--undo", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains(".codex/config.toml has another entry"),
        "{said}"
    );
    assert!(!said.contains("opencode.json"), "{said}");
    assert_eq!(read(&repository, ".zed/settings.json"), "{\"a\":1.50,}");
    write(&repository, ".codex/config.toml", &ours);
    succeeded(&init(&repository, &["--undo", "--yes"]));
    assert_eq!(tree(repository.root()), before);
}

/// Whatever is written can be read again to be taken back, and what is a comment stays one.
#[test]
fn a_file_near_the_longest_and_one_of_comments_alone() {
    let repository = Repository::new();
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(1024 * 1024 - 20));
    write(&repository, ".mcp.json", &long);
    write(&repository, ".zed/settings.json", "// nothing yet");
    let output = init(
        &repository,
        &["--yes", "--client", "claude", "--client", "zed"],
    );
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(".mcp.json is longer than"), "{said}");
    assert_eq!(read(&repository, ".mcp.json"), long);
    let now = read(&repository, ".zed/settings.json");
    assert!(now.starts_with("// nothing yet\n{"), "{now}");
    succeeded(&init(&repository, &["--undo", "--yes"]));
    assert_eq!(read(&repository, ".zed/settings.json"), "// nothing yet");
}

/// What stands in a person's home holds for every project, and an `.ai` there would make all of them one checkout.
#[test]
fn a_home_is_no_project() {
    for repository in [Repository::new(), Repository::without_git()] {
        let before = tree(repository.root());
        let output = command(&repository, &["--yes"])
            .env("HOME", repository.root())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("hint: cd PROJECT"), "{said}");
        assert_eq!(tree(repository.root()), before);
        assert!(!repository.state().join("init.json").exists());
    }
}

#[test]
fn several_at_once_know_of_each_other() {
    let repository = Repository::new();
    let others = [
        ("claude", ".mcp.json", "{\"a\":1.50,}"),
        (
            "gemini",
            ".gemini/settings.json",
            "{\"mcpServers\":{ }, \"b\":2 }",
        ),
        ("codex", ".codex/config.toml", "model = 'x'"),
        ("zed", ".zed/settings.json", "// mine\n{}"),
        ("qwen", ".qwen/settings.json", "{\n}"),
    ];
    for (_, path, text) in others {
        write(&repository, path, text);
    }
    let before = tree(repository.root());
    for _ in 0..5 {
        let running: Vec<_> = others
            .iter()
            .flat_map(|(client, ..)| [client, client])
            .map(|client| {
                let mut command = command(&repository, &["--yes", "--client", client]);
                command.stdout(Stdio::null()).spawn().unwrap()
            })
            .collect();
        for mut each in running {
            assert!(each.wait().unwrap().success());
        }
        for (_, path, _) in others {
            assert!(read(&repository, path).contains("majordomus"), "{path}");
        }
        succeeded(&init(&repository, &["--undo", "--yes"]));
        assert_eq!(tree(repository.root()), before);
    }
}

/// A process that is killed leaves files as they were or as they should be, and nothing else.
#[test]
fn init_can_be_killed_at_any_moment() {
    let repository = Repository::new();
    let text = "{\"a\":1.50,}";
    write(&repository, ".mcp.json", text);
    let before = tree(repository.root());
    let usual = ["--yes", "--client", "claude", "--client", "gemini"];
    for turn in 0..40_u32 {
        let mut running = command(&repository, &usual)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Not a wait for anything: some moment of the process's life, another one in each turn.
        let end = Instant::now() + Duration::from_micros(500) * turn;
        while Instant::now() < end && running.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        running.kill().unwrap();
        running.wait().unwrap();
        let now = read(&repository, ".mcp.json");
        assert!(now == text || now.contains("majordomus"), "{now}");
        for (path, _) in tree(repository.root()) {
            let path = path.display().to_string();
            assert!(!path.contains(".new-"), "{path} was left");
        }
        succeeded(&init(&repository, &["--undo", "--yes"]));
        assert_eq!(tree(repository.root()), before, "turn {turn}");
    }
}

#[test]
fn a_folder_that_became_a_checkout_is_none_again_after_the_way_back() {
    let repository = Repository::bare_folder();
    succeeded(&init(&repository, &["--yes"]));
    assert!(repository.root().join(".ai").is_dir());
    let said = succeeded(&init(&repository, &["--undo", "--yes", "--repo", "."]));
    let left: Vec<_> = fs::read_dir(repository.root()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}: {said}");

    // Where a server has been, its files stay, and it is said how they go.
    succeeded(&init(&repository, &["--yes"]));
    let client = repository.attached("client");
    repository.ready();
    client.close();
    client.exit();
    let said = succeeded(&init(&repository, &["--undo", "--yes"]));
    assert!(said.contains("rm -r .ai"), "{said}");
    assert!(repository.root().join(".ai").is_dir());
}
