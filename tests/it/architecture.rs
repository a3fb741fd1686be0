//! The rules of `ARCHITECTURE.md` that a compiler does not hold: who may import whom, who may start tasks, what is pure,
//! which invariant has a test, and that the documents say what the code says.
//!
//! The rules are data, at the top of each file here. [`source`] reads Rust well enough for them: it drops comments,
//! keeps string literals apart and finds every `crate::` path. What it cannot see is banned (`super::super`,
//! `crate as`), so that what it sees is complete. Every rule is first tried on planted text.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot read the repository has failed"
)]

mod citations;
mod coverage;
mod documents;
mod errors;
mod imports;
mod purity;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

/// The repository's root.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a file of the repository.
fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The Rust files below a folder of the repository, as (path from the root, text), sorted.
fn rust_files(folder: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path
                    .strip_prefix(root())
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                files.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Fails with one violation a line.
#[track_caller]
fn none_of(violations: &[String]) {
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}
