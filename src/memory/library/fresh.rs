//! What commits bring that was not there before: every file, whether or not it is a note, and every word of them.

use std::collections::HashSet;

use gix_hash::ObjectId;
use gix_object::bstr::ByteSlice as _;
use gix_object::tree::EntryKind;
use gix_object::{FindExt as _, FindHeader as _};

use super::differ::entries;
use super::{Library, LibraryError};

/// The deepest folder that is looked into; nobody makes a deeper one by accident.
const DEPTH: usize = 32;

/// One commit, and what it brings.
#[derive(Debug)]
pub struct Fresh {
    /// Its id.
    pub commit: ObjectId,
    /// The one before it.
    pub parent: Option<ObjectId>,
    /// Its whole message.
    pub message: String,
    /// Who wrote it: name and address.
    pub author: (String, String),
    /// When, in milliseconds since the epoch of Unix.
    pub at: u64,
    /// Files that are new or others than before it, and those that went.
    pub files: Vec<(String, Option<ObjectId>)>,
}

impl Library {
    /// The commits that `after` has and `before` does not, those before others first.
    ///
    /// # Errors
    /// Where an object is missing or damaged.
    pub fn fresh(
        &self,
        before: Option<ObjectId>,
        after: ObjectId,
    ) -> Result<Vec<Fresh>, LibraryError> {
        let mut commits = Vec::new();
        for id in self.between(before, after)? {
            commits.push(self.look_at(id)?);
        }
        // Past a merge, what the other side has may be what `before` has too.
        if let (Some(before), true) = (before, commits.iter().any(|(_, merges)| *merges)) {
            let known: HashSet<_> = self.between(None, before)?.into_iter().collect();
            commits.retain(|(fresh, _)| !known.contains(&fresh.commit));
        }
        let mut all: Vec<_> = commits.into_iter().map(|(fresh, _)| fresh).collect();
        all.reverse();
        Ok(all)
    }

    fn look_at(&self, id: ObjectId) -> Result<(Fresh, bool), LibraryError> {
        let commit = self.read_commit(id)?;
        let parent = commit.parents.first().copied();
        let trees = [parent.map(|parent| self.tree(Some(parent))).transpose()?, {
            Some(commit.tree)
        }];
        let mut files = Vec::new();
        self.compare("", trees, DEPTH, &mut files)?;
        let seconds = u64::try_from(commit.author.time.seconds).unwrap_or(0);
        let fresh = Fresh {
            commit: id,
            parent,
            message: commit.message.to_str_lossy().into_owned(),
            author: (
                commit.author.name.to_str_lossy().into_owned(),
                commit.author.email.to_str_lossy().into_owned(),
            ),
            at: seconds.saturating_mul(1000),
            files,
        };
        Ok((fresh, commit.parents.len() > 1))
    }

    fn compare(
        &self,
        folder: &str,
        trees: [Option<ObjectId>; 2],
        depth: usize,
        files: &mut Vec<(String, Option<ObjectId>)>,
    ) -> Result<(), LibraryError> {
        if trees[0] == trees[1] || depth == 0 {
            return Ok(());
        }
        let [before, after] = trees.map(|tree| entries(&self.objects, tree));
        let (before, after) = (before?, after?);
        let names: HashSet<_> = before.keys().chain(after.keys()).collect();
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort();
        for name in names {
            let sides = [before.get(name), after.get(name)];
            if sides[0] == sides[1] {
                continue;
            }
            let path = match folder {
                "" => name.to_str_lossy().into_owned(),
                folder => format!("{folder}/{}", name.to_str_lossy()),
            };
            let of = |wanted: fn(EntryKind) -> bool| {
                sides.map(|side| side.and_then(|(kind, id)| wanted(*kind).then_some(*id)))
            };
            self.compare(&path, of(|kind| kind == EntryKind::Tree), depth - 1, files)?;
            // A commit in a tree is another repository's.
            let [old, new] = of(|kind| !matches!(kind, EntryKind::Tree | EntryKind::Commit));
            if old != new {
                files.push((path, new));
            }
        }
        Ok(())
    }

    /// The words of any blob; `None` of one that is longer than `most` bytes.
    ///
    /// # Errors
    /// Where it is missing, damaged, or no blob.
    pub fn words(&self, blob: ObjectId, most: u64) -> Result<Option<String>, LibraryError> {
        let header = self.objects.try_header(&blob).map_err(LibraryError::read)?;
        if header.is_some_and(|header| header.size > most) {
            return Ok(None);
        }
        let mut buffer = Vec::new();
        self.objects
            .find_blob(&blob, &mut buffer)
            .map_err(LibraryError::read)?;
        Ok(Some(buffer.to_str_lossy().into_owned()))
    }
}
