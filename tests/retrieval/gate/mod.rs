//! Whether notes are found: a made-up team's notes, questions whose answers are known, and how well three ways of finding
//! answer them.
//!
//! The same seed makes the same team. Facts are told apart by a part of the product, a circumstance and
//! a subject, each of which is shared with many others, so that the more notes there are the harder a question is.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "made-up data either fits or is a defect; git fills a repository; shares need no more precision"
)]

#[path = "../../it/support/random.rs"]
mod random;

mod facts;
mod names;
mod scores;
mod team;
mod ways;

pub(crate) use scores::{measure, table, twins};
pub(crate) use team::Team;
pub(crate) use ways::{Grep, Plain, Product};
