//! The long forms: `cargo test --test torture -- [SCENARIO]... [--rounds N] [--seed N] [--jitter MS]`.
//!
//! `load` has a size in place of rounds: `--bridges N --sessions N --seconds N`, and `--binary PATH` for another build.
//!
//! `--jitter` pauses for up to that long between any two system calls of an election; it needs `--features failpoints`.
//! Each scenario runs its rounds with a generator seeded by `--seed`, prints what it measured as lines fit for
//! `docs/PROOF.md`, and fails the run at the first broken promise, whose round is printed before. Without arguments it
//! runs a short form of everything. A word that is no scenario selects nothing, so that `cargo test WORD` passes by.
//!
//! Deliberately absent: a verdict on speed. The aims stand beside the numbers.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a round fails by panicking, and the numbers go to stdout"
)]

#[path = "../it/support/mod.rs"]
#[expect(
    dead_code,
    reason = "the rounds use a part of what the scenarios of `it` use"
)]
#[expect(
    unused_imports,
    reason = "the rounds use a part of what the scenarios of `it` use"
)]
mod support;

mod load;

#[path = "../property/stores/simulation.rs"]
#[expect(dead_code, reason = "the mutations are for the properties")]
mod simulation;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

use support::random::Random;
use support::rounds::{Times, abort, chaos, faults, kill, merge, mix, notes, storm};

/// What was asked for.
struct Asked {
    rounds: usize,
    load: load::Size,
}

/// A named series of rounds.
struct Scenario {
    name: &'static str,
    promise: &'static str,
    /// Rounds when none are asked for.
    short: usize,
    run: fn(&Asked, u64) -> String,
}

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "storm",
        promise: "50 processes started at the same instant: one owner each round, everybody on one board",
        short: 2,
        run: |&Asked { rounds, .. }, _| {
            let mut times = Times::default();
            for round in 0..rounds {
                progress("storm", round, rounds);
                times.extend([storm::round(50)]);
            }
            format!("until everybody saw everybody: {times}")
        },
    },
    Scenario {
        name: "kill",
        promise: "kill -9 of the owner while 20 bridges call without pause: every request answered and done once",
        short: 4,
        run: |&Asked { rounds, .. }, seed| {
            let mut room = kill::Room::open(20, seed);
            let (mut gaps, mut answered, mut refused) = (Times::default(), 0, 0);
            for round in 0..rounds {
                progress("kill", round, rounds);
                let result = room.round(round);
                gaps.extend(result.gaps);
                answered += result.answered;
                refused += result.refused;
            }
            format!(
                "{answered} requests done and answered once each, {refused} refused for want of an owner; gap {gaps} (aim: p99 50 ms)"
            )
        },
    },
    Scenario {
        name: "abort",
        promise: "a request that kills its host takes down two processes at most",
        short: 2,
        run: |&Asked { rounds, .. }, _| {
            let mut most = 0;
            for round in 0..rounds {
                progress("abort", round, rounds);
                most = most.max(abort::round(6).died);
            }
            format!("at most {most} processes died in a round")
        },
    },
    Scenario {
        name: "mix",
        promise: "clients come, leave, are killed and frozen, the state folder is removed: always one owner, one board",
        short: 15,
        run: |&Asked { rounds, .. }, seed| {
            let mut life = mix::Life::open(seed);
            let mut acts = std::collections::BTreeMap::<&str, usize>::new();
            for round in 0..rounds {
                progress("mix", round, rounds);
                *acts.entry(life.round()).or_default() += 1;
            }
            acts.iter()
                .map(|(act, count)| format!("{act} {count}"))
                .collect::<Vec<_>>()
                .join(", ")
        },
    },
    Scenario {
        name: "chaos",
        promise: "eight processes call without pause through kills, freezes and removed folders: each request answered once, done once at most, and one owner in the end",
        short: 4,
        run: |&Asked { rounds, .. }, seed| {
            let mut chaos = chaos::Chaos::open(seed);
            let mut total = chaos::Round::default();
            for number in 0..rounds {
                progress("chaos", number, rounds);
                let round = chaos.round(number);
                total.done += round.done;
                total.refused += round.refused;
                total.unanswered += round.unanswered;
                for (act, count) in round.acts {
                    *total.acts.entry(act).or_default() += count;
                }
            }
            let acts = total
                .acts
                .iter()
                .map(|(act, count)| format!("{act} {count}"));
            format!(
                "{} requests done, {} refused or done alone, {} of killed clients; {}",
                total.done,
                total.refused,
                total.unanswered,
                acts.collect::<Vec<_>>().join(", ")
            )
        },
    },
    Scenario {
        name: "notes",
        promise: "kill -9 of the owner at any moment of a write of a note: one answer, one commit, published once",
        short: 6,
        run: |&Asked { rounds, .. }, seed| {
            let mut room = notes::Room::open(seed);
            let mut all = Vec::new();
            for round in 0..rounds {
                progress("notes", round, rounds);
                all.push(room.round(round));
            }
            room.close();
            notes::summary(&all)
        },
    },
    Scenario {
        name: "faults",
        promise: "notes are written while remote, disk and processes fail: no answer says more than the remote holds, and in the end it holds all of them once",
        short: 10,
        run: |&Asked { rounds, .. }, seed| {
            let is_long = rounds > 10;
            let patience = if is_long {
                faults::Patience::Full
            } else {
                faults::Patience::None
            };
            let mut faults = faults::Faults::open(seed, patience);
            for round in 0..rounds {
                progress("faults", round, rounds);
                faults.round(round);
            }
            faults.close()
        },
    },
    Scenario {
        name: "stores",
        promise: "two to five devices merge stores with skewed clocks, loss, repetition, deaths and restored backups: equal registers, exact counts, no forget lost",
        short: 1000,
        run: |&Asked { rounds, .. }, seed| {
            for round in 0..rounds {
                let own = seed.wrapping_add(round as u64);
                if let Err(broken) = simulation::round(own, None) {
                    panic!("round {round}: {broken}");
                }
            }
            format!("{rounds} schedules converged")
        },
    },
    Scenario {
        name: "merge",
        promise: "two real stores are written to at random while syncs come, go and are killed: the same stands in both afterwards",
        short: 20,
        run: |&Asked { rounds, .. }, seed| {
            let mut killed = 0;
            for number in 0..rounds {
                progress("merge", number, rounds);
                killed += merge::round(seed.wrapping_add(number as u64));
            }
            format!("{killed} syncs were killed")
        },
    },
    Scenario {
        name: "load",
        promise: "many bridges and HTTP sessions on one owner: everybody who reads is answered once, whoever does not read costs the others nothing, memory and descriptors stay as they are",
        short: 1,
        run: |asked, seed| load::run(&asked.load, seed),
    },
];

fn main() -> ExitCode {
    let (mut rounds, mut seed, mut chosen) = (None, 7, Vec::new());
    let mut load = load::Size::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let number = |value: Option<String>| value.and_then(|text| text.parse::<u64>().ok());
        let count = |value| number(value).and_then(|number| usize::try_from(number).ok());
        match argument.as_str() {
            "--rounds" => rounds = count(arguments.next()),
            "--jitter" if !cfg!(feature = "failpoints") => {
                eprintln!("--jitter needs `cargo test --features failpoints`");
                return ExitCode::from(2);
            }
            "--jitter" => {
                let milliseconds = number(arguments.next()).unwrap_or(5);
                support::launch::JITTER.get_or_init(|| milliseconds);
            }
            "--bridges" => load.bridges = count(arguments.next()).unwrap_or(load.bridges),
            "--sessions" => load.sessions = count(arguments.next()).unwrap_or(load.sessions),
            "--seconds" => load.seconds = number(arguments.next()).unwrap_or(load.seconds),
            "--binary" => {
                // The processes start in folders of their own.
                let given = arguments.next().map(std::path::absolute);
                load.binary = given.map(|path| path.expect("a path"));
            }
            "--seed" => seed = number(arguments.next()).unwrap_or(seed),
            // What cargo passes to every test binary.
            "--list" => return ExitCode::SUCCESS,
            flag if flag.starts_with("--") => {}
            name => chosen.push(name.to_owned()),
        }
    }
    let mut code = ExitCode::SUCCESS;
    for scenario in SCENARIOS {
        if !chosen.is_empty() && !chosen.iter().any(|name| name == scenario.name) {
            continue;
        }
        let rounds = rounds.unwrap_or(scenario.short);
        let asked = Asked {
            rounds,
            load: load.clone(),
        };
        let own_seed = Random::new(seed).next();
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| (scenario.run)(&asked, own_seed)));
        let head = format!("{} --rounds {rounds} --seed {seed}", scenario.name);
        if let Ok(line) = result {
            let seconds = start.elapsed().as_secs_f64();
            println!("ok   {head}: {}. {line}. {seconds:.1} s", scenario.promise);
        } else {
            println!("FAIL {head}: {}", scenario.promise);
            code = ExitCode::FAILURE;
        }
    }
    code
}

/// Says which round runs, so that a failure names it.
fn progress(name: &str, round: usize, rounds: usize) {
    if round.is_multiple_of(10) {
        eprintln!("{name}: round {round} of {rounds}");
    }
}
