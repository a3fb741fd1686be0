//! The handshake: both ends prove that they know the checkout's token, which itself never travels.
//!
//! The port may have been taken by another user's process between two looks, so the host proves itself first, over a
//! nonce of the bridge; only then does the bridge say who it is. The story: `hello` (bridge) → `proof` (host) → `auth`
//! (bridge) → `welcome` or `refuse` (host). Both proofs are the token's keyed hash of a word that names the
//! direction, both nonces, the instance and the root id, so that no proof can be used for the other side, on another
//! connection or for another checkout.
//!
//! Nothing here does I/O; `bridge` and `host` carry the lines.

use serde::{Deserialize, Serialize};

/// The version of the link that this build speaks.
pub const LINK_VERSION: u32 = 1;

/// The protocol that a bridge asks for in its `Upgrade` header, and a host switches to.
pub const PROTOCOL: &str = "majordomus-link/1";

/// 128 random bits as 32 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nonce(String);

impl Nonce {
    /// Draws a nonce from the system.
    #[must_use]
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().simple().to_string())
    }
}

/// `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`LINK_VERSION`] of the bridge.
    pub link: u32,
    /// The bridge's nonce.
    pub nonce: Nonce,
}

/// `proof`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// [`LINK_VERSION`] of the host.
    pub link: u32,
    /// The host's nonce.
    pub nonce: Nonce,
    /// The host's instance, 32 hex digits.
    pub instance: String,
    /// The root id, 32 hex digits.
    pub root_id: String,
    /// The epoch.
    pub epoch: u64,
    /// The host's version.
    pub version: String,
    /// Digest of the host's registry.
    pub digest: String,
    /// The proof, 64 hex digits.
    pub mac: String,
}

/// `auth`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Auth {
    /// The bridge's peer id.
    pub peer: uuid::Uuid,
    /// Grows with every link of this peer; the newest wins.
    pub generation: u64,
    /// The bridge's version.
    pub version: String,
    /// Digest of the registry that the client last saw, if any.
    #[serde(default)]
    pub digest: Option<String>,
    /// Who the client says it is, once it is on the board.
    #[serde(default)]
    pub client: Option<Client>,
    /// The revision that the client negotiated, if it did.
    #[serde(default)]
    pub revision: Option<String>,
    /// The proof, 64 hex digits.
    pub mac: String,
}

/// What a client says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// Its name.
    #[serde(default)]
    pub name: Option<String>,
    /// Its version.
    #[serde(default)]
    pub version: Option<String>,
}

/// `refuse`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refuse {
    /// The cause.
    pub reason: String,
}

/// Who proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The host, to the bridge.
    Host,
    /// The bridge, to the host.
    Bridge,
}

/// What both proofs are about.
#[derive(Debug, Clone, Copy)]
pub struct Transcript<'a> {
    /// The bridge's nonce.
    pub bridge: &'a Nonce,
    /// The host's nonce.
    pub host: &'a Nonce,
    /// The host's instance.
    pub instance: &'a str,
    /// The root id.
    pub root_id: &'a str,
}

impl Transcript<'_> {
    /// The parts that `side`'s proof is the token's keyed hash of.
    #[must_use]
    pub fn parts(&self, side: Side) -> [&[u8]; 5] {
        let direction: &[u8] = match side {
            Side::Host => b"majordomus-link host",
            Side::Bridge => b"majordomus-link bridge",
        };
        [
            direction,
            self.bridge.0.as_bytes(),
            self.host.0.as_bytes(),
            self.instance.as_bytes(),
            self.root_id.as_bytes(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::{Nonce, Side, Transcript};

    #[test]
    fn a_proof_is_about_its_side_and_its_connection_only() {
        let (bridge, host, other) = (Nonce::random(), Nonce::random(), Nonce::random());
        let transcript = Transcript {
            bridge: &bridge,
            host: &host,
            instance: "i",
            root_id: "r",
        };
        let parts = transcript.parts(Side::Host);
        assert_ne!(parts, transcript.parts(Side::Bridge));
        assert_ne!(
            parts,
            Transcript {
                bridge: &other,
                ..transcript
            }
            .parts(Side::Host)
        );
        assert_ne!(
            parts,
            Transcript {
                host: &other,
                ..transcript
            }
            .parts(Side::Host)
        );
        assert_ne!(
            parts,
            Transcript {
                instance: "x",
                ..transcript
            }
            .parts(Side::Host)
        );
        assert_ne!(
            parts,
            Transcript {
                root_id: "x",
                ..transcript
            }
            .parts(Side::Host)
        );
    }
}
