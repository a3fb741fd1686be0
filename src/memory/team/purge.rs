//! Taking a note out of the history: what `forget` leaves there.

use gix_hash::ObjectId;
use uuid::Uuid;

use super::{REF, SyncError, Team, publish::ATTEMPTS};
use crate::floor::clock;
use crate::floor::error::Chain;
use crate::memory::library::{Library, Message};
use crate::memory::remote::{Deadline, Remote, RemoteError};

impl Team {
    /// Takes a note out of the history of the notes, here and, with a remote, of the team; answers whether it was there. The
    /// team's ref is rewritten: every other clone refuses that until it [adopts](Team::adopt) it.
    ///
    /// # Errors
    /// Where the remote cannot be reached or refuses, or something is not published that has to be: nothing is then purged.
    pub fn purge(
        &mut self,
        id: Uuid,
        remote: Option<(&Remote, &Deadline)>,
    ) -> Result<bool, SyncError> {
        for _ in 0..ATTEMPTS {
            match remote {
                // What is not published would have to be applied again on top of a history that only we know of.
                Some((remote, until)) => {
                    self.pull(remote, until)?;
                    self.publish(remote, until)?;
                }
                None => self.commit()?,
            }
            let library = self.open()?;
            let Some(tip) = library.tip(REF)? else {
                return Ok(false);
            };
            let made = library.without(tip, id, &said())?;
            if made == tip {
                return Ok(self.drop_rows(id)?);
            }
            if let Some((remote, until)) = remote {
                match remote.push(made, Some(tip), until) {
                    Ok(()) => {}
                    Err(RemoteError::Stale) => continue,
                    Err(error) => return Err(error.into()),
                }
            }
            if !library.advance(REF, Some(tip), made)? {
                continue;
            }
            self.drop_rows(id)?;
            if remote.is_none() {
                // Each names a commit that is gone; it is found again in what stands.
                self.outbox.begin_again().map_err(super::TeamError::from)?;
                self.commit()?;
            }
            scrub(&library, tip, made);
            return Ok(true);
        }
        Err(SyncError::Contended)
    }

    fn drop_rows(&mut self, id: Uuid) -> Result<bool, super::TeamError> {
        Ok(self.outbox.purge(id)?)
    }
}

/// What stands where nothing else does.
fn said() -> Message<'static> {
    Message {
        subject: "purge",
        author: ("majordomus", ""),
        at: clock::now_ms(),
        trailers: &[],
    }
}

/// Removes what only the old history had. The note is out of the refs by now, so a failure is told and no more.
fn scrub(library: &Library, old: ObjectId, new: ObjectId) {
    if let Err(error) = library.scrub(old, new) {
        tracing::warn!(error = %Chain(&error), "the objects of a purged note are still in the repository of the notes");
    }
}
