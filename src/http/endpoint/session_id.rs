//! Session ids that say what the next owner must know, and that nobody else can make.
//!
//! An id is `m1-<payload>.<mac>`: the payload is JSON in URL-safe Base64, so that the whole is visible ASCII. It holds
//! the peer's public id, the negotiated revision, the client's name and version, and when it was made. The MAC's key
//! is derived from the checkout's token and root id.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::http::secrets::{Purpose, Secrets};
use crate::mcp::Revision;
use crate::registry::{Caller, PeerId, Transport};

/// What an id starts with; another form gets another one.
const FORM: &str = "m1-";

/// What a session id says.
#[derive(Debug, Clone)]
pub(crate) struct SessionId {
    /// Who.
    pub(crate) caller: Caller,
    /// The session's peer: every session is one.
    pub(crate) peer: PeerId,
    /// What `initialize` negotiated.
    pub(crate) revision: Revision,
    /// When, in milliseconds since the Unix epoch.
    pub(crate) created_ms: u64,
}

#[derive(Serialize, Deserialize)]
struct Payload {
    p: Uuid,
    r: String,
    c: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    n: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    v: Option<String>,
}

impl SessionId {
    /// Renders and signs it.
    pub(crate) fn seal(&self, secrets: &Secrets) -> String {
        let payload = Payload {
            p: self.peer.0,
            r: self.revision.as_str().to_owned(),
            c: self.created_ms,
            n: self.caller.name.clone(),
            v: self.caller.version.clone(),
        };
        let payload = serde_json::to_vec(&payload).expect("strings and numbers render");
        let text = format!("{FORM}{}", BASE64_URL_SAFE_NO_PAD.encode(payload));
        secrets.sign(Purpose::Session, &text)
    }

    /// Reads one that was sealed with the same secrets; `None` for anything else.
    pub(crate) fn open(secrets: &Secrets, text: &str) -> Option<Self> {
        let text = secrets.open(Purpose::Session, text)?;
        let payload = BASE64_URL_SAFE_NO_PAD
            .decode(text.strip_prefix(FORM)?)
            .ok()?;
        let payload: Payload = serde_json::from_slice(&payload).ok()?;
        let peer = PeerId(payload.p);
        Some(Self {
            caller: Caller {
                peer: Some(peer),
                transport: Transport::Http,
                name: payload.n,
                version: payload.v,
                hooked: false,
            },
            peer,
            revision: Revision::parse(&payload.r)?,
            created_ms: payload.c,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::SessionId;
    use crate::http::secrets::Secrets;
    use crate::mcp::Revision;
    use crate::registry::{Caller, PeerId, Transport};

    #[test]
    fn an_id_survives_a_change_of_owner_and_no_change_of_its_text() {
        let peer = PeerId::mint();
        let id = SessionId {
            caller: Caller {
                peer: Some(peer),
                transport: Transport::Http,
                name: Some("ünï \"codé\"".to_owned()),
                version: None,
                hooked: false,
            },
            peer,
            revision: Revision::V20250618,
            created_ms: 1_796_066_377_042,
        };
        let text = id.seal(&Secrets::new("token", "root"));
        assert!(text.bytes().all(|byte| byte.is_ascii_graphic()));
        let next = SessionId::open(&Secrets::new("token", "root"), &text).unwrap();
        assert_eq!((next.peer, next.revision), (peer, Revision::V20250618));
        assert_eq!(next.caller.name, id.caller.name);
        assert_eq!(next.created_ms, id.created_ms);
        assert!(SessionId::open(&Secrets::new("token", "other"), &text).is_none());
        assert!(SessionId::open(&Secrets::new("other", "root"), &text).is_none());
        assert!(SessionId::open(&Secrets::new("token", "root"), "m1-x.y").is_none());
        assert!(!text.contains(&peer.to_string()));
    }
}
