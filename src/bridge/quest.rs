//! The search for an owner, as one future that the bridge waits for beside everything else.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::alone::Alone;
use super::attach::{self, Link, ProbeFailure};
use super::identity::{Identity, Living};
use super::ledger::LinkEnd;
use crate::floor::error::Chain;
use crate::floor::limits::{CALL_WITHOUT_OWNER, DRAIN, LINK_HANDSHAKE};
use crate::floor::paths::Site;
use crate::lease::document::Document;
use crate::lease::secret::Token;
use crate::lease::sign;
use crate::lease::{self, Outcome, Ownership};

/// How long a bridge that is alone waits before it looks again; it doubles up to the second figure.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(500));

/// How long one whose own host could not serve leaves it to others.
const LATER: Duration = Duration::from_secs(2);

/// When a search that goes on looks first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// At once: an owner may answer any moment.
    Soon,
    /// After the longest pause: it was elected and could not serve, which will not change at once.
    Later,
}

/// What a search comes to.
pub(super) enum Find {
    Attached(Box<Link>),
    Elected(Arc<Ownership>),
    Alone(Alone),
    /// The document names nobody who answers; nothing was claimed.
    Nobody,
}

/// A running search.
pub(super) struct Quest(Pin<Box<dyn Future<Output = Find>>>);

impl Quest {
    /// Looks once at the owner that the document names, and claims nothing.
    pub(super) fn look(site: &Site, identity: Living) -> Self {
        let site = site.clone();
        Self(Box::pin(async move {
            let reading = sign::read(&site).reading;
            let Some(document) = reading.document() else {
                return Find::Nobody;
            };
            let probed = timeout(LINK_HANDSHAKE, probe(&site, document, &identity.next())).await;
            match probed.unwrap_or(Err(ProbeFailure::Timeout)) {
                Ok(link) => Find::Attached(Box::new(link)),
                Err(failure) => {
                    tracing::debug!(error = %Chain(&failure), "nobody to attach to");
                    Find::Nobody
                }
            }
        }))
    }

    /// After a while, attaches to an owner or stands for election, within the time that a call waits. An owner that leaves
    /// in order holds the lease while it drains, and that time comes on top.
    pub(super) fn stand(site: &Site, identity: Living, after: Duration, end: LinkEnd) -> Self {
        let site = site.clone();
        Self(Box::pin(async move {
            if !after.is_zero() {
                sleep(after).await;
            }
            let drain = match end {
                LinkEnd::Drained => DRAIN,
                LinkEnd::Broke => Duration::ZERO,
            };
            attach_or_own(&site, identity, drain + CALL_WITHOUT_OWNER).await
        }))
    }

    /// Goes on searching, ever less often, until there is somebody to share with.
    pub(super) fn again(site: &Site, identity: Living, first: Again) -> Self {
        let site = site.clone();
        Self(Box::pin(async move {
            let (soon, most) = AGAIN;
            let mut pause = match first {
                Again::Soon => soon,
                Again::Later => LATER,
            };
            loop {
                sleep(pause).await;
                pause = (pause * 2).min(most);
                match attach_or_own(&site, identity.clone(), CALL_WITHOUT_OWNER).await {
                    Find::Alone(reason) => tracing::debug!(%reason, "still alone"),
                    find => return find,
                }
            }
        }))
    }

    pub(super) async fn found(&mut self) -> Find {
        (&mut self.0).await
    }
}

/// The process that the document names as the owner: for people, never proof of anything (I1).
pub(super) fn named_owner(site: &Site) -> Option<u32> {
    sign::read(site)
        .reading
        .document()
        .map(|document| document.pid)
}

async fn attach_or_own(site: &Site, identity: Living, within: Duration) -> Find {
    let ask = |document: Document| {
        let (site, identity) = (site.clone(), identity.clone());
        async move {
            let probed = probe(&site, &document, &identity.next()).await;
            probed.map_err(lease::ProbeFailure::from)
        }
    };
    match lease::attach_or_own(site, within, ask).await {
        Outcome::Attached(link) => Find::Attached(Box::new(link)),
        Outcome::Elected(ownership) => Find::Elected(ownership),
        Outcome::Alone(reason) => Find::Alone(Alone::Unshared(reason)),
    }
}

async fn probe(
    site: &Site,
    document: &Document,
    identity: &Identity,
) -> Result<Link, ProbeFailure> {
    let token = Token::read(site).map_err(ProbeFailure::Token)?;
    attach::attach(document, site.root_id(), &token, identity).await
}
