//! The team's notes on this machine: what was written, and the commits that hold it.
//!
//! A write is kept first, which is all that makes it safe, and committed then; whatever comes in between, the next one
//! commits it. Writes are committed in the order in which they were kept, each once: [`Team::commit`] says why.

mod examine;
mod found;
mod held;
mod publish;
mod purge;

pub use found::Found;
pub use held::{ASIDE, Held};
pub use publish::SyncError;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gix_hash::{Kind, ObjectId};
use uuid::Uuid;

use super::index::{Hit, IndexError};
use super::library::{Change, Library, LibraryError, Message};
use super::outbox::{Kept, Key, Outbox, OutboxError, State, Write};
use super::siblings;
use super::version;
use crate::floor::database::Place;

/// The ref of the notes as they stand on this machine.
pub const REF: &str = "refs/majordomus/memory";

/// The folder of the repository, below that of what checkouts share.
pub const FOLDER: &str = "memory.git";

/// The trailer of a commit in which somebody says that what looks like a secret in it is none: who says so.
pub const VOUCHED: &str = "Not-Secret";

/// Why it was not done.
#[derive(Debug, thiserror::Error)]
pub enum TeamError {
    /// What was written cannot be kept or read.
    #[error(transparent)]
    Outbox(#[from] OutboxError),
    /// The repository cannot be used.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The index cannot be used.
    #[error(transparent)]
    Index(#[from] IndexError),
}

/// The notes of one repository, for all its checkouts. Several processes may have them open.
#[derive(Debug)]
pub struct Team {
    library: PathBuf,
    outbox: Outbox,
}

impl Team {
    /// Describes the notes of a repository whose folder for what checkouts share is `folder`; `writes` is the file of what
    /// was written. Nothing is opened or made.
    #[must_use]
    pub fn at(folder: &Path, writes: PathBuf) -> Self {
        Self {
            library: folder.join(FOLDER),
            outbox: Outbox::at(Place::File(writes)),
        }
    }

    /// Keeps a write; see [`Outbox::keep`].
    ///
    /// # Errors
    /// Where it cannot be kept: nothing of it is then there.
    pub fn keep(
        &mut self,
        write: &Write,
        key: Option<&Key>,
        state: State,
    ) -> Result<Kept, TeamError> {
        Ok(self.outbox.keep(write, key, state)?)
    }

    /// Keeps a write once more, where the file that it was kept in is not there any more.
    ///
    /// # Errors
    /// Where it cannot be kept.
    pub fn keep_again(&mut self, kept: &Kept, key: Option<&Key>) -> Result<(), TeamError> {
        if !self.outbox.stands(kept)? {
            self.outbox.keep(&kept.write, key, kept.state)?;
        }
        Ok(())
    }

    /// The file of what was written.
    pub(super) fn writes(&self) -> &Path {
        self.outbox.path()
    }

    /// Keeps what another file of writes has; see [`Outbox::take_in`].
    pub(super) fn take_in(&mut self, rows: &[(Kept, String)]) -> Result<usize, TeamError> {
        Ok(self.outbox.take_in(rows)?)
    }

    /// What was kept under a key.
    ///
    /// # Errors
    /// Where the file cannot be read, or the key is another request's.
    pub fn first(&mut self, key: &Key) -> Result<Option<Kept>, TeamError> {
        Ok(self.outbox.first(key)?)
    }

    /// The drafts, in their order.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn drafts(&mut self) -> Result<Vec<Kept>, TeamError> {
        Ok(self.outbox.drafts()?)
    }

    /// The draft of a note, also one that was rejected.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn draft_of(&mut self, id: Uuid) -> Result<Option<Kept>, TeamError> {
        Ok(self.outbox.draft_of(id)?)
    }

    /// What becomes of a draft; see [`Outbox::shift`].
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn shift(&mut self, draft: &Kept, to: State) -> Result<bool, TeamError> {
        Ok(self.outbox.shift(draft.seq, draft.state, to)?)
    }

    /// Writes a draft anew; see [`Outbox::redraft`].
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn redraft(&mut self, draft: &Kept, bytes: &[u8]) -> Result<bool, TeamError> {
        Ok(self.outbox.redraft(draft, bytes)?)
    }

    /// The sibling that a write became in part or whole, where it met another one's; see [`siblings`].
    ///
    /// # Errors
    /// Where the repository cannot be read.
    pub fn sibling_of(&self, write: &Write) -> Result<Option<Uuid>, TeamError> {
        let (Some(_), Some(bytes)) = (&write.base, &write.bytes) else {
            return Ok(None);
        };
        let id = siblings::sibling_id(write.note, bytes);
        let Some((library, tip)) = self.look()? else {
            return Ok(None);
        };
        Ok(library.find(tip, id)?.map(|_| id))
    }

    /// What is not published, in its order.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn unpublished(&mut self) -> Result<Vec<Kept>, TeamError> {
        Ok(self.outbox.unpublished()?)
    }

    /// Commits what waits, in its order.
    ///
    /// Every process of the repository may do so at once, and none waits for another one. A write is marked before the next
    /// one is committed, and only committed while it is not marked, which is looked up between reading the ref and moving
    /// it. So a process that finds one unmarked whose commit is there already changes nothing, and one that comes too late
    /// finds that the ref has moved.
    ///
    /// # Errors
    /// Where the repository cannot be used. What waits goes on waiting.
    pub fn commit(&mut self) -> Result<(), TeamError> {
        if self.library_is_absent() {
            self.outbox.begin_again()?;
        }
        let waiting = self.outbox.waiting()?;
        if waiting.is_empty() {
            return Ok(());
        }
        let library = self.open()?;
        for kept in waiting {
            let write = &kept.write;
            let trailers = trailers(&kept);
            let message = message(write, &trailers);
            let made = library.commit_planned(REF, &message, |tip| {
                if !self.outbox.is_waiting(kept.seq)? {
                    return Ok::<_, TeamError>(None);
                }
                Ok(Some(changes(&library, tip, write)?))
            })?;
            if let Some(made) = made {
                let sha = made.tip.to_string();
                self.outbox.advance(&[(kept.seq, &sha)], State::Committed)?;
            }
        }
        Ok(())
    }

    /// The note with this id, as it stands with what was written last.
    ///
    /// # Errors
    /// Where what was written or the repository cannot be read.
    pub fn read(&mut self, id: Uuid) -> Result<Option<Found>, TeamError> {
        let last = self.outbox.last_of(id)?;
        let there = self.look()?;
        let path = match &there {
            Some((library, tip)) => library.find(*tip, id)?,
            None => None,
        };
        let bytes = match (&there, &path) {
            (Some((library, tip)), Some(path)) => library.read(*tip, path)?,
            _ => None,
        };
        Ok(Found::standing(id, path.unwrap_or_default(), bytes, last))
    }

    /// The file of a note as it stood in a version; `None` where that is not here any more.
    ///
    /// A version that is another note's is found too, and harms nobody: what is merged against it clashes, and a clash loses
    /// nothing.
    ///
    /// # Errors
    /// Where what was written or the repository cannot be read.
    pub fn version(&mut self, id: Uuid, version: &str) -> Result<Option<Vec<u8>>, TeamError> {
        let Some(prefix) = version::prefix(version) else {
            return Ok(None);
        };
        // What waits is in no commit, and what was merged with another change never was.
        let written = self.outbox.all_of(id)?.into_iter();
        let mut written = written.filter_map(|kept| kept.write.bytes);
        if let Some(bytes) = written.find(|bytes| version::of(bytes) == version) {
            return Ok(Some(bytes));
        }
        match self.look()? {
            Some((library, _)) => Ok(library.blob_named(prefix)?),
            None => Ok(None),
        }
    }

    /// The notes of some hits in a commit, in their order, as they were written last; one that went since is left out.
    ///
    /// # Errors
    /// Where what was written or the repository cannot be read.
    pub fn load(
        &mut self,
        library: &Library,
        tip: ObjectId,
        hits: &[Hit],
    ) -> Result<Vec<Found>, TeamError> {
        let mut all = Vec::with_capacity(hits.len());
        for hit in hits {
            let last = self.outbox.last_of(hit.id)?;
            let bytes = library.read(tip, &hit.path)?;
            let found = Found::standing(hit.id, hit.path.clone(), bytes, last);
            all.extend(found.map(|found| Found {
                newer: hit.newer,
                ..found
            }));
        }
        Ok(all)
    }

    /// Every note as it stands: its path and its file.
    ///
    /// # Errors
    /// Where the repository or what was written cannot be read.
    pub fn all(&mut self) -> Result<Vec<(String, Vec<u8>)>, TeamError> {
        let mut all = BTreeMap::new();
        if let Some((library, tip)) = self.look()? {
            for difference in library.differences(None, tip)?.notes {
                if let Some(bytes) = difference.blob.map(|blob| library.blob(blob)) {
                    all.extend(bytes?.map(|bytes| (difference.path, bytes)));
                }
            }
        }
        for kept in self.outbox.waiting()? {
            match kept.write.bytes {
                Some(bytes) => all.insert(kept.write.path, bytes),
                None => all.remove(&kept.write.path),
            };
        }
        Ok(all.into_iter().collect())
    }

    /// Whether the team's ref was ever seen.
    ///
    /// # Errors
    /// Where the repository cannot be read.
    pub fn is_shared(&self) -> Result<bool, TeamError> {
        if self.library_is_absent() {
            return Ok(false);
        }
        Ok(self.open()?.tip(super::remote::TRACKING)?.is_some())
    }

    /// How many writes the team does not have.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn count_unpublished(&mut self) -> Result<usize, TeamError> {
        Ok(self.outbox.count()?)
    }

    /// The repository and where it stands, if it was made and holds anything.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn look(&self) -> Result<Option<(Library, ObjectId)>, LibraryError> {
        // To read makes nothing.
        if self.library_is_absent() {
            return Ok(None);
        }
        let library = self.open()?;
        let tip = library.tip(REF)?;
        Ok(tip.map(|tip| (library, tip)))
    }

    /// The folder of the repository, which is made if it is not there.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn library_folder(&self) -> Result<PathBuf, TeamError> {
        self.open()?;
        Ok(self.library.clone())
    }

    fn library_is_absent(&self) -> bool {
        !self.library.join("HEAD").exists()
    }

    fn open(&self) -> Result<Library, LibraryError> {
        Library::open(&self.library, Kind::Sha1)
    }
}

/// What a write changes on top of a commit.
fn changes(
    library: &Library,
    parent: Option<ObjectId>,
    write: &Write,
) -> Result<Vec<Change>, LibraryError> {
    let theirs = match parent {
        Some(parent) => library.read(parent, &write.path)?,
        None => None,
    };
    // Where nothing is, nothing was removed: the commits were lost, and come back with what the team has.
    if parent.is_none() {
        return Ok(vec![Change::new(&write.path, write.bytes.as_deref())]);
    }
    Ok(siblings::applied(write, theirs.as_deref()))
}

/// What a commit says of a write.
fn message<'a>(write: &'a Write, trailers: &'a [(&'a str, &'a str)]) -> Message<'a> {
    let (name, address) = &write.author;
    Message {
        subject: &write.subject,
        author: (name, address),
        at: write.at,
        trailers,
    }
}

fn trailers(kept: &Kept) -> Vec<(&str, &str)> {
    let said = [
        ("Client", kept.write.client.as_str()),
        ("Peer", &kept.write.peer),
        ("Key", &kept.key),
        (VOUCHED, &kept.vouched),
    ];
    said.into_iter()
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

#[cfg(test)]
mod tests;
