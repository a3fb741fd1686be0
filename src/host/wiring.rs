//! What a server is made of, put together for each way of serving.

use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::hosting::Stop;
use super::links::{Introduction, Links};
use super::status::HostStatus;
use super::{HostError, Settings};
use crate::board::{Board, KeptSession, Place, StoreError};
use crate::bridge::alone::Alone;
use crate::capabilities::{self, ServerStatus, Services};
use crate::floor::clock;
use crate::floor::error::Chain;
use crate::floor::paths::COMMON_BOARD;
use crate::http::{self, Http, Limits, LinkStream, Parts, Secrets, SignIn};
use crate::lease::{Ownership, Token};
use crate::mcp::{About, Admission, Engine, Seal, Standing};
use crate::memory::service::Memory;
use crate::memory::sync::Meetings;
use crate::registry::{Changes, PeerId, Presence};
use crate::stores::place::Surroundings;
use crate::stores::service::Stores;

/// How a server of this process serves.
#[derive(Clone)]
pub(super) enum Mode {
    /// It owns the checkout.
    Owner {
        ownership: Arc<Ownership>,
        /// The token that it began with.
        token: Arc<Token>,
        /// Cancelled when the lease turns out to be lost.
        lost: CancellationToken,
        /// Stops the host.
        stop: watch::Sender<Option<Stop>>,
    },
    /// It serves one client and says why.
    Alone { reason: String, holder: bool },
    /// It serves one client, as asked.
    Standalone,
}

impl Mode {
    /// The mode of a server for one client.
    pub(super) fn alone(reason: &Alone) -> Self {
        match reason {
            Alone::Asked => Self::Standalone,
            reason => Self::Alone {
                reason: reason.to_string(),
                holder: reason.has_holder(),
            },
        }
    }

    /// The next owner opens what this one sealed; nobody follows a server that is alone.
    fn seal(&self, settings: &Settings) -> Seal {
        match (self, &settings.site) {
            (Self::Owner { token, .. }, Some(site)) => {
                Seal::new(token.reveal().as_bytes(), site.root_id())
            }
            _ => Seal::random(),
        }
    }

    fn standing(&self) -> Standing {
        match self {
            Self::Owner { .. } => Standing::Owner,
            Self::Alone { reason, holder } => Standing::Alone {
                reason: reason.clone(),
                holder: *holder,
            },
            Self::Standalone => Standing::Standalone,
        }
    }
}

/// One server's parts.
pub(super) struct Wiring {
    pub(super) engine: Arc<Engine>,
    board: Arc<Board>,
    /// The name of the board's file, where it is not the common one.
    beside: Option<String>,
    links: Arc<OnceLock<Weak<Links>>>,
    memory: Memory,
    /// The stores of its clients.
    pub(super) stores: Stores,
}

impl Wiring {
    /// Puts a server together. Nothing is written; what is read is whether a store is enabled.
    ///
    /// # Errors
    /// [`HostError::Registry`].
    pub(super) fn new(
        settings: &Settings,
        mode: &Mode,
        url: watch::Receiver<Option<String>>,
    ) -> Result<Self, HostError> {
        let changes = Changes::default();
        let place = match (mode, &settings.site) {
            (Mode::Owner { ownership, .. }, Some(site)) => {
                Place::File(site.board(ownership.files()))
            }
            _ => Place::Memory,
        };
        let beside = beside(&place);
        let config = capabilities::services::board_config(settings.site.as_ref(), place);
        let board = Board::open(config, changes.clone());
        let links = Arc::new(OnceLock::new());
        let status = Arc::new(HostStatus {
            mode: mode.clone(),
            site: settings.site.clone(),
            url: url.clone(),
            links: Arc::clone(&links),
            since: Instant::now(),
            started: clock::now_ms(),
        });
        // One that shares nothing writes nothing, and neither does it say what others wrote.
        let told = changes.clone();
        let memory = Memory::telling(
            match mode {
                Mode::Owner { .. } | Mode::Alone { .. } => settings.site.as_ref(),
                Mode::Standalone => None,
            },
            Arc::new(move |id| capabilities::notes::tell(&told, id)),
        );
        let own = settings.stores.as_ref().map(Surroundings::from);
        let stores = match mode {
            Mode::Owner { .. } => Stores::of_owner(own),
            Mode::Alone { .. } | Mode::Standalone => Stores::of(own),
        };
        let services = Services {
            site: settings.site.clone(),
            board: Arc::clone(&board),
            memory: memory.clone(),
            stores: stores.clone(),
            changes: changes.clone(),
            status: Arc::clone(&status) as Arc<dyn ServerStatus>,
            control: status,
            provider: settings.provider,
        };
        let registry = capabilities::registry(&services).map_err(HostError::Registry)?;
        let admission = match mode {
            Mode::Owner {
                ownership,
                token,
                lost,
                ..
            } => {
                let (ownership, lost) = (Arc::clone(ownership), lost.clone());
                let (site, token) = (settings.site.clone(), Arc::clone(token));
                Admission::by(move || {
                    // A server whose token is gone can be reached by nobody who comes new.
                    let known = site.as_ref().is_none_or(|site| match Token::read(site) {
                        Ok(now) => now.matches(token.reveal().as_bytes()),
                        // Handing over would help nobody: the next owner may be this process again.
                        Err(error) => error.is_exhausted(),
                    });
                    let admits = known && ownership.admits();
                    if !admits {
                        lost.cancel();
                    }
                    admits
                })
            }
            Mode::Alone { .. } | Mode::Standalone => Admission::always(),
        };
        let about = About {
            version: env!("CARGO_PKG_VERSION"),
            url,
            standing: mode.standing(),
            admission,
            seal: mode.seal(settings),
        };
        let presence: Arc<dyn Presence> = Arc::clone(&board) as Arc<dyn Presence>;
        let engine = Engine::new(registry, presence, changes, about);
        Ok(Self {
            engine,
            board,
            beside,
            links,
            memory,
            stores,
        })
    }

    /// What meets the team's notes.
    pub(super) fn notes(&self) -> Option<Meetings> {
        self.memory.sync().cloned()
    }

    /// The engine that answers the opening while there is no owner: the same registry, and a board in memory.
    pub(super) fn compiled(settings: &Settings) -> Arc<Engine> {
        let (_, url) = watch::channel(None);
        let reason = "no server is there yet, this is the compiled registry".to_owned();
        let wiring = Self::new(
            settings,
            &Mode::Alone {
                reason,
                holder: false,
            },
            url,
        );
        wiring
            .expect("because a test builds this very registry")
            .engine
    }

    /// Agrees with the board on the epoch: the larger of both.
    pub(super) async fn agree_on_epoch(&self, ownership: &Ownership) {
        let elected = ownership.epoch();
        let epoch = self.board.epoch(elected).await;
        if epoch > elected {
            tracing::info!(
                elected,
                epoch,
                "the board knows of later owners than the document, and the epoch counts on from theirs"
            );
        }
        ownership.raise_epoch(epoch);
    }

    /// What lets go of a once-key whose answer has arrived.
    pub(super) fn acknowledge(&self) -> impl Fn(PeerId, u64) + Send + Sync + 'static {
        let board = Arc::clone(&self.board);
        move |peer, seq| board.acknowledge(&peer.to_string(), seq)
    }

    /// Says whose client is the owner's own: the next owner does not wait for it.
    pub(super) fn own(&self, peer: PeerId) {
        self.board.own(peer);
    }

    /// Lets the status count these links.
    pub(super) fn count_links(&self, links: &Arc<Links>) {
        // Called once, by the host that made both.
        drop(self.links.set(Arc::downgrade(links)));
    }

    /// The HTTP side.
    pub(super) fn http(
        &self,
        settings: &Settings,
        token: &Token,
        links: Arc<Links>,
        intro: Introduction,
    ) -> Arc<Http> {
        let secrets = Secrets::new(&token.reveal(), &intro.root_id);
        let secrets = Arc::new(match &self.beside {
            Some(name) => secrets.of_board(&token.reveal(), &intro.root_id, name),
            None => secrets,
        });
        let owner = HttpOwner {
            admission: self.engine.admission().clone(),
            intro: intro.clone(),
        };
        let door = move |stream: LinkStream| {
            tokio::spawn(Arc::clone(&links).accept(stream, intro.clone()));
        };
        Http::new(Parts {
            engine: Arc::clone(&self.engine),
            ledger: Arc::new(Sessions(Arc::clone(&self.board))),
            version: env!("CARGO_PKG_VERSION"),
            owner: Arc::new(owner),
            auth: settings.auth,
            sign_in: Arc::new(SignIn::new(Arc::clone(&secrets))),
            secrets,
            link: Arc::new(door),
            limits: Limits::default(),
            share: settings.share.clone(),
        })
    }
}

/// The name of a board's file that is not the common one: what it knows of sessions, no owner with another file does.
fn beside(place: &Place) -> Option<String> {
    let Place::File(path) = place else {
        return None;
    };
    let name = path.file_name()?.to_string_lossy().into_owned();
    (name != COMMON_BOARD).then_some(name)
}

/// The owner, as HTTP tells of it.
struct HttpOwner {
    admission: Admission,
    intro: Introduction,
}

impl http::Owner for HttpOwner {
    fn instance(&self) -> &str {
        &self.intro.instance
    }

    fn root_id(&self) -> &str {
        &self.intro.root_id
    }

    fn epoch(&self) -> u64 {
        self.intro.epoch
    }

    fn admits(&self) -> bool {
        self.admission.admits()
    }
}

/// The board as the ledger of HTTP sessions.
struct Sessions(Arc<Board>);

impl http::SessionLedger for Sessions {
    fn keep(&self, session: &str, told: String, until_ms: u64) {
        self.0.keep_session(session, told, until_ms);
    }

    fn end(&self, session: &str, until_ms: u64) -> http::Receipt {
        let kept = self.0.end_session(session, until_ms);
        Box::pin(async move { kept.await.map_err(StoreError::refusal) })
    }

    fn recall(&self, session: &str, began_ms: u64) -> http::Recall {
        let (board, session) = (Arc::clone(&self.0), session.to_owned());
        Box::pin(async move {
            match board.kept_session(&session, began_ms).await {
                Ok(KeptSession::Unknown) => Ok(http::Earlier::Unknown),
                Ok(KeptSession::Ended) => Ok(http::Earlier::Ended),
                Ok(KeptSession::Told(told)) => Ok(http::Earlier::Told(told)),
                Ok(KeptSession::Lost) => {
                    tracing::info!(%session, "a session is older than the board's file: it counts as ended");
                    Ok(http::Earlier::Ended)
                }
                // This program never reads that file, so its clients would be told to come again for ever.
                Err(error @ StoreError::Newer { .. }) => {
                    tracing::warn!(error = %Chain(&error), "what an earlier owner kept of a session cannot be read: it counts as ended");
                    Ok(http::Earlier::Ended)
                }
                Err(error) => {
                    tracing::warn!(error = %Chain(&error), "what an earlier owner kept of a session cannot be read");
                    Err(error.refusal())
                }
            }
        })
    }

    fn kept(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let board = Arc::clone(&self.0);
        Box::pin(async move { board.kept().await })
    }
}
