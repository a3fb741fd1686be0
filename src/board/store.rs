//! The durable half of the board: one SQLite file, opened late, written behind or waited for.
//!
//! *Job*: one piece of work on the connection. Jobs run one after another in the order they were given, on a thread
//! that exists only while there are any; where the system gives no thread, they are told so. *Behind*: nobody waits for the job, and its failure is logged.
//! *Mirror*: written behind what the room holds already, for the next owner; a store in memory has none, and so it does
//! not even open for the peers and announcements of a bridge that is looking or alone (I8).
//! *Fence*: each writing transaction first compares the epoch in the file with the one that this owner took; an owner
//! that was superseded writes nothing and says so (I5).
//!
//! What is found in the file's place is [`database`]'s: made, opened again, moved aside. One of a newer schema is left
//! alone, and this server keeps its board in memory; where it is full, read-only, unreadable or busy the write answers
//! `unavailable`, and the next one tries again.
//!
//! [`database`]: crate::floor::database
//!
//! The file is shared by the owners of several checkouts, so every row carries the root's id. WAL with
//! `synchronous=NORMAL`: a kill loses nothing, a power cut at most the last moments, never consistency.
//!
//! Absent: any read or write on the start path but the epoch.

mod error;

pub use error::StoreError;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use super::tables;
use crate::floor::database::{self, Database, Schema};
pub use crate::floor::database::{Condition, Place};
use crate::floor::error::Chain;
use crate::floor::worker::Worker;

/// What the board's file must be. A damaged board is worth little, so few are kept.
const SCHEMA: Schema = Schema {
    whose: "board",
    steps: tables::STEPS,
    durable: false,
    damaged_kept: 3,
};

/// Looks at the file of a board, and changes nothing.
#[must_use]
pub fn examine(path: &Path) -> Condition {
    database::examine(path, &SCHEMA)
}

/// Whose rows these are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The root's id.
    pub root: String,
    /// The kernel and namespaces.
    pub kernel: String,
}

/// Is told why where it cannot be done.
type Job = Box<dyn FnOnce(Result<&Store, StoreError>) + Send>;

/// One file, or the memory in its place.
pub struct Store {
    place: Place,
    owner: Owner,
    epoch: AtomicU64,
    database: Mutex<Database>,
    worker: Worker,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl Store {
    pub(super) fn new(place: Place, owner: Owner) -> Arc<Self> {
        Arc::new(Self {
            place: place.clone(),
            owner,
            epoch: AtomicU64::new(0),
            database: Mutex::new(Database::new(place, SCHEMA)),
            worker: Worker::new("board"),
        })
    }

    /// Takes an epoch for this owner: one more than the file's, and at least `at_least`.
    pub(super) async fn take_epoch(self: &Arc<Self>, at_least: u64) -> Result<u64, StoreError> {
        let owner = self.owner.clone();
        // Should the file only work later, this is the epoch that its writes stand for.
        self.epoch.store(at_least, Ordering::Release);
        let epoch = self
            .run(move |store| {
                store.with(|connection| {
                    let tx =
                        connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                    let epoch = (tables::epoch(&tx, &owner)?.unwrap_or(0) + 1).max(at_least);
                    tables::set_epoch(&tx, &owner, epoch)?;
                    tx.commit()?;
                    Ok(epoch)
                })
            })
            .await?;
        self.epoch.store(epoch, Ordering::Release);
        Ok(epoch)
    }

    /// Runs `f` in one writing transaction behind the fence; what `f` refuses is rolled back. Behind whatever was given
    /// before the call, not before its first poll.
    ///
    /// Cancel safety: dropping the future does not stop the transaction.
    pub(super) fn write<T, F>(
        self: &Arc<Self>,
        f: F,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>, &Owner) -> Result<T, StoreError> + Send + 'static,
    {
        self.run(move |store| store.transact(f))
    }

    /// Reads without a transaction of its own.
    pub(super) async fn read<T, F>(self: &Arc<Self>, f: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection, &Owner) -> rusqlite::Result<T> + Send + 'static,
    {
        self.run(move |store| store.with(|connection| Ok(f(connection, &store.owner)?)))
            .await
    }

    /// Like [`Store::write`], but nobody waits; a failure is logged under `what`.
    pub(super) fn behind<F>(self: &Arc<Self>, what: &'static str, f: F)
    where
        F: FnOnce(&Transaction<'_>, &Owner) -> Result<(), StoreError> + Send + 'static,
    {
        self.submit(Box::new(move |store| {
            if let Err(error) = store.and_then(|store| store.transact(f)) {
                tracing::debug!(what, error = %Chain(&error), "the board was not written");
            }
        }));
    }

    /// Like [`Store::behind`], for what the room holds already.
    pub(super) fn mirror<F>(self: &Arc<Self>, what: &'static str, f: F)
    where
        F: FnOnce(&Transaction<'_>, &Owner) -> Result<(), StoreError> + Send + 'static,
    {
        if self.place != Place::Memory {
            self.behind(what, f);
        }
    }

    fn transact<T>(
        &self,
        f: impl FnOnce(&Transaction<'_>, &Owner) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.with(|connection| {
            let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mine = self.epoch.load(Ordering::Acquire);
            let theirs = tables::epoch(&tx, &self.owner)?.unwrap_or(0);
            if theirs > mine {
                return Err(StoreError::Superseded { mine, theirs });
            }
            if theirs < mine {
                // A file that was not there, or could not be used, when this owner took its epoch.
                tables::set_epoch(&tx, &self.owner, mine)?;
            }
            let done = f(&tx, &self.owner)?;
            tx.commit()?;
            Ok(done)
        })
    }

    fn run<T, F>(
        self: &Arc<Self>,
        f: F,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    {
        let (tell, told) = oneshot::channel();
        self.submit(Box::new(move |store| {
            // Nobody waits any more: the work is done all the same.
            drop(tell.send(store.and_then(f)));
        }));
        async move { told.await.unwrap_or(Err(StoreError::Gone)) }
    }

    fn submit(self: &Arc<Self>, job: Job) {
        let store = Arc::clone(self);
        self.worker.submit(Box::new(move |thread| {
            job(thread.map(|()| &*store).map_err(StoreError::NoThread));
        }));
    }

    /// Runs `f` on the open file.
    fn with<T>(
        &self,
        f: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // What a panic left behind is whole: the file is closed, and opened again.
        let mut database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        database.with(f)
    }

    /// Whether nothing was ever asked of it.
    #[cfg(test)]
    fn is_untouched(&self) -> bool {
        let database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        self.worker.is_idle() && database.is_untouched()
    }
}

#[cfg(test)]
mod tests;
