//! Whether the repository of the notes holds together.

use std::io;

use super::{REF, Team};
use crate::memory::library::LibraryError;
use crate::memory::remote::TRACKING;

impl Team {
    /// Reads what is built on: every commit that the refs lead to, and the notes where they stand. After a loss of power a
    /// ref may be whole that names an object without a byte.
    ///
    /// # Errors
    /// With the first thing that is missing or damaged.
    pub fn examine(&self) -> Result<(), LibraryError> {
        if self.library_is_absent() {
            // What is there, and is no repository, is in the way of one.
            let is_free = self.library.symlink_metadata().is_err();
            let missing = io::Error::new(io::ErrorKind::NotFound, "its `HEAD` is missing");
            return if is_free {
                Ok(())
            } else {
                Err(LibraryError::Open(missing))
            };
        }
        let library = self.open()?;
        for name in [REF, TRACKING] {
            let Some(tip) = library.tip(name)? else {
                continue;
            };
            library.between(None, tip)?;
            for note in library.differences(None, tip)?.notes {
                if let Some(blob) = note.blob {
                    library.blob(blob)?;
                }
            }
        }
        Ok(())
    }
}
