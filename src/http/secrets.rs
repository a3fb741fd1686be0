//! The checkout's token as HTTP uses it: compared, and the root of two keys; never shown.
//!
//! *Once-scope*: what stands for an `Idempotency-Key`; handles are made of it, so that it must not be guessed.
//!
//! Page tokens and session ids carry what they mean and a MAC, so that the next owner, who reads the same token,
//! takes them over without a table. Each kind has a key of its own, bound to the root id.

use std::fmt;

use crate::floor::hex;
use crate::floor::mac::Key;
use crate::registry::OnceKey;

/// What a signed text is for; another purpose is another key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    /// The token of a page.
    Page,
    /// A legacy MCP session id.
    Session,
    /// The proof that this is the checkout's server.
    Server,
}

/// What HTTP derives from the checkout's token.
#[derive(Clone)]
pub struct Secrets {
    bearer: [u8; 32],
    compare: Key,
    page: Key,
    session: Key,
    server: Key,
    once: Key,
}

impl Secrets {
    /// Derives everything from the token's text and the root id.
    #[must_use]
    pub fn new(token: &str, root_id: &str) -> Self {
        let derive = |purpose: &str| {
            let purpose = format!("http {purpose}");
            Key::derive(token.as_bytes(), &purpose, root_id)
        };
        let compare = derive("compare");
        Self {
            bearer: compare.mac(&[token.as_bytes()]),
            compare,
            page: derive("page"),
            session: derive("session"),
            server: derive("server"),
            once: derive("once"),
        }
    }

    /// Binds session ids to the file `board` too: only its owners know which of its sessions have ended.
    #[must_use]
    pub fn of_board(mut self, token: &str, root_id: &str, board: &str) -> Self {
        let bound = format!("{root_id} {board}");
        self.session = Key::derive(token.as_bytes(), "http session", &bound);
        self
    }

    /// Says whether `presented` is the token, in a time that tells nothing about it.
    pub(crate) fn is_token(&self, presented: &str) -> bool {
        self.compare.verifies(presented.as_bytes(), &self.bearer)
    }

    /// Proves over a client's `nonce` that whoever serves as `instance` at `port` knows the token.
    ///
    /// The port is in it, so that nobody on another port can pass the proof on.
    #[must_use]
    pub fn prove(&self, nonce: &str, instance: &str, port: u16) -> String {
        self.sign(Purpose::Server, &format!("{nonce}.{instance}.{port}"))
    }

    /// Says whether `proof` is what [`Self::prove`] makes of the same.
    #[must_use]
    pub fn proves(&self, proof: &str, nonce: &str, instance: &str, port: u16) -> bool {
        self.open(Purpose::Server, proof) == Some(&format!("{nonce}.{instance}.{port}"))
    }

    /// Returns `text` with its MAC: `<text>.<mac>`.
    pub(crate) fn sign(&self, purpose: Purpose, text: &str) -> String {
        self.key(purpose).sign(text)
    }

    /// Returns the text of a signed one, if the MAC is ours.
    pub(crate) fn open<'a>(&self, purpose: Purpose, signed: &'a str) -> Option<&'a str> {
        self.key(purpose).open(signed)
    }

    /// Returns the scope of a [`OnceKey`] for what the credential `scope` sends under `key`.
    pub(crate) fn once(&self, scope: &str, key: &str) -> String {
        let mac = self.once.mac(&[scope.as_bytes(), b"\0", key.as_bytes()]);
        format!("{}{}", OnceKey::HTTP, hex::encode(&mac))
    }

    fn key(&self, purpose: Purpose) -> &Key {
        match purpose {
            Purpose::Page => &self.page,
            Purpose::Session => &self.session,
            Purpose::Server => &self.server,
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

#[cfg(test)]
mod tests {
    use super::{Purpose, Secrets};

    #[test]
    fn only_the_token_is_the_token() {
        let secrets = Secrets::new("0123abcd", "root");
        assert!(secrets.is_token("0123abcd"));
        for wrong in ["", "0123abce", "0123abcd ", "0123abcd\0"] {
            assert!(!secrets.is_token(wrong));
        }
        assert_eq!(format!("{secrets:?}"), "Secrets");
    }

    /// Guards I14.
    #[test]
    fn a_server_is_proven_for_one_nonce_one_instance_and_one_port() {
        let secrets = Secrets::new("token", "root");
        let proof = secrets.prove("nonce", "instance", 20_123);
        assert!(secrets.proves(&proof, "nonce", "instance", 20_123));
        assert!(!secrets.proves(&proof, "other", "instance", 20_123));
        assert!(!secrets.proves(&proof, "nonce", "other", 20_123));
        assert!(!secrets.proves(&proof, "nonce", "instance", 20_124));
        assert!(!secrets.proves("", "nonce", "instance", 20_123));
        let elsewhere = Secrets::new("token", "elsewhere");
        assert!(!elsewhere.proves(&proof, "nonce", "instance", 20_123));
    }

    #[test]
    fn a_signed_text_opens_for_its_purpose_only() {
        let secrets = Secrets::new("token", "root");
        let signed = secrets.sign(Purpose::Page, "1.2.abc");
        assert_eq!(secrets.open(Purpose::Page, &signed), Some("1.2.abc"));
        assert_eq!(secrets.open(Purpose::Session, &signed), None);
        assert_eq!(
            Secrets::new("token", "other").open(Purpose::Page, &signed),
            None
        );
    }
}
