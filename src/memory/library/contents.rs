//! What is in a commit, and what leads to it.

use std::collections::HashSet;

use gix_hash::{ObjectId, Prefix};
use gix_object::bstr::ByteSlice as _;
use gix_object::tree::EntryKind;
use gix_object::{FindExt as _, FindHeader as _, Kind};
use uuid::Uuid;

use super::{Library, LibraryError, NOTE_BYTES};
use crate::memory::{note, place};

impl Library {
    /// The path of the note with this id in a commit.
    ///
    /// # Errors
    /// Where an object is missing or damaged.
    pub fn find(&self, commit: ObjectId, id: Uuid) -> Result<Option<String>, LibraryError> {
        Ok(self.find_all(commit, id)?.into_iter().next())
    }

    /// Every path of a note with this id: more than one only where somebody made them by hand.
    ///
    /// # Errors
    /// Where an object is missing or damaged.
    pub(super) fn find_all(&self, commit: ObjectId, id: Uuid) -> Result<Vec<String>, LibraryError> {
        let mut all = Vec::new();
        let root = self.tree(Some(commit))?;
        let mut buffer = Vec::new();
        for kind in note::Kind::ALL {
            let folder = place::folder(kind, id);
            let Some(shard) = self.entry(root, &folder, EntryKind::Tree)? else {
                continue;
            };
            let tree = self
                .objects
                .find_tree(&shard, &mut buffer)
                .map_err(LibraryError::read)?;
            all.extend(tree.entries.iter().filter_map(|entry| {
                let path = format!("{folder}/{}", entry.filename.to_str().ok()?);
                let is_its = entry.mode.kind() == EntryKind::Blob
                    && place::parse(&path).is_some_and(|(_, found)| found == id);
                is_its.then_some(path)
            }));
        }
        Ok(all)
    }

    /// Whether every commit is there that refs lead to, and what their newest ones hold.
    #[must_use]
    pub fn is_whole(&self, names: &[&str]) -> bool {
        names.iter().all(|name| match self.tip(name) {
            Ok(None) => true,
            Ok(Some(tip)) => self.between(None, tip).is_ok() && self.differences(None, tip).is_ok(),
            Err(_) => false,
        })
    }

    /// Whether `earlier` is `later` or one of those before it.
    ///
    /// # Errors
    /// Where an object is missing or damaged.
    pub fn leads_to(&self, earlier: ObjectId, later: ObjectId) -> Result<bool, LibraryError> {
        let mut found = false;
        self.walk(later, |commit| {
            found |= commit == earlier;
            !found
        })?;
        Ok(found)
    }

    /// The commits that lead to `after`, without `before` and what is before it.
    ///
    /// # Errors
    /// Where an object is missing or damaged.
    pub fn between(
        &self,
        before: Option<ObjectId>,
        after: ObjectId,
    ) -> Result<Vec<ObjectId>, LibraryError> {
        let mut commits = Vec::new();
        self.walk(after, |commit| {
            let goes_on = Some(commit) != before;
            if goes_on {
                commits.push(commit);
            }
            goes_on
        })?;
        Ok(commits)
    }

    /// The commits whose parents were left out when they were fetched: the history ends there. Asked each time, since a fetch
    /// changes it.
    fn cut(&self) -> HashSet<ObjectId> {
        let listed = std::fs::read_to_string(self.folder.join("shallow")).unwrap_or_default();
        let ids = listed.lines().filter_map(|line| line.parse().ok());
        ids.collect()
    }

    /// Visits a commit and, where the visit says so, those before it, each once.
    fn walk(
        &self,
        from: ObjectId,
        mut goes_on: impl FnMut(ObjectId) -> bool,
    ) -> Result<(), LibraryError> {
        let mut buffer = Vec::new();
        let mut seen = HashSet::new();
        let mut left = vec![from];
        let cut = self.cut();
        while let Some(commit) = left.pop() {
            if seen.insert(commit) && goes_on(commit) && !cut.contains(&commit) {
                let commit = self
                    .objects
                    .find_commit(&commit, &mut buffer)
                    .map_err(LibraryError::read)?;
                left.extend(commit.parents());
            }
        }
        Ok(())
    }

    /// Whether an object is here and is a commit.
    ///
    /// # Errors
    /// Where it is damaged.
    pub fn is_commit(&self, id: ObjectId) -> Result<bool, LibraryError> {
        let header = self.objects.try_header(&id).map_err(LibraryError::read)?;
        Ok(header.is_some_and(|header| header.kind == gix_object::Kind::Commit))
    }

    /// The bytes of the note at `path` in a commit; `None` where there is none that may be read.
    ///
    /// # Errors
    /// Where an object is missing or damaged.
    pub fn read(&self, commit: ObjectId, path: &str) -> Result<Option<Vec<u8>>, LibraryError> {
        if place::parse(path).is_none() {
            return Ok(None);
        }
        let root = self.tree(Some(commit))?;
        match self.entry(root, path, EntryKind::Blob)? {
            Some(blob) => self.blob(blob),
            None => Ok(None),
        }
    }

    /// The object at a path below a tree, where it is of that kind and what is above it are folders.
    fn entry(
        &self,
        root: ObjectId,
        path: &str,
        kind: EntryKind,
    ) -> Result<Option<ObjectId>, LibraryError> {
        let mut here = root;
        let mut buffer = Vec::new();
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            let wanted = if names.peek().is_some() {
                EntryKind::Tree
            } else {
                kind
            };
            let tree = self
                .objects
                .find_tree(&here, &mut buffer)
                .map_err(LibraryError::read)?;
            let found = tree
                .entries
                .iter()
                .find(|entry| entry.filename == name && entry.mode.kind() == wanted);
            let Some(entry) = found else {
                return Ok(None);
            };
            here = entry.oid.to_owned();
        }
        Ok(Some(here))
    }

    /// The bytes of the one blob whose id begins like this; `None` where there is none, or no note's.
    ///
    /// # Errors
    /// Where it is damaged.
    pub fn blob_named(&self, prefix: Prefix) -> Result<Option<Vec<u8>>, LibraryError> {
        let found = self.objects.lookup_prefix(prefix, None);
        let Some(Ok(id)) = found.map_err(LibraryError::read)? else {
            return Ok(None);
        };
        let header = self.objects.try_header(&id).map_err(LibraryError::read)?;
        match header {
            Some(header) if header.kind == Kind::Blob => self.blob(id),
            _ => Ok(None),
        }
    }

    /// The bytes of a blob; `None` of one that is too long for a note.
    ///
    /// # Errors
    /// Where it is missing, damaged, or no blob.
    pub fn blob(&self, id: ObjectId) -> Result<Option<Vec<u8>>, LibraryError> {
        // A hostile blob of gigabytes is told by its header alone.
        let header = self.objects.try_header(&id).map_err(LibraryError::read)?;
        if header.is_some_and(|header| header.size > NOTE_BYTES as u64) {
            return Ok(None);
        }
        let mut buffer = Vec::new();
        self.objects
            .find_blob(&id, &mut buffer)
            .map_err(LibraryError::read)?;
        Ok(Some(buffer))
    }
}
