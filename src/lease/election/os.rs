//! The words between the step functions and the world: what may be asked for, and what may be answered.

use crate::floor::paths::Files;
use crate::lease::document::State;

/// What a process does next, all through [`Os`] but `Probe` and `Wait`, which take time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Call {
    /// Go to these files, and read the document there. Every later call is about the files where the last one was.
    Read(Files),
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
    /// Bind the name of this checkout among the kernel's abstract sockets.
    TakeName,
    /// At the common files, take our scope's lock file as well: where it stands, and without a name in any case.
    LockScope,
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
    /// Somebody in this checkout under another boot, or in another network namespace: dead if its lock is free.
    OtherScope,
    /// The same, where a lock of its would not be seen from here.
    OutOfSight,
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
    /// To `TryLock`, `TestLock`, `LockElsewhere` and `LockScope`.
    Locked(Locked),
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
pub trait Os {
    /// See [`Call::Read`].
    fn read(&mut self, files: Files) -> Sight;
    /// See [`Call::ReadAgain`].
    fn read_again(&mut self) -> Sight;
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
    fn lock_elsewhere(&mut self) -> Locked;
    /// See [`Call::LockScope`]; answers `Ours` where there is none to take.
    fn lock_scope(&mut self) -> Locked;
}

/// Performs one call; `None` for `Probe` and `Wait`, which are the driver's.
pub fn perform(os: &mut impl Os, call: Call) -> Option<Answer> {
    Some(match call {
        Call::Probe | Call::Wait => return None,
        Call::Read(files) => Answer::Seen(os.read(files)),
        Call::ReadAgain => Answer::Seen(os.read_again()),
        Call::OpenLock => Answer::Opened(os.open_lock()),
        Call::TryLock => Answer::Locked(os.try_lock()),
        Call::TestLock => Answer::Locked(os.test_lock()),
        Call::LockElsewhere => Answer::Locked(os.lock_elsewhere()),
        Call::LockScope => Answer::Locked(os.lock_scope()),
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
