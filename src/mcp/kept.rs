//! What of a legacy conversation the next owner must know, where no bridge replays it.
//!
//! It is what the client said once and will not say again: what it can be asked for, how much it wants to hear, and what
//! it subscribed to. Who it is and which revision was negotiated stands in the id of its session. Another build may read
//! it: what is missing or unknown there is as if the client had never said it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::outbound::Outbound;
use super::revision::Revision;
use super::session::Session;
use crate::floor::limits::CLIENT_ABILITIES_BYTES;
use crate::registry::{Caller, Level, Wish};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Kept {
    can: Value,
    level: Option<String>,
    subscriptions: BTreeSet<String>,
}

impl Session {
    /// Tells what the next owner must know of it, as JSON.
    #[must_use]
    pub fn kept(&self) -> String {
        let state = self.state();
        json!({
            "can": state.can,
            "level": state.level.map(Level::as_str),
            "subscriptions": state.subscriptions,
        })
        .to_string()
    }

    /// Resumes a conversation that another owner began: its session id tells who and how, `kept` the rest if it is known.
    #[must_use]
    pub fn resumed(
        caller: Caller,
        revision: Revision,
        kept: Option<&str>,
        outbound: Outbound,
    ) -> Arc<Self> {
        let session = Self::new(caller, outbound);
        let kept: Kept = kept
            .and_then(|kept| serde_json::from_str(kept).ok())
            .unwrap_or_default();
        {
            let mut state = session.state();
            state.revision = Some(revision);
            state.can = kept.can;
            state.level = kept.level.as_deref().and_then(Level::parse);
            state.subscriptions = kept.subscriptions;
        }
        session
    }
}

/// What a client declared that it can do; of a declaration past the bound, what this server may ask for.
pub(super) fn abilities(declared: Option<&Value>) -> Value {
    let Some(declared) = declared else {
        return Value::Null;
    };
    if declared.to_string().len() <= CLIENT_ABILITIES_BYTES {
        return declared.clone();
    }
    let known = Wish::ALL.into_iter().map(Wish::capability);
    let can = known.filter(|name| declared.get(name).is_some_and(Value::is_object));
    Value::Object(
        can.map(|name| (name.to_owned(), json!({})))
            .collect::<Map<_, _>>(),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Outbound, Session, abilities};
    use crate::floor::limits::CLIENT_ABILITIES_BYTES;
    use crate::mcp::Revision;
    use crate::registry::{Caller, Level, Transport};

    fn caller() -> Caller {
        Caller {
            peer: None,
            transport: Transport::Http,
            name: None,
            version: None,
            hooked: false,
        }
    }

    #[test]
    fn what_is_kept_of_a_session_is_what_it_resumes_with() {
        let first = Session::new(caller(), Outbound::none());
        {
            let mut state = first.state();
            state.can = json!({ "sampling": { "tools": {} } });
            state.level = Some(Level::Alert);
            state.subscriptions.insert("a:b".to_owned());
        }
        let revision = Revision::V20250618;
        let next =
            |kept: Option<&str>| Session::resumed(caller(), revision, kept, Outbound::none());
        let resumed = next(Some(&first.kept()));
        assert_eq!(resumed.kept(), first.kept());
        assert_eq!(resumed.revision(), Some(revision));
        for unknown in [
            None,
            Some("no JSON"),
            Some("[]"),
            Some(r#"{"new":1,"level":"loud"}"#),
        ] {
            let state = next(unknown);
            let state = state.state();
            assert!(state.can.is_null() && state.level.is_none(), "{unknown:?}");
            assert!(state.subscriptions.is_empty(), "{unknown:?}");
        }
    }

    /// Guards I15.
    #[test]
    fn a_declaration_past_the_bound_is_kept_as_far_as_it_matters() {
        let padded = |bytes: usize| json!({ "roots": {}, "sampling": 1, "experimental": { "x": "y".repeat(bytes) } });
        let rest = padded(0).to_string().len();
        let largest = padded(CLIENT_ABILITIES_BYTES - rest);
        assert_eq!(abilities(Some(&largest)), largest);
        let larger = padded(CLIENT_ABILITIES_BYTES - rest + 1);
        assert_eq!(abilities(Some(&larger)), json!({ "roots": {} }));
        assert!(abilities(None).is_null());
    }
}
