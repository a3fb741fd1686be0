//! A history without one note: every commit again that had it, without it; those before it stay as they are.

use std::collections::HashMap;

use gix_hash::ObjectId;
use gix_object::{Commit, FindExt as _, Tree, Write as _};
use uuid::Uuid;

use super::{Change, Library, LibraryError, Message, folder};

/// A history again.
#[derive(Debug)]
pub struct Rewritten {
    /// Its tip.
    pub tip: ObjectId,
    /// What became of each commit of the old one; `None` where nothing is left of it and of those before it.
    pub again: HashMap<ObjectId, Option<ObjectId>>,
}

impl Library {
    /// The commit that says what `tip` says, with nothing of a note in it or before it: no file, and no commit that did
    /// nothing but change it. Answers `tip` itself where it never was there. No ref moves.
    ///
    /// # Errors
    /// Where an object is missing or damaged, or the disk refuses.
    pub fn without(
        &self,
        tip: ObjectId,
        note: Uuid,
        message: &Message<'_>,
    ) -> Result<Rewritten, LibraryError> {
        let mut again: HashMap<ObjectId, Option<ObjectId>> = HashMap::new();
        let mut trees: HashMap<ObjectId, ObjectId> = HashMap::new();
        // Parents first: a commit stays on the stack until all of its own are done.
        let mut left = vec![tip];
        while let Some(&id) = left.last() {
            if again.contains_key(&id) {
                left.pop();
                continue;
            }
            let commit = self.read_commit(id)?;
            let open: Vec<_> = commit
                .parents
                .iter()
                .filter(|parent| !again.contains_key(*parent))
                .copied()
                .collect();
            if !open.is_empty() {
                left.extend(open);
                continue;
            }
            left.pop();
            let made = self.again(id, commit, note, &again, &mut trees)?;
            again.insert(id, made);
        }
        if let Some(tip) = again.get(&tip).copied().flatten() {
            return Ok(Rewritten { tip, again });
        }
        // Nothing else was ever there, and a ref has to stand somewhere.
        let tree = Tree::empty();
        let tree = self.objects.write(&tree).map_err(LibraryError::write)?;
        let empty = message.commit(tree, None);
        let tip = self.objects.write(&empty).map_err(LibraryError::write)?;
        Ok(Rewritten { tip, again })
    }

    /// One commit again, on top of what its parents became; `None` where nothing is left of it and of those before it.
    fn again(
        &self,
        id: ObjectId,
        mut commit: Commit,
        note: Uuid,
        again: &HashMap<ObjectId, Option<ObjectId>>,
        trees: &mut HashMap<ObjectId, ObjectId>,
    ) -> Result<Option<ObjectId>, LibraryError> {
        let before = (commit.tree, commit.parents.clone());
        commit.tree = if let Some(tree) = trees.get(&before.0) {
            *tree
        } else {
            let tree = self.tree_without(id, before.0, note)?;
            trees.insert(before.0, tree);
            tree
        };
        commit.parents = before
            .1
            .iter()
            .filter_map(|parent| again.get(parent).copied().flatten())
            .collect();
        if before == (commit.tree, commit.parents.clone()) {
            return Ok(Some(id));
        }
        let empty = ObjectId::empty_tree(self.kind);
        let was = match before.1.first() {
            Some(parent) => self.read_commit(*parent)?.tree,
            None => empty,
        };
        let is = match commit.parents.first() {
            Some(parent) => self.read_commit(*parent)?.tree,
            None => empty,
        };
        // It did something, and all that it did was about this note.
        if was != before.0 && is == commit.tree && commit.parents.len() <= 1 {
            return Ok(commit.parents.first().copied());
        }
        // A signature was made of other bytes.
        commit.extra_headers.clear();
        let made = self.objects.write(&commit).map_err(LibraryError::write)?;
        Ok(Some(made))
    }

    fn tree_without(
        &self,
        commit: ObjectId,
        tree: ObjectId,
        note: Uuid,
    ) -> Result<ObjectId, LibraryError> {
        let mut tree = tree;
        // A note has one path; a tree that somebody made by hand may have more of them.
        let all = self.find_all(commit, note)?;
        for path in all {
            tree = self.edited(tree, &[Change::new(&path, None)], &[None])?;
        }
        Ok(tree)
    }

    /// Removes the objects that `old` leads to and `new` does not.
    ///
    /// # Errors
    /// Where git does not tell which they are, or cannot pack the rest.
    pub fn scrub(&self, old: ObjectId, new: ObjectId) -> Result<(), LibraryError> {
        let (old, new) = (old.to_string(), new.to_string());
        let others = ["--not", &*new, "--all"];
        let listed = folder::git(
            &self.folder,
            &[&["rev-list", "--objects", &*old][..], &others].concat(),
        )?;
        // Packs lose what no ref leads to; a loose object may be somebody's who is about to commit it.
        folder::git(&self.folder, &["repack", "-a", "-d", "-q"])?;
        for line in listed.lines() {
            let id = line.split(' ').next().unwrap_or_default();
            if let Some((shard, rest)) = id.split_at_checked(2) {
                let file = self.folder.join("objects").join(shard).join(rest);
                drop(std::fs::remove_file(file));
            }
        }
        Ok(())
    }

    pub(super) fn read_commit(&self, id: ObjectId) -> Result<Commit, LibraryError> {
        let mut buffer = Vec::new();
        let commit = self
            .objects
            .find_commit(&id, &mut buffer)
            .map_err(LibraryError::read)?;
        Commit::try_from(commit).map_err(|error| LibraryError::Git(error.to_string()))
    }
}
