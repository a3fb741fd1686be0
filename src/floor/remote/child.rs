//! A child that cannot outlive its work: git in a process group of its own, with a deadline.
//!
//! *Keeper*: a shell that leads the group and reads a pipe of which this process has the other end. Whatever ends this
//! process, `kill -9` too, closes that pipe, and the keeper then ends the group. Git starts ssh, remote helpers and
//! credential helpers, and none of them is known by its id; the group is. The keeper is there before git is, and its id is
//! the group's, so the id cannot be anybody else's until the keeper has been waited for.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::{Deadline, RemoteError};

/// How long a group that was asked to end has for it.
const GRACE: Duration = Duration::from_millis(300);
/// How often an exit is looked for while a pipe that a grandchild holds stays open, and a deadline that is called off.
const TICK: Duration = Duration::from_millis(50);
/// The same once both pipes are closed: the exit is due.
const SHORT_TICK: Duration = Duration::from_millis(2);
/// The most that is kept of each pipe, in bytes; the beginning goes first.
const KEPT: usize = 256 * 1024;
const KEEPER: &str = r#"trap "" TERM HUP INT; read -r _; kill -TERM 0; sleep 0.3; kill -KILL 0"#;

/// What a child left.
#[derive(Debug)]
pub struct Ran {
    /// Its exit.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it said.
    pub stderr: Vec<u8>,
}

/// A process group, all of which dies with the value.
struct Group(Child);

impl Group {
    #[expect(
        clippy::disallowed_methods,
        reason = "the keeper is a shell, which is no git"
    )]
    fn new() -> io::Result<Self> {
        Command::new("/bin/sh")
            .args(["-c", KEEPER])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map(Self)
    }

    fn id(&self) -> i32 {
        i32::try_from(self.0.id()).unwrap_or(i32::MAX)
    }

    fn signal(&self, signal: Signal) {
        // It is there as long as its keeper was not waited for.
        let _sent = killpg(Pid::from_raw(self.id()), signal);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
        let _waited = self.0.wait();
    }
}

/// Runs a git to its end, which comes by itself, by the deadline, or after `silence` without a byte from it.
///
/// # Errors
/// `NoGit`, `TimedOut`, or `Other` where no process can be started. What it says by its exit code is the caller's.
pub fn run(git: &mut Command, until: &Deadline, silence: Duration) -> Result<Ran, RemoteError> {
    let group = Group::new().map_err(|error| refused(&error))?;
    let mut child = git
        .process_group(group.id())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => RemoteError::NoGit,
            _ => refused(&error),
        })?;
    let mut stdout = Pipe::new(child.stdout.take());
    let mut stderr = Pipe::new(child.stderr.take());
    let mut moved = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| refused(&error))? {
            stdout.drain();
            stderr.drain();
            return Ok(Ran {
                status,
                stdout: stdout.kept,
                stderr: stderr.kept,
            });
        }
        let left = until.left().min(silence.saturating_sub(moved.elapsed()));
        if left.is_zero() {
            end(&group, &mut child, &mut stdout, &mut stderr);
            return Err(RemoteError::TimedOut);
        }
        if listen(&mut stdout, &mut stderr, left) {
            moved = Instant::now();
        }
    }
}

/// Asks the group to end, then ends it. What is waited for is the exit: a pipe's end may be in anybody's hands.
fn end(group: &Group, child: &mut Child, stdout: &mut Pipe, stderr: &mut Pipe) {
    group.signal(Signal::SIGTERM);
    let asked = Instant::now();
    while matches!(child.try_wait(), Ok(None)) {
        let left = GRACE.saturating_sub(asked.elapsed());
        if left.is_zero() {
            break;
        }
        listen(stdout, stderr, left.min(SHORT_TICK));
    }
    group.signal(Signal::SIGKILL);
    let _waited = child.wait();
}

/// Waits until a pipe has something or a tick is over; whether there was something.
fn listen(stdout: &mut Pipe, stderr: &mut Pipe, left: Duration) -> bool {
    let closed = stdout.open.is_none() && stderr.open.is_none();
    let tick = left.min(if closed { SHORT_TICK } else { TICK });
    let heard = {
        let mut asked: Vec<PollFd<'_>> = [stdout.fd(), stderr.fd()]
            .into_iter()
            .flatten()
            .map(|fd| PollFd::new(fd, PollFlags::POLLIN))
            .collect();
        // Rounded up, so that the last millisecond is waited for and not spun through.
        let ms = u16::try_from(tick.as_millis().saturating_add(1)).unwrap_or(u16::MAX);
        poll(&mut asked, PollTimeout::from(ms)).unwrap_or(0)
    };
    // Each is asked again without waiting, which costs less than telling which of them it was.
    heard > 0 && (stdout.take() | stderr.take())
}

/// One pipe of a child, and the last that came through it.
struct Pipe {
    open: Option<Box<dyn Source>>,
    kept: Vec<u8>,
}

trait Source: Read + AsFd {}
impl<T: Read + AsFd> Source for T {}

impl Pipe {
    fn new(open: Option<impl Source + 'static>) -> Self {
        Self {
            open: open.map(|source| Box::new(source) as Box<dyn Source>),
            kept: Vec::new(),
        }
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.open.as_ref().map(|source| source.as_fd())
    }

    /// Takes what is there, once, without waiting; whether there was something.
    fn take(&mut self) -> bool {
        let Some(source) = self.open.as_mut() else {
            return false;
        };
        let mut asked = [PollFd::new(source.as_fd(), PollFlags::POLLIN)];
        if !matches!(poll(&mut asked, PollTimeout::ZERO), Ok(found) if found > 0) {
            return false;
        }
        let mut buffer = [0; 16 * 1024];
        match source.read(&mut buffer) {
            Ok(0) | Err(_) => {
                self.open = None;
                false
            }
            Ok(count) => {
                self.kept.extend_from_slice(&buffer[..count]);
                if self.kept.len() > KEPT {
                    self.kept.drain(..self.kept.len() - KEPT / 2);
                }
                true
            }
        }
    }

    /// Takes the rest of what a child that has ended wrote. A grandchild that writes on for ever is not listened to.
    fn drain(&mut self) {
        for _ in 0..64 {
            if !self.take() {
                return;
            }
        }
    }
}

fn refused(error: &io::Error) -> RemoteError {
    RemoteError::Other(format!("no process can be started: {error}"))
}
