//! Why the team's repository did not do it.

use std::io;

use gix_object::bstr::BStr;

use crate::floor::error::Chain;

/// What gitoxide says, with no path of this machine: an answer goes to a model, and may go into a note.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Cause(String);

impl From<gix_error::Error> for Cause {
    fn from(error: gix_error::Error) -> Self {
        Self(without_places(&Chain(&error).to_string()))
    }
}

/// How many names of a path say which file of the repository it is, as in `objects/00/ff…`.
const NAMES: usize = 3;

/// A text with the end alone of each absolute path that stands in it in quotes.
fn without_places(text: &str) -> String {
    let parts = text.split('"').map(|part| {
        let cut = part.starts_with('/').then(|| part.rmatch_indices('/'));
        let end = cut.and_then(|mut slashes| slashes.nth(NAMES - 1));
        end.map_or(part, |(slash, _)| &part[slash + 1..])
    });
    parts.collect::<Vec<_>>().join("\"")
}

/// Why the team's repository did not do it.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// It cannot be made or opened.
    #[error("the team's repository cannot be opened")]
    Open(#[source] io::Error),
    /// It is there without what says that it is one.
    #[error("the team's repository has lost its `HEAD`")]
    Headless,
    /// Git refused.
    #[error("git does not do it in the team's repository: {0}")]
    Git(String),
    /// Its refs are not kept in files.
    #[error("the team's repository keeps its refs as `{0}`, and this program knows files alone")]
    Format(String),
    /// An object cannot be read.
    #[error("an object of the team's repository cannot be read")]
    Read(#[source] Cause),
    /// An object cannot be written.
    #[error("an object of the team's repository cannot be written")]
    Write(#[source] Cause),
    /// A ref cannot be read or moved.
    #[error("the ref `{name}` of the team's repository cannot be used")]
    Reference {
        /// Its full name.
        name: String,
        /// Why.
        source: Cause,
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
        Self::Read(error.into())
    }

    pub(super) fn write(error: gix_error::Error) -> Self {
        Self::Write(error.into())
    }

    pub(super) fn reference(name: &BStr, source: gix_error::Error) -> Self {
        Self::Reference {
            name: name.to_string(),
            source: source.into(),
        }
    }
}

/// Whether a ref was not where it was expected to be.
pub(super) fn is_behind(error: &gix_error::Error) -> bool {
    use gix_ref::file::transaction::prepare::{MustNotExist, ReferenceOutOfDate};
    error.downcast_any_ref::<ReferenceOutOfDate>().is_some()
        || error.downcast_any_ref::<MustNotExist>().is_some()
}

#[cfg(test)]
mod tests {
    use super::without_places;

    #[test]
    fn the_place_of_the_repository_is_in_no_text() {
        let text = "no read, path=\"/home/ann/x \u{e9}/memory.git/objects/b0/5c\": empty, at \"refs/a/b/c\" and / or \"/\"";
        let cut = "no read, path=\"objects/b0/5c\": empty, at \"refs/a/b/c\" and / or \"/\"";
        assert_eq!(without_places(text), cut);
    }
}
