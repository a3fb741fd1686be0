//! The handshake: both ends prove that they know the checkout's token, which itself never travels.
//!
//! The port may have been taken by another user's process between two looks, so the host proves itself first, over a
//! nonce of the bridge; only then does the bridge say who it is. The story: `hello` (bridge) → `proof` (host) → `auth`
//! (bridge) → `welcome` or `refuse` (host). Both proofs are HMAC-SHA-256 under the token over a word that names the
//! direction, both nonces, the instance and the root id, so that no proof can be used for the other side, on another
//! connection or for another checkout.
//!
//! Nothing here does I/O; `bridge` and `host` carry the lines.

use hmac::{Hmac, KeyInit, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::floor::hex;

/// The version of the link that this build speaks.
pub const LINK_VERSION: u32 = 1;

/// The value of the `Upgrade` header.
pub const UPGRADE: &str = "majordomus-link/1";

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
    /// The revision that the client negotiated, if it did.
    #[serde(default)]
    pub revision: Option<String>,
    /// The proof, 64 hex digits.
    pub mac: String,
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
    fn keyed(&self, key: &[u8], side: Side) -> Hmac<Sha256> {
        let mut mac =
            <Hmac<Sha256> as KeyInit>::new_from_slice(key).expect("HMAC takes a key of any length");
        let direction = match side {
            Side::Host => "majordomus-link host",
            Side::Bridge => "majordomus-link bridge",
        };
        for part in [
            direction,
            &self.bridge.0,
            &self.host.0,
            self.instance,
            self.root_id,
        ] {
            // The length in front keeps two neighbouring parts from flowing into each other.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        mac
    }

    /// Makes the proof of `side` under `key`.
    #[must_use]
    pub fn prove(&self, key: &[u8], side: Side) -> String {
        hex::encode(&self.keyed(key, side).finalize().into_bytes())
    }

    /// Checks the proof of `side`, in constant time.
    #[must_use]
    pub fn verify(&self, key: &[u8], side: Side, mac: &str) -> bool {
        let bytes = hex::decode::<32>(mac.as_bytes());
        bytes.is_some_and(|bytes| self.keyed(key, side).verify_slice(&bytes).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::{Nonce, Side, Transcript};

    #[test]
    fn a_proof_fits_its_side_its_key_and_its_connection_only() {
        let (bridge, host, other) = (Nonce::random(), Nonce::random(), Nonce::random());
        let transcript = Transcript {
            bridge: &bridge,
            host: &host,
            instance: "i",
            root_id: "r",
        };
        let mac = transcript.prove(b"key", Side::Host);
        assert!(transcript.verify(b"key", Side::Host, &mac));
        assert!(!transcript.verify(b"key", Side::Bridge, &mac));
        assert!(!transcript.verify(b"other", Side::Host, &mac));
        assert!(
            !Transcript {
                bridge: &other,
                ..transcript
            }
            .verify(b"key", Side::Host, &mac)
        );
        assert!(
            !Transcript {
                root_id: "x",
                ..transcript
            }
            .verify(b"key", Side::Host, &mac)
        );
        for garbage in ["", "zz", "é", &mac[1..]] {
            assert!(!transcript.verify(b"key", Side::Host, garbage));
        }
    }
}
