//! Writes that are held back, and those that somebody committed by hand.

use rusqlite::{OptionalExtension as _, TransactionBehavior, params};
use uuid::Uuid;

use super::{Kept, Outbox, OutboxError, State, Write};

impl Outbox {
    /// Makes a write that is on its way a draft. Where the same note was changed again since, that change takes its place as
    /// if it had come first, and this one is given up.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn hold(&mut self, kept: &Kept) -> Result<(), OutboxError> {
        let note = kept.write.note.to_string();
        self.0.with(|connection| {
            let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let next: Option<i64> = tx
                .query_row(
                    "SELECT seq FROM write WHERE note = ?1 AND seq > ?2 AND state IN (0, 1) ORDER BY seq LIMIT 1",
                    params![note, kept.seq],
                    |row| row.get(0),
                )
                .optional()?;
            if let Some(next) = next {
                tx.execute(
                    "UPDATE write SET base = (SELECT base FROM write WHERE seq = ?2) WHERE seq = ?1",
                    [next, kept.seq],
                )?;
            }
            let to = if next.is_some() { State::Rejected } else { State::Draft };
            tx.execute(
                "UPDATE write SET state = ?2 WHERE seq = ?1 AND state IN (0, 1)",
                params![kept.seq, to as i64],
            )?;
            tx.commit()?;
            Ok(())
        })
    }

    /// Keeps a change that is in a commit already, which is not one of ours.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn adopt(&mut self, write: &Write, sha: &str, vouched: &str) -> Result<(), OutboxError> {
        let kept = self.keep(write, None, State::Waiting)?;
        self.vouch(kept.seq, vouched)?;
        self.advance(&[(kept.seq, sha)], State::Committed)
    }

    /// Whether a note was ever to have these bytes (`None`: to go).
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn knows(&mut self, note: Uuid, bytes: Option<&[u8]>) -> Result<bool, OutboxError> {
        self.0.with(|connection| {
            let known = connection
                .prepare_cached("SELECT 1 FROM write WHERE note = ?1 AND bytes IS ?2")?
                .exists(params![note.to_string(), bytes])?;
            Ok(known)
        })
    }

    /// Notes who says that what looks like a secret in a write is none; empty where nobody does.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn vouch(&mut self, seq: i64, name: &str) -> Result<(), OutboxError> {
        self.0.with(|connection| {
            connection.execute(
                "UPDATE write SET vouched = ?2 WHERE seq = ?1",
                params![seq, name],
            )?;
            Ok(())
        })
    }

    /// How far a write has come; `None` where it is gone.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn state_of(&mut self, seq: i64) -> Result<Option<State>, OutboxError> {
        self.0.with(|connection| {
            let state = connection
                .prepare_cached("SELECT state FROM write WHERE seq = ?1")?
                .query_row([seq], |row| row.get(0))
                .optional()?;
            Ok(state.map(State::of))
        })
    }
}
