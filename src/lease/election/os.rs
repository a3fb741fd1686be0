//! The words between the step functions and the world: what may be asked for, and what may be answered.

use crate::lease::document::State;

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
/// `move_beside` is the place of a later part, an election beside a holder of another namespace, and refuses until then.
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
    fn lock_elsewhere(&mut self) -> Locked;
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
