//! Who is connected: the cap on connections, room for newcomers, and the forced end.
//!
//! *Seat*: a connection that counts against the cap. *Overflow*: a connection past it, which is told "busy" and
//! closed, unless it asks for the liveness probe or for a link. *Idle*: a connection without a request in hand; one
//! whose request came and was not read yet is idle too, and is not the one that makes room.
//!
//! A newcomer at a full table takes the seat of the connection that has been idle longest, so that nobody can keep
//! others out by connecting and saying nothing. Only when every seat works does a newcomer go to the overflow, which
//! holds a few, drops its oldest for a new one, and gives each two seconds.
//!
//! Every entry keeps the number of its socket, which is good while the entry stands: a [`Seat`] ends before its socket
//! does, and whoever uses the number holds the table. [`Connections::close_all`] shuts all of them down with
//! `shutdown(2)` from whatever thread calls it: the watchdog uses it when the thread that drives the connections no
//! longer runs (I5). A link keeps its entry for its whole life but gives its seat back: links are counted by who speaks them.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::TcpListener as StdListener;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::sys::socket;
use tokio::net::{TcpListener, TcpStream};

/// The connections of one server; cheap to clone, usable from any thread.
#[derive(Clone)]
pub struct Connections {
    shared: Arc<Shared>,
}

struct Shared {
    seats: usize,
    overflow: usize,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    next: u64,
    tick: u64,
    closed: bool,
    listeners: Vec<StdListener>,
    open: HashMap<u64, Entry>,
}

struct Entry {
    socket: RawFd,
    place: Place,
    /// Requests in hand.
    busy: usize,
    /// When it became idle, in ticks of this table.
    since: u64,
}

/// How a connection counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Within the cap.
    Seat,
    /// Past it.
    Overflow,
    /// Became a link.
    Link,
    /// Shut down to make room; its task has not noticed yet.
    Leaving,
}

impl Connections {
    /// Makes an empty table with `seats` and a small `overflow`.
    #[must_use]
    pub fn new(seats: usize, overflow: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                seats,
                overflow,
                table: Mutex::default(),
            }),
        }
    }

    /// Returns how many connections are open, links included.
    #[must_use]
    pub fn open(&self) -> usize {
        self.table().open.len()
    }

    /// Returns how many of them are links.
    #[must_use]
    pub fn links(&self) -> usize {
        let table = self.table();
        table
            .open
            .values()
            .filter(|entry| entry.place == Place::Link)
            .count()
    }

    /// Shuts down every listener and every connection, and whatever would still come.
    ///
    /// Never waits for the thread that drives them. Their tasks, if they still run, see the end of the stream.
    pub fn close_all(&self) {
        let mut table = self.table();
        table.closed = true;
        for listener in table.listeners.drain(..) {
            // An error means that it listens no more.
            let _ended = socket::shutdown(listener.as_raw_fd(), socket::Shutdown::Both);
        }
        for entry in table.open.values() {
            entry.shut();
        }
    }

    /// Remembers a listener, so that [`Connections::close_all`] ends it too.
    pub(crate) fn listen(&self, listener: &TcpListener) -> io::Result<()> {
        let duplicate = StdListener::from(listener.as_fd().try_clone_to_owned()?);
        self.table().listeners.push(duplicate);
        Ok(())
    }

    /// Forgets the listeners: they are about to be closed in order.
    pub(crate) fn unlisten(&self) {
        self.table().listeners.clear();
    }

    /// Gives a new connection its place; `None` once everything is closed. The seat is dropped before
    /// `stream` is.
    pub(crate) fn admit(&self, stream: &TcpStream) -> Option<Seat> {
        let mut table = self.table();
        if table.closed {
            return None;
        }
        let place = table.place(self.shared.seats, self.shared.overflow);
        table.next += 1;
        table.tick += 1;
        let (id, since) = (table.next, table.tick);
        let entry = Entry {
            socket: stream.as_raw_fd(),
            place,
            busy: 0,
            since,
        };
        table.open.insert(id, entry);
        Some(Seat {
            shared: Arc::clone(&self.shared),
            id,
            place,
        })
    }

    /// Shuts down the connection that has been idle longest, whatever its place; says whether there was one.
    pub(crate) fn give_way(&self) -> bool {
        let mut table = self.table();
        let places = [Place::Overflow, Place::Seat];
        [Heard::Nothing, Heard::Anything]
            .into_iter()
            .any(|heard| places.into_iter().any(|place| table.evict(place, heard)))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.shared.table()
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections")
            .field("open", &self.open())
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Finds a place for one more, making room where that is possible.
    fn place(&mut self, seats: usize, overflow: usize) -> Place {
        if self.count(Place::Seat) < seats || self.evict(Place::Seat, Heard::Nothing) {
            return Place::Seat;
        }
        if self.count(Place::Overflow) >= overflow && !self.evict(Place::Overflow, Heard::Nothing) {
            self.evict(Place::Overflow, Heard::Anything);
        }
        Place::Overflow
    }

    fn count(&self, place: Place) -> usize {
        self.open.values().filter(|e| e.place == place).count()
    }

    /// Shuts down the connection of `place` that has been idle longest; says whether there was one.
    fn evict(&mut self, place: Place, heard: Heard) -> bool {
        let idle = self.open.values_mut();
        let mut idle: Vec<&mut Entry> = idle
            .filter(|entry| entry.place == place && entry.busy == 0)
            .collect();
        idle.sort_unstable_by_key(|entry| entry.since);
        let fits = |entry: &&mut Entry| heard == Heard::Anything || !entry.is_heard();
        let Some(victim) = idle.into_iter().find(fits) else {
            return false;
        };
        victim.place = Place::Leaving;
        victim.shut();
        true
    }
}

/// What may have come over a connection that is shut down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    /// Nothing that was not read: a request that waits only because the server is late would never be answered.
    Nothing,
    /// Whatever.
    Anything,
}

impl Entry {
    /// Whether something came that was not read yet.
    fn is_heard(&self) -> bool {
        let flags = socket::MsgFlags::MSG_PEEK | socket::MsgFlags::MSG_DONTWAIT;
        socket::recv(self.socket, &mut [0], flags).is_ok_and(|bytes| bytes > 0)
    }

    /// Ends both directions; its task sees the end of the stream.
    fn shut(&self) {
        // An error means that the other end was faster.
        let _ended = socket::shutdown(self.socket, socket::Shutdown::Both);
    }
}

/// One connection's entry; dropped before its socket.
pub(crate) struct Seat {
    shared: Arc<Shared>,
    id: u64,
    place: Place,
}

impl Seat {
    /// Returns what this connection may use to say that it works.
    pub(crate) fn desk(&self) -> Desk {
        Desk {
            shared: Arc::clone(&self.shared),
            id: self.id,
            place: self.place,
        }
    }

    /// Gives the seat back and stays listed as a link.
    pub(crate) fn become_link(&self) {
        if let Some(entry) = self.shared.table().open.get_mut(&self.id) {
            entry.place = Place::Link;
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.shared.table().open.remove(&self.id);
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Seat({}, {:?})", self.id, self.place)
    }
}

/// A connection as its requests see it.
#[derive(Clone)]
pub(crate) struct Desk {
    shared: Arc<Shared>,
    id: u64,
    place: Place,
}

impl Desk {
    /// Returns where the connection stands.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Marks the connection as working until the guard is dropped.
    pub(crate) fn work(&self) -> Working {
        if let Some(entry) = self.shared.table().open.get_mut(&self.id) {
            entry.busy += 1;
        }
        Working(self.clone())
    }
}

/// A request in hand.
pub(crate) struct Working(Desk);

impl Drop for Working {
    fn drop(&mut self) {
        let mut table = self.0.shared.table();
        table.tick += 1;
        let tick = table.tick;
        if let Some(entry) = table.open.get_mut(&self.0.id) {
            entry.busy = entry.busy.saturating_sub(1);
            entry.since = tick;
        }
    }
}
