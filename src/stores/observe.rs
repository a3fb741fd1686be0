//! From rows to registers and back: what a difference in a store means, and what a row should be.
//!
//! | what is found | what it means |
//! |---|---|
//! | a row that was never seen | its values, at the lowest rank; a NULL is none |
//! | another value in a column | an edit, now |
//! | a column that was not there | its value, at the lowest rank |
//! | `deleted_at` where there was none | a forget; where the store's log says `prune`, nothing |
//! | a NULL in `deleted_at` where there was a date | nothing: a forget is taken back by name |
//! | a larger count | that many more accesses on this device; a smaller one means nothing |
//! | a row that is not there any more | nothing: it is written again |
//! | an edge that is not there any more | an unlink, where both its ends are alive |
//! | the count of a restored backup | nothing: what was not looked at before is not known |
//! | anything else than was last written, in a restored backup | nothing: the registers are written again |
//!
//! Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::clock::{Device, Rank, Stamp};
use super::instant;
use super::registers::{Accessed, Edge, Insight, Payload, Register, Value};

/// One insight as it stands in a store, by column, embeddings as float32; `id` is not among them.
pub type Row = BTreeMap<String, Value>;

/// Columns that stay on their machine.
pub const LOCAL: &[&str] = &["stored_at", "effective_importance"];
/// Columns that have a meaning of their own.
const OWN: &[&str] = &["id", "access_count", "last_accessed_at", "deleted_at"];
/// Columns in which mnemon reads no NULL.
const NEVER_NULL: &[&str] = &[
    "category",
    "tags",
    "entities",
    "source",
    "importance",
    "content",
    "created_at",
    "updated_at",
];

/// Who looks, and when.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// The stamp of what changed: one for all that is found at once, so that both directions of a link have the same.
    pub stamp: Stamp,
    /// Whether a smaller world than was last seen is no edit: the first look at a store, or at a restored backup.
    pub is_first: bool,
}

impl Look {
    fn device(&self) -> Device {
        self.stamp.device
    }
}

/// Whether a column is a register of its own.
#[must_use]
pub fn travels(column: &str) -> bool {
    !LOCAL.contains(&column) && !OWN.contains(&column)
}

fn text<'row>(row: &'row Row, column: &str) -> Option<&'row str> {
    row.get(column).and_then(Value::text)
}

/// Takes notice of a row; `before` is what was last seen of it or written to it. Says whether a register changed.
pub fn row(
    insight: &mut Insight,
    before: Option<&Row>,
    now: &Row,
    pruned: bool,
    look: &Look,
) -> bool {
    let known = insight.clone();
    let is_new = before.is_none();
    let before = before.filter(|_| !look.is_first);
    let adopted = Stamp::adopted(
        text(now, "updated_at").and_then(instant::parse),
        look.device(),
    );
    for (column, value) in now.iter().filter(|(column, _)| travels(column)) {
        let stamp = match before.map(|before| before.get(column)) {
            Some(Some(before)) if before == value => continue,
            Some(Some(_)) => look.stamp,
            // Nobody is known to have set nothing: it would beat what another machine has there.
            Some(None) | None if *value == Value::Null => continue,
            Some(None) | None => adopted,
        };
        let found = Register {
            stamp,
            value: value.clone(),
        };
        let ours = insight.columns.entry(column.clone());
        let ours = ours.or_insert_with(|| found.clone());
        // What two machines found alike is no news to either.
        let is_same = found.stamp.rank == Rank::Adopted && found.value == ours.value;
        if found > *ours && !is_same {
            *ours = found;
        }
    }
    if let Some(deleted_at) = text(now, "deleted_at").filter(|_| !pruned) {
        let stamp = match before.map(|before| text(before, "deleted_at")) {
            Some(Some(_)) => None,
            Some(None) => Some(look.stamp),
            None => Some(adopted),
        };
        let found = stamp.map(|stamp| Register {
            stamp,
            value: Value::Text(instant::normal(deleted_at)),
        });
        insight.forgotten = insight.forgotten.take().max(found);
    }
    let count = |row: &Row| row.get("access_count").and_then(Value::count).unwrap_or(0);
    if let Some(before) = before {
        let more = count(now).saturating_sub(count(before));
        if more > 0 {
            let ours = insight.added.entry(look.device()).or_default();
            *ours = ours.saturating_add(more);
        }
    } else if is_new {
        // What the devices are known to have counted is part of what stands there.
        let counted = insight.count().saturating_sub(insight.base);
        insight.base = insight.base.max(count(now).saturating_sub(counted));
    }
    if let Some(at) = text(now, "last_accessed_at") {
        let found = instant::parse(at).map(|ms| Accessed(ms, at.to_owned()));
        insight.accessed = insight.accessed.take().max(found);
    }
    *insight != known
}

/// Takes notice of an edge, where `before` is what was last seen or written; says what its register is now, if it changed.
#[must_use]
pub fn edge(
    known: Option<&Edge>,
    before: Option<&Payload>,
    now: Option<&Payload>,
    ends_are_alive: bool,
    look: &Look,
) -> Option<Edge> {
    let stamp = match (before.filter(|_| !look.is_first), now) {
        (None, Some(now)) if look.is_first => {
            Stamp::adopted(instant::parse(&now.created_at), look.device())
        }
        (before, Some(now)) if before != Some(now) => look.stamp,
        (Some(_), None) if ends_are_alive => look.stamp,
        _ => return None,
    };
    let found = Edge {
        stamp,
        payload: now.cloned(),
    };
    known.is_none_or(|known| found > *known).then_some(found)
}

/// Says what a row should be, in a store that has these columns; `live` is what it is, and its own columns stay.
#[must_use]
pub fn materialise(insight: &Insight, live: Option<&Row>, columns: &BTreeSet<String>) -> Row {
    let mut row = live.cloned().unwrap_or_default();
    let has = |column: &str| columns.contains(column);
    for (column, register) in &insight.columns {
        let is_bad = register.value == Value::Null && NEVER_NULL.contains(&column.as_str());
        if has(column) && travels(column) && !is_bad {
            row.insert(column.clone(), readable(column, &register.value));
        }
    }
    if has("access_count") {
        let count = i64::try_from(insight.count()).unwrap_or(i64::MAX);
        row.insert("access_count".to_owned(), Value::Int(count));
    }
    if let Some(Accessed(_, text)) = insight
        .accessed
        .as_ref()
        .filter(|_| has("last_accessed_at"))
    {
        row.insert("last_accessed_at".to_owned(), Value::Text(text.clone()));
    }
    if let Some(forgotten) = &insight.forgotten {
        // What mnemon pruned since a forget was taken back stays pruned.
        let until = insight.restored.map_or(0, |stamp| stamp.ms);
        let is_older = |at: &str| instant::parse(at).is_none_or(|ms| ms <= until);
        if insight.is_forgotten() {
            row.insert("deleted_at".to_owned(), forgotten.value.clone());
        } else if text(&row, "deleted_at").is_some_and(is_older) {
            row.insert("deleted_at".to_owned(), Value::Null);
        }
    }
    row
}

/// A date in the form that mnemon reads: one that it cannot read fails whole lists there.
fn readable(column: &str, value: &Value) -> Value {
    match value {
        Value::Text(text) if matches!(column, "created_at" | "updated_at") => {
            Value::Text(instant::normal(text))
        }
        value => value.clone(),
    }
}

/// Whether a row is alive in its store.
#[must_use]
pub fn is_alive(row: &Row) -> bool {
    row.get("deleted_at").is_none_or(|at| *at == Value::Null)
}
