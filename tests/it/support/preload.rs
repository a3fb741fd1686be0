//! Libraries that change what the system tells one process, built with the compiler that builds the executable's SQLite.

use std::fs;
use std::path::PathBuf;

use super::command::{hermetic, succeed};
use super::repository::Repository;

/// Builds a library from C, for `LD_PRELOAD`.
pub(crate) fn library(repository: &Repository, name: &str, text: &str) -> PathBuf {
    let source = repository.outside().join(format!("{name}.c"));
    let library = repository.outside().join(format!("{name}.so"));
    fs::write(&source, text).unwrap();
    succeed(
        hermetic("cc", repository.outside(), repository.home())
            .args(["-shared", "-fPIC", "-o"])
            .args([&library, &source]),
    );
    library
}
