//! A connection's bytes: a stalled reader is cut, and an answer is not lost to what the client still sends.
//!
//! *Stalled*: the kernel takes no more bytes for the client for longer than the bound. *Lingering*: after the last
//! answer the sending side is closed, and what the client still sends is read and thrown away for a moment. Without
//! it, closing a socket with unread bytes resets the connection, and the client loses the very answer (413, 431, 503)
//! that tells it why.

use std::fmt;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use super::connections::Seat;
use crate::floor::limits::{LINGER, LINGER_BYTES};

/// One accepted connection.
pub(crate) struct Stream {
    /// Before the socket, so that it is dropped first.
    seat: Seat,
    socket: TcpStream,
    stall: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
    linger: Option<Linger>,
}

struct Linger {
    until: Pin<Box<Sleep>>,
    left: usize,
}

impl Stream {
    /// Takes over an accepted socket.
    pub(crate) fn new(socket: TcpStream, seat: Seat, stall: Duration) -> Self {
        Self {
            socket,
            seat,
            stall,
            stalled: None,
            linger: None,
        }
    }

    /// Turns an upgraded connection into a link; `read` is what arrived behind the request.
    pub(crate) fn into_link(self, read: Bytes) -> LinkStream {
        self.seat.become_link();
        LinkStream {
            read,
            socket: self.socket,
            _seat: self.seat,
        }
    }

    /// Runs a write, and cuts a client that takes nothing for too long.
    fn write(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(done) = write(Pin::new(&mut self.socket), cx) {
            self.stalled = None;
            return Poll::Ready(done);
        }
        let stall = self.stall;
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + stall)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buf)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write(cx, |socket, cx| socket.poll_write(cx, buf))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(cx, |socket, cx| socket.poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.linger.is_none() {
            ready!(Pin::new(&mut this.socket).poll_shutdown(cx))?;
        }
        let mut scratch = [0_u8; 16 * 1024];
        loop {
            let mut buf = ReadBuf::new(&mut scratch);
            match Pin::new(&mut this.socket).poll_read(cx, &mut buf) {
                Poll::Ready(Ok(())) if buf.filled().is_empty() => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(())) => {
                    let read = buf.filled().len();
                    let linger = this.linger.get_or_insert_with(|| Linger {
                        until: Box::pin(sleep_until(Instant::now() + LINGER)),
                        left: LINGER_BYTES,
                    });
                    linger.left = linger.left.saturating_sub(read);
                    if linger.left == 0 {
                        return Poll::Ready(Ok(()));
                    }
                }
                Poll::Ready(Err(_)) => return Poll::Ready(Ok(())),
                Poll::Pending => {
                    // Nothing unread means that closing resets nothing.
                    return match &mut this.linger {
                        Some(linger) => linger.until.as_mut().poll(cx).map(Ok),
                        None => Poll::Ready(Ok(())),
                    };
                }
            }
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({:?})", self.seat)
    }
}

/// The bytes of a link, after its upgrade: no deadline of HTTP holds any more.
#[derive(Debug)]
pub struct LinkStream {
    /// Before the socket, so that it is dropped first.
    _seat: Seat,
    read: Bytes,
    socket: TcpStream,
}

impl AsyncRead for LinkStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read.has_remaining() {
            let take = self.read.len().min(buf.remaining());
            buf.put_slice(&self.read.split_to(take));
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.socket).poll_read(cx, buf)
    }
}

impl AsyncWrite for LinkStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
