//! The accept loop: one task a connection, headers bounded, a graceful and a forced end.
//!
//! What axum's own loop does not do: `TCP_NODELAY` (two writes to one answer cost 44 ms on loopback with Nagle's
//! algorithm on), bounds on header fields and their time, a cap on connections, and a connection's local address for
//! the guards.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use nix::errno::Errno;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, yield_now};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tower::Service as _;
use tracing::{debug, warn};

use super::connections::{Connections, Desk, Place};
use super::held::Held;
use super::limits::Limits;
use super::stream::Stream;
use crate::floor::error::Chain;

/// How long the loop waits when the process has no file descriptor left.
const EXHAUSTED: Duration = Duration::from_millis(50);
/// How long it waits for what it asked to give way.
const ROOM: Duration = Duration::from_millis(1);

/// Where a request came from, put into its extensions for the guards.
#[derive(Clone)]
pub(crate) struct Arrival {
    /// The other end.
    pub(crate) peer: SocketAddr,
    /// Our end, with the port that an `Origin` must name.
    pub(crate) local: SocketAddr,
    /// The connection's entry; `None` in tests without a socket.
    pub(crate) desk: Option<Desk>,
    /// Cancelled when the server stops: streams end then.
    pub(crate) stopping: CancellationToken,
}

/// Serves `router` on `listener` until `stop` resolves, then lets requests in hand finish and returns.
///
/// Dropping the future closes every connection but the links at once. Links outlive it: they belong to whoever took
/// them. `connections` is the same table that the caller keeps to end all of them by force.
///
/// # Errors
/// The listener could not be duplicated.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    connections: Connections,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    connections.listen(&listener)?;
    let mut tasks = JoinSet::new();
    let stopping = CancellationToken::new();
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            biased;
            () = &mut stop => break,
            Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
            accepted = listener.accept() => match accepted {
                Ok((socket, peer)) => {
                    let connection = Connection { socket, peer, router: router.clone(), limits };
                    if let Some(serving) = connection.open(&connections, stopping.clone()) {
                        tasks.spawn(serving);
                        // Its request is read before the next one comes: in a burst, whoever waits to be read would
                        // look idle and make room.
                        yield_now().await;
                    }
                }
                Err(error) if lost_before_accept(&error) => {}
                Err(error) if is_out_of_files(&error) && connections.give_way() => {
                    // Its descriptor is free when its task has seen the end.
                    sleep(ROOM).await;
                }
                Err(error) => {
                    warn!(error = %Chain(&error), "cannot accept a connection");
                    sleep(EXHAUSTED).await;
                }
            }
        }
    }
    connections.unlisten();
    drop(listener);
    stopping.cancel();
    while tasks.join_next().await.is_some() {}
    Ok(())
}

/// Says whether `accept` failed because of that connection alone.
fn lost_before_accept(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

/// Says whether `accept` failed for want of a descriptor.
fn is_out_of_files(error: &io::Error) -> bool {
    let number = error.raw_os_error().map(Errno::from_raw);
    matches!(number, Some(Errno::EMFILE | Errno::ENFILE))
}

/// A connection that was just accepted.
struct Connection {
    socket: TcpStream,
    peer: SocketAddr,
    router: Router,
    limits: Limits,
}

impl Connection {
    /// Gives it its place and returns what serves it; `None` when it cannot be served at all.
    fn open(
        self,
        connections: &Connections,
        stopping: CancellationToken,
    ) -> Option<impl Future<Output = ()> + Send + use<>> {
        // Without it an answer in two segments waits 40 ms; the connection works all the same.
        let _delayed = self.socket.set_nodelay(true);
        let local = self.socket.local_addr().ok()?;
        let seat = connections.admit(&self.socket)?;
        let desk = seat.desk();
        let place = desk.place();
        let arrival = Arrival {
            peer: self.peer,
            local,
            desk: Some(desk),
            stopping: stopping.clone(),
        };
        let limits = self.limits;
        let stream = Stream::new(self.socket, seat, limits.stall);
        let serving = drive(stream, self.router, arrival, limits, stopping);
        Some(async move {
            if place == Place::Overflow {
                let _over = timeout(limits.overflow_time, serving).await;
            } else {
                serving.await;
            }
        })
    }
}

/// Speaks HTTP/1.1 until the connection ends or becomes a link.
async fn drive(
    stream: Stream,
    router: Router,
    arrival: Arrival,
    limits: Limits,
    stopping: CancellationToken,
) {
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut router = router.clone();
        let arrival = arrival.clone();
        async move {
            let working = arrival.desk.as_ref().map(Desk::work);
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(arrival);
            let Ok(answer): Result<Response, Infallible> = router.call(request).await;
            Ok::<_, Infallible>(answer.map(|body| Held::new(body, working)))
        }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time)
        .max_headers(limits.header_count)
        .max_header_size(limits.header_bytes)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut serving = pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = stopping.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        debug!(error = %Chain(&error), "connection ended");
    }
}
