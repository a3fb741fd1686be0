//! Whether the repository of the notes holds together.

use std::collections::HashSet;
use std::io;

use super::{REF, Team};
use crate::memory::library::LibraryError;
use crate::memory::place;
use crate::memory::remote::TRACKING;

impl Team {
    /// Reads what is built on: every commit that the refs lead to, and the notes where they stand. After a loss of power a
    /// ref may be whole that names an object without a byte. Answers how many files stand there that are never read: what is
    /// no note or too long for one, and each further file of a note that has one.
    ///
    /// # Errors
    /// With the first thing that is missing or damaged.
    pub fn examine(&self) -> Result<usize, LibraryError> {
        if self.library_is_absent() {
            // What is there, and is no repository, is in the way of one.
            let is_free = self.library.symlink_metadata().is_err();
            let missing = io::Error::new(io::ErrorKind::NotFound, "its `HEAD` is missing");
            return if is_free {
                Ok(0)
            } else {
                Err(LibraryError::Open(missing))
            };
        }
        let library = self.open()?;
        let mut unread = 0;
        for name in [TRACKING, REF] {
            let Some(tip) = library.tip(name)? else {
                continue;
            };
            library.between(None, tip)?;
            let found = library.differences(None, tip)?;
            unread = found.others;
            let mut seen = HashSet::new();
            for note in found.notes {
                let bytes = note.blob.map(|blob| library.blob(blob)).transpose()?;
                let id = place::parse(&note.path).map(|(_, id)| id);
                unread += usize::from(bytes.flatten().is_none() || !seen.insert(id));
            }
        }
        Ok(unread)
    }
}
