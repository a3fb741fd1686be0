//! What a server says of itself, and what it may be told.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use tokio::sync::watch;

use super::hosting::Stop;
use super::links::Links;
use super::wiring::Mode;
use crate::capabilities::{self, ServerControl, ServerStatus, Status, Who};
use crate::floor::paths::Site;
use crate::registry::{Refusal, RefusalCode};

/// The status of one server of this process.
pub(super) struct HostStatus {
    pub(super) mode: Mode,
    pub(super) site: Option<Site>,
    pub(super) url: watch::Receiver<Option<String>>,
    pub(super) links: Arc<OnceLock<Arc<Links>>>,
    pub(super) since: Instant,
}

impl ServerStatus for HostStatus {
    fn status(&self) -> Status {
        let links = self.links.get();
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
            (Mode::Owner { .. }, Some(site)) => touched(site),
            _ => Vec::new(),
        };
        Status {
            instance,
            epoch,
            pid: std::process::id(),
            url: self.url.borrow().clone(),
            mode,
            draining: links.is_some_and(|links| links.is_ending()),
            links: links.map_or(0, |links| links.count()),
            uptime: self.since.elapsed(),
            files,
        }
    }
}

/// Every file that an owner touches, as people see it.
fn touched(site: &Site) -> Vec<String> {
    [
        site.lease_document(),
        site.lease_lock(),
        site.log(),
        site.token(),
        site.board(),
    ]
    .iter()
    .map(|path| site.shown(path))
    .collect()
}

/// Ends one server of this process.
pub(super) struct HostControl {
    pub(super) mode: Mode,
}

impl ServerControl for HostControl {
    fn stop(&self, who: Who) -> Result<(), Refusal> {
        match &self.mode {
            Mode::Owner { stop, .. } => {
                let why = match who {
                    Who::Owner => Stop::Demote,
                    Who::Everybody => Stop::All,
                };
                stop.send_replace(Some(why));
                Ok(())
            }
            Mode::Alone { .. } | Mode::Standalone => Err(Refusal::new(
                RefusalCode::Refused,
                "this server serves its own client alone and ends with it",
            )),
        }
    }
}
