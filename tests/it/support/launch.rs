//! A plan to start `majordomus`: arguments, folder, a wrapper around it, and what stdin and stdout are.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;

use super::client::Client;
use super::command::{MAJORDOMUS, hermetic};
use super::repository::Repository;

/// Milliseconds of jitter between any two system calls of an election, set once for the whole run.
///
/// It needs the feature `failpoints`; without it the variable below means nothing to the executable.
pub(crate) static JITTER: OnceLock<u64> = OnceLock::new();

/// What a client gives as stdin and stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Streams {
    /// Two pipes.
    Pipes,
    /// One socket pair, as node gives.
    Sockets,
    /// Two pipes, of which the client does not read its own.
    Unread,
}

/// A plan to start one process.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    repository: &'a Repository,
    directory: PathBuf,
    executable: PathBuf,
    name: String,
    wrapper: Vec<OsString>,
    arguments: Vec<OsString>,
    environment: Vec<(String, OsString)>,
    stdio: Streams,
}

impl<'a> Launch<'a> {
    pub(super) fn new(repository: &'a Repository) -> Self {
        Self {
            repository,
            directory: repository.root().to_owned(),
            executable: MAJORDOMUS.into(),
            name: "client".to_owned(),
            wrapper: Vec::new(),
            arguments: vec!["mcp".into(), "--conformance".into()],
            environment: Vec::new(),
            stdio: Streams::Pipes,
        }
    }

    /// The name the client gives itself.
    pub(crate) fn name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// All arguments, in place of `mcp --conformance`.
    pub(crate) fn arguments(mut self, arguments: &[&str]) -> Self {
        self.arguments = arguments.iter().map(OsString::from).collect();
        self
    }

    /// One more argument.
    pub(crate) fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Where it starts.
    pub(crate) fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = directory.into();
        self
    }

    /// One more environment variable.
    pub(crate) fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Another executable than the one under test.
    pub(crate) fn executable(mut self, executable: &Path) -> Self {
        executable.clone_into(&mut self.executable);
        self
    }

    /// Words before the executable; the last of them must `exec` what follows.
    pub(crate) fn wrapped(mut self, wrapper: Vec<OsString>) -> Self {
        self.wrapper = wrapper;
        self
    }

    /// What stdin and stdout are.
    pub(crate) fn stdio(mut self, stdio: Streams) -> Self {
        self.stdio = stdio;
        self
    }

    /// Starts it.
    pub(crate) fn start(self) -> Client {
        let mut words = self.wrapper;
        words.push(self.executable.into());
        words.extend(self.arguments);
        let mut command = hermetic(&words[0], &self.directory, self.repository.home());
        command.args(&words[1..]).stderr(Stdio::piped());
        if let Some(milliseconds) = JITTER.get() {
            command.env(
                "MAJORDOMUS_FAILPOINT",
                format!("lease::*=jitter:{milliseconds}"),
            );
        }
        for (name, value) in self.environment {
            command.env(name, value);
        }
        match self.stdio {
            Streams::Pipes | Streams::Unread => {
                command.stdin(Stdio::piped()).stdout(Stdio::piped());
                let mut child = command.spawn().expect("the executable starts");
                let input = child.stdin.take().expect("piped");
                let output = child.stdout.take().expect("piped");
                if self.stdio == Streams::Unread {
                    return Client::deaf(self.name, child, Box::new(input), Box::new(output));
                }
                Client::new(self.name, child, Box::new(input), output)
            }
            Streams::Sockets => {
                let (ours, theirs) = UnixStream::pair().expect("a socket pair");
                let twin = theirs.try_clone().expect("a second descriptor");
                command
                    .stdin(Stdio::from(OwnedFd::from(theirs)))
                    .stdout(Stdio::from(OwnedFd::from(twin)));
                let child = command.spawn().expect("the executable starts");
                drop(command);
                let output = ours.try_clone().expect("a second descriptor");
                Client::new(self.name, child, Box::new(Half(ours)), output)
            }
        }
    }
}

/// Closing the input half of a socket pair must reach the other side although the output half stays open.
struct Half(UnixStream);

impl std::io::Write for Half {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        drop(self.0.shutdown(std::net::Shutdown::Write));
    }
}
