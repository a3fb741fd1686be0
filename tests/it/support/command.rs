//! Commands with an environment of their own: nothing of the person who runs the tests leaks in.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The executable under test.
pub(crate) const MAJORDOMUS: &str = env!("CARGO_BIN_EXE_majordomus");

/// `program` in `directory`, with only PATH, HOME and git's isolation in its environment.
#[expect(
    clippy::disallowed_methods,
    reason = "the hermetic environment of the tests is made here"
)]
pub(crate) fn hermetic(program: impl AsRef<OsStr>, directory: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(directory)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("TMPDIR", home)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Test")
        .env("GIT_AUTHOR_EMAIL", "test@example.org")
        .env("GIT_COMMITTER_NAME", "Test")
        .env("GIT_COMMITTER_EMAIL", "test@example.org")
        .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
        .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
        .stdin(Stdio::null());
    command
}

/// Runs to the end and panics, with what it printed, unless it succeeds.
#[track_caller]
pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output().expect("the program starts");
    assert!(
        output.status.success(),
        "{command:?} ended with {}\nstdout: {}\nstderr: {}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    output
}
