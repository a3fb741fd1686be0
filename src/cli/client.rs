//! An MCP client of our own: it starts `majordomus mcp` as a coding agent does, and speaks to it over two pipes.
//!
//! For the commands that show or test the real path. One request at a time, each with a bound; the process dies with its
//! client.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::timeout;

use crate::cli::settings;
use crate::mcp::Revision;

/// How long one answer may take; a server that is well gives it in milliseconds.
const ANSWER: Duration = Duration::from_secs(10);
/// How long a server may take to end after its client's end of input.
const END: Duration = Duration::from_secs(5);
/// How much of what a server said on standard error is kept.
const SAID: u64 = 16 * 1024;

/// One client and its server process.
#[derive(Debug)]
pub struct Client {
    process: Process,
    stdin: Sender,
    lines: Lines<BufReader<Receiver>>,
    last_id: u64,
}

/// A child that dies with its handle. Its pipes are read on the runtime; tokio's own children would cost every runtime of
/// this executable a descriptor.
#[derive(Debug)]
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended already is just waited for.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Why a client got no answer. Displays as the rest of a sentence that begins with the server.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The process cannot be started.
    #[error("cannot be started: {0}")]
    Start(#[source] io::Error),
    /// A pipe broke.
    #[error("cannot be spoken to: {0}")]
    Pipe(#[source] io::Error),
    /// It ended before it answered.
    #[error("ended before it answered")]
    Ended,
    /// It said nothing in time.
    #[error("did not answer within {} s", ANSWER.as_secs())]
    Silent,
    /// It refused a request.
    #[error("refused: {0}")]
    Refused(String),
}

impl Client {
    /// Starts `program mcp` for the checkout at `root`.
    ///
    /// # Errors
    /// [`ClientError::Start`].
    pub fn start(program: &Path, root: &Path) -> Result<Self, ClientError> {
        let mut child = command(program)
            .arg("mcp")
            .current_dir(root)
            .env(settings::LOG, "warn")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(ClientError::Start)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let process = Process(child);
        let (stdin, stdout) = pipes.ok_or(ClientError::Ended)?;
        let stdin = Sender::from_owned_fd(OwnedFd::from(stdin)).map_err(ClientError::Pipe)?;
        let stdout = Receiver::from_owned_fd(OwnedFd::from(stdout)).map_err(ClientError::Pipe)?;
        Ok(Self {
            process,
            stdin,
            lines: BufReader::with_capacity(64 * 1024, stdout).lines(),
            last_id: 0,
        })
    }

    /// Opens the session under this name.
    ///
    /// # Errors
    /// Every variant of [`ClientError`] but `Start`.
    pub async fn initialize(&mut self, name: &str) -> Result<Value, ClientError> {
        let answer = self
            .request(
                "initialize",
                json!({
                    "protocolVersion": Revision::NEWEST_LEGACY.as_str(),
                    "capabilities": {},
                    "clientInfo": { "name": name, "version": env!("CARGO_PKG_VERSION") },
                }),
            )
            .await?;
        self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await?;
        Ok(answer)
    }

    /// Calls a tool and returns its whole result.
    ///
    /// # Errors
    /// As [`Self::initialize`].
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, ClientError> {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", params).await
    }

    /// Sends a request and waits for its result; what the server says in between is not of interest here.
    ///
    /// # Errors
    /// As [`Self::initialize`].
    pub async fn request(&mut self, method: &str, params: Value) -> Result<Value, ClientError> {
        self.last_id += 1;
        let id = self.last_id;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await?;
        let answer = async {
            loop {
                let line = self.lines.next_line().await.map_err(ClientError::Pipe)?;
                let line = line.ok_or(ClientError::Ended)?;
                let Ok(mut frame) = serde_json::from_str::<Value>(&line) else {
                    continue;
                };
                if frame.get("id") != Some(&id.into()) {
                    continue;
                }
                if let Some(error) = frame.get("error") {
                    let message = error.get("message").and_then(Value::as_str);
                    return Err(ClientError::Refused(message.unwrap_or_default().to_owned()));
                }
                return Ok(frame.get_mut("result").map(Value::take).unwrap_or_default());
            }
        };
        timeout(ANSWER, answer)
            .await
            .unwrap_or(Err(ClientError::Silent))
    }

    async fn write(&mut self, frame: &Value) -> Result<(), ClientError> {
        let line = format!("{frame}\n");
        let written = async {
            self.stdin.write_all(line.as_bytes()).await?;
            self.stdin.flush().await
        };
        timeout(ANSWER, written)
            .await
            .map_err(|_| ClientError::Silent)?
            .map_err(ClientError::Pipe)
    }

    /// The server's process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.0.id()
    }

    /// Ends it as `kill -9` does, and waits until it is gone.
    pub fn kill(&mut self) {
        // One that is gone already is what was asked for.
        drop(self.process.0.kill());
        drop(self.process.0.wait());
    }

    /// Ends the input, waits for the process's end, and returns what it said on standard error.
    pub async fn close(self) -> String {
        let Self {
            mut process, stdin, ..
        } = self;
        drop(stdin);
        let stderr = process.0.stderr.take().map(OwnedFd::from);
        match stderr.map(Receiver::from_owned_fd) {
            Some(Ok(stderr)) => read(stderr).await,
            _ => String::new(),
        }
    }
}

/// Runs a program and returns what it prints; `None` if it prints nothing, fails or takes too long.
pub async fn output(program: &Path, argument: &str) -> Option<String> {
    let child = command(program)
        .arg(argument)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut process = Process(child.ok()?);
    let stdout = process.0.stdout.take().map(OwnedFd::from)?;
    let said = read(Receiver::from_owned_fd(stdout).ok()?).await;
    // Its end follows at once; one that closed its output and goes on is killed.
    let status = process.0.try_wait().ok()?;
    let failed = status.is_some_and(|status| !status.success());
    (!failed && !said.trim().is_empty()).then_some(said)
}

/// Reads to the end, as far as it comes in time.
async fn read(pipe: Receiver) -> String {
    let mut said = Vec::new();
    drop(timeout(END, pipe.take(SAID).read_to_end(&mut said)).await);
    String::from_utf8_lossy(&said).into_owned()
}

#[expect(
    clippy::disallowed_methods,
    reason = "what a client starts is started here, and is no git"
)]
fn command(program: &Path) -> Command {
    Command::new(program)
}
