//! What handlers stand on.

use std::sync::Arc;
use std::time::Duration;

use super::server::{Mode, ServerStatus, Status};
use super::stop::{Ending, ServerControl};
use crate::board::{Board, Config, Owner, Place};
use crate::floor::paths::Site;
use crate::memory::service::Memory;
use crate::registry::{Changes, Refusal, refusal};
use crate::stores::service::Stores;

/// What a newcomer is told to do, in its instructions.
pub const ADVICE: &str = "Before you change files, call majordomus_announce with your intent and paths; it names collisions.";

/// Which capabilities are declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Provider {
    /// Those of the product.
    #[default]
    Product,
    /// And those that only tests call (hidden `--conformance`).
    Conformance,
}

/// What handlers stand on. Cheap to clone.
#[derive(Clone)]
pub struct Services {
    /// The checkout, where there is one.
    pub site: Option<Site>,
    /// The peers of this server.
    pub board: Arc<Board>,
    /// The team's notes; none for a server that shares nothing.
    pub memory: Memory,
    /// The stores of whoever calls.
    pub stores: Stores,
    /// Where changes are told.
    pub changes: Changes,
    /// The server about itself.
    pub status: Arc<dyn ServerStatus>,
    /// What ends the server.
    pub control: Arc<dyn ServerControl>,
    /// Which capabilities are declared.
    pub provider: Provider,
}

impl std::fmt::Debug for Services {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Services")
            .field("provider", &self.provider)
            .finish_non_exhaustive()
    }
}

impl Services {
    /// Makes the services of a process without a server: complete declarations, an empty room, nothing opened.
    #[must_use]
    pub fn offline(site: Option<Site>) -> Self {
        let changes = Changes::default();
        let board = Board::open(board_config(site.as_ref(), Place::Memory), changes.clone());
        Self {
            site,
            board,
            memory: Memory::of(None),
            stores: Stores::of(None),
            changes,
            status: Arc::new(Offline(Mode::Standalone)),
            control: Arc::new(Offline(Mode::Standalone)),
            provider: Provider::Product,
        }
    }

    /// Makes the services of a command that does by itself what no server is there to do: the notes are those of the
    /// checkout, under the locks that every process of the repository takes; nothing else is opened, and no lease is taken.
    #[must_use]
    pub fn errand(site: &Site) -> Self {
        Self {
            memory: Memory::errand(site),
            status: Arc::new(Offline(Mode::Alone)),
            ..Self::offline(Some(site.clone()))
        }
    }

    /// Makes the services of a command that works on what belongs to the person and not to a checkout.
    #[must_use]
    pub fn nowhere() -> Self {
        Self {
            status: Arc::new(Offline(Mode::Alone)),
            ..Self::offline(None)
        }
    }

    /// Refuses, by name, what would not be shared.
    pub(super) fn writes(&self, id: &str) -> Result<(), Refusal> {
        if self.status.status().mode != Mode::Standalone {
            return Ok(());
        }
        Err(refusal::STANDALONE.fill(&[&id]))
    }
}

/// Describes a site's board; `place` is its file ([`Site::board`]), or memory for a process that serves alone.
#[must_use]
pub fn board_config(site: Option<&Site>, place: Place) -> Config {
    let read = site.cloned();
    Config {
        place,
        owner: Owner {
            root: site
                .map(|site| site.root_id().to_owned())
                .unwrap_or_default(),
            kernel: site.map(|site| site.scope().to_owned()).unwrap_or_default(),
        },
        checkout: site.map(Site::name).unwrap_or_default(),
        branch: Arc::new(move || read.as_ref().and_then(Site::branch)),
        advice: ADVICE,
    }
}

/// No server; only the mode is told.
struct Offline(Mode);

impl ServerStatus for Offline {
    fn status(&self) -> Status {
        Status {
            instance: String::new(),
            epoch: 0,
            pid: std::process::id(),
            url: None,
            mode: self.0,
            draining: false,
            links: 0,
            builds: Vec::new(),
            started: 0,
            uptime: Duration::ZERO,
            files: Vec::new(),
        }
    }
}

impl ServerControl for Offline {
    fn stop(&self, _ending: Ending) -> Result<(), Refusal> {
        Err(refusal::NO_SERVER.fill(&[]))
    }
}
