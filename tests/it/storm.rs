//! Short forms of the rounds that `torture` runs at length.

use serde_json::json;

use crate::support::rounds::{Times, abort, chaos, faults, kill, mix, notes, storm};
use crate::support::{Client, Repository, checks, frames};

/// Guards I1.
#[test]
fn fifty_processes_at_once_have_one_owner_and_one_board() {
    for round in 0..2 {
        println!(
            "round {round}: everybody saw everybody after {:?}",
            storm::round(50)
        );
    }
}

/// Guards I1, I6: whatever the crowd costs, nobody is left without an answer.
#[test]
fn a_hundred_clients_at_once_are_all_answered() {
    let repository = Repository::new();
    let clients: Vec<Client> = (0..100)
        .map(|number| repository.client(&format!("client-{number}")))
        .collect();
    let opened: Vec<_> = clients
        .iter()
        .map(|client| {
            let opening = frames::initialize(client.name(), frames::LEGACY);
            client.begin("initialize", &opening)
        })
        .collect();
    let asked: Vec<Vec<_>> = clients
        .iter()
        .map(|client| {
            let call = |number| client.begin_call("conformance_echo", &json!({ "value": number }));
            (0..5).map(call).collect()
        })
        .collect();
    for ((client, opening), calls) in clients.iter().zip(opened).zip(asked) {
        checks::succeeded(&client.answer(&opening));
        for (number, id) in calls.iter().enumerate() {
            let answer = client.answer(id);
            checks::succeeded(&answer);
            assert_eq!(
                answer["result"]["structuredContent"]["value"], number,
                "{answer}"
            );
        }
    }
    for client in &clients {
        assert_eq!(
            client.inbox().total(),
            6,
            "one answer each for {}",
            client.name()
        );
    }
    if let Some(holders) = storm::lock_holders(&repository) {
        assert_eq!(holders, 1, "holders of the lock");
    }
}

/// Guards I6, I7.
#[test]
fn every_request_is_answered_once_and_takes_effect_once_when_owners_are_killed_under_load() {
    let mut room = kill::Room::open(20, 1);
    let (mut gaps, mut answered, mut refused) = (Times::default(), 0, 0);
    for number in 0..4 {
        let round = room.round(number);
        gaps.extend(round.gaps);
        answered += round.answered;
        refused += round.refused;
    }
    println!("{answered} requests done once, {refused} refused; gap {gaps}");
    assert!(answered > 100, "only {answered} requests: no load");
}

/// Guards I6.
#[test]
fn a_request_that_kills_its_host_takes_down_two_processes_at_most() {
    for _ in 0..2 {
        let round = abort::round(5);
        println!("{} processes died", round.died);
    }
}

/// Guards I1, I4, I5, I11.
#[test]
fn a_random_life_always_comes_back_to_one_owner_and_one_board() {
    let mut life = mix::Life::open(1);
    for _ in 0..12 {
        println!("{}", life.round());
    }
}

/// Guards I1, I5, I5b, I6.
#[test]
fn every_request_has_one_answer_and_one_effect_through_kills_freezes_and_removed_folders() {
    let mut chaos = chaos::Chaos::open(3);
    for number in 0..2 {
        println!("{:?}", chaos.round(number));
    }
}

/// Guards I6.
#[test]
fn a_note_is_written_and_published_once_whenever_its_owner_is_killed() {
    let mut room = notes::Room::open(2);
    let rounds: Vec<_> = (0..10).map(|number| room.round(number)).collect();
    room.close();
    println!("{}", notes::summary(&rounds));
}

/// Guards M1: no answer says more of a note than the remote holds at that moment, and no note is lost.
#[test]
fn what_is_said_of_a_note_is_true_whatever_fails() {
    let mut faults = faults::Faults::open(5, faults::Patience::None);
    for number in 0..15 {
        println!("{}", faults.round(number));
    }
    println!("{}", faults.close());
}
