//! kill -9 of the owner while bridges call without pause: every request is answered exactly once and takes effect
//! exactly once.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::random::Random;
use super::super::wait::pause;
use super::super::{BOUND, Client, Repository, checks, wait_for};

/// A room of bridges around an owner, kept from round to round.
pub(crate) struct Room {
    repository: Repository,
    clients: Vec<Arc<Client>>,
    random: Random,
    started: usize,
}

/// What one round gave.
#[derive(Debug)]
pub(crate) struct Round {
    /// For each bridge, its longest silence around the death.
    pub(crate) gaps: Vec<Duration>,
    /// Requests answered with success.
    pub(crate) answered: usize,
    /// Requests refused because their bridge was alone: the next owner was too slow for its patience, as on an overloaded
    /// machine. A refusal for any other reason fails the round.
    pub(crate) refused: usize,
}

/// One answered request: the text it appended, its id, when the answer came, and whether it was done.
type Answered = (String, Value, Instant, bool);

impl Room {
    /// Opens a checkout with one client more than `bridges`.
    pub(crate) fn open(bridges: usize, seed: u64) -> Self {
        let mut room = Self {
            repository: Repository::new(),
            clients: Vec::new(),
            random: Random::new(seed),
            started: 0,
        };
        while room.clients.len() <= bridges {
            room.join();
        }
        room
    }

    fn join(&mut self) {
        let client = self
            .repository
            .attached(&format!("bridge-{}", self.started));
        self.started += 1;
        self.clients.push(Arc::new(client));
    }

    /// Lets all bridges call, kills the owner, and looks at every request that was sent.
    #[track_caller]
    pub(crate) fn round(&mut self, number: usize) -> Round {
        let file = format!("round-{number}.txt");
        let owner = self.owner();
        let bridges: Vec<Arc<Client>> = self
            .clients
            .iter()
            .filter(|client| client.pid() != owner.pid())
            .cloned()
            .collect();
        for bridge in &bridges {
            wait_for("an owner for every bridge", BOUND, || {
                let answer = bridge.call("conformance_echo", &json!({ "value": number }));
                checks::degraded(&answer).is_none()
            });
        }
        let stop = AtomicBool::new(false);
        let before = Duration::from_millis(100 + self.random.below(200) as u64);
        let (death, answered) = thread::scope(|scope| {
            let calling: Vec<_> = bridges
                .iter()
                .map(|bridge| {
                    let (file, stop) = (file.as_str(), &stop);
                    scope.spawn(move || call_until(bridge, file, stop))
                })
                .collect();
            pause(before);
            let death = Instant::now();
            owner.kill();
            // The load goes on until every bridge has been answered by the next owner, then for a moment more.
            let counts: Vec<usize> = bridges
                .iter()
                .map(|bridge| bridge.inbox().total())
                .collect();
            let served =
                |(bridge, count): (&Arc<Client>, &usize)| bridge.inbox().total() > count + 3;
            let deadline = Instant::now() + BOUND;
            while !bridges.iter().zip(&counts).all(served) && Instant::now() < deadline {
                pause(Duration::from_millis(2));
            }
            stop.store(true, Ordering::Relaxed);
            let answered: Vec<Vec<Answered>> = calling
                .into_iter()
                .map(|calls| calls.join().expect("every request is answered"))
                .collect();
            (death, answered)
        });

        Self::check_effects(&self.repository.conformance_file(&file), &answered);
        for (bridge, calls) in bridges.iter().zip(&answered) {
            for (_, id, _, _) in calls {
                assert_eq!(
                    bridge.inbox().count(id),
                    1,
                    "answers of {} to {id}",
                    bridge.name()
                );
            }
        }
        self.clients.retain(|client| client.pid() != owner.pid());
        self.join();
        Round {
            gaps: answered
                .iter()
                .filter_map(|calls| silence(calls, death))
                .collect(),
            answered: answered.iter().flatten().filter(|call| call.3).count(),
            refused: answered.iter().flatten().filter(|call| !call.3).count(),
        }
    }

    /// Every request that was done appended its line once, and no line is there twice or without a request.
    fn check_effects(file: &Path, answered: &[Vec<Answered>]) {
        let text = std::fs::read_to_string(file).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        let twice: Vec<_> = lines.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "took effect twice: {twice:?}");
        let mut asked: Vec<&str> = answered
            .iter()
            .flatten()
            .map(|call| call.0.as_str())
            .collect();
        asked.sort_unstable();
        let done = answered.iter().flatten().filter(|call| call.3);
        let lost: Vec<_> = done
            .filter(|call| lines.binary_search(&call.0.as_str()).is_err())
            .collect();
        assert!(lost.is_empty(), "answered without effect: {lost:?}");
        let extra: Vec<_> = lines
            .iter()
            .filter(|line| asked.binary_search(line).is_err())
            .collect();
        assert!(extra.is_empty(), "lines nobody asked for: {extra:?}");
    }

    fn owner(&self) -> Arc<Client> {
        let mut owner = None;
        wait_for("an owner among the clients", BOUND, || {
            let pid = self.repository.owner_pid();
            owner = self
                .clients
                .iter()
                .find(|client| Some(client.pid()) == pid)
                .cloned();
            owner.is_some()
        });
        owner.expect("waited for")
    }
}

/// The least silence after which a bridge gives its owner up: what it refuses sooner, it refuses without need.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a bridge has said that it serves its client alone.
fn alone(bridge: &Client) -> usize {
    bridge
        .stderr()
        .matches("this client is served alone")
        .count()
}

/// Calls without pause until told to stop; every call is done, or refused by a bridge that was alone at that time: it has
/// said so since the last call that was done, and the first call that it refused had waited for as long as it may.
fn call_until(bridge: &Client, file: &str, stop: &AtomicBool) -> Vec<Answered> {
    let mut answered = Vec::new();
    let (mut said, mut was_refused) = (alone(bridge), false);
    while !stop.load(Ordering::Relaxed) {
        let id = bridge.next_id();
        let text = format!("{} {id}", bridge.name());
        let asked = Instant::now();
        bridge.send(&super::super::frames::request(
            &id,
            "tools/call",
            &super::super::frames::call(
                "conformance_keyed",
                &json!({ "file": file, "text": text }),
            ),
        ));
        let (when, answer) = bridge
            .inbox()
            .answer(&id, BOUND)
            .unwrap_or_else(|| panic!("{} got no answer to {id}", bridge.name()));
        let refused = checks::degraded(&answer).is_some()
            && answer["result"]["_meta"]["majordomus/code"] == "unavailable";
        if refused {
            let (name, waited) = (bridge.name(), when - asked);
            assert!(
                was_refused || waited >= PATIENCE,
                "{name} refused after {waited:?}: {answer}"
            );
            wait_for("the bridge says that it is alone", BOUND, || {
                was_refused || alone(bridge) > said
            });
        } else {
            checks::succeeded(&answer);
        }
        if was_refused && !refused {
            said = alone(bridge);
        }
        was_refused = refused;
        answered.push((text, id, when, !refused));
    }
    answered
}

/// The longest time between two answers that ends after `death` and starts not long after it.
fn silence(calls: &[Answered], death: Instant) -> Option<Duration> {
    let near = death + Duration::from_millis(200);
    calls
        .windows(2)
        .filter(|pair| pair[1].2 > death && pair[0].2 < near)
        .map(|pair| pair[1].2 - pair[0].2)
        .max()
}
