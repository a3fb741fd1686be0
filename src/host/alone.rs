//! A server of this process's own for its own client, while there is nobody to share with (I3).

use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::links::Links;
use super::wiring::{Mode, Wiring};
use super::{HostError, Settings};
use crate::bridge::alone::Alone;
use crate::bridge::attach::{Far, Link};
use crate::bridge::identity::Identity;
use crate::bridge::wire;

/// It runs on the bridge's own thread and ends with this value.
#[derive(Debug)]
pub(super) struct AloneServer {
    task: JoinHandle<()>,
}

impl AloneServer {
    /// Starts it and opens the link to it. Writes nothing, listens nowhere.
    ///
    /// # Errors
    /// A registry that does not hold.
    pub(super) fn start(
        settings: &Settings,
        reason: &Alone,
        client: &Identity,
    ) -> Result<(Self, Link), HostError> {
        let (_, url) = watch::channel(None);
        let wiring = Wiring::new(settings, &Mode::alone(reason), url)?;
        let links = Links::new(
            Arc::clone(&wiring.engine),
            CancellationToken::new(),
            wiring.stores.clone(),
            |_peer, _seq| {},
        );
        let ((reader, writer), far) = wire::memory();
        let auth = client.auth(String::new());
        let digest = wiring.engine.registry().digest().clone();
        let task = tokio::spawn(async move { links.converse(&auth, far.0, far.1).await });
        Ok((
            Self { task },
            Link {
                reader,
                writer,
                far: Far::Alone,
                digest,
            },
        ))
    }
}

impl Drop for AloneServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}
