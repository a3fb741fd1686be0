//! The repository that holds the team's notes: bare, of its own, and never the checkout's.
//!
//! *Tip*: the commit that a ref names. *Change*: a file's new bytes, or that it goes. Objects are read and written in this
//! process; a commit moves its ref by compare and set, so writers of any number of processes need no lock of ours: who
//! comes second builds on what the first one made. Nothing here is durable by itself: what a client was promised stands
//! in a file of its own until it is published.
//!
//! A pulled tree is hostile input. Only what [`place::parse`] knows as a note's path, is a plain file (mode 100644) and
//! is no longer than [`NOTE_BYTES`] is ever read; the rest is counted, so that somebody can be told.
//!
//! Absent: the network, which is `git`'s; a working tree, an index, hooks, signatures, a log of refs.

mod contents;
mod differ;
mod error;
mod folder;
mod fresh;
mod message;
mod rewrite;
mod turn;

pub use error::LibraryError;
pub use folder::sweep_new;
pub use fresh::Fresh;
pub use message::Message;
pub use rewrite::Rewritten;
pub(super) use turn::is_old;

use std::path::{Path, PathBuf};
use std::time::Duration;

use gix_hash::{Kind, ObjectId};
use gix_lock::acquire::Fail;
use gix_object::tree::{Editor, EntryKind};
use gix_object::{FindExt as _, Tree, Write as _};
use gix_ref::transaction::{self, PreviousValue, RefEdit, RefLog};
use gix_ref::{FullName, Target};

use self::turn::Turn;
use super::place;

/// The longest note that is read or written, in bytes.
pub const NOTE_BYTES: usize = 64 * 1024;
/// How long another writer may hold the lock of a ref; each holds it for one rename.
const REF_LOCK: Duration = Duration::from_secs(2);
/// How often a commit is built anew because somebody else was faster.
const ATTEMPTS: usize = 64;

/// One file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where: a note's path.
    pub path: String,
    /// Its bytes from then on; `None` where it goes.
    pub bytes: Option<Vec<u8>>,
}

impl Change {
    /// A change of the note at `path`; `None` removes it.
    #[must_use]
    pub fn new(path: &str, bytes: Option<&[u8]>) -> Self {
        let (path, bytes) = (path.to_owned(), bytes.map(<[u8]>::to_vec));
        Self { path, bytes }
    }
}

/// What became of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// The ref's tip now.
    pub tip: ObjectId,
    /// Whether there was something to commit: the same bytes again are no news.
    pub new: bool,
}

/// One note in which two trees differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its path.
    pub path: String,
    /// Its blob in the later tree; `None` where it is gone.
    pub blob: Option<ObjectId>,
}

/// In what two trees differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// The notes.
    pub notes: Vec<Difference>,
    /// How many other new entries there are, none of which is ever read.
    pub others: usize,
}

/// An open repository. Not shared by threads: each opens its own.
pub struct Library {
    folder: PathBuf,
    kind: Kind,
    objects: gix_odb::Handle,
    refs: gix_ref::file::Store,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library")
            .field("folder", &self.folder)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl Library {
    /// Opens the repository at `folder`, which is made if it is not there; a new one has object ids of `kind`, which
    /// are those of the remote that it will be pushed to.
    ///
    /// # Errors
    /// Where it cannot be made, or what stands there is no repository of files.
    pub fn open(folder: &Path, kind: Kind) -> Result<Self, LibraryError> {
        if !folder.join("HEAD").exists() {
            folder::create(folder, kind)?;
        }
        let kind = folder::kind_of(folder)?;
        let options = gix_ref::store::init::Options {
            write_reflog: gix_ref::store::WriteReflog::Disable,
            ..Default::default()
        };
        Ok(Self {
            folder: folder.to_path_buf(),
            kind,
            objects: gix_odb::at(folder.join("objects"), kind).map_err(LibraryError::Open)?,
            refs: gix_ref::file::Store::at_opts(folder.to_path_buf(), kind, options),
        })
    }

    /// The kind of its object ids.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The commit that a full ref name stands at.
    ///
    /// # Errors
    /// Where the ref cannot be read, or is no commit's.
    pub fn tip(&self, name: &str) -> Result<Option<ObjectId>, LibraryError> {
        let name = full(name)?;
        let found = self
            .refs
            .try_find(name.as_ref().as_partial_name())
            .map_err(|error| LibraryError::reference(name.as_bstr(), error))?;
        match found.map(|found| found.target) {
            None => Ok(None),
            Some(Target::Object(id)) => Ok(Some(id)),
            Some(Target::Symbolic(_)) => Err(LibraryError::Symbolic(name.to_string())),
        }
    }

    /// The refs below a name that git has in files of their own; ours are never packed.
    #[must_use]
    pub fn below(&self, name: &str) -> Vec<String> {
        let listed = std::fs::read_dir(self.folder.join(name))
            .into_iter()
            .flatten();
        let names = listed.flatten().map(|entry| entry.file_name());
        names
            .filter_map(|entry| Some(format!("{name}/{}", entry.to_str()?)))
            .filter(|name| full(name).is_ok())
            .collect()
    }

    /// Commits changes onto a ref, on top of whatever it stands at when its turn comes.
    ///
    /// # Errors
    /// Where the disk refuses, an object is damaged, or others were faster every time. The ref is then as it was.
    pub fn commit(
        &self,
        name: &str,
        changes: &[Change],
        message: &Message<'_>,
    ) -> Result<Committed, LibraryError> {
        let planned = |_| Ok::<_, LibraryError>(Some(changes.to_vec()));
        let made = self.commit_planned(name, message, planned)?;
        made.ok_or_else(|| LibraryError::Contended(name.to_owned()))
    }

    /// The same of what `plan` answers, which is asked each time after the ref was read, with where it stands; nothing is
    /// committed once it answers nothing. So where a fact that it reads only changes together with the ref, changes are made
    /// once, however many processes want to make them, and none undoes another one's.
    ///
    /// # Errors
    /// As [`Library::commit`], and what `plan` fails with.
    pub fn commit_planned<E: From<LibraryError>>(
        &self,
        name: &str,
        message: &Message<'_>,
        mut plan: impl FnMut(Option<ObjectId>) -> Result<Option<Vec<Change>>, E>,
    ) -> Result<Option<Committed>, E> {
        for _ in 0..ATTEMPTS {
            let before = self.tip(name)?;
            let Some(changes) = plan(before)? else {
                return Ok(None);
            };
            let made = self.on_top(before, &changes, message)?;
            if !made.new || self.advance(name, before, made.tip)? {
                return Ok(Some(made));
            }
        }
        Err(LibraryError::Contended(name.to_owned()).into())
    }

    /// Writes a commit of changes on top of `parent`; no ref moves.
    ///
    /// # Errors
    /// Where the disk refuses or an object is damaged.
    pub fn on_top(
        &self,
        parent: Option<ObjectId>,
        changes: &[Change],
        message: &Message<'_>,
    ) -> Result<Committed, LibraryError> {
        let blobs = self.write_blobs(changes)?;
        let old = self.tree(parent)?;
        let tree = self.edited(old, changes, &blobs)?;
        if let (true, Some(tip)) = (tree == old, parent) {
            return Ok(Committed { tip, new: false });
        }
        let commit = message.commit(tree, parent);
        let tip = self.objects.write(&commit).map_err(LibraryError::write)?;
        Ok(Committed { tip, new: true })
    }

    fn write_blobs(&self, changes: &[Change]) -> Result<Vec<Option<ObjectId>>, LibraryError> {
        let mut blobs = Vec::with_capacity(changes.len());
        for change in changes {
            if place::parse(&change.path).is_none() {
                return Err(LibraryError::Path(change.path.clone()));
            }
            blobs.push(match &change.bytes {
                None => None,
                Some(bytes) if bytes.len() > NOTE_BYTES => {
                    return Err(LibraryError::TooLong(change.path.clone()));
                }
                Some(bytes) => Some(
                    self.objects
                        .write_buf(gix_object::Kind::Blob, bytes)
                        .map_err(LibraryError::write)?,
                ),
            });
        }
        Ok(blobs)
    }

    /// Moves a ref from `before` (`None`: it is not there) to `after`; `false` where it stands elsewhere by now.
    ///
    /// # Errors
    /// Where the ref's lock cannot be had for two seconds, or the disk refuses.
    pub fn advance(
        &self,
        name: &str,
        before: Option<ObjectId>,
        after: ObjectId,
    ) -> Result<bool, LibraryError> {
        let expected = before.map_or(PreviousValue::MustNotExist, |before| {
            PreviousValue::MustExistAndMatch(Target::Object(before))
        });
        let name = full(name)?;
        self.transact(&RefEdit::update(name, after, expected, ""))
    }

    /// Removes a ref that stands at `before`; `false` where it stands elsewhere by now.
    ///
    /// # Errors
    /// As [`Library::advance`].
    pub fn remove(&self, name: &str, before: ObjectId) -> Result<bool, LibraryError> {
        self.transact(&RefEdit {
            name: full(name)?,
            deref: false,
            change: transaction::Change::Delete {
                expected: PreviousValue::MustExistAndMatch(Target::Object(before)),
                log: RefLog::AndReference,
            },
        })
    }

    fn transact(&self, edit: &RefEdit) -> Result<bool, LibraryError> {
        let name = edit.name.clone();
        let wait = Fail::AfterDurationWithBackoff(REF_LOCK);
        let attempt = || {
            self.refs
                .transaction()
                .prepare([edit.clone()], wait, wait)
                .and_then(|transaction| transaction.commit(None))
        };
        let turn = Turn::take(&self.folder, REF_LOCK);
        let mut moved = attempt();
        if moved.as_ref().is_err_and(|error| !error::is_behind(error))
            && turn.free(&self.folder, &name.to_string())
        {
            moved = attempt();
        }
        match moved {
            Ok(_) => Ok(true),
            Err(error) if error::is_behind(&error) => Ok(false),
            Err(error) => Err(LibraryError::reference(name.as_bstr(), error)),
        }
    }

    /// In which notes `after` differs from `before` (`None`: from nothing). Folders that did not change are not read.
    ///
    /// # Errors
    /// Where an object is missing or damaged.
    pub fn differences(
        &self,
        before: Option<ObjectId>,
        after: ObjectId,
    ) -> Result<Differences, LibraryError> {
        differ::between(&self.objects, self.tree(before)?, self.tree(Some(after))?)
    }

    /// The tree of a commit; the empty one of none.
    fn tree(&self, commit: Option<ObjectId>) -> Result<ObjectId, LibraryError> {
        let Some(commit) = commit else {
            return Ok(ObjectId::empty_tree(self.kind));
        };
        let mut buffer = Vec::new();
        let commit = self
            .objects
            .find_commit(&commit, &mut buffer)
            .map_err(LibraryError::read)?;
        Ok(commit.tree())
    }

    fn edited(
        &self,
        root: ObjectId,
        changes: &[Change],
        blobs: &[Option<ObjectId>],
    ) -> Result<ObjectId, LibraryError> {
        let mut buffer = Vec::new();
        let root: Tree = self
            .objects
            .find_tree(&root, &mut buffer)
            .map_err(LibraryError::read)?
            .into();
        let mut editor = Editor::new(root, &self.objects, self.kind);
        for (change, blob) in changes.iter().zip(blobs) {
            let names = change.path.split('/');
            match blob {
                Some(blob) => editor.upsert(names, EntryKind::Blob, *blob),
                None => editor.remove(names),
            }
            .map_err(LibraryError::read)?;
        }
        editor
            .write(|tree| self.objects.write(tree))
            .map_err(LibraryError::write)
    }
}

fn full(name: &str) -> Result<FullName, LibraryError> {
    FullName::try_from(name).map_err(|_| LibraryError::Name(name.to_owned()))
}

#[cfg(test)]
mod tests;
