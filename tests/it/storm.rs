//! Short forms of the rounds that `torture` runs at length.

use crate::support::rounds::{Times, abort, kill, mix, storm};

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
