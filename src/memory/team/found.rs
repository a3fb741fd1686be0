//! A note as somebody finds it.

use uuid::Uuid;

use crate::memory::note::{self, Fault, Note};
use crate::memory::outbox::{Kept, State};
use crate::memory::{place, version};

/// A note that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its id.
    pub id: Uuid,
    /// Its path in the team's tree.
    pub path: String,
    /// Its file.
    pub bytes: Vec<u8>,
    /// How far it has come to the team.
    pub state: State,
    /// The note that took its place, where somebody looked.
    pub newer: Option<Uuid>,
}

impl Found {
    /// The file of a write, if it is there from then on.
    #[must_use]
    pub fn of(kept: &Kept) -> Option<Self> {
        Some(Self {
            id: kept.write.note,
            path: kept.write.path.clone(),
            bytes: kept.write.bytes.clone()?,
            state: kept.state,
            newer: None,
        })
    }

    /// What it is about, as its path says.
    #[must_use]
    pub fn kind(&self) -> note::Kind {
        place::parse(&self.path).map_or(note::Kind::Memory, |(kind, _)| kind)
    }

    /// Which version of the note this is; see [`version`].
    #[must_use]
    pub fn version(&self) -> String {
        version::of(&self.bytes)
    }

    /// What the file says, and what of it is not understood.
    #[must_use]
    pub fn note(&self) -> (Note, Vec<Fault>) {
        Note::parse(self.kind(), self.id, &self.bytes)
    }

    /// A note of which the tree has `bytes` and `last` was written last, if that is not published.
    pub(super) fn standing(
        id: Uuid,
        path: String,
        bytes: Option<Vec<u8>>,
        last: Option<Kept>,
    ) -> Option<Self> {
        match (last, bytes) {
            (Some(last), _) if last.state == State::Waiting => Self::of(&last),
            // What is committed is in the tree, with what others made of it.
            (last, Some(bytes)) => Some(Self {
                id,
                path,
                bytes,
                state: last.map_or(State::Published, |last| last.state),
                newer: None,
            }),
            // It is being applied again at this moment.
            (Some(last), None) if last.write.base.is_none() => Self::of(&last),
            (_, None) => None,
        }
    }
}
