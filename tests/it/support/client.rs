//! One MCP client: a spawned process, its pipes, and a thread that reads.

use std::io::{Read, Write};
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::frames;
use super::inbox::Inbox;
use super::wait::{BOUND, wait_for, wait_some};

/// How long a dead process's output is waited for: another may hold its end open.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What a process says on stderr.
#[derive(Default)]
struct Stderr {
    said: Mutex<Said>,
    /// Told at its end.
    ended: Condvar,
}

#[derive(Default)]
struct Said {
    bytes: Vec<u8>,
    is_whole: bool,
}

impl Stderr {
    fn fill_from(&self, mut source: impl Read) {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = source.read(&mut buffer) {
            let mut said = self.said.lock().unwrap();
            said.bytes.extend_from_slice(&buffer[..count]);
        }
        self.said.lock().unwrap().is_whole = true;
        self.ended.notify_all();
    }

    /// All of it, for a process that has ended; what a child of it may still add is waited for with a bound.
    fn wait(&self) {
        let said = self.said.lock().unwrap();
        drop(
            self.ended
                .wait_timeout_while(said, BOUND, |said| !said.is_whole),
        );
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.said.lock().unwrap().bytes).into_owned()
    }
}

/// A spawned process and the two ends of its protocol.
pub(crate) struct Client {
    name: String,
    child: Mutex<Child>,
    pid: Pid,
    input: Mutex<Option<Box<dyn Write + Send>>>,
    inbox: Arc<Inbox>,
    stderr: Arc<Stderr>,
    ids: AtomicI64,
    /// The output, while nobody reads it.
    unread: Mutex<Option<Box<dyn Read + Send>>>,
}

impl Client {
    /// A client that reads from the start.
    pub(super) fn new(
        name: String,
        child: Child,
        input: Box<dyn Write + Send>,
        output: impl Read + Send + 'static,
    ) -> Self {
        let client = Self::deaf(name, child, input, Box::new(output));
        client.listen();
        client
    }

    /// A client that does not read until it [listens](Self::listen).
    pub(super) fn deaf(
        name: String,
        mut child: Child,
        input: Box<dyn Write + Send>,
        output: Box<dyn Read + Send>,
    ) -> Self {
        let stderr = Arc::new(Stderr::default());
        if let Some(source) = child.stderr.take() {
            let kept = Arc::clone(&stderr);
            thread::spawn(move || kept.fill_from(source));
        }
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid fits"));
        Self {
            name,
            pid,
            child: Mutex::new(child),
            input: Mutex::new(Some(input)),
            inbox: Arc::default(),
            stderr,
            ids: AtomicI64::new(1),
            unread: Mutex::new(Some(output)),
        }
    }

    /// Starts to read.
    pub(crate) fn listen(&self) {
        if let Some(output) = self.unread.lock().unwrap().take() {
            self.inbox.fill_from(output);
        }
    }

    /// Its name, as `initialize` says it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its process.
    pub(crate) fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    /// What arrived.
    pub(crate) fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// What it said on stderr so far; all of it once it has ended.
    pub(crate) fn stderr(&self) -> String {
        if self.ended().is_some() {
            self.stderr.wait();
        }
        self.stderr.text()
    }

    /// A request id that was not used before.
    pub(crate) fn next_id(&self) -> Value {
        json!(self.ids.fetch_add(1, Ordering::Relaxed))
    }

    /// Writes bytes as they are; fails when the process is gone.
    pub(crate) fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        let mut input = self.input.lock().unwrap();
        let input = input.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
        self.inbox.note(bytes);
        input.write_all(bytes)?;
        input.flush()
    }

    /// Sends one message in one write.
    #[track_caller]
    pub(crate) fn send(&self, message: &Value) {
        self.try_send(message).expect("the process reads its stdin");
    }

    /// The same, telling whether the process was there to read it.
    pub(crate) fn try_send(&self, message: &Value) -> std::io::Result<()> {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        self.write(&line)
    }

    /// Sends a notification.
    #[track_caller]
    pub(crate) fn notify(&self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and returns its id.
    #[track_caller]
    pub(crate) fn begin(&self, method: &str, params: &Value) -> Value {
        let id = self.next_id();
        self.send(&frames::request(&id, method, params));
        id
    }

    /// Waits for the answer to `id`.
    #[track_caller]
    pub(crate) fn answer(&self, id: &Value) -> Value {
        self.answer_within(id, BOUND)
            .unwrap_or_else(|| panic!("{} got no answer to request {id}", self.name))
    }

    /// Waits for the answer to `id`, as long as `bound`.
    pub(crate) fn answer_within(&self, id: &Value, bound: Duration) -> Option<Value> {
        self.inbox.answer(id, bound).map(|(_, message)| message)
    }

    /// Sends a request and waits for its whole answer.
    #[track_caller]
    pub(crate) fn request(&self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        self.answer(&id)
    }

    /// Sends a request and returns its result; panics on an error.
    #[track_caller]
    pub(crate) fn result(&self, method: &str, params: &Value) -> Value {
        let answer = self.request(method, params);
        assert!(
            answer.get("result").is_some(),
            "{method} was refused: {answer}"
        );
        answer["result"].clone()
    }

    /// Initializes at the newest legacy revision and returns the result.
    #[track_caller]
    pub(crate) fn initialize(&self) -> Value {
        self.initialize_at(frames::LEGACY)
    }

    /// Initializes at `revision`.
    #[track_caller]
    pub(crate) fn initialize_at(&self, revision: &str) -> Value {
        let result = self.result("initialize", &frames::initialize(&self.name, revision));
        self.notify("notifications/initialized", &json!({}));
        result
    }

    /// Initializes and waits until an owner serves it.
    ///
    /// On a loaded machine an owner may be too slow for a newcomer's patience; it is then served alone for a while.
    #[track_caller]
    pub(crate) fn attach(&self) {
        self.initialize();
        wait_for(
            &format!("{} is served by an owner", self.name),
            BOUND,
            || {
                let answer = self.call("majordomus_peers", &json!({}));
                super::checks::degraded(&answer).is_none()
            },
        );
    }

    /// A request of the modern era.
    #[track_caller]
    pub(crate) fn modern(&self, method: &str, params: &Value) -> Value {
        self.request(method, &frames::modern(&self.name, params))
    }

    /// Begins a tool call.
    #[track_caller]
    pub(crate) fn begin_call(&self, tool: &str, arguments: &Value) -> Value {
        self.begin("tools/call", &frames::call(tool, arguments))
    }

    /// Calls a tool and returns the whole answer.
    #[track_caller]
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Value {
        let id = self.begin_call(tool, arguments);
        self.answer(&id)
    }

    /// Calls a tool, panics unless it succeeds, and returns its structured content.
    #[track_caller]
    pub(crate) fn tool(&self, tool: &str, arguments: &Value) -> Value {
        let answer = self.call(tool, arguments);
        super::checks::succeeded(&answer);
        answer["result"]["structuredContent"].clone()
    }

    /// Waits for a notification that `fits`.
    #[track_caller]
    pub(crate) fn notification(&self, method: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.inbox
            .message(BOUND, |message| {
                message["method"] == method && fits(message)
            })
            .unwrap_or_else(|| {
                panic!(
                    "{} got no fitting {method}; it has {:?}",
                    self.name,
                    self.inbox.messages()
                )
            })
    }

    /// Closes stdin: the client is gone.
    pub(crate) fn close(&self) {
        drop(self.input.lock().unwrap().take());
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        // It may have ended by itself; whoever cares waits for that.
        let _gone = kill(self.pid, signal);
        if signal == Signal::SIGSTOP {
            self.wait_until_stopped();
        }
    }

    /// A signal stops one thread after the other, and an owner that still runs on one of them still answers.
    fn wait_until_stopped(&self) {
        let tasks = format!("/proc/{}/task", self.pid);
        let stopped = || {
            let threads = std::fs::read_dir(&tasks).ok()?;
            let mut states = threads.filter_map(|thread| {
                let stat = std::fs::read_to_string(thread.ok()?.path().join("stat")).ok()?;
                // The name before the state may hold anything, a parenthesis too.
                stat.rsplit(") ").next()?.chars().next()
            });
            Some(states.all(|state| matches!(state, 'T' | 'Z' | 'X')))
        };
        // Where there is no /proc nothing tells, and nothing is waited for.
        wait_for("the process to stop", BOUND, || stopped() != Some(false));
    }

    /// Kills without grace and reaps, so that the death is complete when this returns.
    pub(crate) fn kill(&self) {
        self.signal(Signal::SIGKILL);
        self.exit();
    }

    /// Its exit status, if it has ended.
    pub(crate) fn ended(&self) -> Option<ExitStatus> {
        self.child
            .lock()
            .unwrap()
            .try_wait()
            .expect("our own child")
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn exit(&self) -> ExitStatus {
        wait_some(&format!("the end of {}", self.name), BOUND, || self.ended())
    }

    /// Waits for its end and says how long it took from now.
    #[track_caller]
    pub(crate) fn exit_timed(&self) -> (ExitStatus, Duration) {
        let start = Instant::now();
        (self.exit(), start.elapsed())
    }

    /// Resident memory in KiB, where the system tells.
    pub(crate) fn resident_kib(&self) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let child = self
            .child
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        // Reaped first: the pid of an ended child may already be somebody else's.
        if matches!(child.try_wait(), Ok(None)) {
            let _alone = killpg(self.pid, Signal::SIGKILL);
            drop(child.kill());
            drop(child.wait());
        }
        if thread::panicking() {
            eprintln!(
                "--- {} (pid {}) stderr:\n{}\n--- answers: {}, strays: {:?}",
                self.name,
                self.pid,
                self.stderr.text(),
                self.inbox.total(),
                self.inbox.strays(),
            );
        } else if self.unread.get_mut().is_ok_and(|unread| unread.is_none()) {
            self.inbox.close(LAST_WORDS);
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Client({}, pid {})", self.name, self.pid)
    }
}
