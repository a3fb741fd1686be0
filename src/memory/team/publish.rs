//! Bringing the notes of this machine and the team's ref together.
//!
//! *Tracking tip*: where the team's ref stood when it was last seen. What is pushed always leads on from it; where somebody
//! was faster, what they pushed is fetched and what is not published is applied again on top of it.
//!
//! The team's ref only ever grows. One that was deleted or rewritten since is refused, and nothing of ours is pushed into
//! it: a plain push would put back what somebody purged.

use std::collections::HashSet;

use gix_hash::ObjectId;

use super::{REF, Team, TeamError, changes, message, trailers};
use crate::floor::clock;
use crate::floor::error::Chain;
use crate::floor::limits::ONCE_KEY;
use crate::memory::library::{Library, LibraryError};
use crate::memory::outbox::State;
use crate::memory::remote::{Deadline, Reach, Remote, RemoteError, TRACKING};

/// How often somebody else may be faster.
pub(super) const ATTEMPTS: usize = 64;

/// Why the notes are not as the team's.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// Something on this machine.
    #[error(transparent)]
    Team(#[from] TeamError),
    /// Something on the way, or the remote.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The team's ref is gone, or does not lead on from what it was.
    #[error("the team's notes were rewritten or removed on the remote")]
    Rewritten,
    /// Others were faster every time.
    #[error("others published at the same moment each time")]
    Contended,
}

impl From<LibraryError> for SyncError {
    fn from(error: LibraryError) -> Self {
        Self::Team(error.into())
    }
}

impl Team {
    /// Takes in what the team has.
    ///
    /// # Errors
    /// Where the remote cannot be reached, or its ref was rewritten: everything is then as it was.
    pub fn pull(&mut self, remote: &Remote, until: &Deadline) -> Result<(), SyncError> {
        self.pull_in(remote, Reach::New, until)
    }

    /// The same, with as much of the history.
    pub(super) fn pull_in(
        &mut self,
        remote: &Remote,
        reach: Reach,
        until: &Deadline,
    ) -> Result<(), SyncError> {
        self.commit()?;
        let library = self.open()?;
        let before = library.tip(TRACKING)?;
        if let Some(tip) = library.tip(REF)? {
            self.adopt_hands(&library, before, tip)?;
        }
        // Whoever has nothing to send needs no commit but the last; what waits here may be in the history already.
        let is_first = before.is_none() && self.count_unpublished()? == 0;
        let reach = if is_first && reach == Reach::New {
            Reach::Newest
        } else {
            reach
        };
        let fetched = remote.fetch(reach, until)?;
        let leads_on = match (before, fetched) {
            (None, _) => true,
            (Some(before), Some(fetched)) => library.leads_to(before, fetched)?,
            (Some(_), None) => false,
        };
        if !leads_on {
            if let (Some(before), Some(fetched)) = (before, fetched) {
                // What was seen last stays what was seen last, so that the next call refuses it too.
                library.advance(TRACKING, Some(fetched), before)?;
            }
            return Err(SyncError::Rewritten);
        }
        let tracking = library.tip(TRACKING)?;
        // Before anything is applied again: what arrived may have been changed since by somebody else.
        if let Some(tracking) = tracking {
            self.note_published(&library, tracking, before);
        }
        self.align(&library, tracking)?;
        Ok(())
    }

    /// Sends what the team does not have. Where this succeeds, the team's ref has everything that was committed before.
    ///
    /// # Errors
    /// Where the remote cannot be reached or refuses, or its ref was rewritten. What is not published stays so.
    pub fn publish(&mut self, remote: &Remote, until: &Deadline) -> Result<(), SyncError> {
        for _ in 0..ATTEMPTS {
            self.commit()?;
            let library = self.open()?;
            let tracking = library.tip(TRACKING)?;
            let Some(tip) = self.align(&library, tracking)? else {
                return Ok(());
            };
            if tracking != Some(tip) {
                if self.hold_back(&library, tracking, tip)? {
                    continue;
                }
                match remote.push(tip, tracking, until) {
                    Ok(()) => {}
                    Err(RemoteError::Stale) => {
                        self.pull(remote, until)?;
                        continue;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            self.note_published(&library, tip, tracking);
            return Ok(());
        }
        Err(SyncError::Contended)
    }

    /// Takes what the team's ref is now for the team's notes, whatever became of those that were seen before, and sends what
    /// is not published. What was published and is not there any more stays away.
    ///
    /// # Errors
    /// Where the remote cannot be reached or refuses.
    pub fn adopt(&mut self, remote: &Remote, until: &Deadline) -> Result<(), SyncError> {
        let library = self.open()?;
        let there = remote.fetch(Reach::New, until)?;
        if there.is_none()
            && let Some(seen) = library.tip(TRACKING)?
        {
            library.remove(TRACKING, seen)?;
        }
        if let Some(there) = there {
            self.note_published(&library, there, None);
        }
        self.set_aside(&library, there)?;
        for _ in 0..ATTEMPTS {
            let local = library.tip(REF)?;
            if self.apply_again(&library, local, there)? {
                return self.publish(remote, until);
            }
        }
        Err(SyncError::Contended)
    }

    /// Makes drafts of the changes of notes that are gone: somebody decides whether their text comes back.
    fn set_aside(&mut self, library: &Library, there: Option<ObjectId>) -> Result<(), TeamError> {
        for kept in self.outbox.unpublished()? {
            let stands = match there {
                Some(there) => library.read(there, &kept.write.path)?.is_some(),
                None => false,
            };
            if kept.write.base.is_some() && !stands {
                self.outbox.shift(kept.seq, kept.state, State::Draft)?;
            }
        }
        Ok(())
    }

    /// Moves the ref of this machine to where it leads on from `tracking`, and answers where it stands then.
    ///
    /// What is applied again is marked before the ref moves: who is about to commit one of those finds either its mark or
    /// the moved ref, and commits nothing twice. A process that is killed in between leaves a ref that does not lead on, and
    /// the next one applies all of it again.
    fn align(
        &mut self,
        library: &Library,
        tracking: Option<ObjectId>,
    ) -> Result<Option<ObjectId>, TeamError> {
        for _ in 0..ATTEMPTS {
            let local = library.tip(REF)?;
            let Some(tracking) = tracking else {
                return Ok(local);
            };
            let Some(tip) = local else {
                if library.advance(REF, None, tracking)? {
                    return Ok(Some(tracking));
                }
                continue;
            };
            if library.leads_to(tracking, tip)? {
                return Ok(Some(tip));
            }
            self.apply_again(library, local, Some(tracking))?;
        }
        Err(LibraryError::Contended(REF.to_owned()).into())
    }

    /// Moves the ref of this machine from `local` to what is not published on top of `base`; `false` where it stands
    /// elsewhere by now.
    pub(super) fn apply_again(
        &mut self,
        library: &Library,
        local: Option<ObjectId>,
        base: Option<ObjectId>,
    ) -> Result<bool, TeamError> {
        let mut top = base;
        let mut marks = Vec::new();
        for kept in self.outbox.unpublished()? {
            let changes = changes(library, top, &kept.write)?;
            let trailers = trailers(&kept);
            let message = message(&kept.write, &trailers);
            let made = library.on_top(top, &changes, &message)?;
            marks.push((kept.seq, made.tip.to_string()));
            top = Some(made.tip);
        }
        let marks: Vec<(i64, &str)> = marks.iter().map(|(seq, sha)| (*seq, &**sha)).collect();
        self.outbox.advance(&marks, State::Committed)?;
        Ok(match (local, top) {
            (Some(local), None) => library.remove(REF, local)?,
            (local, Some(top)) if local != Some(top) => library.advance(REF, local, top)?,
            _ => true,
        })
    }

    /// The team has it, whether or not that can be written down here: the next meeting finds it out again.
    fn note_published(&mut self, library: &Library, tip: ObjectId, below: Option<ObjectId>) {
        if let Err(error) = self.mark_published(library, tip, below) {
            tracing::warn!(error = %Chain(&error), "what the team has is not noted");
        }
    }

    /// Marks the writes whose commits `tip` has; those before `below` are known to be there.
    fn mark_published(
        &mut self,
        library: &Library,
        tip: ObjectId,
        below: Option<ObjectId>,
    ) -> Result<(), TeamError> {
        let fresh: HashSet<String> = library
            .between(below, tip)?
            .iter()
            .map(ToString::to_string)
            .collect();
        let mut marks = Vec::new();
        for kept in self.outbox.unpublished()? {
            let Some(sha) = kept.sha.filter(|_| kept.state == State::Committed) else {
                continue;
            };
            let there = fresh.contains(&sha)
                || match ObjectId::from_hex(sha.as_bytes()) {
                    Ok(id) => {
                        below.is_some_and(|below| library.leads_to(id, below).unwrap_or(false))
                    }
                    Err(_) => false,
                };
            if there {
                marks.push((kept.seq, sha));
            }
        }
        let marks: Vec<(i64, &str)> = marks.iter().map(|(seq, sha)| (*seq, &**sha)).collect();
        self.outbox.advance(&marks, State::Published)?;
        // The team has it, and whoever sends the same request again does so sooner.
        let kept_for = u64::try_from(ONCE_KEY.as_millis()).unwrap_or(u64::MAX);
        self.outbox
            .forget(clock::now_ms().saturating_sub(kept_for))?;
        Ok(())
    }
}
