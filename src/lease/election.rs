//! The election as a pure step function: the result of the last system call in, the next system call out.
//!
//! The kernel's lock is the truth, the document is the sign on the door. Nothing in here waits, reads or writes: a *driver*
//! performs each [`Call`] on an [`Os`] and hands the [`Answer`] back. Production does that in [`attach`](crate::lease::attach);
//! `tests/model/main.rs` does it in every order that four processes, crashes and an `rm -rf` allow, on the same function.
//!
//! A *candidate* begins at the common files and goes through these phases. `again` is to let go, wait 2 to 10 ms and begin anew
//! at the common files, until its time is over: then it is **alone**. *Beside* is to let go and begin anew at the files of our
//! own scope, *look* is to read and probe there, and then to do it again.
//!
//! | call | answer | next |
//! |---|---|---|
//! | read | ready, this checkout and scope | probe |
//! | | anything else | open lock; a look: again |
//! | probe | proven | **attached** |
//! | | anything else, which proves nothing | open lock; a look: again |
//! | open lock | open | try lock |
//! | | its folder vanished | again |
//! | | refused | **alone** |
//! | try lock | ours | test lock |
//! | | held, and the common document is of another scope | again; the second time, or when time is over: beside |
//! | | held | again |
//! | | unusable | let go, lock elsewhere |
//! | test lock | a second open is refused | take name |
//! | | it is not | let go, lock elsewhere |
//! | lock elsewhere | ours | take name |
//! | | held | look; beside: again |
//! | | unusable | **alone** |
//! | take name | taken, or there are no such names | lock scope |
//! | | busy | look; beside: again |
//! | lock scope | ours, or there is none to take | compare |
//! | | held | look; beside: again |
//! | | unusable | let go, **alone** |
//! | compare | same inode at the path | read again |
//! | | replaced | let go, open lock, or **alone** |
//! | read again | the common document, of somebody who may live where our lock does not reach | beside |
//! | | whatever else it is | write `starting`, epoch + 1 |
//! | write | done | **elected** |
//! | | its folder vanished | again |
//! | | refused | let go, **alone** |
//!
//! Once elected, [`Duty`] is what the owner does with its lease; see [`Tenure`].
//!
//! Invariants. I1: *elected* is reached only past an own lock that was compared with the path, and *admitting* asks
//! ([`Duty::Admit`]) again; each scope's owner holds that scope's name or lock file besides, wherever its files are (ADR 0012).
//! I2: no answer of `read` or `read again` ends an election. Time is an argument, and decides only when
//! a candidate stops waiting, never that an owner is dead.
//!
//! Absent on purpose: ages, heartbeats, pid checks, breaking a lock, removing the lock file (ADR 0002).

mod os;
mod tenure;

pub use os::{Answer, Call, Compared, Locked, Named, Opened, Os, Sight, Writer, Written, perform};
pub use tenure::{Course, Duty, Leave, Tenure};

use super::document::{MAX_EPOCH, State};
use crate::floor::paths::Files;

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
    Elsewhere,
    Beside,
    Look,
    Alone(Why),
}

/// Where a candidate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Place {
    /// At the common files.
    Common,
    /// At its scope's files, to own there.
    Beside,
    /// At its scope's files, only to find an owner.
    Looks,
}

/// One candidate's way through an election.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Election {
    asked: Call,
    then: Then,
    place: Place,
    /// The document was of another scope when we last looked without the lock.
    foreign: bool,
    /// The common lock was held under such a document once.
    warned: bool,
}

impl Election {
    /// Starts an election; the first call is always a look at the document.
    #[must_use]
    pub fn begin() -> (Self, Next) {
        let asked = Call::Read(Files::Common);
        let start = Self {
            asked,
            then: Then::Wait,
            place: Place::Common,
            foreign: false,
            warned: false,
        };
        (start, Next::Call(asked))
    }

    /// Takes the answer to the call that was asked for, and returns what comes next.
    ///
    /// An answer that does not fit its call counts as the worst one: the candidate lets go.
    #[must_use]
    pub fn step(mut self, answer: Answer, time: Time) -> (Self, Next) {
        let next = match (self.asked, answer) {
            (Call::Read(_), Answer::Seen(sight)) => self.look(sight, time),
            (Call::Probe, Answer::Proven) => Next::Attached,
            (Call::Probe, _) => self.claim(time),

            (Call::OpenLock, Answer::Opened(Opened::Open)) => Next::Call(Call::TryLock),
            (Call::OpenLock, Answer::Opened(Opened::Vanished)) => match time {
                Time::Left => Next::Call(Call::Wait),
                Time::Over => Next::Alone(Why::Vanishing),
            },
            (Call::OpenLock, _) => Next::Alone(Why::LockRefused),

            (Call::TryLock, Answer::Locked(Locked::Ours)) => {
                self.foreign = false;
                Next::Call(Call::TestLock)
            }
            (Call::TryLock, Answer::Locked(Locked::Unusable)) => self.let_go(Then::Elsewhere),
            (Call::TryLock, _) if self.foreign && self.place == Place::Common => {
                // A candidate of our own scope may hold it, about to replace that document.
                let beside = self.warned || time == Time::Over;
                self.warned = true;
                self.let_go(if beside { Then::Beside } else { Then::Wait })
            }
            (Call::TryLock, _) => self.again(time, Then::Wait, Why::Held),
            (Call::TestLock, Answer::Locked(Locked::Ours)) => Next::Call(Call::TakeName),
            (Call::TestLock, Answer::Locked(_)) => self.let_go(Then::Elsewhere),
            (Call::LockElsewhere, Answer::Locked(Locked::Ours)) => Next::Call(Call::TakeName),
            (Call::LockElsewhere, Answer::Locked(Locked::Unusable)) => Next::Alone(Why::NoLock),
            (Call::TakeName, Answer::Named(Named::Taken | Named::Unusable)) => {
                Next::Call(Call::LockScope)
            }
            (Call::LockScope, Answer::Locked(Locked::Ours)) => Next::Call(Call::Compare),
            (Call::LockScope, Answer::Locked(Locked::Unusable)) => {
                self.let_go(Then::Alone(Why::LockRefused))
            }
            // Our scope has an owner, and not under this lock: beside, or under a file that was removed.
            (Call::LockElsewhere | Call::TakeName | Call::LockScope, _) => match self.place {
                Place::Common => self.let_go(Then::Look),
                Place::Beside | Place::Looks => self.again(time, Then::Wait, Why::Held),
            },

            (Call::Compare, Answer::Compared(Compared::Same)) => Next::Call(Call::ReadAgain),
            (Call::Compare, _) => self.again(time, Then::Open, Why::Vanishing),
            (
                Call::ReadAgain,
                Answer::Seen(Sight::Sign {
                    writer: Writer::OutOfSight,
                    ..
                }),
            ) if self.place == Place::Common => self.let_go(Then::Beside),
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
                Then::Elsewhere => Next::Call(Call::LockElsewhere),
                Then::Beside => self.read_at(Place::Beside),
                Then::Look => self.read_at(Place::Looks),
                Then::Alone(why) => Next::Alone(why),
            },
            (Call::Wait, _) => self.read_at(Place::Common),
            (Call::Read(_) | Call::ReadAgain | Call::TestLock | Call::Remove, _) => {
                self.let_go(Then::Alone(Why::NoLock))
            }
        };
        if let Next::Call(call) = next {
            self.asked = call;
        }
        (self, next)
    }

    fn look(&mut self, sight: Sight, time: Time) -> Next {
        self.foreign = matches!(
            sight,
            Sight::Sign {
                writer: Writer::OtherScope | Writer::OutOfSight,
                ..
            }
        );
        match sight {
            Sight::Sign {
                state: State::Ready,
                writer: Writer::Me | Writer::Neighbour,
                epoch: _,
            } => Next::Call(Call::Probe),
            Sight::Sign { .. } | Sight::Nothing => self.claim(time),
        }
    }

    /// Nobody took us, so we try the lock, unless we only look.
    fn claim(&mut self, time: Time) -> Next {
        match self.place {
            Place::Common | Place::Beside => Next::Call(Call::OpenLock),
            Place::Looks => self.again(time, Then::Wait, Why::Held),
        }
    }

    fn read_at(&mut self, place: Place) -> Next {
        self.place = place;
        self.foreign = false;
        Next::Call(Call::Read(match place {
            Place::Common => Files::Common,
            Place::Beside | Place::Looks => Files::Scope,
        }))
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
            writer: Writer::Me | Writer::Neighbour | Writer::OtherScope | Writer::OutOfSight,
            epoch,
        } => epoch.saturating_add(1).min(MAX_EPOCH),
        Sight::Sign { .. } | Sight::Nothing => 1,
    }
}

#[cfg(test)]
mod tests;
