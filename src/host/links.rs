//! The host's half of the links: the handshake, and who is attached.
//!
//! Each link then is one [`Conversation`], in a task of its own.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::conversation::{Conversation, End};
use crate::bridge::shake::{self, ShakeError};
use crate::bridge::wire::{self, AtEnd, Reader, Writer};
use crate::floor::error::Chain;
use crate::floor::hex;
use crate::floor::limits::{LABEL_CHARS, LINK_STRANGER};
use crate::floor::text::shown;
use crate::http::LinkStream;
use crate::lease::secret::Token;
use crate::link::handshake::{self, Auth, Hello, Nonce, Proof, Refuse, SPOKEN, Side, Transcript};
use crate::link::line::Verb;
use crate::mcp::{Engine, Revision};
use crate::registry::{Digest, PeerId};
use crate::stores::service::Stores;

/// What a host says of itself in a handshake.
#[derive(Debug, Clone)]
pub(super) struct Introduction {
    pub(super) instance: String,
    pub(super) root_id: String,
    pub(super) epoch: u64,
    pub(super) token: Arc<Token>,
}

/// Why a connection did not become a link.
#[derive(Debug, thiserror::Error)]
enum Ungreeted {
    /// The far end went away, or speaks something else.
    #[error(transparent)]
    Shake(#[from] ShakeError),
    /// Not within [`LINK_STRANGER`].
    #[error("no handshake within {} s", LINK_STRANGER.as_secs())]
    Timeout,
    /// The far end does not know the token of this checkout.
    #[error("the bridge does not prove that it belongs to this checkout")]
    Unproven,
    /// It is ours and is not taken.
    #[error("the bridge was refused: {0}")]
    Refused(&'static str),
}

/// How the links end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// They do not.
    Open,
    /// Every link drains: running calls get this long.
    Drain(Duration),
    /// Every bridge is told to end with it.
    EndAll,
}

/// One open link.
struct Attached {
    generation: u64,
    superseded: CancellationToken,
    /// The bridge's build.
    version: String,
}

/// What the conversations of one host share.
pub(super) struct Links {
    engine: Arc<Engine>,
    /// The stores of those who are attached.
    stores: Stores,
    /// Called when a client has an answer that it may not ask for again.
    acknowledge: Box<dyn Fn(PeerId, u64) + Send + Sync>,
    /// Cancelled when a request was not taken, since the lease is lost.
    lost: CancellationToken,
    ending: watch::Sender<Ending>,
    newest: Mutex<HashMap<PeerId, Attached>>,
    /// Peers whose links this host ended: they go on to the next one.
    sent_on: Mutex<Vec<PeerId>>,
    /// A link was closed.
    gone: Notify,
}

impl std::fmt::Debug for Links {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Links")
            .field("open", &self.count())
            .finish_non_exhaustive()
    }
}

impl Links {
    pub(super) fn new(
        engine: Arc<Engine>,
        lost: CancellationToken,
        stores: Stores,
        acknowledge: impl Fn(PeerId, u64) + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            engine,
            stores,
            acknowledge: Box::new(acknowledge),
            lost,
            ending: watch::Sender::new(Ending::Open),
            newest: Mutex::default(),
            sent_on: Mutex::default(),
            gone: Notify::new(),
        })
    }

    /// The digest of the registry behind them.
    pub(super) fn digest(&self) -> &Digest {
        self.engine.registry().digest()
    }

    pub(super) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// How the links end, as it comes to be known.
    pub(super) fn ending(&self) -> watch::Receiver<Ending> {
        self.ending.subscribe()
    }

    /// A client has the answer to this request.
    pub(super) fn acknowledge(&self, peer: PeerId, seq: u64) {
        (self.acknowledge)(peer, seq);
    }

    /// A request was not taken: the lease is lost.
    pub(super) fn lose(&self) {
        self.lost.cancel();
    }

    /// How many links are open.
    pub(super) fn count(&self) -> usize {
        self.newest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    /// The versions of the bridges that are attached, sorted, and how many are of each.
    pub(super) fn builds(&self) -> Vec<(String, usize)> {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let mut builds = BTreeMap::new();
        for attached in newest.values() {
            *builds.entry(attached.version.clone()).or_insert(0) += 1;
        }
        builds.into_iter().collect()
    }

    /// How many links are open beside that of `peer`.
    pub(super) fn others(&self, peer: Option<PeerId>) -> usize {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.keys().filter(|other| Some(**other) != peer).count()
    }

    /// How many peers beside `peer` this host has sent on to the next one, or still holds.
    pub(super) fn left_behind(&self, peer: Option<PeerId>) -> usize {
        let sent_on = self.sent_on.lock().unwrap_or_else(PoisonError::into_inner);
        self.others(peer) + sent_on.iter().filter(|other| Some(**other) != peer).count()
    }

    /// Whether they are ending.
    pub(super) fn is_ending(&self) -> bool {
        *self.ending.borrow() != Ending::Open
    }

    /// Waits until no link is open.
    pub(super) async fn closed(&self) {
        while self.count() > 0 {
            self.gone.notified().await;
        }
    }

    /// Begins the end of every link; the tasks that hold them finish by themselves.
    pub(super) fn end(&self, ending: Ending) {
        self.ending.send_replace(ending);
    }

    /// Takes a connection that asked to become a link, and carries it until it ends.
    pub(super) async fn accept(self: Arc<Self>, stream: LinkStream, intro: Introduction) {
        let (read, write) = tokio::io::split(stream);
        let (mut reader, mut writer) =
            wire::stream((Box::new(read), Box::new(write)), b"", AtEnd::Drop);
        let greeted = timeout(LINK_STRANGER, self.greet(&mut reader, &mut writer, &intro)).await;
        match greeted.unwrap_or(Err(Ungreeted::Timeout)) {
            Ok(auth) => self.converse(&auth, reader, writer).await,
            Err(error) => tracing::debug!(error = %Chain(&error), "a connection became no link"),
        }
    }

    async fn greet(
        &self,
        reader: &mut Reader,
        writer: &mut Writer,
        intro: &Introduction,
    ) -> Result<Auth, Ungreeted> {
        let hello: Hello = shake::expect(reader, Verb::Hello).await?;
        let nonce = Nonce::random();
        let transcript = Transcript {
            bridge: &hello.nonce,
            host: &nonce,
            instance: &intro.instance,
            root_id: &intro.root_id,
        };
        let proof = Proof {
            link: if handshake::speaks(hello.link) {
                hello.link
            } else {
                SPOKEN[0].0
            },
            nonce: nonce.clone(),
            instance: intro.instance.clone(),
            root_id: intro.root_id.clone(),
            epoch: intro.epoch,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            digest: self.digest().to_string(),
            mac: hex::encode(&intro.token.mac(&transcript.parts(Side::Host))),
        };
        shake::send(writer, Verb::Proof, &proof).await?;
        let auth: Auth = shake::expect(reader, Verb::Auth).await?;
        if !shake::proves(&intro.token, &transcript, Side::Bridge, &auth.mac) {
            return Err(Ungreeted::Unproven);
        }
        if let Some(reason) = self.objection(&hello, &auth) {
            let refuse = Refuse {
                reason: reason.to_owned(),
            };
            shake::send(writer, Verb::Refuse, &refuse).await?;
            return Err(Ungreeted::Refused(reason));
        }
        shake::send(writer, Verb::Welcome, &json!({})).await?;
        Ok(auth)
    }

    /// Why a proven bridge is not taken, if it is not.
    fn objection(&self, hello: &Hello, auth: &Auth) -> Option<&'static str> {
        if !handshake::speaks(hello.link) {
            return Some("another version of the link is spoken here");
        }
        if auth
            .revision
            .as_deref()
            .is_some_and(|named| Revision::parse(named).is_none())
        {
            return Some("the client's protocol revision is not spoken here");
        }
        if *self.ending.borrow() != Ending::Open || !self.engine.admits() {
            return Some("this server is leaving");
        }
        None
    }

    /// Carries one conversation until its link ends, by whichever side.
    pub(super) async fn converse(self: Arc<Self>, auth: &Auth, reader: Reader, writer: Writer) {
        let peer = PeerId(auth.peer);
        let superseded = CancellationToken::new();
        {
            let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
            match newest.get(&peer) {
                Some(open) if open.generation >= auth.generation => return,
                Some(older) => older.superseded.cancel(),
                None => {}
            }
            let attached = Attached {
                generation: auth.generation,
                superseded: superseded.clone(),
                version: shown(&auth.version, LABEL_CHARS),
            };
            newest.insert(peer, attached);
        }
        tracing::info!(%peer, version = auth.version, "attached");
        self.stores.arrived(peer.0, auth.stores.as_ref());
        let end = Conversation::new(Arc::clone(&self), peer, auth, reader, writer)
            .run(&superseded)
            .await;
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        // A newer link of the same peer may have come while this one ended.
        if newest
            .get(&peer)
            .is_some_and(|open| open.generation == auth.generation)
        {
            newest.remove(&peer);
            drop(newest);
            match end {
                End::Closed => {
                    self.engine.presence().leave(peer);
                    self.stores.left(peer.0);
                }
                End::Drained => {
                    self.sent_on
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(peer);
                }
                End::Superseded => {}
            }
            self.gone.notify_one();
        }
        tracing::info!(%peer, ?end, "detached");
    }
}
