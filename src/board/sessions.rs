//! Legacy HTTP sessions in the board's file: what the next owner must know of them, under their peers' public ids.
//!
//! | row | on | next |
//! |---|---|---|
//! | none | kept | what it told |
//! | what it told | kept | what it tells now |
//! | any | ended | ended |
//! | ended | kept | stays ended |
//! | any | the file is lost: damaged, removed | none, in a file that is younger than the session |
//! | any | its time is over, at the next start | none |

use super::live::Board;
use super::store::StoreError;
use super::tables;

/// What the file knows of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptSession {
    /// Nothing: it told nothing, or could not be written.
    Unknown,
    /// Nothing, and it is older than the file: whether it ended is lost.
    Lost,
    /// That it must stay ended.
    Ended,
    /// What it told.
    Told(String),
}

impl Board {
    /// Keeps what a session told, until `until` (milliseconds since the epoch of Unix). Returns at once.
    pub fn keep_session(&self, session: &str, told: String, until: u64) {
        let session = session.to_owned();
        self.store.mirror("session", move |tx, owner| {
            Ok(tables::put_session(tx, owner, &session, &told, until)?)
        });
    }

    /// Takes a session as ended until `until`. Returns at once; what it returns resolves when that is in the file.
    ///
    /// # Errors
    /// Where it could not be written: a later owner may know the session again.
    pub fn end_session(
        &self,
        session: &str,
        until: u64,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let session = session.to_owned();
        self.store
            .write(move |tx, owner| Ok(tables::put_ended(tx, owner, &session, until)?))
    }

    /// Waits until everything written behind so far is in the file; a file that cannot be written is waited for in vain
    /// only once.
    pub async fn kept(&self) {
        // Jobs are done in order, so this one is behind all of them. Its own failure says what theirs said.
        drop(self.store.read(|_, _| Ok(())).await);
    }

    /// What earlier owners kept of a session that began at `began` (milliseconds since the epoch of Unix).
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub async fn kept_session(&self, session: &str, began: u64) -> Result<KeptSession, StoreError> {
        let session = session.to_owned();
        let read = self
            .store
            .read(move |connection, owner| tables::session(connection, owner, &session, began));
        read.await
    }
}
