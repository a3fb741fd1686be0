//! Why notes were not saved or read, as a client is told.

use std::io;

use rusqlite::ErrorCode;

use crate::floor::database::DatabaseError;
use crate::floor::error::Chain;
use crate::floor::fs;
use crate::memory::outbox::OutboxError;
use crate::memory::service::MemoryError;
use crate::memory::team::TeamError;
use crate::registry::{Refusal, refusal};

/// A note that was not saved.
pub(super) fn not_saved(error: &MemoryError) -> Refusal {
    let reason = match error {
        MemoryError::NoPlace => return refusal::NO_CHECKOUT.fill(&[]),
        MemoryError::Team(TeamError::Outbox(OutboxError::OtherKey)) => {
            return refusal::OTHER_KEY.fill(&[]);
        }
        MemoryError::Team(TeamError::Outbox(OutboxError::Database(cause))) => match cause {
            DatabaseError::Open(cause) => of_io(cause),
            DatabaseError::Sqlite(cause) => match cause.sqlite_error_code() {
                Some(ErrorCode::DiskFull) => Some(refusal::NOT_SAVED_FULL),
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    Some(refusal::NOT_SAVED_BUSY)
                }
                Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                    Some(refusal::NOT_SAVED_HERE)
                }
                _ => None,
            },
            DatabaseError::NotAFile { .. } | DatabaseError::Newer { .. } => None,
        },
        MemoryError::Folder(cause) => of_io(cause),
        _ => None,
    };
    tracing::warn!(error = %Chain(error), "a note is not saved");
    match reason {
        Some(reason) => reason.fill(&[]),
        None => refusal::NOT_SAVED.fill(&[&Chain(error)]),
    }
}

fn of_io(cause: &io::Error) -> Option<refusal::Reason> {
    if fs::is_full(cause) {
        return Some(refusal::NOT_SAVED_FULL);
    }
    let refused = matches!(
        cause.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    );
    refused.then_some(refusal::NOT_SAVED_HERE)
}

/// Notes that cannot be read.
pub(super) fn unreadable(error: &MemoryError) -> Refusal {
    if matches!(error, MemoryError::NoPlace) {
        return refusal::NO_CHECKOUT.fill(&[]);
    }
    tracing::warn!(error = %Chain(error), "the notes cannot be read");
    refusal::UNREADABLE_NOTES.fill(&[&Chain(error)])
}
