//! Taking a note out of the history: what `forget` leaves there.

use std::collections::HashMap;

use gix_hash::ObjectId;
use uuid::Uuid;

use super::{ASIDE, REF, SyncError, Team, publish::ATTEMPTS};
use crate::floor::clock;
use crate::floor::error::Chain;
use crate::memory::library::{Library, LibraryError, Message, Rewritten};
use crate::memory::outbox::State;
use crate::memory::remote::{Deadline, Reach, Remote, RemoteError};

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
                    // Each commit that had the note is made again.
                    self.pull_in(remote, Reach::Whole, until)?;
                    self.publish(remote, until)?;
                }
                None => self.commit()?,
            }
            let library = self.open()?;
            let Some(tip) = library.tip(REF)? else {
                return Ok(false);
            };
            purge_aside(&library, id)?;
            let Rewritten { tip: made, again } = library.without(tip, id, &said())?;
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
            if remote.is_none() {
                // Before the ref moves, as whatever is applied again: who is killed in between purges once more, which
                // makes the same commits.
                self.name_again(&again)?;
            }
            if !library.advance(REF, Some(tip), made)? {
                continue;
            }
            self.drop_rows(id)?;
            scrub(&library, tip, made);
            return Ok(true);
        }
        Err(SyncError::Contended)
    }

    /// Says in which commits writes are now. To write them down anew would make a second note of each that was changed since.
    fn name_again(
        &mut self,
        again: &HashMap<ObjectId, Option<ObjectId>>,
    ) -> Result<(), super::TeamError> {
        let mut marks = Vec::new();
        for kept in self.outbox.unpublished()? {
            let old = kept.sha.and_then(|sha| sha.parse().ok());
            let new = old.and_then(|old: ObjectId| again.get(&old).copied().flatten());
            if let (State::Committed, Some(new)) = (kept.state, new) {
                marks.push((kept.seq, new.to_string()));
            }
        }
        let marks: Vec<(i64, &str)> = marks.iter().map(|(seq, sha)| (*seq, &**sha)).collect();
        Ok(self.outbox.advance(&marks, State::Committed)?)
    }

    fn drop_rows(&mut self, id: Uuid) -> Result<bool, super::TeamError> {
        Ok(self.outbox.purge(id)?)
    }
}

/// Takes a note out of what was set aside too.
fn purge_aside(library: &Library, id: Uuid) -> Result<(), LibraryError> {
    for name in library.below(ASIDE) {
        if let Some(tip) = library.tip(&name)? {
            let made = library.without(tip, id, &said())?.tip;
            if made != tip && library.advance(&name, Some(tip), made)? {
                scrub(library, tip, made);
            }
        }
    }
    Ok(())
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
