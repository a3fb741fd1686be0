//! Why the team's repository did not do it.

use std::io;

use gix_object::bstr::BStr;

/// Why the team's repository did not do it.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// It cannot be made or opened.
    #[error("the team's repository cannot be opened")]
    Open(#[source] io::Error),
    /// Git refused.
    #[error("git does not do it in the team's repository: {0}")]
    Git(String),
    /// Its refs are not kept in files.
    #[error("the team's repository keeps its refs as `{0}`, and this program knows files alone")]
    Format(String),
    /// An object cannot be read.
    #[error("an object of the team's repository cannot be read")]
    Read(#[source] gix_error::Error),
    /// An object cannot be written.
    #[error("an object of the team's repository cannot be written")]
    Write(#[source] gix_error::Error),
    /// A ref cannot be read or moved.
    #[error("the ref `{name}` of the team's repository cannot be used")]
    Reference {
        /// Its full name.
        name: String,
        /// Why.
        source: gix_error::Error,
    },
    /// A ref that names another ref.
    #[error("the ref `{0}` of the team's repository names another ref, and no commit")]
    Symbolic(String),
    /// No name of a ref.
    #[error("`{0}` is no full name of a ref")]
    Name(String),
    /// No path of a note.
    #[error("`{0}` is no path of a note")]
    Path(String),
    /// More than a note may hold.
    #[error("the note `{0}` is longer than 64 KiB")]
    TooLong(String),
    /// Others moved the ref each time.
    #[error("the ref `{0}` of the team's repository was moved by others each time")]
    Contended(String),
}

impl LibraryError {
    pub(super) fn read(error: gix_error::Error) -> Self {
        Self::Read(error)
    }

    pub(super) fn write(error: gix_error::Error) -> Self {
        Self::Write(error)
    }

    pub(super) fn reference(name: &BStr, source: gix_error::Error) -> Self {
        Self::Reference {
            name: name.to_string(),
            source,
        }
    }
}

/// Whether a ref was not where it was expected to be.
pub(super) fn is_behind(error: &gix_error::Error) -> bool {
    use gix_ref::file::transaction::prepare::{MustNotExist, ReferenceOutOfDate};
    error.downcast_any_ref::<ReferenceOutOfDate>().is_some()
        || error.downcast_any_ref::<MustNotExist>().is_some()
}
