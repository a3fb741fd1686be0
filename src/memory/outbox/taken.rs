//! Writes that go from one file to another one, or out of it.

use rusqlite::{TransactionBehavior, params};
use uuid::Uuid;

use super::{COLUMNS, Kept, Outbox, OutboxError, State, kept};

impl Outbox {
    /// Everything that is not published, drafts and what was given up too, in its order, each with what its key was used for.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn unsent(&mut self) -> Result<Vec<(Kept, String)>, OutboxError> {
        self.0.with(|connection| {
            let all = connection
                .prepare(&format!(
                    "SELECT {COLUMNS}, digest FROM write WHERE state < 2 ORDER BY seq"
                ))?
                .query_map([], |row| Ok((kept(row)?, row.get("digest")?)))?
                .collect::<rusqlite::Result<_>>()?;
            Ok(all)
        })
    }

    /// Keeps what another file has, all or nothing; what is here already is not kept twice. What was in a commit waits again.
    /// Answers how many were kept.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn take_in(&mut self, rows: &[(Kept, String)]) -> Result<usize, OutboxError> {
        self.0.with(|connection| {
            let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut count = 0;
            for (kept, digest) in rows {
                let (write, state) = (&kept.write, kept.state.min(State::Waiting));
                let key = Some(&kept.key).filter(|key| !key.is_empty());
                count += tx
                    .prepare_cached(
                        "INSERT INTO write (key, digest, note, path, bytes, subject, author, address, client, peer, at,
                            state, base, vouched)
                         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14
                         WHERE NOT EXISTS (SELECT 1 FROM write WHERE key = ?1
                            OR note = ?3 AND path = ?4 AND bytes IS ?5 AND at = ?11 AND key IS ?1)",
                    )?
                    .execute(params![
                        key,
                        digest,
                        write.note.to_string(),
                        write.path,
                        write.bytes,
                        write.subject,
                        write.author.0,
                        write.author.1,
                        write.client,
                        write.peer,
                        write.at,
                        state as i64,
                        write.base,
                        kept.vouched
                    ])?;
            }
            tx.commit()?;
            Ok(count)
        })
    }

    /// Whether a write stands where it was kept.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn stands(&mut self, kept: &Kept) -> Result<bool, OutboxError> {
        self.run(|connection| {
            let stands = connection
                .prepare_cached("SELECT 1 FROM write WHERE seq = ?1 AND note = ?2 AND at = ?3")?
                .exists(params![
                    kept.seq,
                    kept.write.note.to_string(),
                    kept.write.at
                ])?;
            Ok(stands)
        })
    }

    /// Takes every write of a note away, also out of what the file keeps of deleted ones. Answers whether there was any.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn purge(&mut self, note: Uuid) -> Result<bool, OutboxError> {
        // To purge makes nothing.
        if self.is_absent() {
            return Ok(false);
        }
        self.0.with(|connection| {
            connection.execute_batch("PRAGMA secure_delete=ON")?;
            let gone = connection.execute("DELETE FROM write WHERE note = ?1", [note.to_string()]);
            // Whoever reads the file at this moment keeps its log, and the words in it.
            let written = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
                row.get::<_, bool>(0)
            });
            connection.execute_batch("PRAGMA secure_delete=OFF")?;
            if written? {
                return Err(OutboxError::Read);
            }
            Ok(gone? > 0)
        })
    }
}
