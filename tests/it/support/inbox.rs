//! What a client has received so far, and waiting for more.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::schemas::Conversation;

/// Everything that arrived on one stdout, sorted as it came.
#[derive(Debug, Default)]
struct Received {
    /// Answers by the JSON text of their id; more than one is a broken promise, so all are kept.
    answers: HashMap<String, Vec<(Instant, Value)>>,
    /// Messages with a method, as they came.
    messages: Vec<(Instant, Value)>,
    /// Lines that are not JSON-RPC.
    strays: Vec<String>,
    /// The first frame that its schema refuses, and why.
    breach: Option<String>,
    ended: bool,
}

/// Shared between the reading thread and the test.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    received: Mutex<Received>,
    conversation: Mutex<Conversation>,
    news: Condvar,
}

impl Inbox {
    /// Reads `source` to its end on a thread of its own.
    pub(crate) fn fill_from(self: &Arc<Self>, source: impl Read + Send + 'static) {
        let filled = Arc::clone(self);
        thread::spawn(move || {
            let mut reader = BufReader::with_capacity(64 * 1024, source);
            let mut line = Vec::new();
            while matches!(reader.read_until(b'\n', &mut line), Ok(count) if count > 0) {
                filled.take(&line);
                line.clear();
            }
            filled.received.lock().unwrap().ended = true;
            filled.news.notify_all();
        });
    }

    /// Notes what the client writes.
    pub(crate) fn note(&self, written: &[u8]) {
        self.conversation.lock().unwrap().writes(written);
    }

    fn take(&self, line: &[u8]) {
        let parsed = serde_json::from_slice::<Value>(line);
        let judged = match &parsed {
            Ok(frame) => self.conversation.lock().unwrap().receives(frame),
            // The end may come in the middle of a line.
            Err(_) if !line.ends_with(b"\n") => Ok(()),
            Err(error) => Err(format!("{error}: {:?}", String::from_utf8_lossy(line))),
        };
        let mut received = self.received.lock().unwrap();
        if let (Err(breach), None) = (judged, &received.breach) {
            received.breach = Some(breach);
        }
        match parsed {
            Ok(message) if message.get("method").is_some() => {
                received.messages.push((Instant::now(), message));
            }
            Ok(message) if message.get("id").is_some() => {
                let id = message["id"].to_string();
                received
                    .answers
                    .entry(id)
                    .or_default()
                    .push((Instant::now(), message));
            }
            _ => received
                .strays
                .push(String::from_utf8_lossy(line).into_owned()),
        }
        drop(received);
        self.news.notify_all();
    }

    /// Waits until `look` finds something, the input ended, or `bound` passed.
    fn wait<T>(&self, bound: Duration, look: impl Fn(&Received) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + bound;
        let mut received = self.received.lock().unwrap();
        loop {
            if let Some(breach) = &received.breach {
                let breach = breach.clone();
                drop(received);
                panic!("the schema refuses what the server sent: {breach}");
            }
            if let Some(found) = look(&received) {
                return Some(found);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || received.ended {
                return None;
            }
            received = self.news.wait_timeout(received, left).unwrap().0;
        }
    }

    /// The first answer to `id` and when it came.
    pub(crate) fn answer(&self, id: &Value, bound: Duration) -> Option<(Instant, Value)> {
        let id = id.to_string();
        self.wait(bound, |received| {
            received.answers.get(&id)?.first().cloned()
        })
    }

    /// The `count`th answers to `id`, once there are as many.
    pub(crate) fn answers(&self, id: &Value, count: usize, bound: Duration) -> Option<Vec<Value>> {
        let id = id.to_string();
        self.wait(bound, |received| {
            let all = received.answers.get(&id)?;
            (all.len() >= count).then(|| all.iter().map(|(_, value)| value.clone()).collect())
        })
    }

    /// How many answers `id` has had.
    pub(crate) fn count(&self, id: &Value) -> usize {
        let received = self.received.lock().unwrap();
        received.answers.get(&id.to_string()).map_or(0, Vec::len)
    }

    /// How many answers came in all.
    pub(crate) fn total(&self) -> usize {
        let received = self.received.lock().unwrap();
        received.answers.values().map(Vec::len).sum()
    }

    /// The first message with a method that `fits`.
    pub(crate) fn message(&self, bound: Duration, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        self.wait(bound, |received| {
            received
                .messages
                .iter()
                .map(|(_, message)| message)
                .find(|message| fits(message))
                .cloned()
        })
    }

    /// Every message with a method so far.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let received = self.received.lock().unwrap();
        received
            .messages
            .iter()
            .map(|(_, value)| value.clone())
            .collect()
    }

    /// The messages of `method` that came before the first answer to `id`, and those that came after it.
    pub(crate) fn around(&self, id: &Value, method: &str) -> (Vec<Value>, Vec<Value>) {
        let received = self.received.lock().unwrap();
        let answered = received.answers.get(&id.to_string());
        let answered = answered.and_then(|all| all.first()).map(|(when, _)| *when);
        let (before, after): (Vec<_>, Vec<_>) = received
            .messages
            .iter()
            .filter(|(_, message)| message["method"] == method)
            .partition(|(when, _)| answered.is_none_or(|answered| *when <= answered));
        let values = |all: Vec<&(Instant, Value)>| -> Vec<Value> {
            all.into_iter().map(|(_, value)| value.clone()).collect()
        };
        (values(before), values(after))
    }

    /// Forgets the messages with a method.
    pub(crate) fn forget_messages(&self) {
        self.received.lock().unwrap().messages.clear();
    }

    /// Reads on until the process has closed its end, and panics if its schema refused a frame that nobody waited for.
    pub(crate) fn close(&self, bound: Duration) {
        let _end: Option<()> = self.wait(bound, |_| None);
    }

    /// Lines on stdout that are no JSON-RPC message.
    pub(crate) fn strays(&self) -> Vec<String> {
        self.received.lock().unwrap().strays.clone()
    }
}
