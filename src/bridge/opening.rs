//! The opening of a conversation while there is no owner: answered from the registry that is compiled in.
//!
//! A bridge that never needs it never makes the engine (I8); one that does keeps it, since an owner may go again.

use std::sync::Arc;
use std::time::Duration;

use super::Bridge;
use super::identity::Living;
use crate::floor::jsonrpc::Frame;
use crate::floor::limits::FIRST_ANSWER;
use crate::mcp::{Engine, Keep, Outbound, Reply, Request, Session};
use crate::registry::{Caller, Delivery, PeerId, Transport};

/// When the opening is answered from the compiled registry; what is left of [`FIRST_ANSWER`] is for the answer itself.
pub(super) const PATIENCE: Duration = FIRST_ANSWER.saturating_sub(Duration::from_millis(50));

/// Makes the engine of the compiled registry.
pub type Compiled = Box<dyn Fn() -> Arc<Engine> + Send>;

/// The compiled registry's engine, once it was needed, and the conversation with it since the last owner.
pub(super) struct Opening {
    make: Compiled,
    engine: Option<Arc<Engine>>,
    session: Option<Arc<Session>>,
}

impl Opening {
    pub(super) fn new(make: Compiled) -> Self {
        Self {
            make,
            engine: None,
            session: None,
        }
    }

    /// Whether it has answered since the last owner.
    pub(super) fn has_begun(&self) -> bool {
        self.session.is_some()
    }

    /// There is an owner: the next gap is another conversation.
    pub(super) fn end(&mut self) {
        self.session = None;
    }

    async fn answer(&mut self, seq: u64, frame: Frame, identity: &Living) -> Option<Reply> {
        let engine = self.engine.get_or_insert_with(&self.make);
        let session = self.session.get_or_insert_with(|| {
            let caller = Caller {
                peer: Some(PeerId(identity.now().peer)),
                transport: Transport::Stdio,
                name: None,
                version: None,
                hooked: identity.now().hooked,
            };
            Session::new(caller, Outbound::none())
        });
        let request = Request {
            frame,
            number: seq,
            delivery: Delivery::New,
            key: None,
        };
        let reply = engine.handle(session, request).await?;
        if let Some(revision) = reply.negotiated {
            identity.negotiated(revision.as_str());
        }
        identity.saw(engine.registry().digest());
        Some(reply)
    }
}

impl Bridge {
    /// Answers what of the opening has not been sent anywhere.
    pub(super) async fn answer_opening(&mut self) {
        for (seq, frame) in self.ledger.unsent_handshakes() {
            let Some(reply) = self.opening.answer(seq, frame, &self.identity).await else {
                continue;
            };
            if let Some(Keep::Slot(slot)) = reply.keep {
                self.ledger.keep(seq, slot);
            }
            if self.ledger.answered(seq).is_some() {
                self.deliver(seq, &reply.json);
            }
        }
    }
}
