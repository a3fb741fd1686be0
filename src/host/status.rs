//! What a server says of itself.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use tokio::sync::watch;

use super::hosting::Stop;
use super::links::Links;
use super::wiring::Mode;
use crate::capabilities::{self, Ending, ServerControl, ServerStatus, Status};
use crate::floor::paths::{Files, Site};
use crate::memory;
use crate::registry::{Refusal, refusal};

/// The status of one server of this process.
pub(super) struct HostStatus {
    pub(super) mode: Mode,
    pub(super) site: Option<Site>,
    pub(super) url: watch::Receiver<Option<String>>,
    /// Weak: the links hold the engine, and the engine holds this.
    pub(super) links: Arc<OnceLock<Weak<Links>>>,
    pub(super) since: Instant,
    pub(super) started: u64,
}

impl ServerStatus for HostStatus {
    fn status(&self) -> Status {
        let links = self.links.get().and_then(Weak::upgrade);
        let (instance, epoch, mode) = match &self.mode {
            Mode::Owner { ownership, .. } => (
                ownership.instance().to_owned(),
                ownership.epoch(),
                capabilities::Mode::Owner,
            ),
            Mode::Alone { .. } => (String::new(), 0, capabilities::Mode::Alone),
            Mode::Standalone => (String::new(), 0, capabilities::Mode::Standalone),
        };
        let files = match (&self.mode, &self.site) {
            (Mode::Owner { ownership, .. }, Some(site)) => touched(site, ownership.files()),
            _ => Vec::new(),
        };
        Status {
            instance,
            epoch,
            pid: std::process::id(),
            url: self.url.borrow().clone(),
            mode,
            draining: links.as_ref().is_some_and(|links| links.is_ending()),
            links: links.as_ref().map_or(0, |links| links.count()),
            builds: links.map_or_else(Vec::new, |links| links.builds()),
            started: self.started,
            uptime: self.since.elapsed(),
            files,
        }
    }
}

impl ServerControl for HostStatus {
    fn stop(&self, ending: Ending) -> Result<(), Refusal> {
        let Mode::Owner { stop, .. } = &self.mode else {
            return Err(refusal::SERVES_ONE.fill(&[]));
        };
        // The host reads this when it comes to it; the answer to this call is sent within its drain.
        stop.send_replace(Some(match ending {
            Ending::Server => Stop::Demote,
            Ending::Everyone => Stop::All,
        }));
        Ok(())
    }
}

/// Every file that an owner touches, as people see it.
fn touched(site: &Site, files: Files) -> Vec<String> {
    [
        site.document(files),
        site.lock(files),
        site.log(),
        site.token(),
        site.board(files),
        site.writes(),
        site.notes_dir().join(memory::team::FOLDER),
        site.notes_dir().join(memory::index::FILE),
    ]
    .iter()
    .map(|path| site.shown(path))
    .collect()
}
