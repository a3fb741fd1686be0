//! Stores of mnemon between two machines: what is shipped, what is held, what it takes, and what is right afterwards, beside
//! a model of the row-wise merge of whole files.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use tempfile::TempDir;

use crate::Outcome;
use crate::arguments::Arguments;
use crate::figures::{Samples, Unit};
use crate::rowwise;

/// The numbers of an embedding.
const DIMENSIONS: usize = 768;
/// What mnemon's newest tables are.
const TABLES: &str = "PRAGMA journal_mode=WAL; PRAGMA user_version=1;
CREATE TABLE insights(id TEXT PRIMARY KEY, content TEXT NOT NULL, category TEXT DEFAULT 'general',
  importance INTEGER DEFAULT 3, tags TEXT DEFAULT '[]', entities TEXT DEFAULT '[]', source TEXT DEFAULT 'user',
  access_count INTEGER DEFAULT 0, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, deleted_at TEXT,
  last_accessed_at TEXT, embedding BLOB, effective_importance REAL DEFAULT 0.5);
CREATE TABLE edges(source_id TEXT NOT NULL, target_id TEXT NOT NULL, edge_type TEXT NOT NULL,
  weight REAL DEFAULT 1.0, metadata TEXT DEFAULT '{}', created_at TEXT NOT NULL,
  PRIMARY KEY(source_id,target_id,edge_type),
  FOREIGN KEY(source_id) REFERENCES insights(id) ON DELETE CASCADE,
  FOREIGN KEY(target_id) REFERENCES insights(id) ON DELETE CASCADE);
CREATE INDEX idx_edges_target ON edges(target_id);
CREATE TABLE oplog(id INTEGER PRIMARY KEY AUTOINCREMENT, operation TEXT NOT NULL, insight_id TEXT,
  detail TEXT DEFAULT '', created_at TEXT NOT NULL);";
const NOW: &str = "2026-06-06T19:00:00Z";

/// A person's machine.
struct Machine {
    folder: TempDir,
    carried: PathBuf,
    binary: PathBuf,
}

/// What a command took.
struct Took {
    time: Duration,
    /// The most memory that it had, in KiB.
    peak_kib: u64,
}

impl Machine {
    /// A machine with an empty store.
    fn new(arguments: &Arguments, carried: &Path) -> Outcome<Self> {
        let machine = Self::without_store(arguments, carried)?;
        let store = machine.store();
        std::fs::create_dir_all(store.parent().ok_or("a store lies in a folder")?)?;
        Connection::open(&store)?.execute_batch(TABLES)?;
        Ok(machine)
    }

    fn without_store(arguments: &Arguments, carried: &Path) -> Outcome<Self> {
        let machine = Self {
            folder: tempfile::tempdir()?,
            carried: carried.to_owned(),
            binary: arguments.binary.clone(),
        };
        machine.run(&["enable", "default"])?;
        Ok(machine)
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join(".mnemon/data/default/mnemon.db")
    }

    fn snapshot(&self) -> PathBuf {
        self.folder.path().join("snapshot.db")
    }

    fn start(&self, arguments: &[&str]) -> Outcome<Child> {
        let child = Command::new(&self.binary)
            .arg("store")
            .args(arguments)
            .env_clear()
            .env("HOME", self.folder.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("MNEMON_SYNC_DIR", &self.carried)
            .current_dir(self.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(child)
    }

    fn run(&self, arguments: &[&str]) -> Outcome<Took> {
        let begun = Instant::now();
        let mut child = self.start(arguments)?;
        let status = format!("/proc/{}/status", child.id());
        let mut peak_kib = 0;
        loop {
            let told = std::fs::read_to_string(&status).unwrap_or_default();
            let line = told.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            peak_kib = peak_kib.max(kib.unwrap_or(0));
            if let Some(status) = child.try_wait()? {
                if !status.success() {
                    return Err(format!("majordomus store {arguments:?} failed").into());
                }
                let time = begun.elapsed();
                return Ok(Took { time, peak_kib });
            }
            std::thread::park_timeout(Duration::from_micros(500));
        }
    }

    /// The bytes that this machine's folder has, and those of its newest file.
    fn shipped(&self) -> Outcome<(u64, u64)> {
        let (mut all, mut newest) = (0, (None, 0));
        for device in std::fs::read_dir(self.carried.join("default"))? {
            for file in std::fs::read_dir(device?.path())? {
                let found = file?.metadata()?;
                all += found.len();
                newest = newest.max((Some(found.modified()?), found.len()));
            }
        }
        Ok((all, newest.1))
    }
}

/// Random numbers that are the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn embedding(&mut self) -> Vec<u8> {
        let mut number = || {
            #[expect(
                clippy::cast_precision_loss,
                reason = "any number of that size will do"
            )]
            let number = (self.next() >> 40) as f32;
            (number / 16_777_216.0 - 0.5).to_le_bytes()
        };
        (0..DIMENSIONS).flat_map(|_| number()).collect()
    }
}

/// Adds insights of a store, each with an embedding, an edge to the one before it, and a line of the log.
fn fill(store: &Path, ids: std::ops::Range<usize>, seed: u64) -> Outcome<()> {
    let mut random = Random(seed | 1);
    let db = Connection::open(store)?;
    db.execute_batch("BEGIN")?;
    for id in ids {
        db.prepare_cached("INSERT INTO insights(id, content, created_at, updated_at, embedding) VALUES(?1,?2,?3,?3,?4)")?
            .execute(params![name(id), format!("what was learnt about {id}"), NOW, random.embedding()])?;
        db.prepare_cached("INSERT OR IGNORE INTO edges VALUES(?,?,'temporal',1.0,'{}',?)")?
            .execute(params![name(id), name(id.saturating_sub(1)), NOW])?;
        db.prepare_cached(
            "INSERT INTO oplog(operation, insight_id, created_at) VALUES('remember',?,?)",
        )?
        .execute(params![name(id), NOW])?;
    }
    db.execute_batch("COMMIT")?;
    Ok(())
}

fn name(id: usize) -> String {
    format!("00000000-0000-4000-8000-{id:012}")
}

fn row(what: &str, ours: impl Display, model: impl Display, aim: &str) {
    println!("  {what:<52}{ours:>18}{model:>18}   {aim}");
}

fn mib(bytes: u64) -> String {
    format!("{}.{} MiB", bytes >> 20, ((bytes % (1 << 20)) * 10) >> 20)
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

/// Prints each row: ours, the model's, and the aim.
pub(crate) fn measure(arguments: &Arguments) -> Outcome<()> {
    println!("\nstores of {DIMENSIONS}-number embeddings, through a folder");
    row("", "registers", "rows", "aim");
    right(arguments)?;
    shipped(arguments)?;
    quiet(arguments)?;
    refused(arguments)?;
    large(arguments)
}

/// What is right after a merge.
fn right(arguments: &Arguments) -> Outcome<()> {
    let answer = |query: &str, edits: [&str; 2]| -> Outcome<[String; 2]> {
        let carried = tempfile::tempdir()?;
        let ours = [
            Machine::new(arguments, carried.path())?,
            Machine::new(arguments, carried.path())?,
        ];
        let model = [
            Machine::new(arguments, carried.path())?,
            Machine::new(arguments, carried.path())?,
        ];
        for (pair, is_ours) in [(&ours, true), (&model, false)] {
            fill(&pair[0].store(), 0..2, arguments.seed)?;
            exchange(pair, is_ours)?;
            for (machine, edit) in pair.iter().zip(edits) {
                Connection::open(machine.store())?.execute_batch(edit)?;
            }
            exchange(pair, is_ours)?;
        }
        Ok([
            rowwise::value(&ours[0].store(), query)?,
            rowwise::value(&model[0].store(), query)?,
        ])
    };
    let [ours, model] = answer(
        "SELECT count(*) FROM insights WHERE deleted_at IS NOT NULL",
        [
            "UPDATE insights SET deleted_at='2026-06-07T00:00:00Z', updated_at='2026-06-07T00:00:00Z' WHERE id LIKE '%001'",
            "UPDATE insights SET entities='[\"x\"]', updated_at='2026-06-08T00:00:00Z' WHERE id LIKE '%001'",
        ],
    )?;
    row(
        "a forget beside a derived write that has not seen it",
        ours,
        model,
        "1",
    );
    let [ours, model] = answer(
        "SELECT access_count FROM insights WHERE id LIKE '%001'",
        [
            "UPDATE insights SET access_count=access_count+2, updated_at='2026-06-07T00:00:00Z' WHERE id LIKE '%001'",
            "UPDATE insights SET access_count=access_count+1, updated_at='2026-06-07T00:00:00Z' WHERE id LIKE '%001'",
        ],
    )?;
    row("a count of 0, and 2 and 1 more", ours, model, "3");
    let [ours, model] = answer(
        "SELECT count(*) FROM insights",
        [
            "",
            "INSERT INTO insights(id, content, created_at, updated_at) VALUES('new','new','2026-06-07T00:00:00Z','2026-06-07T00:00:00Z');
             PRAGMA foreign_keys=OFF; INSERT INTO edges VALUES('new','nowhere','temporal',1.0,'{}','2026-06-07T00:00:00Z')",
        ],
    )?;
    row(
        "insights beside one edge that dangles, 3 with the new one",
        ours,
        model,
        "3",
    );
    Ok(())
}

fn exchange(pair: &[Machine; 2], is_ours: bool) -> Outcome<()> {
    for _ in 0..2 {
        for (machine, other) in [(&pair[0], &pair[1]), (&pair[1], &pair[0])] {
            if is_ours {
                machine.run(&["sync"])?;
            } else {
                rowwise::export(&other.store(), &other.snapshot())?;
                rowwise::import(&machine.store(), &other.snapshot())?;
            }
        }
    }
    Ok(())
}

/// What one new memory costs on the wire.
fn shipped(arguments: &Arguments) -> Outcome<()> {
    let size = arguments.size(10_000, 20);
    let carried = tempfile::tempdir()?;
    let machine = Machine::new(arguments, carried.path())?;
    fill(&machine.store(), 0..size, arguments.seed)?;
    machine.run(&["export"])?;
    fill(&machine.store(), size..size + 1, arguments.seed ^ 0x5555)?;
    let took = machine.run(&["export"])?;
    let (_, bytes) = machine.shipped()?;
    let begun = Instant::now();
    rowwise::export(&machine.store(), &machine.snapshot())?;
    let model = begun.elapsed();
    let whole = machine.snapshot().metadata()?.len();
    row(
        &format!("bytes for one new insight among {size}"),
        bytes,
        whole,
        "8192",
    );
    row("  its export", millis(took.time), millis(model), "");
    Ok(())
}

/// What it costs to find that nothing changed, and for how long an import of nothing new holds the lock.
fn quiet(arguments: &Arguments) -> Outcome<()> {
    let size = arguments.size(40_000, 20);
    let carried = tempfile::tempdir()?;
    let machine = Machine::new(arguments, carried.path())?;
    fill(&machine.store(), 0..size, arguments.seed)?;
    machine.run(&["sync"])?;
    // The file is left alone for as long as it takes to prove that it is.
    std::thread::park_timeout(Duration::from_millis(2_500));
    machine.run(&["sync"])?;
    let mut samples = Samples::default();
    for _ in 0..arguments.rounds {
        samples.add_round(vec![machine.run(&["export"])?.time]);
    }
    let touched = Instant::now();
    let store = std::fs::File::options()
        .append(true)
        .open(machine.store())?;
    store.set_modified(std::time::SystemTime::now())?;
    rowwise::export(&machine.store(), &machine.snapshot())?;
    let model = touched.elapsed();
    let lock = rowwise::import(&machine.store(), &machine.snapshot())?;
    row(
        &format!("nothing changed among {size}: an export, p50 and p99 in ms"),
        samples.line(Unit::Millis).trim(),
        millis(model),
        "30",
    );
    let before = std::fs::read(machine.store())?;
    machine.run(&["sync"])?;
    let same = before == std::fs::read(machine.store())?;
    row(
        "  nothing new: the lock is held",
        if same { "0" } else { "written" },
        millis(lock),
        "0",
    );
    Ok(())
}

/// How often a writer that does not wait is refused while an import runs.
fn refused(arguments: &Arguments) -> Outcome<()> {
    let size = arguments.size(5_000, 20);
    let carried = tempfile::tempdir()?;
    let pair = [
        Machine::new(arguments, carried.path())?,
        Machine::new(arguments, carried.path())?,
    ];
    fill(&pair[0].store(), 0..size, arguments.seed)?;
    pair[0].run(&["sync"])?;
    let mut shares = [0.0; 2];
    let mut told = [(0, 0); 2];
    for (which, is_ours) in [(0, true), (1, false)] {
        let target = if is_ours {
            &pair[1]
        } else {
            &Machine::new(arguments, carried.path())?
        };
        let writer = Connection::open(target.store())?;
        writer.busy_timeout(Duration::ZERO)?;
        writer.execute(
            "INSERT INTO insights(id, content, created_at, updated_at) VALUES('own','own',?1,?1)",
            [NOW],
        )?;
        rowwise::export(&pair[0].store(), &pair[0].snapshot())?;
        let write = |told: &mut (u32, u32)| {
            told.0 += 1;
            let done = writer.execute(
                "UPDATE insights SET access_count=access_count+1 WHERE id='own'",
                [],
            );
            told.1 += u32::from(done.is_err());
            std::thread::park_timeout(Duration::from_millis(1));
        };
        if is_ours {
            let mut child = target.start(&["import"])?;
            while child.try_wait()?.is_none() {
                write(&mut told[which]);
            }
        } else {
            let (store, snapshot) = (target.store(), pair[0].snapshot());
            let import = std::thread::spawn(move || rowwise::import(&store, &snapshot).map(drop));
            while !import.is_finished() {
                write(&mut told[which]);
            }
        }
        let (all, refused) = told[which];
        shares[which] = f64::from(refused) * 100.0 / f64::from(all.max(1));
    }
    let [ours, model] = [0, 1].map(|which| format!("{:.1} % of {}", shares[which], told[which].0));
    row(
        &format!("writes refused during an import of {size}"),
        ours,
        model,
        "under 5 %",
    );
    Ok(())
}

/// What the largest store takes.
fn large(arguments: &Arguments) -> Outcome<()> {
    let size = arguments.size(100_000, 20);
    let carried = tempfile::tempdir()?;
    let pair = [
        Machine::new(arguments, carried.path())?,
        Machine::without_store(arguments, carried.path())?,
    ];
    fill(&pair[0].store(), 0..size, arguments.seed)?;
    let first = pair[0].run(&["export"])?;
    let (bytes, _) = pair[0].shipped()?;
    let second = pair[1].run(&["import"])?;
    println!("\n{size} insights   time, most memory (aim 300 MiB)");
    for (what, took) in [("first export", &first), ("first import", &second)] {
        println!(
            "  {what:<34}{:>10} {:>12}",
            seconds(took.time),
            mib(took.peak_kib << 10)
        );
    }
    println!("  {:<34}{:>10}", "the folder then has", mib(bytes));
    Ok(())
}
