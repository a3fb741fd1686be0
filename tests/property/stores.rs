//! Stores: registers are joined in any order with the same end, and a fleet that exchanges them at random loses nothing.

pub(crate) mod simulation;

use majordomus::stores::clock::{Device, Rank, Stamp};
use majordomus::stores::merge::State;
use majordomus::stores::registers::{Accessed, Edge, Ends, Insight, Payload, Register, Value};
use proptest::prelude::*;

use simulation::{Mutation, round};

fn stamp() -> impl Strategy<Value = Stamp> {
    (any::<bool>(), 0..3_u64, 0..2_u32, 0..3_u8).prop_map(|(edited, ms, count, device)| Stamp {
        rank: if edited { Rank::Edited } else { Rank::Adopted },
        ms,
        count,
        device: Device([device; 16]),
    })
}

fn register() -> impl Strategy<Value = Register> {
    (stamp(), 0..3_i64).prop_map(|(stamp, value)| Register {
        stamp,
        value: Value::Int(value),
    })
}

fn insight() -> impl Strategy<Value = Insight> {
    (
        prop::collection::btree_map("[ab]", register(), 0..3),
        prop::option::of(register()),
        prop::option::of(stamp()),
        0..3_u64,
        prop::collection::btree_map((0..3_u8).prop_map(|n| Device([n; 16])), 0..4_u64, 0..3),
        prop::option::of((0..3_u64).prop_map(|ms| Accessed(ms, ms.to_string()))),
    )
        .prop_map(
            |(columns, forgotten, restored, base, added, accessed)| Insight {
                columns,
                forgotten,
                restored,
                base,
                added,
                accessed,
            },
        )
}

fn state() -> impl Strategy<Value = State> {
    let ends = ("[xy]", "[xy]").prop_map(|(source, target)| Ends {
        source,
        target,
        kind: "semantic".to_owned(),
    });
    let payload = (0..2_i64).prop_map(|weight| Payload {
        weight: Value::Int(weight),
        metadata: Value::Null,
        created_at: String::new(),
    });
    let edge =
        (stamp(), prop::option::of(payload)).prop_map(|(stamp, payload)| Edge { stamp, payload });
    (
        prop::collection::btree_map("[xy]", insight(), 0..3),
        prop::collection::btree_map(ends, edge, 0..3),
    )
        .prop_map(|(insights, edges)| State { insights, edges })
}

fn joined(one: &State, other: &State) -> State {
    let mut all = one.clone();
    all.join(other);
    all
}

proptest! {
    #[test]
    fn stores_are_joined_in_any_order_and_any_number_of_times(a in state(), b in state(), c in state()) {
        prop_assert_eq!(joined(&a, &b), joined(&b, &a));
        prop_assert_eq!(joined(&joined(&a, &b), &c), joined(&a, &joined(&b, &c)));
        let both = joined(&a, &b);
        prop_assert_eq!(&joined(&both, &b), &both);
        let mut again = both;
        prop_assert!(!again.join(&a), "a join that changes nothing says so");
    }

    #[test]
    fn registers_of_stores_are_written_as_they_are_read(insight in insight()) {
        let text = serde_json::to_string(&insight).unwrap();
        prop_assert_eq!(serde_json::from_str::<Insight>(&text).unwrap(), insight);
    }
}

#[test]
fn a_fleet_that_exchanges_stores_at_random_agrees_and_loses_nothing() {
    for seed in 0..200 {
        if let Err(broken) = round(seed, None) {
            panic!("seed {seed}: {broken}");
        }
    }
}

/// The simulation would notice: each of these merges is wrong in a way that has been shipped somewhere.
#[test]
fn every_mutation_of_the_merge_of_stores_is_caught() {
    for mutation in Mutation::ALL {
        let caught = (0..200).find_map(|seed| round(seed, Some(mutation)).err());
        let broken = caught.unwrap_or_else(|| panic!("{mutation:?} is not noticed"));
        println!("{mutation:?}: {broken}");
    }
}
