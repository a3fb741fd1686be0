//! What an owner does with its lease, as a pure step function like the election itself.

use super::{Answer, Call, Compared, Sight, Writer, Written};
use crate::lease::document::State;

/// What stays in the document's place when an owner leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Leave {
    /// The document, `draining`: bridges are attached, and the successor wants epoch and port.
    Draining,
    /// Nothing.
    Nothing,
}

/// What an owner does with its lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Duty {
    /// Ask whether a session or command may be admitted now.
    Admit,
    /// Write the document with this state and epoch.
    Say(State, u64),
    /// Leave the document as it should be left (the epoch is for `draining`), and give everything up.
    Release(Leave, u64),
}

/// What a duty leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Course {
    /// Perform this, and step with the answer.
    Call(Call),
    /// Done as intended; for [`Duty::Admit`]: admit.
    Fulfilled,
    /// The lock file or the document is no longer ours: stop admitting, drain, go on as a bridge.
    Lost,
    /// The document cannot be written.
    Refused,
}

/// An owner at one duty: compare the lock, read the document, and only if both are its own, act.
///
/// | duty | both ours | else |
/// |---|---|---|
/// | admit | fulfilled | lost |
/// | say | write | lost |
/// | release | write `draining` unless it says so, or remove; then let go | let go |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenure {
    duty: Duty,
    asked: Call,
}

impl Tenure {
    /// Starts a duty; the first call is always the comparison.
    #[must_use]
    pub fn begin(duty: Duty) -> (Self, Course) {
        let asked = Call::Compare;
        (Self { duty, asked }, Course::Call(asked))
    }

    /// Takes the answer to the call that was asked for, and returns what comes next.
    #[must_use]
    pub fn step(mut self, answer: Answer) -> (Self, Course) {
        let course = match (self.asked, answer) {
            (Call::Compare, Answer::Compared(Compared::Same)) => Course::Call(Call::ReadAgain),
            (
                Call::ReadAgain,
                Answer::Seen(Sight::Sign {
                    state: seen,
                    writer: Writer::Me,
                    epoch: _,
                }),
            ) => match self.duty {
                Duty::Admit => Course::Fulfilled,
                Duty::Say(state, epoch) => Course::Call(Call::Write { state, epoch }),
                Duty::Release(Leave::Draining, _) if seen == State::Draining => {
                    Course::Call(Call::LetGo)
                }
                Duty::Release(Leave::Draining, epoch) => Course::Call(Call::Write {
                    state: State::Draining,
                    epoch,
                }),
                Duty::Release(Leave::Nothing, _) => Course::Call(Call::Remove),
            },
            (Call::LetGo, _) => Course::Fulfilled,
            (asked, answer) => match self.duty {
                Duty::Release(..) => Course::Call(Call::LetGo),
                Duty::Admit => Course::Lost,
                Duty::Say(..) => match (asked, answer) {
                    (Call::Write { .. }, Answer::Written(Written::Done)) => Course::Fulfilled,
                    (Call::Write { .. }, Answer::Written(Written::Refused)) => Course::Refused,
                    _ => Course::Lost,
                },
            },
        };
        if let Course::Call(call) = course {
            self.asked = call;
        }
        (self, course)
    }
}
