//! Everything at once: eight processes whose clients call without pause, while some are killed, ended, frozen and woken,
//! the state folder is removed, and new ones come.
//!
//! What was seen is checked when a round is over: no request has two answers, none of a living client has none, none is
//! done twice, and what was answered as done is done; in the end one process holds the lock and serves all of them.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::super::random::Random;
use super::super::wait::pause;
use super::super::{Client, Repository, checks, frames};

/// How many processes there are.
const PROCESSES: usize = 8;
/// How many acts a round has.
const ACTS: usize = 8;
/// How long a request of a living client may wait: a frozen owner, a removed folder and a kill in a row, each with its bound.
const PATIENCE: Duration = Duration::from_secs(30);

/// The room and its generator.
pub(crate) struct Chaos {
    repository: Repository,
    clients: Vec<Arc<Client>>,
    random: Random,
    started: usize,
    /// Who was told to end, and may take a moment.
    ending: Vec<Arc<Client>>,
}

/// What one round gave.
#[derive(Debug, Default)]
pub(crate) struct Round {
    /// Requests that were done.
    pub(crate) done: usize,
    /// Requests that were refused, whose outcome nobody knows, or that a process did alone, for itself.
    pub(crate) refused: usize,
    /// Requests of clients that were killed before they had an answer.
    pub(crate) unanswered: usize,
    /// The acts, by name.
    pub(crate) acts: BTreeMap<&'static str, usize>,
}

/// What became of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Done,
    /// Refused, or done by a process alone: its rows are in memory then, and its answer says so.
    Refused,
    /// Its process died first.
    Unanswered,
}

struct Call {
    text: String,
    id: Value,
    fate: Fate,
}

impl Chaos {
    /// A room of eight.
    pub(crate) fn open(seed: u64) -> Self {
        let mut chaos = Self {
            repository: Repository::new(),
            clients: Vec::new(),
            random: Random::new(seed),
            started: 0,
            ending: Vec::new(),
        };
        chaos.fill();
        chaos
    }

    fn fill(&mut self) {
        while self.clients.len() < PROCESSES {
            let name = format!("chaos-{}", self.started);
            self.started += 1;
            let client = self.repository.client(&name);
            client.initialize();
            self.clients.push(Arc::new(client));
        }
    }

    /// Lets everybody call, acts, and looks at every request.
    #[track_caller]
    pub(crate) fn round(&mut self, number: usize) -> Round {
        let file = format!("chaos-{number}.txt");
        let stop = AtomicBool::new(false);
        let clients = self.clients.clone();
        let mut round = Round::default();
        let calls: Vec<Vec<Call>> = thread::scope(|scope| {
            let calling: Vec<_> = clients
                .iter()
                .map(|client| {
                    let (file, stop) = (file.as_str(), &stop);
                    scope.spawn(move || call_until(client, file, stop))
                })
                .collect();
            for _ in 0..ACTS {
                pause(Duration::from_millis(20 + self.random.below(150) as u64));
                *round.acts.entry(self.act()).or_default() += 1;
            }
            stop.store(true, Ordering::Relaxed);
            let joined = calling.into_iter().map(thread::ScopedJoinHandle::join);
            joined
                .map(|calls| calls.expect("every request of a living client is answered"))
                .collect()
        });
        for (client, calls) in clients.iter().zip(&calls) {
            for call in calls {
                let answers = client.inbox().count(&call.id);
                let expected = usize::from(call.fate != Fate::Unanswered);
                assert_eq!(
                    answers,
                    expected,
                    "answers of {} to {}",
                    client.name(),
                    call.id
                );
            }
        }
        self.check_effects(&file, calls.iter().flatten(), &mut round);
        for client in self.ending.drain(..) {
            client.exit();
        }
        self.clients.retain(|client| client.ended().is_none());
        self.fill();
        self.check_room();
        round
    }

    /// One act; returns its name. One process is always left alone, so that there is somebody to serve.
    fn act(&mut self) -> &'static str {
        let alive: Vec<_> = self
            .clients
            .iter()
            .filter(|client| client.ended().is_none())
            .cloned()
            .collect();
        let owner = alive
            .iter()
            .find(|client| Some(client.pid()) == self.repository.owner_pid());
        let anybody = &alive[self.random.below(alive.len())];
        let chosen = if self.random.below(2) == 0 {
            owner.unwrap_or(anybody)
        } else {
            anybody
        };
        match self.random.below(6) {
            0 | 1 if alive.len() > 2 => {
                chosen.kill();
                "kill -9"
            }
            2 if alive.len() > 2 => {
                chosen.signal(Signal::SIGTERM);
                self.ending.push(Arc::clone(chosen));
                "terminate"
            }
            3 | 4 => {
                chosen.signal(Signal::SIGSTOP);
                pause(Duration::from_millis(20 + self.random.below(1500) as u64));
                chosen.signal(Signal::SIGCONT);
                "freeze and wake"
            }
            _ => {
                drop(fs::remove_dir_all(self.repository.root().join(".ai/local")));
                "remove the state folder"
            }
        }
    }

    #[track_caller]
    fn check_effects<'a>(
        &self,
        file: &str,
        calls: impl Iterator<Item = &'a Call>,
        round: &mut Round,
    ) {
        let text = fs::read_to_string(self.repository.conformance_file(file)).unwrap_or_default();
        let mut effects = BTreeMap::<&str, usize>::new();
        for line in text.lines() {
            *effects.entry(line).or_default() += 1;
        }
        for call in calls {
            let times = effects.remove(call.text.as_str()).unwrap_or_default();
            assert!(times <= 1, "{} took effect {times} times", call.text);
            match call.fate {
                Fate::Done => {
                    let answer = self.answer_to(&call.id, &call.text);
                    assert_eq!(times, 1, "without effect: {} {answer}", call.text);
                    round.done += 1;
                }
                Fate::Refused => round.refused += 1,
                Fate::Unanswered => round.unanswered += 1,
            }
        }
        assert!(effects.is_empty(), "lines nobody asked for: {effects:?}");
    }

    /// What a request of this round was answered, for the reader of a failure.
    fn answer_to(&self, id: &Value, text: &str) -> String {
        let client = self
            .clients
            .iter()
            .find(|client| text.starts_with(&format!("{} ", client.name())));
        let answer = client.and_then(|client| client.answer_within(id, Duration::ZERO));
        answer.map(|answer| answer.to_string()).unwrap_or_default()
    }

    /// Everybody is served by one owner, who alone holds the lock.
    #[track_caller]
    fn check_room(&self) {
        let clients: Vec<&Client> = self.clients.iter().map(AsRef::as_ref).collect();
        checks::one_board(&clients);
        self.repository
            .ready_when("an owner among the clients", |lease| {
                clients.iter().any(|client| lease["pid"] == client.pid())
            });
        if let Some(holders) = super::storm::lock_holders(&self.repository) {
            assert_eq!(holders, 1, "holders of the lock");
        }
    }
}

/// Calls without pause until told to stop, or until its process is gone.
fn call_until(client: &Client, file: &str, stop: &AtomicBool) -> Vec<Call> {
    let mut calls = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let id = client.next_id();
        let text = format!("{} {id}", client.name());
        let arguments = json!({ "file": file, "text": text });
        let call = frames::call("conformance_keyed", &arguments);
        let sent = client.try_send(&frames::request(&id, "tools/call", &call));
        let fate = match sent {
            Ok(()) => fate(client, &id),
            Err(_) => Fate::Unanswered,
        };
        calls.push(Call { text, id, fate });
        if fate == Fate::Unanswered {
            return calls;
        }
    }
    calls
}

/// Waits for an answer, or for the end of a process that will give none.
fn fate(client: &Client, id: &Value) -> Fate {
    let judge = |answer: &Value| {
        if checks::failed(answer) || checks::degraded(answer).is_some() {
            Fate::Refused
        } else {
            Fate::Done
        }
    };
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = client.answer_within(id, Duration::from_millis(50)) {
            return judge(&answer);
        }
        if client.ended().is_some() {
            // What it said last may still be on its way.
            let last = client.answer_within(id, Duration::from_millis(200));
            return last.map_or(Fate::Unanswered, |answer| judge(&answer));
        }
        assert!(
            Instant::now() < until,
            "{} got no answer to {id}",
            client.name()
        );
    }
}
