//! Writes that go nowhere before somebody promotes them.

use rusqlite::params;
use uuid::Uuid;

use super::{Kept, Outbox, OutboxError, State};

impl Outbox {
    /// The drafts, in their order.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn drafts(&mut self) -> Result<Vec<Kept>, OutboxError> {
        self.select("state = -1 ORDER BY seq", None)
    }

    /// The draft of a note: the last one that waits, or else the last that was rejected.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn draft_of(&mut self, note: Uuid) -> Result<Option<Kept>, OutboxError> {
        let condition = "state < 0 AND note = ?1 ORDER BY state DESC, seq DESC LIMIT 1";
        Ok(self.select(condition, Some(note))?.pop())
    }

    /// Moves a write from one state to another one, if it is in that one: what becomes of a draft, and of a write that becomes
    /// one. Answers whether it was.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn shift(&mut self, seq: i64, from: State, to: State) -> Result<bool, OutboxError> {
        self.0.with(|connection| {
            let shifted = connection.execute(
                "UPDATE write SET state = ?3 WHERE seq = ?1 AND state = ?2",
                params![seq, from as i64, to as i64],
            )?;
            Ok(shifted == 1)
        })
    }

    /// Writes a draft anew, if it is one still and nobody else wrote it meanwhile. Answers whether it was.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn redraft(&mut self, draft: &Kept, bytes: &[u8]) -> Result<bool, OutboxError> {
        self.0.with(|connection| {
            let written = connection.execute(
                "UPDATE write SET bytes = ?3, vouched = '' WHERE seq = ?1 AND bytes IS ?2 AND state = -1",
                params![draft.seq, draft.write.bytes, bytes],
            )?;
            Ok(written == 1)
        })
    }
}
