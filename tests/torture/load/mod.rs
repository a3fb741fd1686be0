//! Load: many bridges and many HTTP sessions on one owner, for a while.
//!
//! *Phases*: everybody comes in; a *control* phase without slow readers, a tenth as long as the rest; then the slow
//! readers join, and the first fifth of what follows is *warm-up*, the rest is *judged*. Each of many clients calls every
//! two to five seconds, so that the machine is busy and not drowned: what is measured is the owner and not the queue of the CPU.
//!
//! Judged are answers (one to each request of everybody who reads), the owner's memory and descriptors, and that there
//! was one owner throughout. Times are printed and never judged.

mod bridge;
mod calls;
mod owner;
mod session;
mod slow;
mod tally;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use self::bridge::Bridge;
use self::calls::Thinking;
use self::owner::{Owner, Watch};
use self::session::Session;
use self::tally::{Phase, Tally};
use crate::support::random::Random;
use crate::support::{BOUND, Repository, wait_for};

/// Processes that may be starting at once, and sessions that may be ending: a start costs milliseconds of CPU, and a newcomer's patience is short.
const STARTING: usize = 16;
/// One client of so many reads slowly, and one of so many not at all.
const SLOW: usize = 40;
/// Descriptors beside those of the clients, for either side.
const BESIDE: u64 = 256;

/// How much load.
#[derive(Debug, Clone)]
pub(crate) struct Size {
    /// Processes beside the owner's.
    pub(crate) bridges: usize,
    /// HTTP sessions.
    pub(crate) sessions: usize,
    /// How long, from the moment that the slow readers join.
    pub(crate) seconds: u64,
    /// The executable under load, in place of the one that was built with this test.
    pub(crate) binary: Option<PathBuf>,
}

impl Default for Size {
    fn default() -> Self {
        Self {
            bridges: 20,
            sessions: 20,
            seconds: 20,
            binary: None,
        }
    }
}

/// What every client of a load needs.
#[derive(Debug)]
struct Common {
    repository: Repository,
    binary: PathBuf,
    tally: Tally,
    stop: CancellationToken,
    thinking: Thinking,
    /// Taken by a session that ends.
    ending: Semaphore,
}

/// Puts the load on a fresh checkout; panics at the first broken promise and returns what was measured.
pub(crate) fn run(size: &Size, seed: u64) -> String {
    raise_descriptors(size);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    LocalSet::new().block_on(&runtime, under_load(size, seed))
}

/// Two pipes for each process and a connection for each session are open here; about as many are open in the owner.
fn raise_descriptors(size: &Size) {
    let needed = u64::try_from(2 * size.bridges + 2 * size.sessions).unwrap() + BESIDE;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    assert!(
        hard >= needed,
        "{} bridges and {} sessions need {needed} open files, and the hard limit is {hard}\n\
         hint: raise it (`ulimit -Hn {needed}` as root), or ask for fewer with --bridges and --sessions",
        size.bridges,
        size.sessions,
    );
    if soft < needed {
        setrlimit(Resource::RLIMIT_NOFILE, needed, hard).unwrap();
    }
}

async fn under_load(size: &Size, seed: u64) -> String {
    let binary = size.binary.clone();
    let common = Rc::new(Common {
        repository: Repository::new(),
        binary: binary.unwrap_or_else(|| Path::new(crate::support::command::MAJORDOMUS).to_owned()),
        tally: Tally::default(),
        stop: CancellationToken::new(),
        thinking: Thinking::of(size.bridges + size.sessions),
        ending: Semaphore::new(STARTING),
    });
    let mut random = Random::new(seed);
    let mut first = Bridge::start(&common, "owner");
    first.open().await;
    common.repository.ready();
    let owner = Owner::of(&common.repository);
    let alone = owner.look();

    let coming = Instant::now();
    let (slow_bridges, slow_sessions) = (few(size.bridges), few(size.sessions));
    let mut bridges = open_bridges(&common, size.bridges - 2 * slow_bridges).await;
    bridges.push(first);
    let sessions = open_sessions(&common, size.sessions - 2 * slow_sessions).await;
    println!(
        "     everybody is here after {:.1} s; {}",
        coming.elapsed().as_secs_f64(),
        owner.look()
    );

    let mut calling = JoinSet::new();
    for bridge in bridges {
        calling.spawn_local(bridge.call(random.next()));
    }
    for session in sessions {
        calling.spawn_local(session.call(random.next()));
    }
    let mut watch = Watch::of(&owner);
    common.tally.enter(Phase::Control);
    watch.until(after(size.seconds, 10)).await;

    let mut lagging = JoinSet::new();
    for number in 0..slow_bridges {
        lagging.spawn_local(slow::bridge(Rc::clone(&common), number, slow::Pace::Slow));
        lagging.spawn_local(slow::bridge(Rc::clone(&common), number, slow::Pace::Never));
    }
    for number in 0..slow_sessions {
        lagging.spawn_local(slow::session(Rc::clone(&common), number, slow::Pace::Slow));
        lagging.spawn_local(slow::session(Rc::clone(&common), number, slow::Pace::Never));
    }
    let begin = Instant::now();
    common.tally.enter(Phase::Warming);
    watch.until(after(size.seconds, 5)).await;
    common.tally.enter(Phase::Judged);
    let mut watch = watch.anew();
    watch.until(begin + Duration::from_secs(size.seconds)).await;
    common.tally.enter(Phase::Closing);

    common.stop.cancel();
    let mut left = Vec::new();
    while let Some(ended) = calling.join_next().await {
        left.extend(ended.expect("a client does not panic"));
    }
    while let Some(ended) = lagging.join_next().await {
        ended.expect("a slow reader does not panic");
    }
    assert_eq!(
        common.repository.owner_pid(),
        Some(owner.pid()),
        "the owner changed under load"
    );
    println!("{}", common.tally);
    println!("     {watch}");
    common.tally.judge();
    watch.judge();
    leave(&owner, left, &alone);
    format!(
        "{} calls, {} pieces of news, {} answered alone; {watch}",
        common.tally.calls(),
        common.tally.news(),
        common.tally.degraded(),
    )
}

/// Everybody leaves but the owner's client, and the owner gives back what they held.
fn leave(owner: &Owner, left: Vec<Bridge>, alone: &owner::Sample) {
    let (own, others): (Vec<_>, Vec<_>) = left
        .into_iter()
        .partition(|bridge| bridge.pid() == owner.pid());
    drop(others);
    wait_for("the owner closes what others held", BOUND, || {
        owner.look().descriptors <= alone.descriptors + 16
    });
    println!("     alone again: {}, before: {alone}", owner.look());
    drop(own);
}

/// How many of each kind of slow reader there are among `clients`.
fn few(clients: usize) -> usize {
    (clients / SLOW).max(1)
}

/// The end of a phase that lasts one of `parts` of the whole time.
fn after(seconds: u64, parts: u64) -> Instant {
    Instant::now() + Duration::from_millis(seconds * 1000 / parts)
}

async fn open_bridges(common: &Rc<Common>, count: usize) -> Vec<Bridge> {
    let mut open = Vec::new();
    let mut opening = JoinSet::new();
    for number in 0..count {
        if opening.len() >= STARTING {
            open.extend(opening.join_next().await.map(Result::unwrap));
        }
        let mut bridge = Bridge::start(common, &format!("bridge-{number}"));
        opening.spawn_local(async move {
            bridge.open().await;
            bridge
        });
    }
    open.extend(opening.join_all().await);
    open
}

async fn open_sessions(common: &Rc<Common>, count: usize) -> Vec<Session> {
    let mut open = Vec::new();
    for number in 0..count {
        open.push(Session::open(common, number).await);
    }
    open
}

/// Lets time pass until `then`, or until the load is over.
async fn think(common: &Common, then: Instant) {
    tokio::select! {
        () = sleep_until(then) => {}
        () = common.stop.cancelled() => {}
    }
}
