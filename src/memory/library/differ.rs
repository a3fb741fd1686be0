//! In which notes two trees differ: folders of the same id are never read, so it costs what changed.

use std::collections::BTreeMap;

use gix_hash::ObjectId;
use gix_object::FindExt as _;
use gix_object::bstr::{BString, ByteSlice as _};
use gix_object::tree::EntryKind;

use super::{Difference, Differences, LibraryError};
use crate::memory::place;

/// A note stands in the third level; what lies deeper is never one.
const LEVELS: usize = 3;

/// Compares two trees.
pub(super) fn between(
    objects: &gix_odb::Handle,
    before: ObjectId,
    after: ObjectId,
) -> Result<Differences, LibraryError> {
    let mut found = Differences::default();
    walk(objects, "", [Some(before), Some(after)], 1, &mut found)?;
    Ok(found)
}

pub(super) type Entries = BTreeMap<BString, (EntryKind, ObjectId)>;

fn walk(
    objects: &gix_odb::Handle,
    folder: &str,
    trees: [Option<ObjectId>; 2],
    level: usize,
    found: &mut Differences,
) -> Result<(), LibraryError> {
    if trees[0] == trees[1] {
        return Ok(());
    }
    let [before, after] = trees.map(|tree| entries(objects, tree));
    let (before, after) = (before?, after?);
    for (name, old) in &before {
        let new = after.get(name);
        if new != Some(old) {
            step(objects, folder, name, [Some(old), new], level, found)?;
        }
    }
    for (name, new) in &after {
        if !before.contains_key(name) {
            step(objects, folder, name, [None, Some(new)], level, found)?;
        }
    }
    Ok(())
}

/// One name that means something else on both sides.
fn step(
    objects: &gix_odb::Handle,
    folder: &str,
    name: &BString,
    sides: [Option<&(EntryKind, ObjectId)>; 2],
    level: usize,
    found: &mut Differences,
) -> Result<(), LibraryError> {
    let of = |wanted: EntryKind| {
        sides.map(|side| side.and_then(|(kind, id)| (*kind == wanted).then_some(*id)))
    };
    let path = name.to_str().ok().map(|name| join(folder, name));
    let trees = of(EntryKind::Tree);
    let blobs = of(EntryKind::Blob);
    let folders = level < LEVELS && path.is_some() && trees != [None, None];
    let note = level == LEVELS
        && path
            .as_deref()
            .is_some_and(|path| place::parse(path).is_some());
    if let (Some(path), true) = (&path, folders) {
        walk(objects, path, trees, level + 1, found)?;
    }
    if let (Some(path), true) = (path, note && blobs[0] != blobs[1]) {
        let blob = blobs[1];
        found.notes.push(Difference { path, blob });
    }
    let read = match sides[1] {
        None => true,
        Some((EntryKind::Tree, _)) => folders,
        Some((EntryKind::Blob, _)) => note,
        Some(_) => false,
    };
    found.others += usize::from(!read);
    Ok(())
}

pub(super) fn entries(
    objects: &gix_odb::Handle,
    tree: Option<ObjectId>,
) -> Result<Entries, LibraryError> {
    let Some(tree) = tree else {
        return Ok(Entries::new());
    };
    let mut buffer = Vec::new();
    let tree = objects
        .find_tree(&tree, &mut buffer)
        .map_err(LibraryError::read)?;
    let entries = tree.entries.iter();
    Ok(entries
        .map(|entry| {
            let what = (entry.mode.kind(), entry.oid.to_owned());
            (entry.filename.to_owned(), what)
        })
        .collect())
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}
