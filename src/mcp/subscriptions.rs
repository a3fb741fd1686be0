//! News for a client: `resources/subscribe` in the legacy era, `subscriptions/listen` in the modern one.
//!
//! A listen is a request that stays unanswered while it is open, so a bridge needs nothing special to carry it over: it
//! is resent like any other unanswered frame, and its second acknowledgement is swallowed there.

use std::collections::BTreeSet;
use std::future;

use serde_json::{Map, Value, json};

use super::engine::{Engine, Turn};
use super::failure;
use super::outbound::Message;
use super::reply::{Keep, Outcome, Success};
use super::session::Session;
use super::tools::{unknown_resource, uri_of};
use crate::floor::jsonrpc;
use crate::floor::limits::LISTENS;
use crate::registry::call::Delivery;
use crate::registry::{List, News};

/// The notification that a list changed.
fn list_changed(list: List) -> &'static str {
    match list {
        List::Tools => "notifications/tools/list_changed",
        List::Resources => "notifications/resources/list_changed",
        List::Prompts => "notifications/prompts/list_changed",
    }
}

/// The word for it in a listen's filter.
fn filter_word(list: List) -> &'static str {
    match list {
        List::Tools => "toolsListChanged",
        List::Resources => "resourcesListChanged",
        List::Prompts => "promptsListChanged",
    }
}

/// One open `subscriptions/listen`.
#[derive(Debug, Clone, Default)]
pub(super) struct Listen {
    /// The request's id, which tags everything on this subscription.
    id: Value,
    lists: BTreeSet<List>,
    uris: BTreeSet<String>,
}

impl Engine {
    pub(super) fn subscribe(&self, turn: &Turn<'_>) -> Outcome {
        let uri = uri_of(&turn.params)?;
        if self.registry.by_resource(uri).is_none() {
            return Err(unknown_resource(uri));
        }
        turn.session.state().subscriptions.insert(uri.to_owned());
        let keep = Keep::Slot(slot(uri));
        Ok(Success::new(Value::Object(Map::new())).keep(keep))
    }

    pub(super) fn unsubscribe(turn: &Turn<'_>) -> Outcome {
        let uri = uri_of(&turn.params)?;
        turn.session.state().subscriptions.remove(uri);
        Ok(Success::new(Value::Object(Map::new())).keep(Keep::Forget(slot(uri))))
    }

    /// Opens a subscription, acknowledges it first, and then stays until it is cancelled.
    pub(super) async fn listen(&self, turn: &Turn<'_>) -> Outcome {
        if turn.session.open_listens() >= LISTENS {
            return Err(failure::MANY_LISTENS.fill(&[&LISTENS]));
        }
        let Some(filter) = turn.params.get("notifications").and_then(Value::as_object) else {
            return Err(failure::NO_FILTER.fill(&[]));
        };
        let wants = |key: &str| filter.get(key).and_then(Value::as_bool).unwrap_or(false);
        let uris = filter
            .get("resourceSubscriptions")
            .and_then(Value::as_array);
        // Only what exists is agreed to; the acknowledgement tells the client what that is.
        let uris: BTreeSet<String> = uris
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .filter(|uri| self.registry.by_resource(uri).is_some())
            .map(ToOwned::to_owned)
            .collect();
        let id = serde_json::from_str(turn.id.as_json()).unwrap_or(Value::Null);
        let listen = Listen {
            id,
            lists: List::ALL
                .into_iter()
                .filter(|list| wants(filter_word(*list)))
                .collect(),
            uris,
        };
        let mut agreed = Map::new();
        for list in &listen.lists {
            agreed.insert(filter_word(*list).to_owned(), json!(true));
        }
        if !listen.uris.is_empty() {
            agreed.insert("resourceSubscriptions".to_owned(), json!(listen.uris));
        }
        let number = turn.request.number;
        // A bridge passes on the first acknowledgement of a request and swallows those of later owners.
        let key = Some(format!("{number} acknowledged"));
        turn.session.tell(
            number,
            key,
            "notifications/subscriptions/acknowledged",
            json!({ "notifications": agreed }),
            Some(&listen.id),
        );
        let again = turn.request.delivery != Delivery::New;
        let missed = if again {
            listen.uris.clone()
        } else {
            BTreeSet::new()
        };
        let stale = {
            let mut state = turn.session.state();
            state.listens.insert(number, listen.clone());
            again && state.lists_stale
        };
        if stale {
            for list in List::ALL {
                turn.session.tell_list(number, &listen, list);
            }
        }
        for uri in missed {
            turn.session.changed(&uri);
        }
        future::pending().await
    }
}

impl Session {
    /// Passes on a piece of news.
    pub fn hear(&self, news: &News) {
        match news {
            News::Resource(uri) => self.changed(uri),
            News::List(list) => self.list_changed(*list),
        }
    }

    /// Says that news was missed: everything that this client asked about may have changed.
    pub fn missed(&self) {
        for uri in self.subscribed() {
            self.changed(&uri);
        }
        for list in List::ALL {
            self.list_changed(list);
        }
    }

    /// Passes on that the resource `uri` changed, to whoever of this client subscribed to it.
    pub fn changed(&self, uri: &str) {
        let (subscribed, listens) = {
            let state = self.state();
            let listens: Vec<(u64, Value)> = state
                .listens
                .iter()
                .filter(|(_, listen)| listen.uris.contains(uri))
                .map(|(number, listen)| (*number, listen.id.clone()))
                .collect();
            (state.subscriptions.contains(uri), listens)
        };
        let method = "notifications/resources/updated";
        if subscribed {
            self.tell(0, Some(uri.to_owned()), method, json!({ "uri": uri }), None);
        }
        for (number, id) in listens {
            let key = Some(format!("{number} {uri}"));
            self.tell(number, key, method, json!({ "uri": uri }), Some(&id));
        }
    }

    /// Every resource that this client subscribed to: what may have changed when news was missed.
    #[must_use]
    pub fn subscribed(&self) -> BTreeSet<String> {
        let state = self.state();
        let listened = state.listens.values().flat_map(|listen| listen.uris.iter());
        state
            .subscriptions
            .iter()
            .chain(listened)
            .cloned()
            .collect()
    }

    /// Says that every list may have changed: another build became the owner.
    pub fn lists_changed(&self) {
        self.state().lists_stale = true;
        for list in List::ALL {
            self.list_changed(list);
        }
    }

    fn list_changed(&self, list: List) {
        let (legacy, listens) = {
            let state = self.state();
            (state.revision.is_some(), state.listens.clone())
        };
        if legacy {
            let method = list_changed(list);
            self.tell(0, Some(method.to_owned()), method, json!({}), None);
        }
        for (number, listen) in &listens {
            self.tell_list(*number, listen, list);
        }
    }

    /// Tells one listen of a list, if it asked about it.
    fn tell_list(&self, number: u64, listen: &Listen, list: List) {
        if listen.lists.contains(&list) {
            let method = list_changed(list);
            let key = Some(format!("{number} {method}"));
            self.tell(number, key, method, json!({}), Some(&listen.id));
        }
    }

    fn tell(
        &self,
        about: u64,
        coalesce: Option<String>,
        method: &str,
        mut params: Value,
        subscription: Option<&Value>,
    ) {
        if let Some(id) = subscription {
            params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": id });
        }
        let json = jsonrpc::notification(method, &params);
        self.outbound.send(Message {
            about,
            coalesce,
            json,
        });
    }
}

fn slot(uri: &str) -> String {
    format!("subscribe/{uri}")
}
