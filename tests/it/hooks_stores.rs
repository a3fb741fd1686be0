//! `majordomus hooks install stores`: what it puts into a person's own files, the way back, and what the hooks do and say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::init::{path, succeeded};
use super::support::Repository;
use super::support::command::{hermetic, succeed};
use super::support::mnemon::{Era, Machine, pair};

const FOREIGN: &str = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n    ]\n  }\n}\n";

/// A person's home, and somebody else's hooks in it.
struct Person {
    repository: Repository,
    carried: TempDir,
}

impl Person {
    fn new() -> Self {
        let person = Self {
            repository: Repository::new(),
            carried: TempDir::with_prefix("majordomus-it-").unwrap(),
        };
        person.write(".claude/settings.json", FOREIGN);
        person
    }

    fn file(&self, name: &str) -> PathBuf {
        self.repository.home().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.file(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }

    /// A command of ours, nowhere near a checkout.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.repository.command(arguments);
        command
            .current_dir(self.repository.outside())
            .env("PATH", path(&self.repository))
            .env("MNEMON_SYNC_DIR", self.carried.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn enable(&self) {
        let store = self.file(".mnemon/data/default/mnemon.db");
        drop(Era::Supersedes.create(&store));
        succeed(&mut self.command(&["store", "enable", "default"]));
    }

    fn store(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.file(".mnemon/data/default/mnemon.db")).unwrap()
    }

    /// Runs every command of ours under an event, as the client does: it ends well, and says nothing on standard error.
    #[track_caller]
    fn at(&self, event: &str, name: &str) -> String {
        let lines = commands(&self.read(name), event);
        let ours = lines.iter().filter(|line| line.contains("majordomus"));
        let said = ours.map(|line| {
            let mut shell = hermetic("sh", self.repository.root(), self.repository.home());
            let output = shell
                .args(["-c", line])
                .env("PATH", path(&self.repository))
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            assert!(output.stderr.is_empty(), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        });
        let said: Vec<String> = said.collect();
        assert_eq!(said.len(), 1, "{event}: {lines:?}");
        said.concat()
    }
}

fn commands(text: &str, event: &str) -> Vec<String> {
    let whole: Value = serde_json::from_str(text).unwrap();
    let groups = whole["hooks"][event].as_array().cloned();
    let groups = groups.unwrap_or_default();
    let hooks = groups
        .iter()
        .flat_map(|group| group["hooks"].as_array().unwrap());
    hooks
        .map(|hook| hook["command"].as_str().unwrap().to_owned())
        .collect()
}

const CLAUDE: &str = ".claude/settings.json";
const CODEX: &str = ".codex/hooks.json";

#[test]
fn hooks_of_stores_stand_once_beside_others_and_go_to_the_byte() {
    let person = Person::new();
    let both = ["--yes", "--client", "claude", "--client", "codex"];
    let install = |first: &[&str]| succeeded(&person.run(&[first, &both].concat()));
    let said = install(&["hooks", "install", "stores"]);
    assert!(
        said.contains("2 files written") && said.contains("/hooks"),
        "{said}"
    );
    for name in [CLAUDE, CODEX] {
        let text = person.read(name);
        for (event, way) in [
            ("SessionStart", "import"),
            ("Stop", "export"),
            ("SubagentStop", "export"),
        ] {
            let found = commands(&text, event);
            let ours: Vec<_> = found
                .iter()
                .filter(|line| line.contains(&format!("store {way}")))
                .collect();
            assert_eq!(ours.len(), 1, "{name}: {found:?}");
        }
    }
    assert!(person.read(CLAUDE).contains("say done"));
    let installed = person.read(CLAUDE);
    // The other name of it does the same, so there is nothing left to do.
    let again = install(&["store", "install-hooks"]);
    assert!(again.contains("nothing to write"), "{again}");
    let listed = person
        .repository
        .command(&["hooks", "--json"])
        .output()
        .unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let states = listed["hooks"].as_array().unwrap().iter();
    let states: Vec<_> = states
        .filter(|hook| hook["part"] == "stores")
        .map(|hook| hook["state"].clone())
        .collect();
    assert_eq!(states, ["installed", "installed"]);

    succeeded(&person.run(&["store", "uninstall-hooks", "--yes"]));
    assert_eq!(person.read(CLAUDE), FOREIGN);
    assert!(!person.file(".codex").exists());
    let again = succeeded(&person.run(&["hooks", "uninstall", "stores", "--yes"]));
    assert!(again.contains("nothing to write"), "{again}");

    // What was changed since stays changed, and a file that is nobody's JSON is left as it is.
    person.write(CLAUDE, &installed.replace("opus", "sonnet"));
    succeeded(&person.run(&["hooks", "uninstall", "stores", "--yes"]));
    assert_eq!(person.read(CLAUDE), FOREIGN.replace("opus", "sonnet"));
    person.write(CLAUDE, "{ \"hooks\": ");
    let refused = person.run(&["hooks", "install", "stores", "--yes", "--client", "claude"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("hint: "));
    assert_eq!(person.read(CLAUDE), "{ \"hooks\": ");
    // Nobody agreed: nothing is written. And the settings may lie elsewhere.
    let elsewhere = person.file("elsewhere.json");
    let mut asked = person.command(&["hooks", "install", "stores", "--client", "claude"]);
    let asked = asked.env("CLAUDE_SETTINGS", &elsewhere).output().unwrap();
    assert_eq!(asked.status.code(), Some(1));
    assert!(!elsewhere.exists());
    let mut install =
        person.command(&["hooks", "install", "stores", "--yes", "--client", "claude"]);
    succeed(install.env("CLAUDE_SETTINGS", &elsewhere));
    assert!(
        fs::read_to_string(&elsewhere)
            .unwrap()
            .contains("store export")
    );
}

#[test]
fn what_stands_in_the_files_imports_and_exports_without_a_word() {
    let person = Person::new();
    succeeded(&person.run(&["hooks", "install", "stores", "--yes", "--client", "claude"]));
    // Nobody enabled anything: nothing happens.
    assert_eq!(person.at("SessionStart", CLAUDE), "");
    assert_eq!(person.at("Stop", CLAUDE), "");
    person.enable();
    let other = Machine::new(Era::Supersedes, person.carried.path());
    other.done(&["enable", "default", "--json"]);
    other.remember("x", "from elsewhere");
    other.sync();
    assert_eq!(person.at("SessionStart", CLAUDE), "");
    let content = "SELECT content FROM insights";
    let found: String = person
        .store()
        .query_row(content, [], |row| row.get(0))
        .unwrap();
    assert_eq!(found, "from elsewhere");
    let add = "INSERT INTO insights(id, content, created_at, updated_at) VALUES('y','y','2026-06-06T19:00:00Z','2026-06-06T19:00:00Z')";
    person.store().execute(add, []).unwrap();
    assert_eq!(person.at("SubagentStop", CLAUDE), "");
    other.sync();
    assert_eq!(other.value("SELECT count(*) FROM insights"), "2");
}

#[test]
fn gap_39_trouble_is_one_line_at_the_next_start() {
    let person = Person::new();
    succeeded(&person.run(&["hooks", "install", "stores", "--yes", "--client", "claude"]));
    person.enable();
    let live = person.file(".mnemon/data/default/mnemon.db");
    let aside = live.with_extension("aside");
    fs::rename(&live, &aside).unwrap();
    fs::write(
        &live,
        "no database at all, but a text of some length that is none",
    )
    .unwrap();
    assert_eq!(person.at("Stop", CLAUDE), "", "a turn's end is silent");
    let said = person.at("SessionStart", CLAUDE);
    assert_eq!(said.lines().count(), 1, "{said}");
    let line: Value = serde_json::from_str(&said).unwrap();
    let message = line["systemMessage"].as_str().unwrap();
    assert!(
        message.contains("default") && message.contains("store status"),
        "{message}"
    );
    let troubles = |arguments: &[&str]| {
        let mut command = person.repository.command(arguments);
        let output = command
            .env("PATH", path(&person.repository))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(
        troubles(&["doctor"])
            .contains("the last import and the last export of the store default was in trouble")
    );
    assert!(troubles(&["status"]).contains("was in trouble: majordomus store status"));
    let status = troubles(&["store", "status"]);
    assert!(status.contains("the last export: "), "{status}");

    // It is said until it is over.
    fs::remove_file(&live).unwrap();
    fs::rename(&aside, &live).unwrap();
    assert_eq!(person.at("Stop", CLAUDE), "");
    assert_eq!(person.at("SessionStart", CLAUDE), "");
    let status = troubles(&["store", "status", "--json"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(
        status["stores"][0]["last"]["export"]["troubles"],
        json!([]),
        "{status}"
    );
    assert!(troubles(&["doctor"]).contains("the store default is merged"));
}

/// Who holds the store for longer than a hook has is not waited for.
#[test]
fn a_hook_ends_in_time_and_leaves_a_store_that_is_in_use() {
    let person = Person::new();
    person.enable();
    let shadows = person.file(".local/state/majordomus/stores");
    let shadow = fs::read_dir(shadows)
        .unwrap()
        .flatten()
        .next()
        .unwrap()
        .path();
    let lock = fs::File::create(shadow.join("default/lock")).unwrap();
    lock.lock().unwrap();
    let done = person.run(&["store", "import", "--hook", "5"]);
    assert!(done.status.success() && done.stdout.is_empty(), "{done:?}");
    assert!(!Path::new(&shadow.join("default/import.json")).exists());
}

/// `sync` is both at once, for whoever writes a hook of their own.
#[test]
fn a_hook_of_ones_own_syncs_without_a_word() {
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    a.remember("x", "x");
    for machine in [&a, &b] {
        let output = machine.store(&["sync", "--hook", "20"]);
        assert!(output.status.success());
        assert_eq!([output.stdout, output.stderr].concat(), b"");
    }
    assert_eq!(b.value("SELECT content FROM insights"), "x");
}
