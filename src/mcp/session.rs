//! One client's conversation: who it is, what it subscribed to, and what of it is running.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::outbound::{Message, Outbound};
use super::revision::Revision;
use super::subscriptions::Listen;
use crate::floor::jsonrpc::{self, Frame, Kind};
use crate::floor::limits::{QUESTION, QUESTIONS};
use crate::registry::caller::{Caller, PeerId};
use crate::registry::{Level, Refusal, refusal};

/// One client's conversation.
#[derive(Debug)]
pub struct Session {
    pub(super) outbound: Outbound,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) caller: Arc<Caller>,
    /// What `initialize` negotiated.
    pub(super) revision: Option<Revision>,
    /// The peer is on the board.
    pub(super) entered: bool,
    /// URIs of `resources/subscribe`.
    pub(super) subscriptions: BTreeSet<String>,
    /// Open `subscriptions/listen` requests by their number.
    pub(super) listens: BTreeMap<u64, Listen>,
    /// The client knows another registry's lists; a listen that is opened anew is told so.
    pub(super) lists_stale: bool,
    /// What `initialize` declared that the client can do.
    pub(super) can: Value,
    /// What `logging/setLevel` asked for.
    pub(super) level: Option<Level>,
    running: BTreeMap<u64, CancellationToken>,
    /// Requests about which nothing can be said before they are answered.
    muted: BTreeSet<u64>,
    /// Our requests that the client has yet to answer, by their ids.
    asked: HashMap<String, Asked>,
}

/// A request of ours.
#[derive(Debug)]
struct Asked {
    /// The client's request that waits for the answer.
    about: u64,
    answer: oneshot::Sender<Result<Value, Refusal>>,
}

impl Session {
    /// Opens a conversation with `caller`, whose name may become known later.
    #[must_use]
    pub fn new(caller: Caller, outbound: Outbound) -> Arc<Self> {
        Arc::new(Self {
            outbound,
            state: Mutex::new(State {
                caller: Arc::new(caller),
                revision: None,
                entered: false,
                subscriptions: BTreeSet::new(),
                listens: BTreeMap::new(),
                lists_stale: false,
                can: Value::Null,
                level: None,
                running: BTreeMap::new(),
                muted: BTreeSet::new(),
                asked: HashMap::new(),
            }),
        })
    }

    /// Who talks, as far as it is known now.
    #[must_use]
    pub fn caller(&self) -> Arc<Caller> {
        Arc::clone(&self.state().caller)
    }

    /// What `initialize` negotiated, if it did.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.state().revision
    }

    /// Cancels the request with this number; its handling then ends without an answer.
    pub fn cancel(&self, number: u64) {
        let mut state = self.state();
        state.listens.remove(&number);
        if let Some(token) = state.running.get(&number) {
            token.cancel();
        }
    }

    /// Ends every open listen without an answer: the owner leaves, and the client's bridge opens it at the next one.
    pub fn close_listens(&self) {
        let mut state = self.state();
        for number in std::mem::take(&mut state.listens).into_keys() {
            if let Some(token) = state.running.get(&number) {
                token.cancel();
            }
        }
    }

    /// How many requests are running, open listens among them.
    #[must_use]
    pub fn running(&self) -> usize {
        self.state().running.len()
    }

    /// Makes the request with this number known, so that it can be cancelled before its handling has begun. Who begins
    /// it again gets the same; it is over when the first of them is dropped.
    pub fn begin(self: &Arc<Self>, number: u64) -> Running {
        let token = self.state().running.entry(number).or_default().clone();
        Running {
            session: Arc::clone(self),
            number,
            token,
        }
    }

    /// Takes up a conversation whose client another owner knows already: its name, and that it is on the board.
    pub fn reintroduce(&self, name: Option<String>, version: Option<String>) {
        let mut state = self.state();
        let caller = Arc::make_mut(&mut state.caller);
        caller.name = name;
        caller.version = version;
        state.entered = true;
    }

    /// Takes the client's response to a request of ours; one that nobody waits for is nobody's.
    pub fn heard(&self, frame: &Frame) {
        let Kind::Response { id: Some(id) } = frame.kind() else {
            return;
        };
        let Ok(id) = serde_json::from_str::<String>(id.as_json()) else {
            return;
        };
        let Some(waiting) = self.state().asked.remove(&id) else {
            return;
        };
        let answer = match frame.read_result() {
            Ok(result @ Value::Object(_)) => Ok(result),
            Ok(_) => Err(refusal::CLIENT_ERROR.fill(&[])),
            Err(error) => Err(refusal::NO_ANSWER.fill(&[&error])),
        };
        // The call may be over by now.
        drop(waiting.answer.send(answer));
    }

    /// Sends a request of ours about the request `about`. Its id is no other owner's, so an answer that comes too late
    /// is taken for nothing else.
    pub(super) fn ask(
        self: &Arc<Self>,
        about: u64,
        method: &str,
        params: &Value,
    ) -> Result<impl Future<Output = Result<Value, Refusal>> + Send + use<>, Refusal> {
        let id = PeerId::mint().to_string();
        let (answer, answered) = oneshot::channel();
        {
            let mut state = self.state();
            if state.muted.contains(&about) {
                return Err(refusal::MUTED.fill(&[]));
            }
            if state.asked.len() >= QUESTIONS {
                return Err(refusal::MANY_QUESTIONS.fill(&[]));
            }
            state.asked.insert(id.clone(), Asked { about, answer });
        }
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let forgotten = Question(Arc::clone(self), id.clone());
        let taken = self.outbound.takes(Message {
            about,
            // Nothing makes it obsolete. Under pressure a link holds it; a full stream does not take it.
            coalesce: Some(id),
            json: jsonrpc::message(&request),
        });
        if !taken {
            return Err(refusal::UNREACHED.fill(&[]));
        }
        Ok(async move {
            let answer = timeout(QUESTION, answered).await;
            drop(forgotten);
            match answer {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) => Err(refusal::CLIENT_LEFT.fill(&[])),
                Err(_) => Err(refusal::SLOW_CLIENT.fill(&[])),
            }
        })
    }

    /// Gives up what was asked about this request: its carrier has lost the way back to its client.
    pub fn abandon(&self, number: u64) {
        self.state().asked.retain(|_, asked| asked.about != number);
    }

    /// Whether this request waits for its client.
    #[must_use]
    pub fn waits(&self, number: u64) -> bool {
        let state = self.state();
        state.asked.values().any(|asked| asked.about == number)
    }

    /// How many listens are open.
    #[must_use]
    pub fn open_listens(&self) -> usize {
        self.state().listens.len()
    }

    /// A panic of another request does not poison this one: every change of the state is whole.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that began; dropped, wherever its handling has come to, it leaves nothing behind in its session.
#[derive(Debug)]
#[must_use = "dropped at once, the request is over"]
pub struct Running {
    session: Arc<Session>,
    number: u64,
    /// Set when the client cancels it.
    pub(super) token: CancellationToken,
}

impl Running {
    /// Says that the carrier cannot pass on anything about this request before its answer: its client cannot be asked.
    pub fn mute(&self) {
        self.session.state().muted.insert(self.number);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.session.state();
        state.running.remove(&self.number);
        state.muted.remove(&self.number);
        state.listens.remove(&self.number);
    }
}

/// Forgets a question when nobody waits for its answer any more.
struct Question(Arc<Session>, String);

impl Drop for Question {
    fn drop(&mut self) {
        self.0.state().asked.remove(&self.1);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::time::Instant;

    use super::{Listen, Outbound, Session};
    use crate::floor::limits::{QUESTION, QUESTIONS};
    use crate::registry::{Caller, Transport};

    fn session(outbound: Outbound) -> std::sync::Arc<Session> {
        let caller = Caller {
            peer: None,
            transport: Transport::Stdio,
            name: None,
            version: None,
            hooked: false,
        };
        Session::new(caller, outbound)
    }

    /// Guards I15.
    #[tokio::test(start_paused = true)]
    async fn a_question_that_nobody_answers_is_refused_in_the_end() {
        let session = session(Outbound::to(|_| true));
        let begin = Instant::now();
        let answer = session.ask(1, "roots/list", &json!({})).unwrap();
        assert!(session.waits(1) && !session.waits(2));
        assert!(answer.await.is_err());
        assert!(begin.elapsed() >= QUESTION);
        assert!(!session.waits(1));
    }

    #[test]
    fn a_request_that_is_given_up_in_the_middle_leaves_nothing_behind() {
        let session = session(Outbound::none());
        let early = session.begin(1);
        early.mute();
        let handled = session.begin(1);
        session.state().listens.insert(1, Listen::default());
        let other = session.begin(2);
        session.cancel(2);
        assert!(other.token.is_cancelled() && !handled.token.is_cancelled());
        assert_eq!(session.running(), 2);
        drop(early);
        {
            let state = session.state();
            assert!(!state.running.contains_key(&1));
            assert!(state.muted.is_empty() && state.listens.is_empty());
        }
        drop((handled, other));
        assert_eq!(session.running(), 0);
    }

    /// Guards I15.
    #[tokio::test]
    async fn one_client_has_so_many_questions_open_and_no_more() {
        let session = session(Outbound::to(|_| true));
        let ask = |about: usize| session.ask(about as u64, "roots/list", &json!({}));
        let mut open: Vec<_> = (0..QUESTIONS).map(|about| ask(about).unwrap()).collect();
        assert!(ask(0).is_err());
        drop(open.pop());
        assert!(ask(0).is_ok(), "one was given up");
    }

    #[tokio::test]
    async fn a_question_that_is_not_taken_or_given_up_is_refused() {
        let nobody = session(Outbound::none());
        assert!(nobody.ask(1, "roots/list", &json!({})).is_err());
        assert!(!nobody.waits(1));
        let session = session(Outbound::to(|_| true));
        let answer = session.ask(1, "roots/list", &json!({})).unwrap();
        session.abandon(1);
        assert!(answer.await.is_err());
    }
}
