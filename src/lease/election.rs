//! The election as a pure step function: the result of the last system call in, the next system call out.
//!
//! The kernel's lock is the truth, the document is the sign on the door. Nothing in here waits, reads or writes: a *driver*
//! performs each [`Call`] on an [`Os`] and hands the [`Answer`] back. Production does that in [`attach`](crate::lease::attach);
//! `tests/model/main.rs` does it in every order that four processes, crashes and an `rm -rf` allow, on the same function.
//!
//! A *candidate* goes through these phases; `again` is a wait of 2 to 10 ms and a new look, until its time is over.
//!
//! | call | answer | next |
//! |---|---|---|
//! | read | ready, this checkout and scope | probe |
//! | | anything else | open lock |
//! | probe | proven | **attached** |
//! | | anything else, which proves nothing | open lock |
//! | open lock | open | try lock |
//! | | its folder vanished | again, or **alone** |
//! | | refused | **alone** |
//! | try lock | ours | test lock |
//! | | held, and the document is of this scope | let go, again, or **alone** |
//! | | held, and it is of another | move beside |
//! | | unusable | let go, lock elsewhere |
//! | move beside | not possible (all there is yet) | let go, again, or **alone** |
//! | test lock | a second open is refused | take name |
//! | | it is not | let go, lock elsewhere |
//! | lock elsewhere | ours | take name |
//! | | held | let go, again, or **alone** |
//! | | unusable | **alone** |
//! | take name | taken, or there are no such names | compare |
//! | | busy | let go, again, or **alone** |
//! | compare | same inode at the path | read again |
//! | | replaced | let go, open lock, or **alone** |
//! | read again | whatever it is | write `starting`, epoch + 1 |
//! | write | done | **elected** |
//! | | its folder vanished | let go, again, or **alone** |
//! | | refused | let go, **alone** |
//!
//! Once elected, [`Duty`] is what the owner does with its lease; see [`Tenure`].
//!
//! Invariants. I1: *elected* is reached only past an own lock that was compared with the path, and *admitting* asks
//! ([`Duty::Admit`]) again. I2: no answer of `read` or `read again` ends an election. Time is an argument, and decides only when
//! a candidate stops waiting, never that an owner is dead.
//!
//! Absent on purpose: ages, heartbeats, pid checks, breaking a lock, removing the lock file (ADR 0002).

mod os;
mod tenure;

pub use os::{
    Answer, Call, Compared, Locked, Moved, Named, Opened, Os, Sight, Writer, Written, perform,
};
pub use tenure::{Course, Duty, Leave, Tenure};

use super::document::{MAX_EPOCH, State};

/// Whether a candidate may go on waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Time {
    /// Its deadline is ahead.
    Left,
    /// Its deadline has passed.
    Over,
}

/// Why a candidate gave up for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Why {
    /// Somebody holds the lock, and no handshake succeeded.
    Held,
    /// Somebody holds the lock, and the document is of another boot or namespace.
    HeldElsewhere,
    /// The lock file cannot be opened.
    LockRefused,
    /// There is no lock that excludes anybody.
    NoLock,
    /// The document cannot be written.
    WriteRefused,
    /// The state folder vanished as often as it was made.
    Vanishing,
}

/// What a step leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Next {
    /// Perform this, and step with the answer.
    Call(Call),
    /// There is an owner, and it has taken us.
    Attached,
    /// We hold the lock, and the document says `starting` with this epoch.
    Elected {
        /// The epoch of this ownership, as far as the document knows.
        epoch: u64,
    },
    /// We hold nothing, and serve our own client until we try again.
    Alone(Why),
}

/// What follows `LetGo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Then {
    Wait,
    Open,
    Read,
    Elsewhere,
    Alone(Why),
}

/// One candidate's way through an election.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Election {
    asked: Call,
    then: Then,
    /// The document was of another scope when we last looked without the lock.
    foreign: bool,
}

impl Election {
    /// Starts an election; the first call is always a look at the document.
    #[must_use]
    pub fn begin() -> (Self, Next) {
        let start = Self {
            asked: Call::Read,
            then: Then::Wait,
            foreign: false,
        };
        (start, Next::Call(Call::Read))
    }

    /// Takes the answer to the call that was asked for, and returns what comes next.
    ///
    /// An answer that does not fit its call counts as the worst one: the candidate lets go.
    #[must_use]
    pub fn step(mut self, answer: Answer, time: Time) -> (Self, Next) {
        let next = match (self.asked, answer) {
            (Call::Read, Answer::Seen(sight)) => self.look(sight),
            (Call::Probe, Answer::Proven) => Next::Attached,
            (Call::Probe, _) => Next::Call(Call::OpenLock),

            (Call::OpenLock, Answer::Opened(Opened::Open)) => Next::Call(Call::TryLock),
            (Call::OpenLock, Answer::Opened(Opened::Vanished)) => match time {
                Time::Left => Next::Call(Call::Wait),
                Time::Over => Next::Alone(Why::Vanishing),
            },
            (Call::OpenLock, _) => Next::Alone(Why::LockRefused),

            (Call::TryLock, Answer::Locked(Locked::Ours)) => Next::Call(Call::TestLock),
            (Call::TryLock, Answer::Locked(Locked::Unusable)) => self.let_go(Then::Elsewhere),
            (Call::TryLock, Answer::Locked(Locked::Held)) if self.foreign => {
                Next::Call(Call::MoveBeside)
            }
            (Call::MoveBeside, Answer::Moved(Moved::Beside)) => self.let_go(Then::Read),
            (Call::TestLock, Answer::Locked(Locked::Ours)) => Next::Call(Call::TakeName),
            (Call::TestLock, Answer::Locked(_)) => self.let_go(Then::Elsewhere),
            (Call::LockElsewhere, Answer::Locked(Locked::Ours)) => Next::Call(Call::TakeName),
            (Call::LockElsewhere, Answer::Locked(Locked::Unusable)) => Next::Alone(Why::NoLock),
            (Call::TakeName, Answer::Named(Named::Taken | Named::Unusable)) => {
                Next::Call(Call::Compare)
            }
            (Call::TryLock | Call::MoveBeside | Call::LockElsewhere | Call::TakeName, _) => {
                let why = if self.foreign {
                    Why::HeldElsewhere
                } else {
                    Why::Held
                };
                self.again(time, Then::Wait, why)
            }

            (Call::Compare, Answer::Compared(Compared::Same)) => Next::Call(Call::ReadAgain),
            (Call::Compare, _) => self.again(time, Then::Open, Why::Vanishing),
            (Call::ReadAgain, Answer::Seen(sight)) => Next::Call(Call::Write {
                state: State::Starting,
                epoch: epoch_after(sight),
            }),
            (Call::Write { state: _, epoch }, Answer::Written(Written::Done)) => {
                Next::Elected { epoch }
            }
            (Call::Write { .. }, Answer::Written(Written::Vanished)) => {
                self.again(time, Then::Wait, Why::Vanishing)
            }
            (Call::Write { .. }, _) => self.let_go(Then::Alone(Why::WriteRefused)),

            (Call::LetGo, _) => match std::mem::replace(&mut self.then, Then::Wait) {
                Then::Wait => Next::Call(Call::Wait),
                Then::Open => Next::Call(Call::OpenLock),
                Then::Read => Next::Call(Call::Read),
                Then::Elsewhere => Next::Call(Call::LockElsewhere),
                Then::Alone(why) => Next::Alone(why),
            },
            (Call::Wait, _) => Next::Call(Call::Read),
            (Call::Read | Call::ReadAgain | Call::TestLock | Call::Remove, _) => {
                self.let_go(Then::Alone(Why::NoLock))
            }
        };
        if let Next::Call(call) = next {
            self.asked = call;
        }
        (self, next)
    }

    fn look(&mut self, sight: Sight) -> Next {
        self.foreign = matches!(
            sight,
            Sight::Sign {
                state: _,
                writer: Writer::OtherScope,
                epoch: _
            }
        );
        match sight {
            Sight::Sign {
                state: State::Ready,
                writer: Writer::Me | Writer::Neighbour,
                epoch: _,
            } => Next::Call(Call::Probe),
            Sight::Sign { .. } | Sight::Nothing => Next::Call(Call::OpenLock),
        }
    }

    fn again(&mut self, time: Time, then: Then, why: Why) -> Next {
        self.let_go(match time {
            Time::Left => then,
            Time::Over => Then::Alone(why),
        })
    }

    fn let_go(&mut self, then: Then) -> Next {
        self.then = then;
        Next::Call(Call::LetGo)
    }
}

/// The epoch grows along one checkout, over boots and namespaces; a copy starts anew.
fn epoch_after(sight: Sight) -> u64 {
    match sight {
        Sight::Sign {
            state: _,
            writer: Writer::Me | Writer::Neighbour | Writer::OtherScope,
            epoch,
        } => epoch.saturating_add(1).min(MAX_EPOCH),
        Sight::Sign { .. } | Sight::Nothing => 1,
    }
}

#[cfg(test)]
mod tests;
