//! The step functions under answers of every kind, fitting or not. `tests/model/main.rs` has them in every order.

use proptest::prelude::*;

use super::{
    Answer, Call, Compared, Course, Duty, Election, Files, Leave, Locked, MAX_EPOCH, Named, Next,
    Opened, Sight, State, Tenure, Time, Why, Writer, Written,
};

const fn seen(state: State, writer: Writer, epoch: u64) -> Answer {
    Answer::Seen(Sight::Sign {
        state,
        writer,
        epoch,
    })
}

/// Answers one call after the other; returns every call and the end.
fn run(answers: &[Answer], time: Time) -> (Vec<Call>, Next) {
    let (mut election, mut next) = Election::begin();
    let mut calls = Vec::new();
    for &answer in answers {
        let Next::Call(call) = next else {
            panic!("ended after {calls:?}")
        };
        calls.push(call);
        (election, next) = election.step(answer, time);
    }
    (calls, next)
}

const NOTHING: Answer = Answer::Seen(Sight::Nothing);
const OPEN: Answer = Answer::Opened(Opened::Open);
const OURS: Answer = Answer::Locked(Locked::Ours);
const HELD: Answer = Answer::Locked(Locked::Held);
const TAKEN: Answer = Answer::Named(Named::Taken);
const BUSY: Answer = Answer::Named(Named::Busy);
const FOREIGN: Answer = seen(State::Ready, Writer::OtherScope, 1);
const SAME: Answer = Answer::Compared(Compared::Same);
const WRITTEN: Answer = Answer::Written(Written::Done);
const READY: State = State::Ready;

#[test]
fn the_epoch_follows_the_checkout_over_boots_and_never_overflows() {
    for (sight, epoch) in [
        (NOTHING, 1),
        (seen(READY, Writer::Neighbour, 7), 8),
        (seen(State::Draining, Writer::OtherScope, 7), 8),
        (seen(READY, Writer::OtherScope, 7), 8),
        (seen(READY, Writer::OtherCheckout, 7), 1),
        (seen(READY, Writer::Neighbour, MAX_EPOCH), MAX_EPOCH),
        (seen(READY, Writer::Neighbour, u64::MAX), MAX_EPOCH),
    ] {
        let answers = [NOTHING, OPEN, OURS, OURS, TAKEN, OURS, SAME, sight, WRITTEN];
        let (calls, end) = run(&answers, Time::Left);
        assert_eq!(end, Next::Elected { epoch });
        assert_eq!(calls.len(), 9);
    }
}

/// Guards I1.
#[test]
fn only_a_ready_document_of_this_checkout_and_scope_is_probed() {
    for (sight, next) in [
        (seen(READY, Writer::Neighbour, 1), Call::Probe),
        (seen(State::Starting, Writer::Neighbour, 1), Call::OpenLock),
        (seen(State::Draining, Writer::Neighbour, 1), Call::OpenLock),
        (seen(READY, Writer::OtherScope, 1), Call::OpenLock),
        (seen(READY, Writer::OtherCheckout, 1), Call::OpenLock),
        (NOTHING, Call::OpenLock),
    ] {
        assert_eq!(run(&[sight], Time::Over).1, Next::Call(next), "{sight:?}");
    }
    let (_, failed) = run(
        &[seen(READY, Writer::Neighbour, 1), Answer::Unproven],
        Time::Over,
    );
    assert_eq!(failed, Next::Call(Call::OpenLock));
}

/// Guards I3.
#[test]
fn what_cannot_be_shared_ends_alone_with_its_reason_and_nothing_held() {
    let unusable = Answer::Locked(Locked::Unusable);
    let done = Answer::Done;
    let refused = Answer::Written(Written::Refused);
    let cases: [(&[Answer], Why); 9] = [
        (
            &[NOTHING, Answer::Opened(Opened::Refused)],
            Why::LockRefused,
        ),
        (&[NOTHING, Answer::Opened(Opened::Vanished)], Why::Vanishing),
        (&[NOTHING, OPEN, HELD, done], Why::Held),
        (
            &[FOREIGN, OPEN, HELD, done, NOTHING, OPEN, HELD, done],
            Why::Held,
        ),
        (
            &[NOTHING, OPEN, OURS, OURS, BUSY, done, NOTHING, done],
            Why::Held,
        ),
        (
            &[NOTHING, OPEN, OURS, OURS, TAKEN, unusable, done],
            Why::LockRefused,
        ),
        (&[NOTHING, OPEN, unusable, done, unusable], Why::NoLock),
        (
            &[NOTHING, OPEN, OURS, unusable, done, unusable],
            Why::NoLock,
        ),
        (
            &[
                NOTHING, OPEN, OURS, OURS, TAKEN, OURS, SAME, NOTHING, refused, done,
            ],
            Why::WriteRefused,
        ),
    ];
    for (answers, why) in cases {
        assert_eq!(run(answers, Time::Over).1, Next::Alone(why), "{answers:?}");
    }
}

/// Guards I1: how a candidate comes to its scope's files, and how it comes back from there.
#[test]
fn beside_is_gone_by_who_met_another_scope_twice_and_looked_at_by_who_met_its_own() {
    let (common, scope) = (Call::Read(Files::Common), Call::Read(Files::Scope));
    let done = Answer::Done;
    let way = |answers: &[Answer]| run(answers, Time::Left).1;
    let first = [FOREIGN, OPEN, HELD, done, done];
    assert_eq!(way(&first), Next::Call(common), "the first time it waits");
    let second = [&first[..], &[FOREIGN, OPEN, HELD, done]].concat();
    assert_eq!(way(&second), Next::Call(scope));
    let held = [&second[..], &[NOTHING, OPEN, HELD, done, done]].concat();
    assert_eq!(way(&held), Next::Call(common), "back after each wait");
    let beside = [
        &second[..],
        &[
            NOTHING, OPEN, OURS, OURS, TAKEN, OURS, SAME, NOTHING, WRITTEN,
        ],
    ]
    .concat();
    assert_eq!(way(&beside), Next::Elected { epoch: 1 });

    for looks in [
        &[FOREIGN, OPEN, OURS, OURS, BUSY, done][..],
        &[FOREIGN, OPEN, OURS, OURS, TAKEN, HELD, done],
    ] {
        assert_eq!(way(looks), Next::Call(scope), "{looks:?}");
        let found = [looks, &[seen(READY, Writer::Neighbour, 1), Answer::Proven]].concat();
        assert_eq!(way(&found), Next::Attached);
        for nobody in [
            &[NOTHING, done, done][..],
            &[
                seen(READY, Writer::Neighbour, 1),
                Answer::Unproven,
                done,
                done,
            ],
        ] {
            let back = [looks, nobody].concat();
            assert_eq!(
                way(&back),
                Next::Call(common),
                "it takes no lock: {nobody:?}"
            );
        }
    }

    let hidden = seen(READY, Writer::OutOfSight, 4);
    let taken = [hidden, OPEN, OURS, OURS, TAKEN, OURS, SAME, hidden];
    assert_eq!(way(&taken), Next::Call(Call::LetGo));
    assert_eq!(way(&[&taken[..], &[done]].concat()), Next::Call(scope));
}

/// Every kind of answer once, and a few that fit no call or come too high.
const ANSWERS: [Answer; 22] = [
    NOTHING,
    seen(State::Starting, Writer::Neighbour, 1),
    seen(READY, Writer::Me, 2),
    seen(READY, Writer::Neighbour, MAX_EPOCH),
    seen(State::Draining, Writer::OtherScope, u64::MAX),
    seen(READY, Writer::OtherCheckout, 0),
    Answer::Proven,
    Answer::Unproven,
    OPEN,
    Answer::Opened(Opened::Vanished),
    Answer::Opened(Opened::Refused),
    OURS,
    HELD,
    Answer::Locked(Locked::Unusable),
    seen(READY, Writer::OutOfSight, 3),
    TAKEN,
    BUSY,
    Answer::Named(Named::Unusable),
    SAME,
    Answer::Compared(Compared::Replaced),
    WRITTEN,
    Answer::Done,
];

/// Returns an answer that fits `call` most of the time, and one of any kind at the highest dice.
fn answer(call: Call, dice: u8) -> Answer {
    let fits = |answer: &&Answer| {
        matches!(
            (call, answer),
            (Call::Read(_) | Call::ReadAgain, Answer::Seen(_))
                | (Call::Probe, Answer::Proven | Answer::Unproven)
                | (Call::OpenLock, Answer::Opened(_))
                | (
                    Call::TryLock | Call::TestLock | Call::LockElsewhere | Call::LockScope,
                    Answer::Locked(_)
                )
                | (Call::TakeName, Answer::Named(_))
                | (Call::Compare, Answer::Compared(_))
                | (Call::Write { .. }, Answer::Written(_))
                | (Call::Remove | Call::LetGo | Call::Wait, Answer::Done)
        )
    };
    let fitting: Vec<_> = ANSWERS.iter().filter(fits).collect();
    if dice > 240 {
        ANSWERS[usize::from(dice) % ANSWERS.len()]
    } else {
        *fitting[usize::from(dice) % fitting.len()]
    }
}

proptest! {
    /// Guards I1.
    #[test]
    fn nobody_is_elected_but_past_an_own_lock_that_was_compared(
        script in prop::collection::vec(any::<u8>(), 60),
        late in any::<bool>(),
    ) {
        let (mut election, mut next) = Election::begin();
        let (mut open, mut locked, mut compared, mut written) = (false, false, false, false);
        for dice in script {
            let Next::Call(call) = next else { break };
            let answer = answer(call, dice);
            match (call, answer) {
                (Call::OpenLock, OPEN) => open = true,
                (Call::TryLock | Call::LockElsewhere, OURS) => locked = true,
                (Call::Compare, SAME) => compared = locked,
                (Call::Write { .. }, WRITTEN) => written = compared,
                (Call::LetGo, _) => (open, locked, compared, written) = (false, false, false, false),
                _ => {}
            }
            let time = if late { Time::Over } else { Time::Left };
            (election, next) = election.step(answer, time);
        }
        match next {
            Next::Elected { epoch } => {
                prop_assert!(written, "elected without a lock");
                prop_assert!((1..=MAX_EPOCH).contains(&epoch));
            }
            Next::Attached | Next::Alone(_) => prop_assert!(!open && !locked, "left holding a lock"),
            Next::Call(_) => {}
        }
    }

    /// Guards I4.
    #[test]
    fn a_release_always_ends_by_letting_go(script in prop::collection::vec(any::<u8>(), 8), draining in any::<bool>()) {
        let leave = if draining { Leave::Draining } else { Leave::Nothing };
        let (mut tenure, mut course) = Tenure::begin(Duty::Release(leave, 3));
        let mut calls = Vec::new();
        for dice in script {
            let Course::Call(call) = course else { break };
            calls.push(call);
            (tenure, course) = tenure.step(answer(call, dice));
        }
        prop_assert_eq!(course, Course::Fulfilled);
        prop_assert_eq!(calls.last(), Some(&Call::LetGo));
    }

    /// Guards I1.
    #[test]
    fn an_owner_writes_and_admits_only_past_both_looks(script in prop::collection::vec(any::<u8>(), 8), admits in any::<bool>()) {
        let duty = if admits { Duty::Admit } else { Duty::Say(READY, 3) };
        let (mut tenure, mut course) = Tenure::begin(duty);
        let (mut same, mut mine) = (false, false);
        for dice in script {
            let Course::Call(call) = course else { break };
            let writes = matches!(call, Call::Write { .. } | Call::Remove);
            prop_assert!(!writes || (same && mine));
            let answer = answer(call, dice);
            same |= (call, answer) == (Call::Compare, SAME);
            mine |= (call, answer) == (Call::ReadAgain, seen(READY, Writer::Me, 2));
            (tenure, course) = tenure.step(answer);
        }
        prop_assert!(course != Course::Fulfilled || (same && mine));
    }
}
