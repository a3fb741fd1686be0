//! Plays the owner of a recording to today's bridge, which has a client of the recording before it.
//!
//! The test holds the lock and writes the document, as that owner did; the checkout's folders and its token are what a
//! real one left.

use std::collections::HashMap;
use std::fs::{self, File};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::recording::{BREAKS, DIES, GOES, LEAVES, STOP, STOP_ALL, Said, Terms, Voice, parts};
use super::wire::Wire;
use crate::support::{BOUND, Client, Repository, wait_for, wait_some};

/// An owner that exists in a recording only.
pub(crate) struct Owner {
    pub(crate) repository: Repository,
    listener: TcpListener,
    lease: Value,
    terms: Terms,
    wire: Option<Wire>,
    told: HashMap<String, usize>,
    _lock: File,
}

impl Owner {
    /// Takes a checkout's lock and signs its document.
    pub(crate) fn elected() -> Self {
        let repository = Repository::new();
        let real = repository.attached("real");
        let mut lease = repository.ready();
        real.kill();
        let lock = File::options()
            .read(true)
            .write(true)
            .open(repository.state().join("server.lock"))
            .unwrap();
        // A git that the killed process was starting has the lock as well, until it executes.
        wait_for("the lock of the killed owner", BOUND, || {
            lock.try_lock().is_ok()
        });
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        lease["link"] = json!(address);
        lease["url"] = json!(format!("http://{address}"));
        lease["pid"] = json!(std::process::id());
        let terms = Terms {
            token: repository.token().unwrap(),
            address,
            host_nonce: "ffeeddccbbaa99887766554433221100".to_owned(),
            root: lease["root_id"].as_str().unwrap().to_owned(),
            ..Terms::default()
        };
        let mut owner = Self {
            repository,
            listener,
            lease,
            terms,
            wire: None,
            told: HashMap::new(),
            _lock: lock,
        };
        owner.succeed();
        owner
    }

    /// Signs the document as another owner.
    fn succeed(&mut self) {
        let epoch = self.lease["epoch"].as_u64().unwrap() + 1;
        self.terms.instance = format!("{epoch:032x}");
        self.lease["epoch"] = json!(epoch);
        self.lease["instance"] = json!(self.terms.instance);
        self.sign();
    }

    fn sign(&self) {
        let beside = self.repository.document().with_extension("new");
        fs::write(&beside, self.lease.to_string()).unwrap();
        fs::rename(&beside, self.repository.document()).unwrap();
    }

    /// Plays a recording to a bridge; panics where today's bridge does not do what that one did.
    pub(crate) fn play(&mut self, recording: &[Said], client: &Client) {
        let mut rest = recording;
        while let Some((said, behind)) = rest.split_first() {
            rest = behind;
            match said.voice {
                Voice::Bridge if said.text.starts_with("GET ") => {
                    let end = handshake(rest);
                    self.greet(&rest[..end]);
                    rest = &rest[end..];
                }
                Voice::Bridge => self.expect(&said.text),
                // The wire says by itself that it is there.
                Voice::Host if said.text == "0 pong {}" => {}
                Voice::Host => self.wire().say(&said.text, "\n"),
                Voice::Client => client.write(format!("{}\n", said.text).as_bytes()).unwrap(),
                Voice::Told => self.told(&said.text, client),
                Voice::Stage => self.directed(&said.text, client),
            }
        }
    }

    fn wire(&mut self) -> &mut Wire {
        self.wire.as_mut().expect("the recording connects first")
    }

    /// Shakes hands as recorded. A bridge that had no patience on a loaded machine comes again.
    fn greet(&mut self, recorded: &[Said]) {
        let listener = self.listener.try_clone().unwrap();
        self.wire = Some(wait_some("a bridge that shakes hands", BOUND, || {
            let (stream, _) = listener.accept().ok()?;
            stream.set_nonblocking(false).unwrap();
            let mut wire = Wire::new(stream);
            self.shake(recorded, &mut wire).map(|()| wire)
        }));
    }

    /// Shakes hands as recorded with whoever comes, until `done`; panics where a bridge goes on to say who it is.
    pub(crate) fn puts_off(&mut self, recorded: &[Said], done: &AtomicBool) {
        let listener = self.listener.try_clone().unwrap();
        wait_for("bridges that are put off", BOUND, || {
            if let Ok((stream, _)) = listener.accept() {
                stream.set_nonblocking(false).unwrap();
                let mut wire = Wire::new(stream);
                let taken = self.shake(recorded, &mut wire).is_some();
                let told = |line: &String| parts(line).is_some_and(|parts| parts.verb == "auth");
                assert!(!taken && !wire.all().iter().any(told), "{:?}", wire.all());
            }
            done.load(Ordering::Relaxed)
        });
    }

    fn shake(&mut self, recorded: &[Said], wire: &mut Wire) -> Option<()> {
        while !wire.next()?.is_empty() {}
        let mut head = true;
        for said in recorded {
            match (said.voice, parts(&said.text).map(|parts| parts.verb)) {
                (Voice::Host, _) => {
                    wire.say(
                        &self.terms.fill(&said.text),
                        if head { "\r\n" } else { "\n" },
                    );
                    head &= !said.text.is_empty();
                }
                (Voice::Bridge, Some(verb)) => {
                    let line = wire.next()?;
                    let now = parts(&line).expect("a line of the link");
                    assert_eq!(now.verb, verb, "{line}");
                    self.terms.learn(&line);
                    if verb == "auth" {
                        let auth: Value = serde_json::from_str(now.json).unwrap();
                        assert_eq!(auth["mac"], self.terms.mac("majordomus-link bridge"));
                    }
                }
                _ => {}
            }
        }
        let refused = recorded
            .last()
            .is_some_and(|last| last.text.contains(" refuse "));
        if refused {
            return Some(());
        }
        // What a bridge says first on a link that it took.
        let line = wire.next()?;
        wire.hold(line);
        Some(())
    }

    /// Waits for what the recorded bridge said, to the byte.
    fn expect(&mut self, recorded: &str) {
        let came = self.wire().expect(|line| line == recorded);
        assert!(came.is_some(), "no {recorded} in {:?}", self.wire().all());
    }

    /// The client gets what that one got: an answer once, news at least once.
    fn told(&mut self, recorded: &str, client: &Client) {
        let recorded: Value = serde_json::from_str(recorded).unwrap();
        if recorded.get("method").is_some() {
            let came = client
                .inbox()
                .message(BOUND, |message| *message == recorded);
            assert!(came.is_some(), "{recorded} is not told");
            return;
        }
        let id = &recorded["id"];
        let count = self.told.entry(id.to_string()).or_default();
        *count += 1;
        let answers = client.inbox().answers(id, *count, BOUND);
        let answers = answers.unwrap_or_else(|| panic!("{id} is not answered"));
        assert_eq!(answers[*count - 1], recorded);
    }

    fn directed(&mut self, text: &str, client: &Client) {
        match text {
            BREAKS => self.wire = None,
            DIES | GOES => {
                // The next one is there before the bridge looks for it.
                self.succeed();
                self.wire = None;
            }
            LEAVES => {
                client.close();
                assert!(client.exit().success());
            }
            // What the owner then says is recorded.
            STOP => {}
            STOP_ALL => {}
            other => panic!("nobody knows how `{other}` is done"),
        }
    }

    /// After the play: each request has one answer.
    pub(crate) fn each_answered_once(&self, client: &Client) {
        for (id, count) in &self.told {
            let id: Value = serde_json::from_str(id).unwrap();
            assert_eq!(client.inbox().count(&id), *count, "answers to {id}");
        }
    }
}

/// How many lines the handshake has.
fn handshake(said: &[Said]) -> usize {
    let ends = |said: &Said| {
        let verb = parts(&said.text).map(|parts| parts.verb);
        said.voice == Voice::Host && matches!(verb, Some("welcome" | "refuse"))
    };
    said.iter().position(ends).map_or(said.len(), |at| at + 1)
}
