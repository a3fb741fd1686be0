//! Who a bridge is to the owners that it attaches to.

use std::cell::{Ref, RefCell};
use std::rc::Rc;

use uuid::Uuid;

use crate::link::handshake::{Auth, Client, Stores};
use crate::registry::{Digest, PeerId};

/// Who attaches, at one moment.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The bridge's peer id.
    pub peer: Uuid,
    /// Grows with every attempt to attach.
    pub generation: u64,
    /// Digest of the registry that the client last saw.
    pub digest: Option<Digest>,
    /// The revision that the client negotiated.
    pub revision: Option<String>,
    /// Who the client says it is, once it made itself known.
    pub client: Option<Client>,
    /// Whether the client's own hooks meet the team's notes.
    pub hooked: bool,
    /// Where the client's stores are.
    pub stores: Option<Stores>,
}

impl Identity {
    /// The line that introduces it; within one process the proof is empty.
    #[must_use]
    pub fn auth(&self, mac: String) -> Auth {
        Auth {
            peer: self.peer,
            generation: self.generation,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            digest: self.digest.as_ref().map(|digest| digest.to_string()),
            client: self.client.clone(),
            revision: self.revision.clone(),
            hooked: self.hooked,
            stores: self.stores.clone(),
            mac,
        }
    }
}

/// A bridge's identity as it grows: searches share it, so that each attempt says what is known by then.
#[derive(Debug, Clone)]
pub struct Living(Rc<RefCell<Identity>>);

impl Living {
    /// Mints the identity of a new client process, whose client's own hooks meet the team's notes or not, and which has these
    /// stores.
    #[must_use]
    pub fn mint(hooked: bool, stores: Option<Stores>) -> Self {
        Self(Rc::new(RefCell::new(Identity {
            peer: PeerId::mint().0,
            generation: 0,
            digest: None,
            revision: None,
            client: None,
            hooked,
            stores,
        })))
    }

    /// What is known now.
    pub fn now(&self) -> Ref<'_, Identity> {
        self.0.borrow()
    }

    /// The identity for the next attempt, which is newer than every one before.
    #[must_use]
    pub fn next(&self) -> Identity {
        self.0.borrow_mut().generation += 1;
        self.now().clone()
    }

    /// The client saw the lists of this registry.
    pub fn saw(&self, digest: &Digest) {
        let known = self.now().digest.as_ref().is_some_and(|saw| saw.is(digest));
        if !known {
            self.0.borrow_mut().digest = Some(digest.clone());
        }
    }

    /// The client negotiated this revision.
    pub fn negotiated(&self, revision: &str) {
        self.0.borrow_mut().revision = Some(revision.to_owned());
    }

    /// The client made itself known.
    pub fn introduced(&self, client: Client) {
        self.0.borrow_mut().client = Some(client);
    }
}
