//! A write, and how far it has come.

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::floor::hex;

/// How far a write has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Somebody gave it up: it goes nowhere, and can be taken up again.
    Rejected = -2,
    /// It goes nowhere before somebody promotes it.
    Draft = -1,
    /// It is in no commit.
    Waiting = 0,
    /// It is in a commit of this machine's.
    Committed = 1,
    /// The team's ref has it.
    Published = 2,
}

impl State {
    pub(super) const fn of(number: i64) -> Self {
        match number {
            ..=-2 => Self::Rejected,
            -1 => Self::Draft,
            0 => Self::Waiting,
            1 => Self::Committed,
            _ => Self::Published,
        }
    }
}

/// Identifies a write that is sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub(super) name: String,
    pub(super) digest: String,
}

impl Key {
    /// The key of a scope and its number, for a request with this digest. Scopes can be made of secrets, and no file holds
    /// one, so a hash of the two stands for them.
    #[must_use]
    pub fn new(scope: &str, number: u64, digest: &str) -> Self {
        let hash = Sha256::digest(format!("{number} {scope}"));
        Self {
            name: hex::encode(&hash),
            digest: digest.to_owned(),
        }
    }
}

/// One write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The note's id.
    pub note: Uuid,
    /// The note's path.
    pub path: String,
    /// The file that was changed; `None` where the note is new.
    pub base: Option<Vec<u8>>,
    /// The file from then on; `None` where it goes.
    pub bytes: Option<Vec<u8>>,
    /// First line of the commit.
    pub subject: String,
    /// Who: name and address.
    pub author: (String, String),
    /// With which client; empty where that is not known.
    pub client: String,
    /// The peer's public id; empty where there is none.
    pub peer: String,
    /// When, in milliseconds since the epoch of Unix.
    pub at: u64,
}

/// A write as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its number: they are committed in this order.
    pub seq: i64,
    /// What was written.
    pub write: Write,
    /// How far it has come.
    pub state: State,
    /// The commit that has it, in hexadecimal.
    pub sha: Option<String>,
    /// The name of its key; empty where nobody can send it again.
    pub key: String,
    /// The person who says that what looks like a secret in it is none; empty where nobody does.
    pub vouched: String,
}

impl Kept {
    /// A note that stands as it was asked for, so that nothing was written.
    #[must_use]
    pub fn standing(note: Uuid, path: String, bytes: Vec<u8>, state: State) -> Self {
        Self {
            seq: 0,
            write: Write {
                note,
                path,
                base: None,
                bytes: Some(bytes),
                subject: String::new(),
                author: Default::default(),
                client: String::new(),
                peer: String::new(),
                at: 0,
            },
            state,
            sha: None,
            key: String::new(),
            vouched: String::new(),
        }
    }
}
