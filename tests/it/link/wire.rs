//! One end of a link, driven line by line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use super::recording::parts;
use crate::support::BOUND;

/// A connection whose lines are read on a thread of its own, which also says that it is there when it is asked.
pub(crate) struct Wire {
    stream: Arc<Mutex<TcpStream>>,
    lines: Receiver<String>,
    /// What came and was not expected yet.
    held: Vec<String>,
    /// Everything that came.
    all: Vec<String>,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        let reader = stream.try_clone().unwrap();
        let stream = Arc::new(Mutex::new(stream));
        let answering = Arc::clone(&stream);
        let (said, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(reader);
            let mut line = String::new();
            while matches!(reader.read_line(&mut line), Ok(1..)) {
                let text = line.trim_end_matches(['\n', '\r']).to_owned();
                if text == "0 ping {}" {
                    drop(answering.lock().unwrap().write_all(b"0 pong {}\n"));
                }
                if said.send(text).is_err() {
                    return;
                }
                line.clear();
            }
        });
        Self {
            stream,
            lines,
            held: Vec::new(),
            all: Vec::new(),
        }
    }

    /// Writes a line; whether the other end is still there shows in what it says.
    pub(crate) fn say(&self, text: &str, end: &str) {
        let bytes = format!("{text}{end}");
        drop(self.stream.lock().unwrap().write_all(bytes.as_bytes()));
    }

    /// The next line; `None` at the end, or when nothing comes.
    pub(crate) fn next(&mut self) -> Option<String> {
        if self.held.is_empty() {
            self.receive()
        } else {
            Some(self.held.remove(0))
        }
    }

    fn receive(&mut self) -> Option<String> {
        let line = self.lines.recv_timeout(BOUND).ok()?;
        let again = |before: &String| match (parts(before), parts(&line)) {
            (Some(before), Some(now)) => {
                (before.seq, before.verb) == (now.seq, "answer") && now.verb == "answer"
            }
            _ => false,
        };
        assert!(!self.all.iter().any(again), "a second answer: {line}");
        self.all.push(line.clone());
        Some(line)
    }

    /// Waits until a line that `fits` has come, whoever expected it already.
    pub(crate) fn hear(&mut self, fits: impl Fn(&str) -> bool) -> bool {
        while !self.all.iter().any(|line| fits(line)) {
            match self.receive() {
                Some(line) => self.held.push(line),
                None => return false,
            }
        }
        true
    }

    /// Keeps a line for later.
    pub(crate) fn hold(&mut self, line: String) {
        self.held.insert(0, line);
    }

    /// Waits for a line that `fits`; others are kept. `None` at the end of the link, or when it does not come.
    pub(crate) fn expect(&mut self, fits: impl Fn(&str) -> bool) -> Option<String> {
        if let Some(at) = self.held.iter().position(|line| fits(line)) {
            return Some(self.held.remove(at));
        }
        let begun = Instant::now();
        while begun.elapsed() < BOUND {
            let line = self.receive()?;
            if fits(&line) {
                return Some(line);
            }
            self.held.push(line);
        }
        None
    }

    /// Reads to the end of the link; returns what nobody expected.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        while let Some(line) = self.receive() {
            self.held.push(line);
        }
        std::mem::take(&mut self.held)
    }

    /// What came, for a message.
    pub(crate) fn all(&self) -> &[String] {
        &self.all
    }

    /// Breaks the connection, both ways.
    pub(crate) fn cut(&self) {
        drop(self.stream.lock().unwrap().shutdown(Shutdown::Both));
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.cut();
    }
}
