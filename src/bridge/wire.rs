//! The two ends of a link as the bridge and the host hold them: a channel in memory, or a stream of bytes.
//!
//! Reading and writing are separate halves, so that one task can wait for both at once. Every wait here is cancel
//! safe: a line is either taken whole or still there.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{Buf as _, BytesMut};
use futures_util::FutureExt as _;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc};

use crate::floor::limits::{FRAME_BYTES, OUTBOUND_BYTES};
use crate::link::line::{Line, Lines, slim};

/// A boxed reading half.
pub type BoxRead = Box<dyn AsyncRead + Send + Unpin>;
/// A boxed writing half.
pub type BoxWrite = Box<dyn AsyncWrite + Send + Unpin>;

/// What to do with lines that stand before the end of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtEnd {
    /// Read them: answers that were sent before an owner's death are still there (I6).
    Read,
    /// Drop them: a frame of a closed link is nobody's any more, above all after a stall (I5b).
    Drop,
}

/// The reading half.
pub struct Reader(ReaderKind);

enum ReaderKind {
    Memory {
        lines: mpsc::UnboundedReceiver<Line>,
        gauge: Arc<Gauge>,
    },
    Stream {
        io: BoxRead,
        lines: Lines,
        at_end: AtEnd,
        ended: bool,
        /// Bytes came, and the system was not asked since whether the end stands behind them.
        unasked: bool,
    },
}

/// The writing half.
pub struct Writer(WriterKind);

enum WriterKind {
    Memory {
        lines: mpsc::UnboundedSender<Line>,
        gauge: Arc<Gauge>,
    },
    Stream {
        io: BoxWrite,
        out: BytesMut,
    },
}

/// How many bytes wait in a channel.
#[derive(Debug, Default)]
struct Gauge {
    bytes: AtomicUsize,
    taken: Notify,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reader")
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("pending", &self.pending())
            .finish()
    }
}

/// Makes the two ends of a link in memory.
#[must_use]
pub fn memory() -> ((Reader, Writer), (Reader, Writer)) {
    let (to_a, at_a) = one_way();
    let (to_b, at_b) = one_way();
    ((at_a, to_b), (at_b, to_a))
}

fn one_way() -> (Writer, Reader) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let gauge = Arc::new(Gauge::default());
    (
        Writer(WriterKind::Memory {
            lines: sender,
            gauge: Arc::clone(&gauge),
        }),
        Reader(ReaderKind::Memory {
            lines: receiver,
            gauge,
        }),
    )
}

/// Makes one end of a link from a stream; `read` are bytes that were read from it already.
#[must_use]
pub fn stream(io: (BoxRead, BoxWrite), read: &[u8], at_end: AtEnd) -> (Reader, Writer) {
    let mut lines = Lines::default();
    lines.buffer().extend_from_slice(read);
    (
        Reader(ReaderKind::Stream {
            io: io.0,
            lines,
            at_end,
            ended: false,
            unasked: !read.is_empty(),
        }),
        Writer(WriterKind::Stream {
            io: io.1,
            out: BytesMut::new(),
        }),
    )
}

impl Reader {
    /// Takes the next line; `None` at the end. Cancel safe.
    ///
    /// # Errors
    /// The stream's own, or `InvalidData` for bytes that are no line.
    pub async fn recv(&mut self) -> io::Result<Option<Line>> {
        match &mut self.0 {
            ReaderKind::Memory { lines, gauge } => {
                let line = lines.recv().await;
                if let Some(line) = &line {
                    gauge.bytes.fetch_sub(line.cost(), Ordering::Relaxed);
                    gauge.taken.notify_one();
                }
                Ok(line)
            }
            ReaderKind::Stream {
                io,
                lines,
                at_end,
                ended,
                unasked,
            } => loop {
                if *unasked && *at_end == AtEnd::Drop {
                    // A process may have been stopped right after it was told of these bytes, and their link closed
                    // since: one turn of the runtime asks the system again.
                    tokio::task::yield_now().await;
                    while lines.buffer().len() < FRAME_BYTES {
                        match io.read_buf(lines.buffer()).now_or_never() {
                            Some(Ok(0) | Err(_)) => {
                                *ended = true;
                                break;
                            }
                            Some(Ok(_)) => {}
                            None => break,
                        }
                    }
                    *unasked = false;
                }
                if *ended && *at_end == AtEnd::Drop {
                    return Ok(None);
                }
                match lines.cut() {
                    Ok(Some(line)) => return Line::parse(&line).map(Some).map_err(io_error),
                    Ok(None) if *ended => return Ok(None),
                    Ok(None) => {}
                    Err(error) => return Err(io_error(error)),
                }
                if io.read_buf(lines.buffer()).await? == 0 {
                    *ended = true;
                } else {
                    *unasked = true;
                }
            },
        }
    }
}

impl Writer {
    /// Queues a line. It leaves with [`Writer::flush`]; into memory it leaves at once.
    pub fn queue(&mut self, line: Line) {
        match &mut self.0 {
            WriterKind::Memory { lines, gauge } => {
                gauge.bytes.fetch_add(line.cost(), Ordering::Relaxed);
                // Nobody at the other end: the reading half reports the end of the link.
                drop(lines.send(line));
            }
            WriterKind::Stream { out, .. } => line.encode(out),
        }
    }

    /// Bytes that wait.
    #[must_use]
    pub fn pending(&self) -> usize {
        match &self.0 {
            WriterKind::Memory { gauge, .. } => gauge.bytes.load(Ordering::Relaxed),
            WriterKind::Stream { out, .. } => out.len(),
        }
    }

    /// Whether so much waits that its source must not be read further (I15).
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.pending() > OUTBOUND_BYTES
    }

    /// Whether [`Writer::flush`] has anything to wait for.
    #[must_use]
    pub fn wants_flush(&self) -> bool {
        match &self.0 {
            WriterKind::Memory { .. } => self.is_full(),
            WriterKind::Stream { out, .. } => !out.is_empty(),
        }
    }

    /// Writes what waits; into memory, waits until the other end took something. Cancel safe: what was not written is
    /// still queued.
    ///
    /// # Errors
    /// The stream's own.
    pub async fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            WriterKind::Memory { lines, gauge } => {
                if gauge.bytes.load(Ordering::Relaxed) > OUTBOUND_BYTES {
                    tokio::select! {
                        () = gauge.taken.notified() => {}
                        // Nobody will ever take anything again.
                        () = lines.closed() => return Err(io::ErrorKind::BrokenPipe.into()),
                    }
                }
                Ok(())
            }
            WriterKind::Stream { io, out } => {
                while out.has_remaining() {
                    if io.write_buf(out).await? == 0 {
                        return Err(io::ErrorKind::WriteZero.into());
                    }
                }
                slim(out);
                Ok(())
            }
        }
    }
}

fn io_error(error: crate::link::line::LineError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::{AtEnd, memory, stream};
    use crate::link::line::{Line, Verb};
    use tokio::io::AsyncWriteExt as _;

    fn line(seq: u64) -> Line {
        Line::new(seq, Verb::Frame, "{\"a\":1}")
    }

    #[tokio::test(flavor = "current_thread")]
    async fn lines_cross_a_memory_link_in_order_and_its_end_is_seen() {
        let ((mut reader, writer), (other_reader, mut other)) = memory();
        other.queue(line(1));
        other.queue(line(2));
        assert_eq!(reader.recv().await.unwrap().unwrap().seq, 1);
        assert_eq!(reader.recv().await.unwrap().unwrap().seq, 2);
        drop((other, other_reader));
        assert!(reader.recv().await.unwrap().is_none());
        drop(writer);
    }

    /// Guards I5b.
    #[tokio::test(flavor = "current_thread")]
    async fn frames_of_a_closed_link_are_dropped_by_the_host_and_answers_are_read_by_the_bridge() {
        for (at_end, expected) in [(AtEnd::Drop, 0), (AtEnd::Read, 2)] {
            let (near, mut far) = tokio::io::duplex(1024);
            let (read, write) = tokio::io::split(near);
            let (mut reader, _writer) = stream((Box::new(read), Box::new(write)), b"", at_end);
            far.write_all(b"1 frame {}\n2 frame {}\n").await.unwrap();
            drop(far);
            let mut seen = 0;
            while reader.recv().await.unwrap().is_some() {
                seen += 1;
            }
            assert_eq!(seen, expected, "{at_end:?}");
        }
    }

    /// Guards I5b: a process that is stopped right after it was told of a frame learns of the link's end only when the
    /// system is asked again.
    #[tokio::test(flavor = "current_thread")]
    async fn an_end_that_came_after_the_news_of_a_frame_is_seen_before_the_frame_is_run() {
        let (near, far) = tokio::net::UnixStream::pair().unwrap();
        far.try_write(b"1 frame {}\n").unwrap();
        near.readable().await.unwrap();
        drop(far);
        let (read, write) = near.into_split();
        let (mut reader, _writer) = stream((Box::new(read), Box::new(write)), b"", AtEnd::Drop);
        assert!(reader.recv().await.unwrap().is_none());
    }
}
