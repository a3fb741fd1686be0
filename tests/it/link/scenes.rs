//! The scenes that are recorded, acted by a real client, a real bridge and real owners, with a relay between them.

use std::fs;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::recording::{DIES, GOES, LEAVES, STOP, STOP_ALL, Terms, Voice, parts};
use super::relay::Relay;
use super::wire::Wire;
use crate::support::{BOUND, Client, Repository, frames, wait_for};

/// What a scene is acted with.
pub(crate) struct Scene {
    repository: Repository,
    relay: Relay,
    owner: Client,
    next: Client,
    bridge: Client,
}

/// How a scene is acted.
type Act = fn(&Scene);

/// Every scene by its name.
pub(crate) const SCENES: [(&str, Act); 5] = [
    ("broken", broken),
    ("calls", calls),
    ("drained", drained),
    ("ended", ended),
    ("takeover", takeover),
];

/// Acts a scene; returns its recording, and the proofs of its last handshake.
pub(crate) fn act(scene: Act) -> (String, String) {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let next = repository.attached("next");
    let relay = Relay::open(&repository.token().unwrap());
    lead(&repository, &relay);
    let bridge = repository.client("bridge");
    let stage = Scene {
        repository,
        relay,
        owner,
        next,
        bridge,
    };
    stage.heard(Voice::Bridge, 0, "replayed");
    scene(&stage);
    (stage.relay.render(), stage.relay.proof())
}

/// Puts the relay before the owner that the document names: no proof is about an address.
fn lead(repository: &Repository, relay: &Relay) {
    let mut lease = repository.ready();
    relay.leads_to(lease["link"].as_str().unwrap());
    lease["link"] = json!(relay.address);
    let beside = repository.document().with_extension("new");
    fs::write(&beside, lease.to_string()).unwrap();
    fs::rename(&beside, repository.document()).unwrap();
}

impl Scene {
    /// Waits until `voice` has said `verb`.
    fn heard(&self, voice: Voice, after: usize, verb: &str) {
        wait_for(&format!("a {verb}"), BOUND, || {
            let fits = |text: &str| parts(text).is_some_and(|parts| parts.verb == verb);
            self.relay.has_said(voice, after, fits)
        });
    }

    fn write(&self, message: &Value) {
        self.relay.note(Voice::Client, &message.to_string());
        self.bridge.send(message);
    }

    fn notify(&self, method: &str, params: &Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request, and waits until its frame is on its way.
    fn begin(&self, method: &str, params: &Value) -> Value {
        let (id, before) = (self.bridge.next_id(), self.relay.length());
        self.write(&frames::request(&id, method, params));
        self.heard(Voice::Bridge, before, "frame");
        id
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.begin("tools/call", &frames::call(tool, arguments))
    }

    fn answer(&self, id: &Value) {
        let answer = self.bridge.answer(id);
        self.relay.note(Voice::Told, &answer.to_string());
    }

    fn told(&self, method: &str) {
        let message = self.bridge.notification(method, |_| true);
        self.relay.note(Voice::Told, &message.to_string());
    }

    fn request(&self, method: &str, params: &Value) {
        let id = self.begin(method, params);
        self.answer(&id);
    }

    fn open(&self) {
        self.request(
            "initialize",
            &frames::initialize("recorded", frames::LEGACY),
        );
        self.notify("notifications/initialized", &json!({}));
    }

    fn announce(&self, intent: &str) {
        let arguments = json!({ "intent": intent, "scope": ["src/**"] });
        let id = self.call("majordomus_announce", &arguments);
        self.answer(&id);
    }

    fn subscribe(&self) {
        self.request(
            "resources/subscribe",
            &json!({ "uri": "majordomus://peers" }),
        );
    }

    fn keyed(&self) -> Value {
        let arguments = json!({ "file": "recorded", "text": "once" });
        self.call("conformance_keyed", &arguments)
    }

    /// The owner ends by `way`; the bridge hears of it when the next one is there.
    fn replaced(&self, text: &str, way: impl FnOnce()) {
        let before = self.repository.ready()["instance"].clone();
        let length = self.relay.length();
        self.relay.hold(true);
        way();
        self.repository
            .ready_when("the next owner", |lease| lease["instance"] != before);
        assert_eq!(self.repository.owner_pid(), Some(self.next.pid()));
        lead(&self.repository, &self.relay);
        self.relay.note(Voice::Stage, text);
        self.relay.hold(false);
        self.heard(Voice::Bridge, length, "replayed");
    }

    fn leave(&self) {
        self.relay.note(Voice::Stage, LEAVES);
        self.bridge.close();
        self.bridge.exit();
    }
}

/// One link from its first byte to its last.
fn calls(scene: &Scene) {
    scene.open();
    scene.subscribe();
    scene.announce("record a link");
    scene.told("notifications/resources/updated");
    let keyed = scene.keyed();
    scene.answer(&keyed);
    let slow = scene.call("conformance_slow", &json!({ "ms": 600 }));
    scene.answer(&slow);
    let unsubscribe = json!({ "uri": "majordomus://peers" });
    scene.request("resources/unsubscribe", &unsubscribe);
    let cancelled = scene.call("conformance_slow", &json!({ "ms": 60_000 }));
    let before = scene.relay.length();
    scene.notify(
        "notifications/cancelled",
        &json!({ "requestId": cancelled }),
    );
    scene.heard(Voice::Bridge, before, "cancel");
    let unknown = scene.call("majordomus_no_such_tool", &json!({}));
    scene.answer(&unknown);
    scene.announce("");
    scene.request("ping", &json!({}));
    scene.leave();
}

/// The link breaks behind a call's effect and before its answer.
fn broken(scene: &Scene) {
    scene.open();
    scene.subscribe();
    scene.announce("survive a break");
    // Behind two of the opening and two calls.
    scene.relay.break_at(5);
    let keyed = scene.keyed();
    scene.answer(&keyed);
    scene.announce("");
    scene.leave();
}

/// The owner is killed while requests wait.
fn takeover(scene: &Scene) {
    scene.open();
    scene.subscribe();
    scene.announce("outlive an owner");
    let peers = json!({ "notifications": { "resourceSubscriptions": ["majordomus://peers"] } });
    scene.begin("subscriptions/listen", &frames::modern("recorded", &peers));
    scene.told("notifications/subscriptions/acknowledged");
    let safe = scene.call("conformance_slow", &json!({ "ms": 600 }));
    let once = scene.call(
        "conformance_once",
        &json!({ "file": "recorded", "text": "x" }),
    );
    scene.replaced(DIES, || scene.owner.kill());
    scene.answer(&once);
    scene.answer(&safe);
    scene.leave();
}

/// The owner gives way while requests wait: one is answered in its drain, one is not, and one was never taken.
fn drained(scene: &Scene) {
    scene.open();
    scene.announce("be handed over");
    let long = scene.call("conformance_slow", &json!({ "ms": 5000 }));
    let quick = scene.call("conformance_slow", &json!({ "ms": 300 }));
    // Behind its answer both are taken.
    scene.request("ping", &json!({}));
    let before = scene.relay.length();
    scene.relay.note(Voice::Stage, STOP);
    let echo = scene.bridge.next_id();
    scene.replaced(GOES, || {
        // The same drain as after `majordomus stop`; but this process does not come back through the relay.
        scene.owner.close();
        scene.heard(Voice::Host, before, "drain");
        let call = frames::call("conformance_echo", &json!({ "value": "later" }));
        scene.write(&frames::request(&echo, "tools/call", &call));
        scene.answer(&quick);
        scene.owner.exit();
    });
    scene.answer(&echo);
    scene.answer(&long);
    scene.leave();
}

/// Everybody is told to end.
fn ended(scene: &Scene) {
    scene.open();
    let before = scene.relay.length();
    let waits = scene.call("conformance_slow", &json!({ "ms": 60_000 }));
    scene.relay.note(Voice::Stage, STOP_ALL);
    let stopped = scene.repository.cli(&["stop", "--all"]);
    assert!(stopped.status.success(), "{stopped:?}");
    scene.heard(Voice::Host, before, "end");
    scene.answer(&waits);
    scene.relay.note(Voice::Stage, LEAVES);
    scene.bridge.exit();
}

/// A proven bridge that is not taken, since its client speaks a revision that nobody here knows.
pub(crate) fn refused() -> String {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let mut terms = Terms {
        token: repository.token().unwrap(),
        bridge_nonce: "00112233445566778899aabbccddeeff".to_owned(),
        ..Terms::default()
    };
    let relay = Relay::open(&terms.token);
    lead(&repository, &relay);
    let mut wire = Wire::new(TcpStream::connect(&relay.address).unwrap());
    for line in [
        "GET /mcp HTTP/1.1",
        &format!("Host: {}", relay.address),
        "Connection: Upgrade",
        "Upgrade: majordomus-link/1",
        "",
    ] {
        wire.say(line, "\r\n");
    }
    while wire.next().is_some_and(|line| !line.is_empty()) {}
    let hello = json!({ "link": 1, "nonce": terms.bridge_nonce });
    wire.say(&format!("0 hello {hello}"), "\n");
    terms.learn(&wire.next().expect("a proof"));
    let auth = json!({
        "peer": "01a23787-d376-767e-ae54-58d2a2df0035", "generation": 1, "version": "0.1.0",
        "digest": null, "client": null, "revision": "2020-02-20",
        "mac": terms.mac("majordomus-link bridge"),
    });
    wire.say(&format!("0 auth {auth}"), "\n");
    wire.next().expect("a refusal");
    relay.render()
}
