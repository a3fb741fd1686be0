//! Records a link: stands between a bridge and its owner, passes every line on and notes it.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

use serde_json::Value;

use super::recording::{BREAKS, Said, Terms, Voice, parts};

/// What was said so far, and what the relay does.
#[derive(Default)]
struct State {
    said: Vec<Said>,
    terms: Terms,
    /// The last proof of the host (`true`) and of the bridge.
    macs: BTreeMap<bool, String>,
    upstream: String,
    /// The end of a link is not told to the bridge yet: another owner is to be there first.
    holds: bool,
    /// The link breaks in place of the first line of the host that is about this request.
    breaks_at: Option<u64>,
}

/// A relay at a port of its own.
#[derive(Clone)]
pub(crate) struct Relay {
    state: Arc<(Mutex<State>, Condvar)>,
    pub(crate) address: String,
}

impl Relay {
    /// Listens; whoever connects talks to whoever is [`Self::leads_to`].
    pub(crate) fn open(token: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let terms = Terms {
            token: token.to_owned(),
            address: address.clone(),
            ..Terms::default()
        };
        let state = State {
            terms,
            ..State::default()
        };
        let relay = Self {
            state: Arc::new((Mutex::new(state), Condvar::new())),
            address,
        };
        let accepting = relay.clone();
        thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let upstream = accepting.lock().upstream.clone();
                let Ok(far) = TcpStream::connect(upstream) else {
                    continue;
                };
                // Else a frame may be told to have left while it waits for an acknowledgement.
                near.set_nodelay(true).unwrap();
                far.set_nodelay(true).unwrap();
                accepting.pass(Voice::Bridge, &near, &far);
                accepting.pass(Voice::Host, &far, &near);
            }
        });
        relay
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.0.lock().unwrap()
    }

    /// Passes on what `voice` says.
    fn pass(&self, voice: Voice, from: &TcpStream, to: &TcpStream) {
        let (relay, source) = (self.clone(), from.try_clone().unwrap());
        let mut sink = to.try_clone().unwrap();
        thread::spawn(move || {
            let mut reader = BufReader::new(source.try_clone().unwrap());
            let mut line = String::new();
            while matches!(reader.read_line(&mut line), Ok(1..)) {
                let text = line.trim_end_matches(['\n', '\r']);
                let breaks_at = relay.lock().breaks_at;
                let about = parts(text).map(|parts| parts.seq);
                if voice == Voice::Host && breaks_at.is_some() && about == breaks_at {
                    relay.lock().breaks_at = None;
                    relay.note(Voice::Stage, BREAKS);
                    drop(source.shutdown(Shutdown::Both));
                    break;
                }
                relay.note(voice, text);
                if sink.write_all(line.as_bytes()).is_err() {
                    break;
                }
                line.clear();
            }
            let (_, news) = &*relay.state;
            drop(news.wait_while(relay.lock(), |state| state.holds).unwrap());
            drop(sink.shutdown(Shutdown::Both));
        });
    }

    /// Notes a line.
    pub(crate) fn note(&self, voice: Voice, text: &str) {
        let mut state = self.lock();
        state.terms.learn(text);
        if let Some(parts) = parts(text)
            && matches!(parts.verb, "proof" | "auth")
        {
            let body: Value = serde_json::from_str(parts.json).unwrap_or_default();
            let mac = body["mac"].as_str().unwrap_or_default().to_owned();
            state.macs.insert(voice == Voice::Host, mac);
        }
        // A proof is known only with both nonces.
        let text = match voice {
            Voice::Bridge | Voice::Host => state.terms.blank(text),
            Voice::Client | Voice::Told | Voice::Stage => text.to_owned(),
        };
        state.said.push(Said { voice, text });
    }

    /// Where the next connection leads to.
    pub(crate) fn leads_to(&self, upstream: &str) {
        upstream.clone_into(&mut self.lock().upstream);
    }

    /// Keeps ends of links to itself, or tells them.
    pub(crate) fn hold(&self, holds: bool) {
        self.lock().holds = holds;
        self.state.1.notify_all();
    }

    /// Breaks the link in place of what the host says of this request.
    pub(crate) fn break_at(&self, seq: u64) {
        self.lock().breaks_at = Some(seq);
    }

    /// Whether `voice` has said a line that `fits`, behind the `after` first ones.
    pub(crate) fn has_said(&self, voice: Voice, after: usize, fits: impl Fn(&str) -> bool) -> bool {
        let state = self.lock();
        let mut said = state.said.iter().skip(after);
        said.any(|said| said.voice == voice && fits(&said.text))
    }

    /// How many lines there are.
    pub(crate) fn length(&self) -> usize {
        self.lock().said.len()
    }

    /// The last handshake's proofs and what they are about, as a file. Its token is a dead checkout's.
    pub(crate) fn proof(&self) -> String {
        let state = self.lock();
        let (terms, mac) = (&state.terms, |host| &state.macs[&host]);
        [
            ("token", &terms.token),
            ("bridge-nonce", &terms.bridge_nonce),
            ("host-nonce", &terms.host_nonce),
            ("instance", &terms.instance),
            ("root", &terms.root),
            ("host-mac", mac(true)),
            ("bridge-mac", mac(false)),
        ]
        .map(|(key, value)| format!("{key} {value}\n"))
        .concat()
    }

    /// Everything that was said, as a file.
    pub(crate) fn render(&self) -> String {
        self.lock().said.iter().map(Said::render).collect()
    }
}
