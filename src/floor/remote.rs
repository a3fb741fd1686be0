//! What `git` needs to meet a remote, whatever it carries there: which addresses are used, in what environment it runs, how
//! long it may take, and what its words mean.
//!
//! Nobody is asked anything, the user's configuration stays out but for how a remote is reached ([`settings`]), each git
//! ends with its deadline or with this process ([`child`]), and no text shows what stands in an address for a password.
//!
//! Absent: which refs are moved, where, when, and who agreed to it.

pub mod address;
pub mod child;
mod deadline;
mod error;
pub mod settings;
pub mod verdict;

pub use deadline::Deadline;
pub use error::RemoteError;

/// The remote's name in the settings that git gets; it stands in no file.
pub const REMOTE: &str = "team";
