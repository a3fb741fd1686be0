//! How registers are joined: in any order, any number of times, with the same end.
//!
//! Pure. `tests/property/stores.rs` holds that joins are commutative, associative and idempotent, and that devices which
//! exchange them at random agree.

use std::collections::BTreeMap;

use super::registers::{Edge, Ends, Insight};

/// Keeps the larger one; says whether that changed anything.
fn keep_larger<T: Ord + Clone>(ours: &mut T, theirs: &T) -> bool {
    let changes = *theirs > *ours;
    if changes {
        ours.clone_from(theirs);
    }
    changes
}

/// The same where either may be missing, which is less than anything.
fn keep_larger_of<T: Ord + Clone>(ours: &mut Option<T>, theirs: Option<&T>) -> bool {
    match (ours.as_mut(), theirs) {
        (_, None) => false,
        (None, Some(theirs)) => {
            *ours = Some(theirs.clone());
            true
        }
        (Some(ours), Some(theirs)) => keep_larger(ours, theirs),
    }
}

/// The same, a key.
fn keep_larger_each<K: Ord + Clone, T: Ord + Clone>(
    ours: &mut BTreeMap<K, T>,
    theirs: &BTreeMap<K, T>,
) -> bool {
    let mut changed = false;
    for (key, theirs) in theirs {
        changed |= match ours.get_mut(key) {
            Some(ours) => keep_larger(ours, theirs),
            None => ours.insert(key.clone(), theirs.clone()).is_none(),
        };
    }
    changed
}

/// Joins what another device knows of an insight into what is known here; says whether that changed anything.
pub fn insight(ours: &mut Insight, theirs: &Insight) -> bool {
    keep_larger_each(&mut ours.columns, &theirs.columns)
        | keep_larger_of(&mut ours.forgotten, theirs.forgotten.as_ref())
        | keep_larger_of(&mut ours.restored, theirs.restored.as_ref())
        | keep_larger(&mut ours.base, &theirs.base)
        | keep_larger_each(&mut ours.added, &theirs.added)
        | keep_larger_of(&mut ours.accessed, theirs.accessed.as_ref())
}

/// Joins what another device knows of an edge; says whether that changed anything.
pub fn edge(ours: &mut Option<Edge>, theirs: &Edge) -> bool {
    keep_larger_of(ours, Some(theirs))
}

/// Everything known of one store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// By id.
    pub insights: BTreeMap<String, Insight>,
    /// By their ends.
    pub edges: BTreeMap<Ends, Edge>,
}

impl State {
    /// Joins what another device knows; says whether that changed anything.
    pub fn join(&mut self, theirs: &Self) -> bool {
        let mut changed = false;
        for (id, theirs) in &theirs.insights {
            changed |= insight(self.insights.entry(id.clone()).or_default(), theirs);
        }
        changed | keep_larger_each(&mut self.edges, &theirs.edges)
    }
}
