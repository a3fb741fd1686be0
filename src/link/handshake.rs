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

/// Every version of the link that this build speaks, newest first, with the protocol that `Upgrade` headers name.
///
/// A version stays here as long as builds that speak nothing newer may be running somewhere (ADR-0013).
pub const SPOKEN: &[(u32, &str)] = &[(1, "majordomus-link/1")];

/// How the protocol of every version begins.
const NAME: &str = "majordomus-link/";

/// The value of an `Upgrade` header that offers all of [`SPOKEN`].
#[must_use]
pub fn offer() -> String {
    let names: Vec<&str> = SPOKEN.iter().map(|(_, protocol)| *protocol).collect();
    names.join(", ")
}

/// What an `Upgrade` header's value comes to here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    /// It names no link.
    Nothing,
    /// It names links, and none that this build speaks.
    Unknown,
    /// The newest version that both sides speak, with its protocol.
    Common(u32, &'static str),
}

impl Offered {
    /// Reads an `Upgrade` header's value; all values of a repeated header count as one, with commas between.
    #[must_use]
    pub fn read(value: &str) -> Self {
        let named = |protocol: &str| {
            let mut items = value.split(',');
            items.any(|item| item.trim().eq_ignore_ascii_case(protocol))
        };
        let is_link = |item: &str| {
            let start = item.trim().get(..NAME.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(NAME))
        };
        match SPOKEN.iter().find(|(_, protocol)| named(protocol)) {
            Some((version, protocol)) => Self::Common(*version, protocol),
            None if value.split(',').any(is_link) => Self::Unknown,
            None => Self::Nothing,
        }
    }
}

/// Whether this build speaks a version.
#[must_use]
pub fn speaks(version: u32) -> bool {
    SPOKEN.iter().any(|(spoken, _)| *spoken == version)
}

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
    /// The version that both ends agreed on in the upgrade.
    pub link: u32,
    /// The bridge's nonce.
    pub nonce: Nonce,
}

/// `proof`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The version that the host speaks on this link.
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
    /// Whether the client's own hooks meet the team's notes, so that no server does it for this client.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hooked: bool,
    /// Where the client's stores are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stores: Option<Stores>,
    /// The proof, 64 hex digits.
    pub mac: String,
}

/// Where a client's stores are, as its own environment says; paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stores {
    /// `MNEMON_DATA_DIR`, or what stands for it.
    pub data: String,
    /// `MNEMON_SYNC_DIR`, or what stands for it.
    pub folder: String,
    /// `MNEMON_SYNC_HOST`, or what stands for it.
    pub host: String,
    /// The folder of the shadows.
    pub state: String,
    /// `MNEMON_MAX_INSIGHTS`, where it is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u64>,
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
    use super::{Nonce, Offered, SPOKEN, Side, Transcript, offer};

    #[test]
    fn what_is_offered_is_understood_and_the_newest_common_version_is_taken() {
        let (newest, protocol) = SPOKEN[0];
        assert_eq!(Offered::read(&offer()), Offered::Common(newest, protocol));
        for (value, version) in [
            ("majordomus-link/1", 1),
            ("majordomus-link/999,  Majordomus-Link/1", 1),
        ] {
            assert_eq!(
                Offered::read(value),
                Offered::Common(version, "majordomus-link/1")
            );
        }
        for unknown in ["majordomus-link/0", "websocket, majordomus-link/999"] {
            assert_eq!(Offered::read(unknown), Offered::Unknown);
        }
        for nothing in ["", "websocket", "majordomus", "h2c,"] {
            assert_eq!(Offered::read(nothing), Offered::Nothing);
        }
        let newer_first = SPOKEN.is_sorted_by(|(one, _), (next, _)| one > next);
        assert!(newer_first, "{SPOKEN:?}");
    }

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
