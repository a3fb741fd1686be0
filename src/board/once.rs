//! Once-keys: an effect and the proof that it happened, in one transaction (I6).
//!
//! A request that an earlier owner may have run comes again under the same key. If its transaction was committed, the
//! first result is there and comes back; if not, nothing of it is there, and it runs. There is no third case, at
//! whatever instant the owner was killed. The digest of the request guards against a key used for something else.

use rusqlite::Transaction;
use serde_json::Value;

use super::live::Board;
use super::store::StoreError;
use super::tables;
use crate::floor::clock;
use crate::floor::error::Chain;
use crate::registry::{Answer, OnceKey, refusal};

/// The transaction that an effect writes in.
#[derive(Debug)]
pub struct Effect<'a> {
    tx: &'a Transaction<'a>,
    root: &'a str,
}

impl Effect<'_> {
    /// Reads the lines of a named list of this root that come after the first `count`, in order.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn lines_after(&self, file: &str, count: u64) -> Result<Vec<String>, StoreError> {
        let lines = self
            .tx
            .prepare_cached("SELECT text FROM line WHERE root = ?1 AND file = ?2 AND number > ?3 ORDER BY number")?
            .query_map(rusqlite::params![self.root, file, count], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        Ok(lines)
    }

    /// Appends a line to a named list of this root.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn append_line(&self, file: &str, text: &str) -> Result<u64, StoreError> {
        Ok(self
            .tx
            .prepare_cached(
                "INSERT INTO line (root, file, number, text)
                 SELECT ?1, ?2, coalesce(max(number), 0) + 1, ?3 FROM line WHERE root = ?1 AND file = ?2
                 RETURNING number",
            )?
            .query_row([self.root, file, text], |row| row.get(0))?)
    }
}

impl Board {
    /// Runs `effect` in a transaction that also keeps its answer under `key`; a key that is already there gives the
    /// first answer back and runs nothing. Without a key it just runs.
    ///
    /// Cancel safety: once begun, the transaction finishes whoever waits.
    ///
    /// # Errors
    /// `conflict` for a key of another request, `unavailable` where the file cannot be written or this owner was
    /// superseded, and whatever `effect` refuses; in each case nothing is written.
    pub async fn once<F>(&self, key: Option<OnceKey>, effect: F) -> Answer
    where
        F: FnOnce(&Effect<'_>) -> Result<Value, StoreError> + Send + 'static,
    {
        if let Some(key) = &key {
            self.keys().insert((key.scope.clone(), key.seq));
        }
        let outcome = self
            .store
            .write(move |tx, owner| {
                if let Some(key) = &key
                    && let Some((digest, result)) = tables::once(tx, owner, key)?
                {
                    return first(key, &digest, &result);
                }
                let value = effect(&Effect {
                    tx,
                    root: &owner.root,
                })?;
                if let Some(key) = &key {
                    tables::put_once(tx, owner, key, &value.to_string(), clock::now_ms())?;
                }
                Ok(value)
            })
            .await;
        outcome.map_err(|error| {
            if !matches!(error, StoreError::Refused(_)) {
                tracing::warn!(error = %Chain(&error), "a keyed request was not written");
            }
            error.refusal()
        })
    }

    /// Forgets a key: its answer has reached the client. Costs nothing where no such key was kept.
    pub fn acknowledge(&self, scope: &str, seq: u64) {
        let key = (scope.to_owned(), seq);
        if !self.keys().remove(&key) {
            return;
        }
        let (scope, seq) = key;
        self.store.behind("acknowledged", move |tx, owner| {
            Ok(tables::remove_once(tx, owner, &scope, seq)?)
        });
    }
}

/// Reads the first result under a key.
///
/// # Errors
/// `conflict` for a key of another request.
pub(super) fn first(key: &OnceKey, digest: &str, result: &str) -> Result<Value, StoreError> {
    if digest != key.digest {
        return Err(StoreError::Refused(refusal::OTHER_KEY.fill(&[])));
    }
    serde_json::from_str(result).map_err(|_| StoreError::Refused(refusal::UNREAD_RESULT.fill(&[])))
}
