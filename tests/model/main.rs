//! The lease, model-checked: the election's step function in every order that several processes and a hostile world allow.
//!
//! Under [stateright](https://docs.rs/stateright) run [`Election`](majordomus::lease::election::Election) and
//! [`Tenure`](majordomus::lease::election::Tenure) themselves, not a copy: production performs their calls on the kernel, and
//! here they are performed on a [`world`] of three facts (lock file, document, name), which are there once for each scope. Each call is atomic, calls of different
//! processes interleave freely, and at any moment a process may be killed, somebody may remove the lock file or the document,
//! an owner may leave or be demoted, a watchdog may release the lease of a host that hangs.
//!
//! What is held:
//! - *safety*: never two that admit, judged by the lock on the inode at the path alone, so that the document's check is a
//!   second defence and not a part of the proof; and, while nobody removed the lock file, never two that own at all (with the
//!   abstract name: not even then);
//! - *liveness*: from every state in which somebody lives, an admitting owner is reachable without any further crash, removal
//!   or watchdog. stateright's `eventually` ignores cycles, and waiting is a cycle, so this is reverse reachability over the
//!   explored graph ([`reach`]).
//!
//! A model that cannot fail proves nothing. Five *controls* must fail, and say in how many steps: an election by the document
//! (create, judge, unlink), unlinking the lock file on release, no inode check, no fence, no lock of the scope.
//!
//! Processes are interchangeable, so a state keeps them sorted: this folds up to 24 states into one. A process number in a
//! printed path is therefore a place in that order.
//!
//! Under `cargo test` the combinations of *all* faults run with three processes, and with four only those without hangs or
//! without removals; in two scopes they run with two processes, and with three only crashes do. The long form runs all of them
//! with four, and three (189,008 states and 1,555,169 steps for the largest of one scope, of states folded by up to 24):
//! `MAJORDOMUS_MODEL=full cargo test --test model -- --nocapture`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests, which clippy takes for production code"
)]

mod document_election;
mod reach;
mod world;

use stateright::{Checker as _, HasDiscoveries, Model as _};

use document_election::DocumentElection;
use world::{Faults, Fence, Lease, Rules};

/// Returns the first number if the environment asks for the long form, else the second.
fn long_or_short(long: u8, short: u8) -> u8 {
    if std::env::var_os("MAJORDOMUS_MODEL").is_some_and(|form| form == "full") {
        long
    } else {
        short
    }
}

/// Explores one model in full and holds every property of it.
#[track_caller]
fn holds(model: Lease) {
    let what = format!("{model:?}");
    let graph = reach::explore(&model);
    assert_eq!(graph.stuck(), 0, "{what}: no owner is reachable any more");
    let checker = model.checker().threads(2).spawn_bfs().join();
    checker.assert_properties();
    println!(
        "{what}: {} states, {} steps, depth {}",
        checker.unique_state_count(),
        graph.steps(),
        checker.max_depth(),
    );
}

/// Holds that a control breaks a property, and prints how.
#[track_caller]
fn breaks(model: Lease, property: &'static str) {
    let what = format!("{model:?}");
    let checker = model
        .checker()
        .finish_when(HasDiscoveries::AllOf([property].into()))
        .spawn_bfs()
        .join();
    let path = checker
        .discovery(property)
        .unwrap_or_else(|| panic!("{what}: the control does not fail"));
    let actions = path.into_actions();
    println!(
        "{what}: `{property}` breaks in {} steps: {actions:?}",
        actions.len()
    );
}

/// Everything that may go wrong, as often as the models allow it.
const ALL: Faults = Faults {
    crashes: 2,
    removals: 1,
    hangs: 1,
};

/// The rules of a system with abstract names.
const NAMED: Rules = Rules {
    names: true,
    ..Rules::OURS
};

/// Guards I1.
#[test]
fn never_two_admit_and_an_owner_is_always_reachable() {
    holds(Lease::new(4, Faults { hangs: 0, ..ALL }));
    holds(Lease::new(4, Faults { removals: 0, ..ALL }));
    holds(Lease::new(long_or_short(4, 3), ALL));
}

/// Guards I1.
#[test]
fn with_the_name_never_two_own_even_after_a_removal() {
    holds(Lease::new(4, Faults { hangs: 0, ..ALL }).under(NAMED));
    holds(Lease::new(4, Faults { removals: 0, ..ALL }).under(NAMED));
    holds(Lease::new(long_or_short(4, 3), ALL).under(NAMED));
}

/// Guards I1.
#[test]
fn the_name_alone_keeps_a_second_owner_out_where_locks_exclude_nobody() {
    let rules = Rules {
        locks_work: false,
        ..NAMED
    };
    holds(Lease::new(long_or_short(4, 3), Faults { hangs: 0, ..ALL }).under(rules));
}

/// Guards I1: on a file system without locks, one that lies outside it, and which no `rm -rf` of the folder touches.
#[test]
fn a_lock_elsewhere_keeps_a_second_owner_out_where_there_are_no_locks() {
    let rules = Rules {
        elsewhere: true,
        compares_inodes: false,
        fence: Fence::Lock,
        ..Rules::OURS
    };
    holds(Lease::new(4, Faults { hangs: 0, ..ALL }).under(rules));
    holds(Lease::new(long_or_short(4, 3), ALL).under(rules));
}

/// Guards I1.
#[test]
fn candidates_that_run_out_of_time_change_nothing() {
    let rules = Rules {
        deadlines: true,
        ..Rules::OURS
    };
    holds(Lease::new(long_or_short(4, 3), Faults { hangs: 0, ..ALL }).under(rules));
}

/// Guards I1: with and without abstract names, and where one scope does not see the other's locks.
#[test]
fn in_two_scopes_neither_ever_has_two_owners_and_each_can_have_one() {
    let hidden = Rules {
        hidden: true,
        ..NAMED
    };
    let crashes = |crashes| Faults {
        crashes,
        ..Faults::default()
    };
    let two = |processes, faults, rules| {
        holds(
            Lease::new(processes, faults)
                .in_second_scope(1)
                .under(rules),
        );
    };
    two(3, crashes(2), Rules::OURS);
    two(3, crashes(long_or_short(2, 1)), NAMED);
    let most = long_or_short(3, 2);
    two(most, crashes(2), hidden);
    for rules in [Rules::OURS, NAMED] {
        two(most, Faults { hangs: 0, ..ALL }, rules);
        two(most, Faults { removals: 0, ..ALL }, rules);
    }
}

/// Guards I1: where there are no locks, each scope has one outside the file system.
#[test]
fn in_two_scopes_without_file_locks_the_same_holds() {
    let rules = Rules {
        elsewhere: true,
        compares_inodes: false,
        fence: Fence::Lock,
        ..NAMED
    };
    let model = Lease::new(long_or_short(3, 2), Faults { hangs: 0, ..ALL });
    holds(model.in_second_scope(1).under(rules));
}

/// Guards I1: who takes the common lock beside an owner of its own scope must see that owner.
#[test]
fn control_without_its_scopes_lock_a_scope_has_two_owners() {
    let rules = Rules {
        locks_scope: false,
        ..Rules::OURS
    };
    let faults = Faults {
        crashes: 1,
        ..Faults::default()
    };
    let model = Lease::new(3, faults).in_second_scope(2);
    breaks(model.under(rules), world::ONE_ADMITS);
}

/// Guards I1.
#[test]
fn without_folding_the_same_holds() {
    for rules in [Rules::OURS, NAMED] {
        let rules = Rules {
            folds: false,
            deadlines: true,
            ..rules
        };
        let faults = Faults { crashes: 1, ..ALL };
        let hangs = long_or_short(1, 0);
        holds(Lease::new(2, Faults { hangs, ..faults }).under(rules));
    }
}

/// Guards I1.
#[test]
fn control_unlinking_the_lock_on_release_makes_two_owners() {
    let rules = Rules {
        release_unlinks: true,
        ..Rules::OURS
    };
    breaks(
        Lease::new(3, Faults::default()).under(rules),
        world::ONE_OWNS,
    );
}

/// Guards I1.
#[test]
fn control_without_inode_check_two_admit() {
    let rules = Rules {
        compares_inodes: false,
        fence: Fence::Lock,
        ..Rules::OURS
    };
    let faults = Faults {
        removals: 1,
        ..Faults::default()
    };
    breaks(Lease::new(2, faults).under(rules), world::ONE_ADMITS);
}

/// Guards I1 and I5.
#[test]
fn control_without_fence_two_admit_after_a_removal_and_after_a_hang() {
    let rules = Rules {
        fence: Fence::None,
        ..Rules::OURS
    };
    let removal = Faults {
        removals: 1,
        ..Faults::default()
    };
    let hang = Faults {
        hangs: 1,
        ..Faults::default()
    };
    for faults in [removal, hang] {
        breaks(Lease::new(2, faults).under(rules), world::ONE_ADMITS);
    }
}

/// Guards I1.
#[test]
fn control_an_election_by_the_document_makes_two_owners() {
    let control = DocumentElection { processes: 2 };
    let checker = control.checker().spawn_bfs().join();
    let path = checker
        .discovery("one owns")
        .expect("the control does not fail");
    let steps = path.into_actions();
    println!(
        "create, judge, unlink: two owners in {} steps: {steps:?}",
        steps.len()
    );
}
