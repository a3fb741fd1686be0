//! Random life: clients come, leave in order, are killed, frozen and woken, and the state folder is removed; after
//! each act everybody who lives is served by one owner.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::json;

use super::super::random::Random;
use super::super::{BOUND, Client, Repository, checks, wait_for};

/// The room and its generator.
pub(crate) struct Life {
    repository: Repository,
    clients: Vec<Client>,
    random: Random,
    started: usize,
}

/// How many clients there are at least and at most.
const ROOM: std::ops::Range<usize> = 2..9;

impl Life {
    /// A room with a few clients.
    pub(crate) fn open(seed: u64) -> Self {
        let mut life = Self {
            repository: Repository::new(),
            clients: Vec::new(),
            random: Random::new(seed),
            started: 0,
        };
        for _ in 0..4 {
            life.come();
        }
        life
    }

    fn come(&mut self) {
        let name = format!("life-{}", self.started);
        self.started += 1;
        self.clients.push(self.repository.attached(&name));
    }

    /// One act, then the claims; returns the act's name.
    #[track_caller]
    pub(crate) fn round(&mut self) -> &'static str {
        let full = self.clients.len() >= ROOM.end;
        let low = self.clients.len() <= ROOM.start;
        let act = match self.random.below(8) {
            _ if low => "come",
            0 | 1 if !full => "come",
            0..=2 => "leave",
            3 => "kill the owner",
            4 => "kill somebody",
            5 => "terminate the owner",
            6 => "freeze and wake the owner",
            _ => "remove the state folder",
        };
        match act {
            "come" => self.come(),
            "leave" => {
                let client = self.take_any();
                client.close();
                client.exit();
            }
            "kill the owner" => self.take_owner().kill(),
            "kill somebody" => self.take_any().kill(),
            "terminate the owner" => {
                let client = self.take_owner();
                client.signal(Signal::SIGTERM);
                client.exit();
            }
            "freeze and wake the owner" => {
                let owner = self.take_owner();
                owner.signal(Signal::SIGSTOP);
                let other = &self.clients[0];
                let id = other.begin_call("majordomus_peers", &json!({}));
                other.answer(&id);
                owner.signal(Signal::SIGCONT);
                self.clients.push(owner);
            }
            _ => drop(fs::remove_dir_all(self.repository.root().join(".ai/local"))),
        }
        self.check(act);
        act
    }

    fn take_any(&mut self) -> Client {
        let index = self.random.below(self.clients.len());
        self.clients.swap_remove(index)
    }

    fn take_owner(&mut self) -> Client {
        let mut index = 0;
        wait_for("an owner among the clients", BOUND, || {
            let pid = self.repository.owner_pid();
            self.clients
                .iter()
                .position(|client| Some(client.pid()) == pid)
                .is_some_and(|found| {
                    index = found;
                    true
                })
        });
        self.clients.swap_remove(index)
    }

    #[track_caller]
    fn check(&self, act: &str) {
        let mut names: Vec<String> = self
            .clients
            .iter()
            .map(|client| client.name().to_owned())
            .collect();
        names.sort();
        for client in &self.clients {
            wait_for(
                &format!("one board for {} after: {act}", client.name()),
                2 * BOUND,
                || {
                    let answer = client.call("majordomus_peers", &json!({}));
                    checks::attached(&answer["result"]["structuredContent"]) == names
                },
            );
        }
        let owner = self
            .repository
            .ready_when("an owner among the clients", |lease| {
                self.clients
                    .iter()
                    .any(|client| lease["pid"] == client.pid())
            });
        if let Some(holders) = super::storm::lock_holders(&self.repository) {
            assert_eq!(
                holders, 1,
                "holders of the lock after: {act}; document {owner}"
            );
        }
    }
}
