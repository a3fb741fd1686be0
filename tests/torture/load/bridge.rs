//! One client on pipes: a process, a task that reads, a task that calls.

use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::rc::Rc;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use super::calls::Call;
use super::tally::Seen;
use super::{Common, think};
use crate::support::command::hermetic;
use crate::support::random::Random;
use crate::support::{BOUND, frames};

/// A process that dies with this value, at the end of its input or else by force.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    pub(super) input: Option<pipe::Sender>,
    pub(super) output: Option<pipe::Receiver>,
}

impl Process {
    pub(super) fn start(common: &Common) -> Self {
        let mut command = hermetic(
            &common.binary,
            common.repository.root(),
            common.repository.home(),
        );
        let mut child = command
            .args(["mcp", "--conformance"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the executable starts");
        let input = OwnedFd::from(child.stdin.take().expect("piped"));
        let output = OwnedFd::from(child.stdout.take().expect("piped"));
        Self {
            child,
            input: Some(pipe::Sender::from_owned_fd(input).unwrap()),
            output: Some(pipe::Receiver::from_owned_fd(output).unwrap()),
        }
    }

    pub(super) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a pid fits")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // What it holds besides is the business of other tests.
        let _gone = kill(Pid::from_raw(self.pid()), Signal::SIGKILL);
        drop(self.child.wait());
    }
}

/// A client that reads.
#[derive(Debug)]
pub(super) struct Bridge {
    common: Rc<Common>,
    name: String,
    process: Process,
    answers: mpsc::UnboundedReceiver<Seen>,
    last: u64,
}

impl Bridge {
    pub(super) fn start(common: &Rc<Common>, name: &str) -> Self {
        let mut process = Process::start(common);
        let output = process.output.take().expect("nobody took it");
        let (sender, answers) = mpsc::unbounded_channel();
        let (reading, who) = (Rc::clone(common), name.to_owned());
        drop(tokio::task::spawn_local(async move {
            let mut reader = BufReader::with_capacity(16 * 1024, output);
            let mut line = Vec::new();
            while matches!(reader.read_until(b'\n', &mut line).await, Ok(count) if count > 0) {
                match serde_json::from_slice::<Seen>(&line) {
                    Ok(seen) if seen.is_news() => reading.tally.heard(),
                    Ok(seen) => drop(sender.send(seen)),
                    Err(error) => reading
                        .tally
                        .breach(format!("{who} read no message: {error}")),
                }
                line = Vec::new();
            }
        }));
        Self {
            common: Rc::clone(common),
            name: name.to_owned(),
            process,
            answers,
            last: 0,
        }
    }

    pub(super) fn pid(&self) -> i32 {
        self.process.pid()
    }

    /// Initializes, waits until an owner serves it, and subscribes to the peers.
    pub(super) async fn open(&mut self) {
        let initialize = Call {
            kind: "initialize",
            method: "initialize",
            params: frames::initialize(&self.name, frames::LEGACY),
        };
        self.ask(&initialize).await;
        let start = Instant::now();
        loop {
            let call = Call::tool("first call", "conformance_safe", &json!({}));
            let answer = self.ask(&call).await;
            if answer.is_some_and(|seen| !seen.is_degraded()) {
                break;
            }
            assert!(start.elapsed() < BOUND, "{} is never served", self.name);
        }
        self.ask(&Call {
            kind: "subscribe",
            method: "resources/subscribe",
            params: json!({ "uri": "majordomus://peers" }),
        })
        .await;
    }

    /// Calls until the load is over, and returns itself: its process lives on.
    pub(super) async fn call(mut self, seed: u64) -> Option<Self> {
        let mut random = Random::new(seed);
        let thinking = self.common.thinking;
        let mut next = Instant::now() + thinking.first(&mut random);
        loop {
            think(&self.common, next).await;
            if self.common.stop.is_cancelled() {
                break;
            }
            next = Instant::now() + thinking.next(&mut random);
            if self.ask(&Call::next(&mut random)).await.is_none() {
                break;
            }
        }
        if let Ok(seen) = self.answers.try_recv() {
            let what = format!("{} got a second answer to {:?}", self.name, seen.id);
            self.common.tally.breach(what);
        }
        Some(self)
    }

    /// One request and its one answer.
    async fn ask(&mut self, call: &Call) -> Option<Seen> {
        self.last += 1;
        let (id, phase, start) = (self.last, self.common.tally.phase(), Instant::now());
        let input = self.process.input.as_mut().expect("open");
        let asked = async {
            input.write_all(&call.line(id)).await.ok()?;
            self.answers.recv().await
        };
        let seen = timeout(BOUND, asked).await.ok().flatten();
        let (tally, who, kind) = (&self.common.tally, &self.name, call.kind);
        match seen {
            Some(seen) if seen.id == Some(id) => {
                tally.answered(who, kind, phase, start.elapsed(), &seen);
                Some(seen)
            }
            Some(seen) => {
                tally.breach(format!("{who} got {:?} for {kind} {id}", seen.id));
                None
            }
            None => {
                tally.breach(format!("{who} got no answer to {kind} {id}"));
                None
            }
        }
    }
}
