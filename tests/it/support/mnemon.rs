//! Stores as mnemon makes them, of every era that is found on a disk; and two machines that have them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rusqlite::{Connection, params};
use serde_json::Value;
use tempfile::TempDir;

use super::command::{MAJORDOMUS, hermetic};

/// When the tables had which columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// The oldest public one: eleven columns, any type of edge.
    Base,
    /// Edges may be `narrative`; embeddings are float64.
    Narrative,
    /// Four types of edges, embeddings float64.
    Float64,
    /// Embeddings float32.
    Float32,
    /// Edges may be `supersedes`.
    Supersedes,
    /// A local date of insertion, set by a trigger.
    Stored,
    /// A fork with columns of its own and a unique index.
    Fork,
    /// A column that must be given and has no default.
    Strict,
}

impl Era {
    pub(crate) const ALL: [Self; 8] = [
        Self::Base,
        Self::Narrative,
        Self::Float64,
        Self::Float32,
        Self::Supersedes,
        Self::Stored,
        Self::Fork,
        Self::Strict,
    ];

    fn check(self) -> String {
        let kinds = match self {
            Self::Base => return String::new(),
            Self::Narrative => ",'narrative'",
            Self::Supersedes | Self::Stored | Self::Strict => ",'supersedes'",
            Self::Float64 | Self::Float32 | Self::Fork => "",
        };
        format!(" CHECK(edge_type IN ('temporal','semantic','causal','entity'{kinds}))")
    }

    /// Makes an empty store.
    pub(crate) fn create(self, path: &Path) -> Connection {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let db = Connection::open(path).unwrap();
        let strict = if self == Self::Strict {
            ", origin TEXT NOT NULL"
        } else {
            ""
        };
        let check = self.check();
        db.execute_batch(&format!(
            "PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON;
             CREATE TABLE insights(id TEXT PRIMARY KEY, content TEXT NOT NULL, category TEXT DEFAULT 'general',
               importance INTEGER DEFAULT 3, tags TEXT DEFAULT '[]', entities TEXT DEFAULT '[]',
               source TEXT DEFAULT 'user', access_count INTEGER DEFAULT 0, created_at TEXT NOT NULL,
               updated_at TEXT NOT NULL, deleted_at TEXT{strict});
             CREATE TABLE edges(source_id TEXT NOT NULL, target_id TEXT NOT NULL, edge_type TEXT NOT NULL{check},
               weight REAL DEFAULT 1.0, metadata TEXT DEFAULT '{{}}', created_at TEXT NOT NULL,
               PRIMARY KEY(source_id,target_id,edge_type),
               FOREIGN KEY(source_id) REFERENCES insights(id) ON DELETE CASCADE,
               FOREIGN KEY(target_id) REFERENCES insights(id) ON DELETE CASCADE);
             CREATE TABLE oplog(id INTEGER PRIMARY KEY AUTOINCREMENT, operation TEXT NOT NULL, insight_id TEXT,
               detail TEXT DEFAULT '', created_at TEXT NOT NULL);"
        ))
        .unwrap();
        if self != Self::Base {
            db.execute_batch(
                "ALTER TABLE insights ADD COLUMN last_accessed_at TEXT;
                 ALTER TABLE insights ADD COLUMN embedding BLOB;
                 ALTER TABLE insights ADD COLUMN effective_importance REAL DEFAULT 0.5;",
            )
            .unwrap();
        }
        if !matches!(self, Self::Base | Self::Narrative | Self::Float64) {
            db.execute_batch("PRAGMA user_version=1").unwrap();
        }
        match self {
            Self::Stored => db.execute_batch(
                "ALTER TABLE insights ADD COLUMN stored_at TEXT;
                 CREATE TRIGGER x_stamp_stored AFTER INSERT ON insights WHEN NEW.stored_at IS NULL
                 BEGIN UPDATE insights SET stored_at=strftime('%Y-%m-%dT%H:%M:%SZ','now') WHERE id=NEW.id; END;",
            ),
            Self::Fork => db.execute_batch(
                "ALTER TABLE insights ADD COLUMN owner_principal TEXT NOT NULL DEFAULT 'local';
                 ALTER TABLE insights ADD COLUMN external_ref TEXT;
                 CREATE UNIQUE INDEX idx_ref ON insights(external_ref)
                 WHERE external_ref IS NOT NULL AND external_ref<>'';",
            ),
            _ => Ok(()),
        }
        .unwrap();
        db
    }
}

/// A person's machine: a HOME of its own, and the folder that is carried.
#[derive(Debug)]
pub(crate) struct Machine {
    folder: TempDir,
    carried: Option<PathBuf>,
}

impl Machine {
    /// A machine with a store `default` of this era.
    pub(crate) fn new(era: Era, carried: &Path) -> Self {
        let machine = Self::empty(carried);
        match std::env::var_os("MNEMON_BIN") {
            Some(binary) if era == Era::Supersedes => machine.seed(Path::new(&binary)),
            _ => drop(era.create(&machine.path())),
        }
        machine
    }

    /// Has mnemon itself make the store, which is empty afterwards.
    fn seed(&self, binary: &Path) {
        let mut command = hermetic(binary, self.home(), self.home());
        let seeded = command
            .args(["remember", "what its tables are"])
            .output()
            .unwrap_or_else(|error| panic!("MNEMON_BIN {}: {error}", binary.display()));
        assert!(
            seeded.status.success() && self.path().exists(),
            "MNEMON_BIN makes no store: {}",
            String::from_utf8_lossy(&seeded.stderr)
        );
        self.sql("DELETE FROM edges; DELETE FROM insights; DELETE FROM oplog");
    }

    /// A machine without a store.
    pub(crate) fn empty(carried: &Path) -> Self {
        let folder = TempDir::with_prefix("majordomus-it-").unwrap();
        let carried = Some(carried.to_owned());
        Self { folder, carried }
    }

    /// A machine with a store `default` that no folder leads to, merged through the remote at this address.
    pub(crate) fn by_git(url: &str) -> Self {
        let folder = TempDir::with_prefix("majordomus-it-").unwrap();
        let carried = None;
        let machine = Self { folder, carried };
        drop(Era::Supersedes.create(&machine.path()));
        machine.done(&["enable", "default", "--git", url, "--json"]);
        machine
    }

    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    /// The store's file.
    pub(crate) fn path(&self) -> PathBuf {
        self.home().join(".mnemon/data/default/mnemon.db")
    }

    /// The store, as mnemon opens it.
    pub(crate) fn open(&self) -> Connection {
        let db = Connection::open(self.path()).unwrap();
        db.execute_batch("PRAGMA foreign_keys=ON").unwrap();
        db
    }

    /// Runs statements on the store.
    #[track_caller]
    pub(crate) fn sql(&self, statements: &str) {
        self.open().execute_batch(statements).unwrap();
    }

    /// Adds an insight.
    #[track_caller]
    pub(crate) fn remember(&self, id: &str, content: &str) {
        let now = "2026-06-06T19:00:00Z";
        let insert =
            "INSERT INTO insights(id, content, created_at, updated_at) VALUES(?1,?2,?3,?3)";
        self.open()
            .execute(insert, params![id, content, now])
            .unwrap();
    }

    /// Adds an insight and says so in the log, as mnemon does.
    #[track_caller]
    pub(crate) fn remember_logged(&self, id: &str, content: &str) {
        self.remember(id, content);
        self.log("remember", id);
    }

    /// A line of mnemon's log.
    #[track_caller]
    pub(crate) fn log(&self, operation: &str, id: &str) {
        let insert = "INSERT INTO oplog(operation, insight_id, created_at) VALUES(?,?,'2026-06-06T19:00:00Z')";
        self.open().execute(insert, params![operation, id]).unwrap();
    }

    /// What a command that must fail says.
    #[track_caller]
    pub(crate) fn refused(&self, arguments: &[&str]) -> String {
        let output = self.store(arguments);
        assert!(!output.status.success(), "{arguments:?} does well");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// Adds an edge.
    #[track_caller]
    pub(crate) fn link(&self, source: &str, target: &str, kind: &str, weight: f64) {
        let insert = "INSERT OR REPLACE INTO edges VALUES(?,?,?,?,'{}','2026-06-06T19:00:00Z')";
        self.open()
            .execute(insert, params![source, target, kind, weight])
            .unwrap();
    }

    /// One value, as text; `-` for NULL or no row.
    #[track_caller]
    pub(crate) fn value(&self, query: &str) -> String {
        let query = format!("SELECT coalesce((SELECT CAST(({query}) AS TEXT)), '-')");
        self.open().query_row(&query, [], |row| row.get(0)).unwrap()
    }

    /// `majordomus store`, not started yet.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = hermetic(MAJORDOMUS, self.home(), self.home());
        if let Some(carried) = &self.carried {
            command.env("MNEMON_SYNC_DIR", carried);
        }
        command.arg("store").args(arguments);
        command
    }

    /// Runs `majordomus store`.
    pub(crate) fn store(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output();
        output.expect("the executable starts")
    }

    /// Starts it, and lets it run.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("the executable starts")
    }

    /// The same, with its JSON; the command must do well.
    #[track_caller]
    pub(crate) fn done(&self, arguments: &[&str]) -> Value {
        let output = self.store(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success(),
            "{arguments:?}: {error}{}",
            String::from_utf8_lossy(&output.stdout)
        );
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{arguments:?} prints no JSON: {error}"))
    }

    /// Imports and exports; what is in the way is in the answer.
    #[track_caller]
    pub(crate) fn sync(&self) -> Value {
        let output = self.store(&["sync", "--json"]);
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        answer["stores"][0].clone()
    }
}

/// Two machines whose stores are enabled.
pub(crate) fn pair(one: Era, other: Era) -> (TempDir, Machine, Machine) {
    let carried = TempDir::with_prefix("majordomus-it-").unwrap();
    let machines = [one, other].map(|era| {
        let machine = Machine::new(era, carried.path());
        machine.done(&["enable", "default", "--json"]);
        machine
    });
    let [one, other] = machines;
    (carried, one, other)
}

/// Everybody hears of everybody.
#[track_caller]
pub(crate) fn exchange(one: &Machine, other: &Machine) {
    for machine in [one, other, one, other] {
        machine.sync();
    }
}
