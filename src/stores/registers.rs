//! What is merged: registers of insights and of the edges between them.
//!
//! | part | two of them are joined by |
//! |---|---|
//! | a column | the larger of (stamp, value) |
//! | a forget | the larger of (stamp, value); one that is there never goes |
//! | a restore | the larger stamp; it holds against an older forget |
//! | the base of the count | the larger |
//! | what each device added to it | the larger, a device |
//! | the last access | the later |
//! | an edge: presence and payload | the larger of (stamp, payload) |
//!
//! Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::clock::{Device, Stamp};

/// The tag that keeps an insight on its machine.
pub const LOCAL_TAG: &str = "local-only";

/// A value of SQLite, with a total order. A number with a fraction is kept by its bits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Value {
    /// NULL.
    #[serde(rename = "n")]
    Null,
    /// INTEGER.
    #[serde(rename = "i")]
    Int(i64),
    /// REAL, as the bits of an `f64`.
    #[serde(rename = "r")]
    Real(u64),
    /// TEXT.
    #[serde(rename = "t")]
    Text(String),
    /// BLOB.
    #[serde(rename = "b", with = "blob")]
    Blob(Vec<u8>),
}

impl Value {
    /// The text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is a whole one that is not negative.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        match self {
            Self::Int(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }
}

/// Bytes as base64, in JSON.
mod blob {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD_NO_PAD;
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD_NO_PAD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        STANDARD_NO_PAD.decode(text).map_err(de::Error::custom)
    }
}

/// A value, and who set it when. The order of the fields is the order of registers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Register {
    /// Who set it when.
    #[serde(rename = "s")]
    pub stamp: Stamp,
    /// What.
    #[serde(rename = "v")]
    pub value: Value,
}

/// When an insight was last recalled: milliseconds, then the text itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Accessed(pub u64, pub String);

/// Everything known of one insight.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Insight {
    /// The columns that travel, by their names.
    #[serde(rename = "c", default)]
    pub columns: BTreeMap<String, Register>,
    /// Its forget, with `deleted_at` as the value.
    #[serde(rename = "f", default, skip_serializing_if = "Option::is_none")]
    pub forgotten: Option<Register>,
    /// When somebody took its forget back.
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<Stamp>,
    /// The count of accesses when it was first seen.
    #[serde(rename = "b", default)]
    pub base: u64,
    /// What each device counted since.
    #[serde(rename = "a", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub added: BTreeMap<Device, u64>,
    /// When it was last recalled.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub accessed: Option<Accessed>,
}

impl Insight {
    /// What all devices together counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.added
            .values()
            .fold(self.base, |sum, added| sum.saturating_add(*added))
            .min(i64::MAX.unsigned_abs())
    }

    /// Every stamp in it.
    pub fn stamps(&self) -> impl Iterator<Item = &Stamp> {
        let registers = self.columns.values().chain(&self.forgotten);
        registers
            .map(|register| &register.stamp)
            .chain(&self.restored)
    }

    /// Whether it is forgotten, and nobody took that back since.
    #[must_use]
    pub fn is_forgotten(&self) -> bool {
        let stamp = self.forgotten.as_ref().map(|register| register.stamp);
        stamp.is_some() && stamp >= self.restored
    }

    /// Whether its tags keep it on its machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        let tags = self.columns.get("tags").and_then(|tags| tags.value.text());
        let tags: Option<Vec<String>> = tags.and_then(|tags| serde_json::from_str(tags).ok());
        tags.is_some_and(|tags| tags.iter().any(|tag| tag == LOCAL_TAG))
    }
}

/// Which edge.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ends {
    /// From this insight.
    pub source: String,
    /// To this one.
    pub target: String,
    /// Its type.
    pub kind: String,
}

/// What an edge carries. The order of the fields decides between two of one stamp.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    /// `weight`.
    #[serde(rename = "w")]
    pub weight: Value,
    /// `metadata`.
    #[serde(rename = "m")]
    pub metadata: Value,
    /// `created_at`.
    #[serde(rename = "c")]
    pub created_at: String,
}

/// Everything known of one edge: who set it when, and what it is since; `None` is an edge that was taken away.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// Who set it when.
    #[serde(rename = "s")]
    pub stamp: Stamp,
    /// What it is.
    #[serde(rename = "p")]
    pub payload: Option<Payload>,
}
