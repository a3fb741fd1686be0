//! Plays the bridge of a recording, and its client behind it, to today's owner.

use std::fs;
use std::net::TcpStream;
use std::process::Command;
use std::thread;

use super::recording::{
    BREAKS, DIES, GOES, LEAVES, STOP, STOP_ALL, Said, Terms, Voice, parts, same_kind,
};
use super::wire::Wire;
use crate::support::{Client, Repository};

/// Two owners, one after the other, and the connection to the one that is.
struct Stage {
    repository: Repository,
    owners: Vec<Client>,
    terms: Terms,
    wire: Option<Wire>,
    /// What stood in the document of the owner before.
    instance: String,
    asked: Vec<thread::JoinHandle<()>>,
}

/// Plays a recording; panics where today's owner does not say what that one said.
pub(crate) fn play(recording: &[Said]) {
    let repository = Repository::new();
    let owners = vec![repository.attached("owner"), repository.attached("next")];
    let mut stage = Stage {
        terms: Terms {
            token: repository.token().unwrap(),
            bridge_nonce: "00112233445566778899aabbccddeeff".to_owned(),
            ..Terms::default()
        },
        repository,
        owners,
        wire: None,
        instance: String::new(),
        asked: Vec::new(),
    };
    let mut head = false;
    for said in recording {
        match said.voice {
            Voice::Bridge => {
                if said.text.starts_with("GET ") {
                    head = true;
                    stage.connect();
                }
                let text = stage.terms.fill(&said.text);
                stage.wire().say(&text, if head { "\r\n" } else { "\n" });
                head &= !text.is_empty();
            }
            Voice::Host => stage.expect(&said.text),
            Voice::Stage => stage.directed(&said.text),
            Voice::Client | Voice::Told => {}
        }
    }
    stage.close();
    for asked in stage.asked {
        asked.join().unwrap();
    }
    let says = |word: &str| recording.iter().any(|said| said.text.contains(word));
    let effects = fs::read_to_string(stage.repository.conformance_file("recorded"));
    let effects = effects.map_or(0, |text| text.lines().count());
    // A `once` call may have been begun before its owner was killed, or not.
    let least = usize::from(says("conformance_keyed"));
    assert!(
        (least..=1).contains(&effects),
        "{effects} effects of one call"
    );
}

impl Stage {
    fn wire(&mut self) -> &mut Wire {
        self.wire.as_mut().expect("the recording connects first")
    }

    fn connect(&mut self) {
        let before = self.instance.clone();
        let lease = self
            .repository
            .ready_when("an owner to connect to", |lease| {
                lease["instance"] != *before
            });
        let address = lease["link"].as_str().unwrap();
        address.clone_into(&mut self.terms.address);
        self.wire = Some(Wire::new(TcpStream::connect(address).unwrap()));
    }

    /// Waits for what the recorded host said.
    fn expect(&mut self, recorded: &str) {
        if recorded.starts_with("HTTP/1.1 ") {
            let status = self.wire().next().expect("an answer to the upgrade");
            assert!(status.starts_with("HTTP/1.1 101 "), "{status}");
            while self.wire().next().is_some_and(|line| !line.is_empty()) {}
            return;
        }
        let verb = match parts(recorded) {
            Some(parts) => parts.verb,
            // The rest of the head.
            None => return,
        };
        match verb {
            "proof" => self.expect_proof(recorded),
            "event" => {
                let heard = self.wire().hear(|line| same_kind(recorded, line));
                assert!(heard, "no {recorded} in {:?}", self.wire().all());
            }
            _ => {
                let came = self.wire().expect(|line| same_kind(recorded, line));
                assert!(came.is_some(), "no {recorded} in {:?}", self.wire().all());
            }
        }
    }

    fn expect_proof(&mut self, recorded: &str) {
        let proof = self.wire().next().expect("a proof");
        self.terms.learn(&proof);
        let read = |line: &str| {
            let json = parts(line).expect("a line").json.to_owned();
            serde_json::from_str::<serde_json::Value>(&json).unwrap()
        };
        let (old, new) = (read(recorded), read(&proof));
        for (key, value) in old.as_object().unwrap() {
            assert_eq!(
                value.is_string(),
                new[key].is_string(),
                "{key} is another: {proof}"
            );
        }
        assert_eq!(new["link"], old["link"], "another version: {proof}");
        assert_eq!(
            new["mac"],
            self.terms.mac("majordomus-link host"),
            "a proof that the old bridge does not take"
        );
    }

    fn directed(&mut self, text: &str) {
        match text {
            BREAKS | LEAVES => self.close(),
            DIES => {
                self.instance = self.current();
                let pid = self.repository.owner_pid();
                let at = self
                    .owners
                    .iter()
                    .position(|owner| Some(owner.pid()) == pid);
                let owner = self.owners.remove(at.expect("one of ours is the owner"));
                owner.kill();
                self.close();
            }
            STOP | STOP_ALL => {
                self.instance = self.current();
                let words: &[&str] = if text == STOP {
                    &["stop"]
                } else {
                    &["stop", "--all"]
                };
                let mut command: Command = self.repository.command(words);
                self.asked.push(thread::spawn(move || {
                    let output = command.output().expect("the executable starts");
                    assert!(output.status.success(), "{output:?}");
                }));
            }
            GOES => {
                let rest = self.wire().rest();
                unexpected(&rest);
                self.wire = None;
            }
            other => panic!("nobody knows how `{other}` is done"),
        }
    }

    fn current(&self) -> String {
        let instance = self.repository.ready()["instance"].clone();
        instance.as_str().unwrap().to_owned()
    }

    fn close(&mut self) {
        if let Some(mut wire) = self.wire.take() {
            wire.cut();
            unexpected(&wire.rest());
        }
    }
}

/// News may come beside what was recorded; answers and commands may not.
#[track_caller]
fn unexpected(rest: &[String]) {
    let beside =
        |line: &String| !matches!(parts(line).map(|parts| parts.verb), Some("event" | "pong"));
    let strange: Vec<_> = rest.iter().filter(|line| beside(line)).collect();
    assert!(strange.is_empty(), "nobody recorded {strange:?}");
}
