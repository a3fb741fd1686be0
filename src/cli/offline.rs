//! The registry of this build, without a server: nothing is opened, bound or written.
//!
//! The declarations are complete; only a call would find an empty room, so no command calls one of these handlers.

use std::sync::Arc;

use super::report::{Failure, failures};
use crate::capabilities;
use crate::floor::paths::Site;
use crate::registry::capability::Capability;
use crate::registry::catalog::Registry;

/// Builds the registry.
///
/// # Errors
/// With [`failures::CONTRACT`] when the declarations contradict each other.
pub fn registry(site: Option<&Site>) -> Result<Arc<Registry>, Failure> {
    let registry = capabilities::registry(&capabilities::Services::offline(site.cloned()));
    let verified = registry.and_then(|registry| registry.verify().map(|()| registry));
    verified.map_err(|error| failures::CONTRACT.told(&error))
}

/// Finds a capability by its id.
///
/// # Errors
/// When there is none, with the ids that come close.
pub fn by_id<'a>(registry: &'a Registry, id: &str) -> Result<&'a Capability, Failure> {
    registry.get(id).ok_or_else(|| {
        let failure = failures::NO_CAPABILITY.fill(&[&super::screen::clean(id)]);
        let local = id.rsplit('.').next().unwrap_or(id);
        match registry
            .all()
            .iter()
            .find(|known| !local.is_empty() && known.id.contains(local))
        {
            Some(close) => failure.hint(format!("majordomus describe {}", close.id)),
            None => failure,
        }
    })
}

/// Finds the capability that a command stands for, by the command's words.
///
/// # Errors
/// When the registry exposes none under these words.
pub fn by_words<'a>(registry: &'a Registry, words: &[&str]) -> Result<&'a Capability, Failure> {
    registry
        .all()
        .iter()
        .find(|capability| capability.exposure.cli == Some(words))
        .ok_or_else(|| failures::NOT_EXPOSED.fill(&[&words.join(" ")]))
}
