//! The server's side of MCP: one request in, one answer out.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::watch;

use super::failure::{self, Failure};
use super::reply::{Outcome, Reply};
use super::revision::Revision;
use super::session::Session;
use super::state::Seal;
use crate::floor::jsonrpc::{Frame, Id, Kind, faults};
use crate::floor::text::shown;
use crate::floor::turns::Turns;
use crate::registry::{Changes, Delivery, Presence, Registry};

/// How this server stands to the others of its checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is the owner.
    Owner,
    /// It serves its own client alone, for a reason that every answer names (I3).
    Alone {
        /// One line.
        reason: String,
        /// An owner lives but does not answer: what it would have to agree to is refused (I5b).
        holder: bool,
    },
    /// It was asked to serve alone.
    Standalone,
}

/// What the engine tells about the server.
#[derive(Debug, Clone)]
pub struct About {
    /// The server's version.
    pub version: &'static str,
    /// The server's URL, once it is bound.
    pub url: watch::Receiver<Option<String>>,
    /// How it stands.
    pub standing: Standing,
    /// Whether it still admits sessions and commands.
    pub admission: Admission,
    /// Protects what clients carry for it.
    pub seal: Seal,
}

/// Asks whether this server still admits (I1): at each new session and each command.
#[derive(Clone)]
pub struct Admission(Arc<dyn Fn() -> bool + Send + Sync>);

impl Admission {
    /// Asks `f`, which takes microseconds.
    pub fn by(f: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(f))
    }

    /// Always admits: a server that is alone shares nothing.
    #[must_use]
    pub fn always() -> Self {
        Self(Arc::new(|| true))
    }

    /// Whether it admits now.
    #[must_use]
    pub fn admits(&self) -> bool {
        (self.0)()
    }
}

impl std::fmt::Debug for Admission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Admission")
    }
}

/// One frame to handle.
#[derive(Debug, Clone)]
pub struct Request {
    /// The frame.
    pub frame: Frame,
    /// Unique in the session: the link's seq, or the HTTP carrier's own count.
    pub number: u64,
    /// How it arrived.
    pub delivery: Delivery,
    /// Who may resend it under the same number: the peer behind a link. `None` where nobody can.
    pub key: Option<Arc<str>>,
}

/// Registry, presence and changes behind the protocol.
pub struct Engine {
    pub(super) registry: Arc<Registry>,
    pub(super) presence: Arc<dyn Presence>,
    pub(super) changes: Changes,
    pub(super) about: About,
    turns: Turns,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("about", &self.about)
            .finish_non_exhaustive()
    }
}

/// The frame in hand, as the method's code sees it.
pub(super) struct Turn<'a> {
    pub(super) session: &'a Arc<Session>,
    pub(super) request: &'a Request,
    pub(super) id: &'a Id,
    pub(super) revision: Revision,
    pub(super) params: Value,
}

impl Engine {
    /// Puts the protocol in front of `registry`.
    #[must_use]
    pub fn new(
        registry: Arc<Registry>,
        presence: Arc<dyn Presence>,
        changes: Changes,
        about: About,
    ) -> Arc<Self> {
        Arc::new(Self {
            registry,
            presence,
            changes,
            about,
            turns: Turns::default(),
        })
    }

    /// The registry behind the protocol.
    #[must_use]
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Whose turn it is on the thread that answers.
    #[must_use]
    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Who is told of peers that come and go.
    #[must_use]
    pub fn presence(&self) -> &Arc<dyn Presence> {
        &self.presence
    }

    /// Who is asked whether this server still admits.
    #[must_use]
    pub fn admission(&self) -> &Admission {
        &self.about.admission
    }

    /// Whether this server still admits sessions and commands (I1).
    #[must_use]
    pub fn admits(&self) -> bool {
        self.about.admission.admits()
    }

    /// The news that sessions pass on with [`Session::changed`].
    #[must_use]
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Handles one frame. `None`: there is nothing to answer, since the frame is no request or was cancelled.
    ///
    /// Every change of the session's own state happens before the first await, so frames that are handed over in order
    /// take effect in order. Cancel safety: dropping the future abandons the call as a cancellation does.
    pub async fn handle(&self, session: &Arc<Session>, request: Request) -> Option<Reply> {
        let Kind::Request { id, method } = request.frame.kind() else {
            return match request.frame.kind() {
                Kind::Batch(_) => Some(Reply::no_frame(&faults::NO_BATCH.fill(&[]))),
                Kind::Response { .. } => {
                    session.heard(&request.frame);
                    None
                }
                _ => None,
            };
        };
        let number = request.number;
        let running = session.begin(number);
        let read = request
            .frame
            .read_params()
            .map_err(|error| failure::UNREAD.told(error));
        let opened = read.and_then(|params| Ok((self.era(session, &request, method)?, params)));
        let (revision, params) = match opened {
            Ok(opened) => opened,
            Err(failure) => return Some(Reply::render(id, Revision::V20260728, Err(failure))),
        };
        let turn = Turn {
            session,
            request: &request,
            id,
            revision,
            params,
        };
        let outcome = tokio::select! {
            biased;
            () = running.token.cancelled() => None,
            outcome = self.dispatch(method, turn, &running.token) => Some(outcome),
        };
        drop(running);
        outcome.map(|outcome| Reply::render(id, revision, outcome))
    }

    /// Tells the frame's revision, and refuses a modern frame without the `_meta` that it must carry.
    fn era(&self, session: &Session, request: &Request, method: &str) -> Result<Revision, Failure> {
        let Some(named) = request.frame.revision() else {
            if matches!(method, "server/discover" | "subscriptions/listen") {
                return Err(failure::NO_VERSION.fill(&[&method]));
            }
            return Ok(session.revision().unwrap_or(Revision::NEWEST_LEGACY));
        };
        match Revision::parse(named) {
            Some(revision) if revision.is_modern() => {
                self.meet(session, &request.frame, method)?;
                Ok(revision)
            }
            _ => Err(failure::unsupported(named)),
        }
    }

    async fn dispatch(
        &self,
        method: &str,
        turn: Turn<'_>,
        token: &tokio_util::sync::CancellationToken,
    ) -> Outcome {
        let modern = turn.revision.is_modern();
        if let (false, Some(peer)) = (modern, turn.session.caller().peer) {
            self.presence.seen(peer);
        }
        match method {
            "initialize" if !modern => self.initialize(&turn),
            "ping" if !modern => Ok(super::reply::Success::new(Value::Object(Map::new()))),
            "logging/setLevel" if !modern && self.logs() => Self::set_level(&turn),
            "resources/subscribe" if !modern => self.subscribe(&turn),
            "resources/unsubscribe" if !modern => Self::unsubscribe(&turn),
            "server/discover" if modern => Ok(self.discover(&turn)),
            "subscriptions/listen" if modern => self.listen(&turn).await,
            "tools/list" => self.list_tools(&turn),
            "tools/call" => self.call_tool(turn, token).await,
            "resources/list" => self.list_resources(&turn).await,
            "resources/templates/list" => self.list_templates(&turn),
            "prompts/list" => self.list_prompts(&turn),
            "prompts/get" => self.get_prompt(turn, token).await,
            "completion/complete" => self.complete_argument(&turn),
            "resources/read" => self.read_resource(turn, token).await,
            _ => Err(failure::UNKNOWN_METHOD.fill(&[&shown(method, 64)])),
        }
    }
}
