//! The world that the lease lives in: lock files, documents and names, and processes that share nothing else.
//!
//! There are the common lock file and document, and for each of at most two scopes a lock file, a document and a name of its own.
//!
//! A process is a *bystander* (not started, attached, alone, or a bridge: whatever it is, it may stand for election next), a
//! *candidate* in an election, an *owner* at a duty or between two, or dead. A host that hangs when its watchdog releases the
//! lease becomes a *ghost* beside its process: it still believes, and a write that it had begun may land at any later moment.

use majordomus::floor::paths::Files;
use majordomus::lease::document::State;
use majordomus::lease::election::{
    Answer, Call, Compared, Course, Duty, Election, Leave, Locked, Named, Next, Opened, Os, Sight,
    Tenure, Time, Writer, Written, perform,
};
use stateright::{Model, Property};

/// At most one process of a scope admits.
pub(crate) const ONE_ADMITS: &str = "at most one admits";
/// At most one process of a scope owns, while nobody removed the lock file or names are taken.
pub(crate) const ONE_OWNS: &str = "at most one owns";

/// How often the world may misbehave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Faults {
    /// Processes killed.
    pub(crate) crashes: u8,
    /// Removals of the lock file, and as many of the document, in any order: `rm -rf`, `git clean`.
    pub(crate) removals: u8,
    /// Hosts that hang until their watchdog releases the lease.
    pub(crate) hangs: u8,
}

/// What admitting asks for. The real fence asks for all of these and for the document besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fence {
    /// A lock on the inode at the path, not released.
    Inode,
    /// A lock, not released.
    Lock,
    /// Nothing but having been elected.
    None,
}

/// The rules of the game.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// There are abstract names (Linux).
    pub(crate) names: bool,
    /// File locks exclude others.
    pub(crate) locks_work: bool,
    /// There are no file locks; the lock is taken outside the file system, and nothing about a path is compared.
    pub(crate) elsewhere: bool,
    /// A lock that a process of one scope holds is not seen from the other one: two kernels on one file system.
    pub(crate) hidden: bool,
    /// Every owner holds its scope's lock file where it has to. Ours does.
    pub(crate) locks_scope: bool,
    /// The locked file is compared with the path.
    pub(crate) compares_inodes: bool,
    /// What admitting asks for.
    pub(crate) fence: Fence,
    /// Releasing removes the lock file after unlocking it.
    pub(crate) release_unlinks: bool,
    /// Candidates may run out of time.
    pub(crate) deadlines: bool,
    /// States that cannot be told apart from outside are one, see [`World::fold`]. A small model is explored both ways.
    pub(crate) folds: bool,
}

impl Rules {
    /// Ours, on a system without names.
    pub(crate) const OURS: Self = Self {
        names: false,
        locks_work: true,
        elsewhere: false,
        hidden: false,
        locks_scope: true,
        compares_inodes: true,
        fence: Fence::Inode,
        release_unlinks: false,
        deadlines: false,
        folds: true,
    };
}

/// A model of so many processes under these rules and faults.
#[derive(Debug)]
pub(crate) struct Lease {
    processes: u8,
    /// How many of them are in the second scope.
    second: u8,
    faults: Faults,
    rules: Rules,
}

impl Lease {
    pub(crate) fn new(processes: u8, faults: Faults) -> Self {
        let rules = Rules::OURS;
        Self {
            processes,
            second: 0,
            faults,
            rules,
        }
    }

    /// Puts so many of the processes into a second scope.
    pub(crate) fn in_second_scope(self, second: u8) -> Self {
        Self { second, ..self }
    }

    pub(crate) fn under(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }
}

/// Which file a process has open: the one at the path, or an earlier one, counted among those that are open at all.
type Inode = u8;
/// The file at the path.
const AT_PATH: Inode = 0;
/// The common files, and those of either scope.
const SETS: usize = 3;
/// The place of the common files among them; a scope's come after it.
const COMMON: usize = 0;
/// The scopes of a model that has two.
const SCOPES: [u8; 2] = [0, 1];
/// The most processes of a model.
const MOST: usize = 4;

/// Everything at one moment. Small, because millions of them are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct World {
    processes: [Process; MOST],
    lock_exists: [bool; SETS],
    /// The lock files were removed once, so that two inodes are about.
    removed: bool,
    /// The documents, each with its writer's scope; who wrote it is a mark at the process.
    documents: [Option<(State, u8)>; SETS],
    lock_removals: u8,
    document_removals: u8,
    crashes: u8,
    hangs: u8,
}

/// One process. It names no other process, so that sorting processes changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Process {
    role: Role,
    scope: u8,
    /// It stands at its scope's files, and else at the common ones.
    beside: bool,
    open: Option<Inode>,
    locked: bool,
    /// Its scope's lock file, held besides the common one.
    scope_lock: Option<Inode>,
    named: bool,
    /// The document where it stands is of this process's present ownership or candidacy.
    signed: bool,
    /// The owner whose document this process read last still signs the document.
    saw_signer: bool,
    ghost: Ghost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Role {
    Dead,
    Bystander,
    Candidate(Election, Call),
    /// Holds the lease and does `Some` duty.
    Owner(Stage, Option<(Tenure, Call)>),
    /// A control: the lease is released, the lock file about to be unlinked.
    Unlinking,
    /// No such process in this model; sorted last.
    Missing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Stage {
    /// Elected, not published.
    Starting,
    /// Published; admits.
    Serving,
    /// Has said `draining`, or lost its lease, and admits nobody any more.
    Leaving,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Ghost {
    None,
    /// Believes to serve; its next look at its lease tells it otherwise.
    Idle,
    /// Was about to write the document of these files when its lease was released.
    Writing(State, usize),
}

impl Process {
    /// Returns the set of files where it stands.
    fn set(&self) -> usize {
        if self.beside {
            self.scope_set()
        } else {
            COMMON
        }
    }

    /// Returns the files of its scope.
    fn scope_set(&self) -> usize {
        COMMON + 1 + usize::from(self.scope)
    }

    /// Whether it holds this inode of that set's lock file.
    fn holds(&self, set: usize, inode: Option<Inode>) -> bool {
        let main = self.locked && self.set() == set && self.open == inode;
        main || (self.scope_lock.is_some() && self.scope_set() == set && self.scope_lock == inode)
    }
}

/// A step of one process, or of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// A bystander stands for election.
    Stand(u8),
    /// A candidate performs its call, with its deadline ahead or past.
    Candidate(u8, Call, Time),
    /// An owner performs a call of its duty.
    Owner(u8, Call),
    /// A session or command arrives at an owner, which looks at its lease.
    Arrive(u8),
    /// An owner drains: its client left, or it is demoted.
    Drain(u8),
    /// An owner that drained or lost its lease releases it.
    Release(u8, Leave),
    /// A ghost's write lands.
    Haunt(u8),
    /// A ghost wakes and learns that its lease was released.
    Wake(u8),
    /// A control's unlinking of the lock file.
    Unlink(u8),
    /// A process is killed.
    Crash(u8),
    /// An owner's host hangs, and its watchdog starts to release the lease.
    Hang(u8),
    /// Somebody removes the lock file.
    RemoveLock,
    /// Somebody removes the document.
    RemoveDocument,
}

impl Action {
    /// Tells whether the step is a process's own and not a fault.
    pub(crate) fn is_ordinary(&self) -> bool {
        !matches!(
            self,
            Self::Crash(_) | Self::Hang(_) | Self::RemoveLock | Self::RemoveDocument
        )
    }
}

impl World {
    /// Returns how many processes of a scope admit, judged at one instant.
    pub(crate) fn admitting(&self, model: &Lease, scope: u8) -> usize {
        self.processes
            .iter()
            .filter(|process| process.scope == scope)
            .map(|process| {
                let serving = matches!(process.role, Role::Owner(Stage::Serving, _));
                let ghost = process.ghost != Ghost::None;
                match model.rules.fence {
                    Fence::Inode => {
                        let at_path =
                            process.open == Some(AT_PATH) && self.lock_exists[process.set()];
                        usize::from(serving && process.locked && at_path)
                    }
                    Fence::Lock => usize::from(serving && process.locked),
                    Fence::None => usize::from(serving) + usize::from(ghost),
                }
            })
            .sum()
    }

    /// Returns how many processes of a scope hold the lease as they see it.
    fn owning(&self, scope: u8) -> usize {
        let owners = self.processes.iter();
        owners
            .filter(|process| process.scope == scope && process.locked)
            .filter(|process| matches!(process.role, Role::Owner(..)))
            .count()
    }

    /// Whether nothing more is to be wished for: in either scope somebody admits, or nobody is left.
    pub(crate) fn is_content(&self, model: &Lease) -> bool {
        SCOPES.into_iter().all(|scope| {
            let all = self.processes.iter();
            let living = all.filter(|process| {
                process.scope == scope && !matches!(process.role, Role::Dead | Role::Missing)
            });
            living.count() == 0 || self.admitting(model, scope) > 0
        })
    }

    fn remove_locks(&mut self) {
        self.lock_exists = [false; SETS];
        for process in &mut self.processes {
            process.open = process.open.map(|inode| inode + 1);
            process.scope_lock = process.scope_lock.map(|inode| inode + 1);
        }
    }

    /// Brings states that nobody can tell apart to one form: those that differ in the names of processes and of removed
    /// files; and, where the rules fold, in what a document says that leads to no attempt to attach, or in a ghost that can do
    /// nothing any more.
    fn fold(&mut self, rules: Rules) {
        let open = self
            .processes
            .map(|process| [process.open, process.scope_lock]);
        let mut earlier: Vec<_> = open
            .into_iter()
            .flatten()
            .flatten()
            .filter(|&i| i > AT_PATH)
            .collect();
        if !earlier.is_empty() {
            earlier.sort_unstable();
            earlier.dedup();
            for process in &mut self.processes {
                for inode in [&mut process.open, &mut process.scope_lock] {
                    let place = inode.and_then(|i| earlier.iter().position(|&e| e == i));
                    if let Some(place) = place {
                        *inode = Some(u8::try_from(place).unwrap() + 1);
                    }
                }
            }
        }
        if rules.folds {
            let one_scope = self.processes.iter().all(|process| process.scope == 0);
            for (set, document) in self.documents.iter_mut().enumerate() {
                let mut signers = self.processes.iter();
                let signed = signers.any(|process| process.signed && process.set() == set);
                *document = match *document {
                    // Of a common document without an owner, whose scope it was still counts.
                    Some(_) if !signed && (one_scope || set != COMMON) => None,
                    Some((_, scope)) if !signed => Some((State::Starting, scope)),
                    Some((State::Draining, scope)) => Some((State::Starting, scope)),
                    document => document,
                };
            }
            for process in &mut self.processes {
                process.ghost = match process.ghost {
                    Ghost::Idle if rules.fence != Fence::None => Ghost::None,
                    Ghost::Writing(State::Ready, set)
                        if !matches!(process.role, Role::Owner(..)) =>
                    {
                        Ghost::Writing(State::Draining, set)
                    }
                    ghost => ghost,
                };
            }
        }
        self.processes.sort_unstable();
    }

    /// Puts a document in place; of its signer only the present ownership of `signer`, if any, counts.
    fn sign(&mut self, set: usize, document: Option<(State, u8)>, signer: Option<usize>) {
        self.documents[set] = document;
        let same = signer.is_some_and(|signer| self.processes[signer].signed);
        for (number, process) in self.processes.iter_mut().enumerate() {
            if process.set() == set {
                process.signed = signer == Some(number);
                process.saw_signer &= same;
            }
        }
    }

    /// A process's ownership or candidacy ends; the document, if it is its, is now nobody's.
    fn end(&mut self, who: usize) {
        let set = self.processes[who].set();
        if self.processes[who].signed {
            self.processes[who].signed = false;
            for process in &mut self.processes {
                process.saw_signer &= process.set() != set;
            }
        }
    }

    /// A process is where it was before it stood for election.
    fn leave(&mut self, who: usize) {
        let process = &mut self.processes[who];
        (process.saw_signer, process.beside) = (false, false);
    }

    fn close(&mut self, who: usize) {
        let process = &mut self.processes[who];
        (process.open, process.locked, process.named) = (None, false, false);
        process.scope_lock = None;
    }
}

/// One process's system calls.
struct Hands<'a> {
    world: &'a mut World,
    rules: &'a Rules,
    who: usize,
}

impl Hands<'_> {
    /// Whether somebody else holds this inode of that set's lock file, as far as it is seen from here.
    fn is_held(&self, set: usize, inode: Option<Inode>) -> bool {
        let scope = self.world.processes[self.who].scope;
        let mut others = (0..).zip(&self.world.processes);
        others.any(|(number, other)| {
            let seen = !self.rules.hidden || other.scope == scope;
            number != self.who && seen && other.holds(set, inode)
        })
    }

    /// Whether somebody of our scope `is` such.
    fn in_scope(&self, is: impl Fn(&Process) -> bool) -> bool {
        let scope = self.world.processes[self.who].scope;
        let mut all = self.world.processes.iter();
        all.any(|other| other.scope == scope && is(other))
    }
}

impl Os for Hands<'_> {
    fn read(&mut self, files: Files) -> Sight {
        self.world.processes[self.who].beside = files == Files::Scope;
        self.read_again()
    }

    fn read_again(&mut self) -> Sight {
        let set = self.world.processes[self.who].set();
        let mut all = self.world.processes.iter();
        let signer = all.any(|process| process.signed && process.set() == set);
        let me = &mut self.world.processes[self.who];
        me.saw_signer = signer;
        let Some((state, scope)) = self.world.documents[set] else {
            return Sight::Nothing;
        };
        let writer = if me.signed {
            Writer::Me
        } else if scope == me.scope {
            Writer::Neighbour
        } else if self.rules.hidden || self.rules.elsewhere {
            Writer::OutOfSight
        } else {
            Writer::OtherScope
        };
        Sight::Sign {
            state,
            writer,
            // Epochs only grow, so a model with them has no end; unit tests follow them.
            epoch: 0,
        }
    }

    fn open_lock(&mut self) -> Opened {
        self.world.lock_exists[self.world.processes[self.who].set()] = true;
        self.world.processes[self.who].open = Some(AT_PATH);
        Opened::Open
    }

    fn try_lock(&mut self) -> Locked {
        if self.rules.elsewhere {
            return Locked::Unusable;
        }
        let me = &self.world.processes[self.who];
        let held = self.is_held(me.set(), me.open);
        if held && self.rules.locks_work {
            return Locked::Held;
        }
        self.world.processes[self.who].locked = true;
        Locked::Ours
    }

    fn test_lock(&mut self) -> Locked {
        Locked::Ours
    }

    fn lock_elsewhere(&mut self) -> Locked {
        if self.in_scope(|other| other.locked) {
            return Locked::Held;
        }
        self.world.processes[self.who].locked = true;
        Locked::Ours
    }

    fn take_name(&mut self) -> Named {
        if !self.rules.names {
            return Named::Unusable;
        }
        if self.in_scope(|other| other.named) {
            return Named::Busy;
        }
        self.world.processes[self.who].named = true;
        Named::Taken
    }

    fn lock_scope(&mut self) -> Locked {
        let me = &self.world.processes[self.who];
        let set = me.scope_set();
        let none_to_take = me.named && !self.world.lock_exists[set];
        if !self.rules.locks_scope || self.rules.elsewhere || me.beside || none_to_take {
            return Locked::Ours;
        }
        self.world.lock_exists[set] = true;
        if self.is_held(set, Some(AT_PATH)) && self.rules.locks_work {
            return Locked::Held;
        }
        self.world.processes[self.who].scope_lock = Some(AT_PATH);
        Locked::Ours
    }

    fn compare(&mut self) -> Compared {
        let process = &self.world.processes[self.who];
        let stands = |inode, set: usize| inode == AT_PATH && self.world.lock_exists[set];
        let at_path = process.open.is_some_and(|open| stands(open, process.set()))
            && process
                .scope_lock
                .is_none_or(|open| stands(open, process.scope_set()));
        if process.locked && (at_path || !self.rules.compares_inodes) {
            Compared::Same
        } else {
            Compared::Replaced
        }
    }

    fn write(&mut self, state: State, _epoch: u64) -> Written {
        let me = &self.world.processes[self.who];
        let (set, scope) = (me.set(), me.scope);
        self.world.sign(set, Some((state, scope)), Some(self.who));
        Written::Done
    }

    fn remove(&mut self) {
        let set = self.world.processes[self.who].set();
        self.world.sign(set, None, None);
    }

    fn let_go(&mut self) {
        self.world.close(self.who);
    }
}

impl Lease {
    /// Performs a candidate's call and steps its election.
    fn candidate(&self, world: &mut World, who: usize, election: Election, call: Call, time: Time) {
        let (mut election, mut call) = (election, call);
        let next = loop {
            let mut hands = Hands {
                world,
                rules: &self.rules,
                who,
            };
            let answer = match (perform(&mut hands, call), call) {
                (Some(answer), _) => answer,
                (None, Call::Probe) => self.probe(world, who),
                (None, _) => Answer::Done,
            };
            let next;
            (election, next) = election.step(answer, time);
            match next {
                Next::Call(after) if self.rules.folds && self.is_private(world, who, after) => {
                    call = after;
                }
                _ => break next,
            }
        };
        world.processes[who].role = match next {
            // A candidate that looks again and has learnt nothing is where it was before it stood.
            Next::Call(Call::Read(Files::Common))
                if self.rules.folds && election == Election::begin().0 =>
            {
                world.leave(who);
                Role::Bystander
            }
            Next::Call(call) => {
                if call != Call::Probe {
                    world.processes[who].saw_signer = false;
                }
                Role::Candidate(election, call)
            }
            Next::Elected { .. } => {
                world.processes[who].saw_signer = false;
                if !world.processes[who].beside {
                    // What an owner beside of our scope left.
                    let set = world.processes[who].scope_set();
                    world.sign(set, None, None);
                }
                Self::begin(world, who, Stage::Starting, Duty::Say(State::Ready, 0));
                return;
            }
            Next::Attached | Next::Alone(_) => {
                world.end(who);
                world.leave(who);
                Role::Bystander
            }
        };
    }

    /// Tells whether nobody else can notice or influence this call of a candidate.
    fn is_private(&self, world: &World, who: usize, call: Call) -> bool {
        let process = &world.processes[who];
        match call {
            Call::Wait | Call::TestLock => true,
            Call::TakeName => !self.rules.names,
            // In one scope it goes with the common lock, removals included.
            Call::LockScope => self.second == 0,
            // Only the epoch depends on it, and epochs are not followed here.
            Call::ReadAgain => true,
            Call::LetGo => !process.locked && !process.named && process.scope_lock.is_none(),
            // Whoever wrote that document is gone for good.
            Call::Probe => !process.saw_signer,
            _ => false,
        }
    }

    /// The owner whose document was read proves itself if it is still the same ownership, serves, and admits.
    fn probe(&self, world: &World, who: usize) -> Answer {
        let set = world.processes[who].set();
        let signer_admits = world.processes.iter().any(|process| {
            process.signed
                && process.set() == set
                && process.locked
                && matches!(process.role, Role::Owner(Stage::Serving, _))
                && (process.open == Some(AT_PATH) || !self.rules.compares_inodes)
        });
        if world.processes[who].saw_signer && signer_admits {
            Answer::Proven
        } else {
            Answer::Unproven
        }
    }

    /// Performs an owner's call and steps its duty.
    fn owner(&self, world: &mut World, who: usize, stage: Stage, tenure: Tenure, call: Call) {
        let mut hands = Hands {
            world,
            rules: &self.rules,
            who,
        };
        let answer = perform(&mut hands, call).expect("an owner never waits");
        let (tenure, course) = tenure.step(answer);
        world.processes[who].role = match (course, stage) {
            // The signature, once lost, never comes back by itself, so reading it together with the comparison decides the same.
            (Course::Call(call @ Call::ReadAgain), _) if self.rules.folds => {
                return self.owner(world, who, stage, tenure, call);
            }
            (Course::Call(call), _) => Role::Owner(stage, Some((tenure, call))),
            (Course::Fulfilled, _) if !world.processes[who].locked => {
                world.end(who);
                world.leave(who);
                if self.rules.release_unlinks {
                    Role::Unlinking
                } else {
                    Role::Bystander
                }
            }
            (Course::Fulfilled, Stage::Starting) => Role::Owner(Stage::Serving, None),
            (Course::Fulfilled, stage) => Role::Owner(stage, None),
            (Course::Lost | Course::Refused, _) => Role::Owner(Stage::Leaving, None),
        };
    }

    /// Begins a duty by its first call.
    fn start(&self, world: &mut World, who: u8, stage: Stage, duty: Duty) {
        let who = usize::from(who);
        Self::begin(world, who, stage, duty);
        if let Role::Owner(_, Some((tenure, call))) = world.processes[who].role {
            self.owner(world, who, stage, tenure, call);
        }
    }

    fn begin(world: &mut World, who: usize, stage: Stage, duty: Duty) {
        let (tenure, course) = Tenure::begin(duty);
        let Course::Call(call) = course else {
            panic!("a duty begins with a call");
        };
        world.processes[who].role = Role::Owner(stage, Some((tenure, call)));
    }
}

impl Model for Lease {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let process = |number: usize| Process {
            role: if number < usize::from(self.processes) {
                Role::Bystander
            } else {
                Role::Missing
            },
            scope: u8::from(number < usize::from(self.second)),
            beside: false,
            open: None,
            locked: false,
            scope_lock: None,
            named: false,
            signed: false,
            saw_signer: false,
            ghost: Ghost::None,
        };
        let mut processes = std::array::from_fn(process);
        processes.sort_unstable();
        vec![World {
            processes,
            lock_exists: [false; SETS],
            removed: false,
            documents: [None; SETS],
            lock_removals: self.faults.removals,
            document_removals: self.faults.removals,
            crashes: self.faults.crashes,
            hangs: self.faults.hangs,
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        for (number, process) in world.processes.iter().enumerate() {
            // Equal processes have equal futures.
            if number > 0 && world.processes[number - 1] == *process {
                continue;
            }
            let who = u8::try_from(number).unwrap();
            match process.role {
                Role::Missing | Role::Dead => continue,
                Role::Bystander => actions.push(Action::Stand(who)),
                Role::Candidate(_, call) => {
                    actions.push(Action::Candidate(who, call, Time::Left));
                    let waits = matches!(
                        call,
                        Call::TryLock
                            | Call::TakeName
                            | Call::LockScope
                            | Call::Compare
                            | Call::Read(Files::Scope)
                            | Call::Probe
                    );
                    if self.rules.deadlines && waits {
                        actions.push(Action::Candidate(who, call, Time::Over));
                    }
                }
                Role::Owner(stage, duty) => match (stage, duty) {
                    (_, Some((_, call))) => actions.push(Action::Owner(who, call)),
                    (Stage::Starting, None) => unreachable!("an elected owner publishes"),
                    (Stage::Serving, None) => {
                        actions.extend([Action::Arrive(who), Action::Drain(who)]);
                    }
                    (Stage::Leaving, None) => actions.extend([
                        Action::Release(who, Leave::Draining),
                        Action::Release(who, Leave::Nothing),
                    ]),
                },
                Role::Unlinking => actions.push(Action::Unlink(who)),
            }
            match process.ghost {
                Ghost::None => {}
                Ghost::Idle => actions.push(Action::Wake(who)),
                Ghost::Writing(..) => actions.push(Action::Haunt(who)),
            }
            if world.crashes > 0 {
                actions.push(Action::Crash(who));
            }
            if world.hangs > 0 && matches!(process.role, Role::Owner(..)) {
                actions.push(Action::Hang(who));
            }
        }
        if world.lock_removals > 0 && world.lock_exists.contains(&true) {
            actions.push(Action::RemoveLock);
        }
        if world.document_removals > 0 && world.documents.iter().any(Option::is_some) {
            actions.push(Action::RemoveDocument);
        }
    }

    fn next_state(&self, last: &World, action: Action) -> Option<World> {
        let mut world = *last;
        match action {
            Action::Stand(who) => {
                let who = usize::from(who);
                let (election, next) = Election::begin();
                let Next::Call(call) = next else { return None };
                if self.rules.folds {
                    self.candidate(&mut world, who, election, call, Time::Left);
                } else {
                    world.processes[who].role = Role::Candidate(election, call);
                }
            }
            Action::Candidate(who, call, time) => {
                let who = usize::from(who);
                let Role::Candidate(election, _) = world.processes[who].role else {
                    return None;
                };
                self.candidate(&mut world, who, election, call, time);
            }
            Action::Owner(who, call) => {
                let who = usize::from(who);
                let Role::Owner(stage, Some((tenure, _))) = world.processes[who].role else {
                    return None;
                };
                self.owner(&mut world, who, stage, tenure, call);
            }
            Action::Arrive(who) => self.start(&mut world, who, Stage::Serving, Duty::Admit),
            Action::Drain(who) => {
                let duty = Duty::Say(State::Draining, 0);
                self.start(&mut world, who, Stage::Leaving, duty);
            }
            Action::Release(who, leave) => {
                let duty = Duty::Release(leave, 0);
                self.start(&mut world, who, Stage::Leaving, duty);
            }
            Action::Haunt(who) => {
                let who = usize::from(who);
                let Ghost::Writing(state, set) = world.processes[who].ghost else {
                    return None;
                };
                world.processes[who].ghost = Ghost::Idle;
                let me = &world.processes[who];
                let still_owner = matches!(me.role, Role::Owner(..)) && me.set() == set;
                let document = Some((state, me.scope));
                world.sign(set, document, still_owner.then_some(who));
            }
            Action::Wake(who) => world.processes[usize::from(who)].ghost = Ghost::None,
            Action::Unlink(who) => {
                world.remove_locks();
                world.processes[usize::from(who)].role = Role::Bystander;
            }
            Action::Crash(who) => {
                let who = usize::from(who);
                world.crashes -= 1;
                world.end(who);
                world.close(who);
                world.leave(who);
                world.processes[who].role = Role::Dead;
                world.processes[who].ghost = Ghost::None;
            }
            Action::Hang(who) => {
                let who = usize::from(who);
                world.hangs -= 1;
                let pending = match world.processes[who].role {
                    Role::Owner(_, Some((_, Call::Write { state, epoch: _ }))) => Some(state),
                    _ => None,
                };
                let set = world.processes[who].set();
                let writing = |state| Ghost::Writing(state, set);
                world.processes[who].ghost = pending.map_or(Ghost::Idle, writing);
                let duty = Duty::Release(Leave::Draining, 0);
                Self::begin(&mut world, who, Stage::Leaving, duty);
            }
            Action::RemoveLock => {
                world.lock_removals -= 1;
                world.removed = true;
                world.remove_locks();
            }
            Action::RemoveDocument => {
                world.document_removals -= 1;
                for set in 0..SETS {
                    world.sign(set, None, None);
                }
            }
        }
        world.fold(self.rules);
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ONE_ADMITS, |model: &Self, world: &World| {
                SCOPES
                    .into_iter()
                    .all(|scope| world.admitting(model, scope) <= 1)
            }),
            Property::always(ONE_OWNS, |model: &Self, world: &World| {
                let one = |scope| world.owning(scope) <= 1;
                (world.removed && !model.rules.names) || SCOPES.into_iter().all(one)
            }),
            Property::sometimes(
                "somebody admits in each scope",
                |model: &Self, world: &World| {
                    let admits = |scope| world.admitting(model, scope) == 1;
                    admits(0) && (model.second == 0 || admits(1))
                },
            ),
        ]
    }
}
