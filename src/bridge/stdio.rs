//! The client's side of a bridge: stdin and stdout without a thread where that is safe.
//!
//! `tokio::io::stdin` hops through a blocking thread on every read. A pipe or socket is read without one, which needs
//! `O_NONBLOCK`. That flag sits on the open file description, which other processes may share, so it is taken back at
//! the end, and it is never set on a stdout that is also our stderr: whatever logs there would then see `EAGAIN`.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;

use bytes::{Buf as _, Bytes, BytesMut};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::stat::{FileStat, SFlag, fstat};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::wire::{BoxRead, BoxWrite};
use crate::floor::jsonrpc::{FrameError, faults};
use crate::floor::limits::FRAME_BYTES;
use crate::link::line::{Lines, slim};

/// The client's input: one frame a line.
pub struct Input {
    io: BoxRead,
    lines: Lines,
    ended: bool,
    _restore: Option<Restore>,
}

/// The client's output: one frame a line, each written with as few writes as the pipe takes.
pub struct Output {
    io: BoxWrite,
    out: BytesMut,
    /// Written to the fallback, whose own thread may still hold it.
    unflushed: usize,
    _restore: Option<Restore>,
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input")
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output")
            .field("pending", &self.pending())
            .finish_non_exhaustive()
    }
}

/// Takes `O_NONBLOCK` off a description again.
struct Restore(OwnedFd);

impl Drop for Restore {
    fn drop(&mut self) {
        if let Ok(flags) = fcntl(&self.0, FcntlArg::F_GETFL) {
            let flags = OFlag::from_bits_truncate(flags) & !OFlag::O_NONBLOCK;
            // A description that is gone has no flag to restore.
            let _gone = fcntl(&self.0, FcntlArg::F_SETFL(flags));
        }
    }
}

/// The device's number, whose type differs between systems.
#[expect(
    clippy::useless_conversion,
    reason = "the type differs between systems"
)]
fn device(stat: &FileStat) -> u64 {
    stat.st_dev.try_into().unwrap_or_default()
}

/// What a descriptor is, as far as it matters here.
fn form(fd: impl AsFd) -> Option<(SFlag, (u64, u64))> {
    let stat = fstat(fd).ok()?;
    let form = SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT;
    Some((form, (device(&stat), stat.st_ino)))
}

impl Input {
    /// Opens stdin. Must run inside a runtime.
    ///
    /// # Errors
    /// The system's own, such as a closed descriptor.
    pub fn open() -> io::Result<Self> {
        let fd = io::stdin().as_fd().try_clone_to_owned()?;
        let (io, restore): (BoxRead, _) = match form(&fd) {
            Some((SFlag::S_IFIFO, _)) => {
                let restore = Restore(fd.try_clone()?);
                (Box::new(pipe::Receiver::from_owned_fd(fd)?), Some(restore))
            }
            Some((SFlag::S_IFSOCK, _)) => {
                let restore = Restore(fd.try_clone()?);
                (Box::new(unix_stream(fd)?), Some(restore))
            }
            _ => (Box::new(tokio::io::stdin()), None),
        };
        Ok(Self {
            io,
            lines: Lines::bounded(FRAME_BYTES),
            ended: false,
            _restore: restore,
        })
    }

    /// Takes the next line that is not blank; `None` at the end. Cancel safe.
    ///
    /// The inner error is a line past the bound, which ends nothing.
    ///
    /// # Errors
    /// The system's own.
    pub async fn next(&mut self) -> io::Result<Option<Result<Bytes, FrameError>>> {
        loop {
            match self.lines.cut() {
                Ok(Some(line)) if line.trim_ascii().is_empty() => {}
                Ok(Some(line)) => return Ok(Some(Ok(line))),
                Err(_) => return Ok(Some(Err(faults::TOO_LARGE.fill(&[])))),
                Ok(None) if self.ended => {
                    // Half a frame before the end is still a frame that somebody sent.
                    let rest = self.lines.rest();
                    return Ok((!rest.trim_ascii().is_empty()).then_some(Ok(rest)));
                }
                Ok(None) => {
                    self.ended = self.io.read_buf(self.lines.buffer()).await? == 0;
                }
            }
        }
    }
}

impl Output {
    /// Opens stdout. Must run inside a runtime.
    ///
    /// # Errors
    /// The system's own, such as a closed descriptor.
    pub fn open() -> io::Result<Self> {
        let fd = io::stdout().as_fd().try_clone_to_owned()?;
        let shared = form(&fd).map(|(_, inode)| inode) == form(io::stderr()).map(|(_, i)| i);
        let (io, restore): (BoxWrite, _) = match form(&fd) {
            Some((SFlag::S_IFIFO, _)) if !shared => {
                let restore = Restore(fd.try_clone()?);
                (Box::new(pipe::Sender::from_owned_fd(fd)?), Some(restore))
            }
            Some((SFlag::S_IFSOCK, _)) if !shared => {
                let restore = Restore(fd.try_clone()?);
                (Box::new(unix_stream(fd)?), Some(restore))
            }
            _ => (Box::new(tokio::io::stdout()), None),
        };
        Ok(Self {
            io,
            out: BytesMut::new(),
            unflushed: 0,
            _restore: restore,
        })
    }

    /// Queues a frame.
    pub fn queue(&mut self, frame: &[u8]) {
        self.out.reserve(frame.len() + 1);
        self.out.extend_from_slice(frame);
        self.out.extend_from_slice(b"\n");
    }

    /// Bytes that wait.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.out.len() + self.unflushed
    }

    /// Writes what waits. Cancel safe.
    ///
    /// # Errors
    /// The system's own; `BrokenPipe` when the client is gone.
    pub async fn flush(&mut self) -> io::Result<()> {
        while self.out.has_remaining() {
            let written = self.io.write_buf(&mut self.out).await?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.unflushed += written;
        }
        slim(&mut self.out);
        // A no-op on a pipe; the fallback's own thread has a buffer of its own.
        self.io.flush().await?;
        self.unflushed = 0;
        Ok(())
    }
}

fn unix_stream(fd: OwnedFd) -> io::Result<UnixStream> {
    let stream = StdUnixStream::from(fd);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}
