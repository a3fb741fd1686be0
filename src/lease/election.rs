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
//! | lock elsewhere | unusable (all there is yet) | **alone** |
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

use super::document::{MAX_EPOCH, State};

/// What a process does next, all through [`Os`] but `Probe` and `Wait`, which take time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Call {
    /// Read the document.
    Read,
    /// Shake hands with the owner that the document names.
    Probe,
    /// Open the lock file, making it and its folders where they are missing.
    OpenLock,
    /// Try the exclusive lock, without waiting.
    TryLock,
    /// Find out whether the lock excludes anybody: a second open of the file must be refused.
    TestLock,
    /// Take the lock of a file system that has none somewhere else.
    LockElsewhere,
    /// Go beside a holder of another scope: lock file and document of our own scope's name.
    MoveBeside,
    /// Bind the name of this checkout among the kernel's abstract sockets.
    TakeName,
    /// Compare the locked file with what is at the path.
    Compare,
    /// Read the document under the lock.
    ReadAgain,
    /// Replace the document.
    Write {
        /// What it will say.
        state: State,
        /// The epoch it will carry.
        epoch: u64,
    },
    /// Remove the document.
    Remove,
    /// Give up the name and the lock, and close the lock file.
    LetGo,
    /// Wait between 2 and 10 ms.
    Wait,
}

/// What a document says, as far as an election cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sight {
    /// There is none, or what is there is no document.
    Nothing,
    /// A document, true or not.
    Sign {
        /// What its writer said of itself.
        state: State,
        /// Who its writer says it is.
        writer: Writer,
        /// Its epoch.
        epoch: u64,
    },
}

/// Who wrote a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Writer {
    /// This ownership.
    Me,
    /// Somebody in this checkout and scope.
    Neighbour,
    /// Somebody in this checkout under another boot, or in another namespace.
    OtherScope,
    /// Somebody in another checkout: this one is a copy, or was moved.
    OtherCheckout,
}

/// What opening the lock file gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Opened {
    /// An open file.
    Open,
    /// Its folder was removed while we made it.
    Vanished,
    /// The system, or what stands at the path, does not let us.
    Refused,
}

/// What trying a lock gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Locked {
    /// It is ours.
    Ours,
    /// Another process has it.
    Held,
    /// There are no locks here, or they exclude nobody.
    Unusable,
}

/// What going beside another scope gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Moved {
    /// From now on all calls are about our own scope's files.
    Beside,
    /// We stay at the common files.
    Stays,
}

/// What taking the abstract name gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Named {
    /// It is ours.
    Taken,
    /// Another process of ours has it.
    Busy,
    /// There are no such names here, or a stranger sits on it: the lock has to do.
    Unusable,
}

/// What comparing the locked file with the path gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compared {
    /// One inode, still linked.
    Same,
    /// The path is gone, or leads elsewhere, or the lock is no longer ours.
    Replaced,
}

/// What replacing the document gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Written {
    /// It is there.
    Done,
    /// Its folder was removed.
    Vanished,
    /// The system refused: read-only, full, not permitted.
    Refused,
}

/// The result of a [`Call`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Answer {
    /// To `Read` and `ReadAgain`.
    Seen(Sight),
    /// To `Probe`: the owner proved to be this checkout's, and took us.
    Proven,
    /// To `Probe`: anything else.
    Unproven,
    /// To `OpenLock`.
    Opened(Opened),
    /// To `TryLock`, `TestLock` and `LockElsewhere`.
    Locked(Locked),
    /// To `MoveBeside`.
    Moved(Moved),
    /// To `TakeName`.
    Named(Named),
    /// To `Compare`.
    Compared(Compared),
    /// To `Write`.
    Written(Written),
    /// To `Remove`, `LetGo` and `Wait`.
    Done,
}

/// The system calls of an election, each atomic in the model.
///
/// `move_beside` and `lock_elsewhere` are the places of two later parts: an election beside a holder of another namespace, and
/// a lock for file systems without one. Until then they refuse.
pub trait Os {
    /// Reads the document, see [`Call::Read`] and [`Call::ReadAgain`].
    fn read(&mut self) -> Sight;
    /// See [`Call::OpenLock`].
    fn open_lock(&mut self) -> Opened;
    /// See [`Call::TryLock`].
    fn try_lock(&mut self) -> Locked;
    /// See [`Call::TestLock`]; answers `Ours` or `Unusable`.
    fn test_lock(&mut self) -> Locked;
    /// See [`Call::TakeName`].
    fn take_name(&mut self) -> Named;
    /// See [`Call::Compare`].
    fn compare(&mut self) -> Compared;
    /// See [`Call::Write`].
    fn write(&mut self, state: State, epoch: u64) -> Written;
    /// See [`Call::Remove`].
    fn remove(&mut self);
    /// See [`Call::LetGo`].
    fn let_go(&mut self);

    /// See [`Call::LockElsewhere`].
    fn lock_elsewhere(&mut self) -> Locked {
        Locked::Unusable
    }
    /// See [`Call::MoveBeside`].
    fn move_beside(&mut self) -> Moved {
        Moved::Stays
    }
}

/// Performs one call; `None` for `Probe` and `Wait`, which are the driver's.
pub fn perform(os: &mut impl Os, call: Call) -> Option<Answer> {
    Some(match call {
        Call::Probe | Call::Wait => return None,
        Call::Read | Call::ReadAgain => Answer::Seen(os.read()),
        Call::OpenLock => Answer::Opened(os.open_lock()),
        Call::TryLock => Answer::Locked(os.try_lock()),
        Call::TestLock => Answer::Locked(os.test_lock()),
        Call::LockElsewhere => Answer::Locked(os.lock_elsewhere()),
        Call::MoveBeside => Answer::Moved(os.move_beside()),
        Call::TakeName => Answer::Named(os.take_name()),
        Call::Compare => Answer::Compared(os.compare()),
        Call::Write { state, epoch } => Answer::Written(os.write(state, epoch)),
        Call::Remove => {
            os.remove();
            Answer::Done
        }
        Call::LetGo => {
            os.let_go();
            Answer::Done
        }
    })
}

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

#[cfg(test)]
mod tests;
