//! Ways to find notes: ours, a plain full-text table, and counting words.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use majordomus::memory::index::{Index, Question};
use majordomus::memory::library::Library;
use majordomus::memory::note::Note;
use majordomus::memory::place;
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::team::Asked;

/// How many are found at most.
const MOST: usize = 10;
const REF: &str = "refs/majordomus/memory";

/// A way to find notes.
pub(crate) trait Way {
    /// What it is called.
    fn name(&self) -> &'static str;
    /// What it finds, the best first.
    fn find(&mut self, asked: &Asked) -> Vec<Uuid>;
}

/// The index over a repository.
pub(crate) struct Product(Index);

impl Product {
    /// Puts the notes into a repository in this folder, and indexes it.
    pub(crate) fn new(folder: &Path, notes: &[Note]) -> Self {
        let repository = folder.join("memory.git");
        import(folder, &repository, notes);
        let library = Library::open(&repository, gix_hash::Kind::Sha1).unwrap();
        let tip = library.tip(REF).unwrap().unwrap();
        let mut index = Index::at(folder);
        assert_eq!(index.catch_up(&library, tip).unwrap(), notes.len());
        Self(index)
    }
}

impl Product {
    /// The notes that are named to whoever writes this one.
    pub(super) fn twins(&mut self, note: &Note) -> Vec<Uuid> {
        let hits = self.0.twins(note).unwrap();
        hits.iter().map(|hit| hit.id).collect()
    }
}

impl Way for Product {
    fn name(&self) -> &'static str {
        "majordomus"
    }

    fn find(&mut self, asked: &Asked) -> Vec<Uuid> {
        let question = Question {
            text: &asked.text,
            paths: &asked.paths,
            kind: None,
            limit: MOST,
        };
        let hits = self.0.search(&question).unwrap();
        hits.iter().map(|hit| hit.id).collect()
    }
}

/// Puts notes into a bare repository, all in one commit.
fn import(folder: &Path, repository: &Path, notes: &[Note]) {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(arguments)
            .current_dir(folder)
            .env_remove("GIT_DIR")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        git
    };
    let at = repository.to_str().unwrap();
    let made = git(&["init", "-q", "--bare", at]).status().unwrap();
    assert!(made.success());
    let mut child = git(&["-C", at, "fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = std::io::BufWriter::new(child.stdin.take().unwrap());
    writeln!(
        input,
        "commit {REF}\ncommitter A <a@example.org> 1700000000 +0000\ndata 5\nnotes"
    )
    .unwrap();
    for note in notes {
        let path = place::path(note.kind, note.id, &note.title);
        let text = note.render();
        let length = text.len();
        write!(input, "M 100644 inline {path}\ndata {length}\n{text}\n").unwrap();
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// One row a note in a full-text table as it comes: all words, else any of them.
pub(crate) struct Plain(Connection, Vec<Uuid>);

impl Plain {
    pub(crate) fn new(notes: &[Note]) -> Self {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE VIRTUAL TABLE note USING fts5 (title, tags, paths, body, tokenize='unicode61'); BEGIN")
            .unwrap();
        for (row, note) in notes.iter().enumerate() {
            let (tags, paths) = (note.tags.join(" "), note.paths.join(" "));
            connection
                .prepare_cached(
                    "INSERT INTO note (rowid, title, tags, paths, body) VALUES (?1, ?2, ?3, ?4, ?5)",
                )
                .unwrap()
                .execute(params![row, note.title, tags, paths, note.body])
                .unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
        Self(connection, notes.iter().map(|note| note.id).collect())
    }
}

impl Way for Plain {
    fn name(&self) -> &'static str {
        "plain FTS5"
    }

    fn find(&mut self, asked: &Asked) -> Vec<Uuid> {
        let words: Vec<String> = words(asked)
            .iter()
            .map(|word| format!("\"{word}\""))
            .collect();
        for joint in [" AND ", " OR "] {
            let mut query = self
                .0
                .prepare_cached(
                    "SELECT rowid FROM note WHERE note MATCH ?1 ORDER BY bm25(note) LIMIT ?2",
                )
                .unwrap();
            let rows: Vec<usize> = query
                .query_map(params![words.join(joint), MOST], |row| row.get(0))
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            if !rows.is_empty() {
                return rows.into_iter().map(|row| self.1[row]).collect();
            }
        }
        Vec::new()
    }
}

/// Counts the words of a question in each note; the newer one where two have as many.
pub(crate) struct Grep(Vec<(Uuid, String)>);

impl Grep {
    pub(crate) fn new(notes: &[Note]) -> Self {
        let text = |note: &Note| note.render().to_lowercase();
        Self(notes.iter().map(|note| (note.id, text(note))).collect())
    }
}

impl Way for Grep {
    fn name(&self) -> &'static str {
        "grep"
    }

    fn find(&mut self, asked: &Asked) -> Vec<Uuid> {
        let words = words(asked);
        let mut found: Vec<(usize, Uuid)> = self
            .0
            .iter()
            .map(|(id, text)| {
                let here = words.iter().filter(|word| text.contains(word.as_str()));
                (here.count(), *id)
            })
            .filter(|(count, _)| *count > 0)
            .collect();
        found.sort_unstable_by(|one, other| other.cmp(one));
        found.into_iter().take(MOST).map(|(_, id)| id).collect()
    }
}

/// The words of a question, and of its paths: who has nothing better looks for those too.
fn words(asked: &Asked) -> Vec<String> {
    let all = format!("{} {}", asked.text, asked.paths.join(" "));
    all.split(|each: char| !each.is_alphanumeric() && each != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}
