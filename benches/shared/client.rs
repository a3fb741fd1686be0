//! A client on a child's stdin and stdout: one thread, blocking, one call at a time.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::AsFd as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::Value;

use crate::Outcome;

/// No answer takes this long; a bench that waits longer has found a bug.
const PATIENCE: Duration = Duration::from_secs(20);

/// A started process and the client's ends of its pipes; killed when dropped.
#[derive(Debug)]
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    id: u64,
    line: String,
}

impl Client {
    /// Starts a process.
    pub(crate) fn start(mut command: Command) -> Outcome<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("no stdout")?;
        Ok(Self {
            child,
            input,
            output: BufReader::with_capacity(64 * 1024, output),
            id: 0,
            line: String::new(),
        })
    }

    /// Returns the child's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Reads one line, whatever it is.
    pub(crate) fn line(&mut self) -> Outcome<&str> {
        if self.output.buffer().is_empty() {
            let mut ends = [PollFd::new(
                self.output.get_ref().as_fd(),
                PollFlags::POLLIN,
            )];
            if poll(&mut ends, PollTimeout::try_from(PATIENCE)?)? == 0 {
                return Err(format!("no answer within {PATIENCE:?}").into());
            }
        }
        self.line.clear();
        if self.output.read_line(&mut self.line)? == 0 {
            return Err("the process ended".into());
        }
        Ok(&self.line)
    }

    /// Sends a request without waiting; `tail` is the rest of the object after its id.
    pub(crate) fn send(&mut self, tail: &str) -> Outcome<()> {
        self.id += 1;
        let frame = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},{tail}}}\n", self.id);
        let input = self.input.as_mut().ok_or("input is closed")?;
        Ok(input.write_all(frame.as_bytes())?)
    }

    /// Reads up to the answer to the last request; messages from the server in between are passed over.
    pub(crate) fn answer(&mut self) -> Outcome<&str> {
        let head = format!("\"id\":{}", self.id);
        loop {
            let line = self.line()?;
            // A string search costs nothing beside a parse; `verify` looks closely, once.
            if line.contains(&head) {
                return Ok(&self.line);
            }
            if !line.contains("\"method\":") {
                return Err(format!("an answer to nothing that was asked: {line}").into());
            }
        }
    }

    /// Sends a request and returns how long its answer took.
    pub(crate) fn timed(&mut self, tail: &str) -> Outcome<Duration> {
        let start = Instant::now();
        self.send(tail)?;
        let answer = self.answer()?;
        let took = start.elapsed();
        if answer.contains("\"error\":{") || answer.contains("\"isError\":true") {
            return Err(format!("an error: {answer}").into());
        }
        Ok(took)
    }

    /// Sends a request and returns its answer, parsed; an error is an error.
    pub(crate) fn verify(&mut self, tail: &str) -> Outcome<Value> {
        self.send(tail)?;
        let answer: Value = serde_json::from_str(self.answer()?)?;
        match answer.get("result") {
            Some(result) if answer["id"] == self.id && result["isError"] != true => Ok(answer),
            _ => Err(format!("a wrong answer: {answer}").into()),
        }
    }

    /// Opens a session in the legacy era.
    pub(crate) fn initialize(&mut self) -> Outcome<()> {
        self.timed(INITIALIZE)?;
        let input = self.input.as_mut().ok_or("input is closed")?;
        input.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok(())
    }

    /// Returns resident memory in KiB: all of it, and what is private and not backed by a file.
    pub(crate) fn memory(&self) -> Option<(u64, u64)> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).ok()?;
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)?.parse().ok()
        };
        Some((field("VmRSS:")?, field("RssAnon:")?))
    }

    /// Closes its input and waits for its end.
    pub(crate) fn finish(mut self) -> Outcome<()> {
        drop(self.input.take());
        let start = Instant::now();
        while self.output.read_line(&mut self.line)? > 0 {
            if start.elapsed() > PATIENCE {
                return Err("the process goes on after the end of its input".into());
            }
        }
        self.child.wait()?;
        Ok(())
    }

    /// Kills it as `kill -9` does.
    pub(crate) fn kill(&mut self) -> Outcome<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Already gone is as good.
        let _gone = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// `initialize`, without its id.
pub(crate) const INITIALIZE: &str = "\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\
    \"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}";

/// The list of tools, without its id.
pub(crate) const TOOLS: &str = "\"method\":\"tools/list\",\"params\":{}";

/// A call of a tool that does nothing, without its id: what is measured is the way there and back.
pub(crate) const TRIVIAL: &str =
    "\"method\":\"tools/call\",\"params\":{\"name\":\"conformance_safe\",\"arguments\":{}}";

/// A call of the tool that agents call most, without its id.
pub(crate) const PEERS: &str =
    "\"method\":\"tools/call\",\"params\":{\"name\":\"majordomus_peers\",\"arguments\":{}}";
