//! A server of its own for each test, with a registry that knows a few made-up capabilities.

use std::collections::HashMap;
use std::future::ready;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::http::server::Arrival;
use crate::http::{
    Auth, Connections, Earlier, Http, Limits, LinkStream, Owner, Parts, Recall, Receipt, Secrets,
    SessionLedger, SignIn, router, serve,
};
use crate::mcp::{About, Admission, Engine, Seal, Standing};
use crate::registry::{
    Ask, Caller, Capability, Changes, Exposure, Form, Handler, Kind, PeerId, Presence, Refusal,
    RefusalCode, Registry, Retry, Wish,
};

pub(super) const TOKEN: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
pub(super) const ROOT_ID: &str = "feedfacefeedfacefeedfacefeedface";

/// The owner as the server sees it; a test may take the lease away.
pub(super) struct Lease(pub(super) AtomicBool);

impl Owner for Lease {
    fn instance(&self) -> &'static str {
        "0123456789abcdef0123456789abcdef"
    }

    fn root_id(&self) -> &'static str {
        ROOT_ID
    }

    fn epoch(&self) -> u64 {
        7
    }

    fn admits(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// What the server told of peers that come and go.
#[derive(Default)]
pub(super) struct Room(Mutex<Vec<String>>);

impl Room {
    fn note(&self, what: &str, peer: Option<PeerId>) {
        let peer = peer.map_or_else(|| "nobody".to_owned(), |peer| peer.to_string());
        self.0.lock().unwrap().push(format!("{what} {peer}"));
    }

    /// How often `what` was told.
    pub(super) fn count(&self, what: &str) -> usize {
        let told = self.0.lock().unwrap();
        told.iter().filter(|line| line.starts_with(what)).count()
    }
}

impl Presence for Room {
    fn enter(&self, caller: &Caller) {
        let name = caller.name.as_deref().unwrap_or("");
        self.note(&format!("enter {name}"), caller.peer);
    }

    fn returning(&self, caller: &Caller) {
        self.note("returning", caller.peer);
    }

    fn returned(&self, peer: PeerId) {
        self.note("returned", Some(peer));
    }

    fn seen(&self, peer: PeerId) {
        self.note("seen", Some(peer));
    }

    fn leave(&self, peer: PeerId) {
        self.note("leave", Some(peer));
    }

    fn detach(&self, peer: PeerId) {
        self.note("detach", Some(peer));
    }

    fn greeting(&self, caller: &Caller, _: Option<&str>) -> String {
        format!("you are {:?}", caller.peer)
    }
}

/// Sessions, kept across owners.
#[derive(Default)]
pub(super) struct Ledger(Mutex<HashMap<String, Earlier>>);

impl SessionLedger for Ledger {
    fn keep(&self, session: &str, told: String, _: u64) {
        let mut kept = self.0.lock().unwrap();
        if kept.get(session) != Some(&Earlier::Ended) {
            kept.insert(session.to_owned(), Earlier::Told(told));
        }
    }

    fn end(&self, session: &str, _: u64) -> Receipt {
        let mut kept = self.0.lock().unwrap();
        kept.insert(session.to_owned(), Earlier::Ended);
        Box::pin(ready(Ok(())))
    }

    fn recall(&self, session: &str, _: u64) -> Recall {
        let earlier = self.0.lock().unwrap().get(session).cloned();
        Box::pin(ready(Ok(earlier.unwrap_or(Earlier::Unknown))))
    }
}

/// One server, with or without a socket.
pub(super) struct Fixture {
    pub(super) http: Arc<Http>,
    pub(super) router: Router,
    pub(super) owner: Arc<Lease>,
    pub(super) room: Arc<Room>,
    /// Lets every waiting `test.wait` go.
    pub(super) go: Arc<Notify>,
    /// Commands that ran to their end.
    pub(super) done: Arc<AtomicUsize>,
    pub(super) links: mpsc::UnboundedReceiver<LinkStream>,
}

impl Fixture {
    pub(super) fn new() -> Self {
        Self::with(Auth::Bearer, Limits::default())
    }

    pub(super) fn with(auth: Auth, limits: Limits) -> Self {
        Self::after(Arc::default(), auth, limits)
    }

    /// A server that owns what another one owned before.
    pub(super) fn after(ledger: Arc<Ledger>, auth: Auth, limits: Limits) -> Self {
        let owner = Arc::new(Lease(AtomicBool::new(true)));
        let room = Arc::new(Room::default());
        let (go, done) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
        let registry = Registry::new(capabilities(&go, &done)).unwrap();
        let secrets = Arc::new(Secrets::new(TOKEN, ROOT_ID));
        let (tx, links) = mpsc::unbounded_channel();
        let lease = Arc::clone(&owner);
        let about = About {
            version: "0.0.0",
            url: watch::channel(None).1,
            standing: Standing::Owner,
            admission: Admission::by(move || lease.admits()),
            seal: Seal::random(),
        };
        let presence = Arc::clone(&room) as Arc<dyn Presence>;
        let engine = Engine::new(Arc::new(registry), presence, Changes::default(), about);
        let http = Http::new(Parts {
            engine,
            ledger,
            version: "0.0.0",
            owner: Arc::clone(&owner) as Arc<dyn Owner>,
            auth,
            sign_in: Arc::new(SignIn::new(Arc::clone(&secrets))),
            secrets,
            link: Arc::new(move |link| tx.send(link).unwrap()),
            limits,
            share: None,
        });
        let router = router(&http).unwrap();
        Self {
            http,
            router,
            owner,
            room,
            go,
            done,
            links,
        }
    }

    /// Sends one request without a socket, as a tool that holds the token.
    pub(super) async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.post(method, path, headers, Body::empty()).await
    }

    pub(super) async fn post(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let bearer = format!("Bearer {TOKEN}");
        let mut all = vec![("host", "127.0.0.1:20123"), ("authorization", &*bearer)];
        all.retain(|(name, _)| !headers.iter().any(|(other, _)| name == other));
        all.extend(headers);
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in all.into_iter().filter(|(_, value)| !value.is_empty()) {
            request = request.header(name, value);
        }
        let request = request.body(body.into()).unwrap();
        self.raw(request, "127.0.0.1:50000").await
    }

    pub(super) async fn raw(&self, request: Request<Body>, peer: &str) -> Answer {
        let (head, body) = self.begin(request, peer).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: head.status,
            headers: head.headers,
            body: body.to_vec(),
        }
    }

    /// Sends a request and leaves the body of its answer unread.
    pub(super) async fn begin(&self, mut request: Request<Body>, peer: &str) -> Response {
        request.extensions_mut().insert(Arrival {
            peer: peer.parse().unwrap(),
            local: "127.0.0.1:20123".parse().unwrap(),
            desk: None,
            stopping: CancellationToken::new(),
        });
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Starts serving on a free port.
    pub(super) async fn listen(&self) -> Listening {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let limits = self.http.parts().limits;
        let connections = Connections::new(limits.connections, limits.overflow);
        let stop = CancellationToken::new();
        let serving = tokio::spawn({
            let (router, connections) = (self.router.clone(), connections.clone());
            let stop = stop.clone().cancelled_owned();
            async move {
                serve(listener, router, limits, connections, stop)
                    .await
                    .unwrap();
            }
        });
        Listening {
            address,
            connections,
            stop,
            serving,
        }
    }
}

pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(super) fn code(&self) -> String {
        assert_eq!(self.headers["content-type"], "application/problem+json");
        self.json()["code"].as_str().unwrap().to_owned()
    }
}

/// A server on a socket.
pub(super) struct Listening {
    pub(super) address: SocketAddr,
    pub(super) connections: Connections,
    pub(super) stop: CancellationToken,
    pub(super) serving: JoinHandle<()>,
}

impl Listening {
    pub(super) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends bytes on a connection of their own and reads what comes until it is closed, five seconds at most.
    pub(super) async fn raw(&self, bytes: &[u8]) -> String {
        let mut socket = self.connect().await;
        // What cannot be sent any more was not wanted.
        let _cut = socket.write_all(bytes).await;
        read_to_end(&mut socket).await
    }
}

pub(super) async fn read_to_end(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let reading = socket.read_to_end(&mut bytes);
    tokio::time::timeout(Duration::from_secs(5), reading)
        .await
        .expect("the server closes the connection")
        .ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads one answer with a `content-length`, and leaves the connection open.
pub(super) async fn read_answer(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let reading = async {
        loop {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let head = head.to_ascii_lowercase();
                let length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: "))
                    .map_or(0, |length| length.parse().unwrap());
                if head.starts_with("http/1.1 101") || body.len() >= length {
                    return text;
                }
            }
            if socket.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                return text;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(5), reading)
        .await
        .expect("the server answers")
}

pub(super) fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n\r\n")
}

/// Waits until `holds`, two seconds at most. What it is about rings no bell, so it looks every millisecond.
pub(super) async fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        let mut looks = tokio::time::interval(Duration::from_millis(1));
        while !holds() {
            looks.tick().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(2), waiting)
        .await
        .unwrap_or_else(|_| panic!("{what}"));
}

fn capabilities(go: &Arc<Notify>, done: &Arc<AtomicUsize>) -> Vec<Capability> {
    let echo = Handler::inline(|call| {
        Ok(json!({
            "arguments": call.arguments,
            "key": call.key.as_ref().map(|key| format!("{} {}", key.scope, key.digest)),
        }))
    });
    let refuse = Handler::inline(|call| {
        Err(match call.arguments["with"].as_str() {
            Some("conflict") => Refusal::new(RefusalCode::Conflict, "it is taken").hint("wait"),
            Some("panic") => panic!("a planted bug"),
            _ => Refusal::new(RefusalCode::NotFound, "there is none"),
        })
    });
    let (waiting, counter) = (Arc::clone(go), Arc::clone(done));
    let wait = Handler::task(move |call| {
        let (go, done) = (Arc::clone(&waiting), Arc::clone(&counter));
        async move {
            call.progress.report(1.0, Some(2.0), None);
            go.notified().await;
            done.fetch_add(1, Ordering::SeqCst);
            Ok(json!({}))
        }
    });
    let read_wait = wait.clone();
    let ask = Handler::task(|call| async move {
        let wish = Wish::Roots;
        let key = "roots";
        let params = json!({});
        call.client.ask(Ask { key, wish, params }).await
    });
    vec![
        capability("test.echo", Kind::Query, "/api/v1/test/echo", echo.clone()),
        capability("test.write", Kind::Command, "/api/v1/test/write", echo),
        capability(
            "test.thing",
            Kind::Resource,
            "/api/v1/test/thing",
            Handler::inline(|_| Ok(json!({}))),
        ),
        capability("test.refuse", Kind::Query, "/api/v1/test/refuse", refuse),
        capability("test.wait", Kind::Query, "/api/v1/test/wait", read_wait),
        capability("test.ask", Kind::Query, "/api/v1/test/ask", ask),
        capability("test.work", Kind::Command, "/api/v1/test/work", wait),
    ]
}

fn capability(id: &'static str, kind: Kind, route: &'static str, handler: Handler) -> Capability {
    let input = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "text": {"type": "string", "description": "A text."},
            "with": {"type": "string", "description": "A word."},
            "count": {"type": "integer", "description": "A number."},
            "flag": {"type": "boolean", "description": "A truth."},
            "words": {"type": "array", "items": {"type": "string"}, "description": "Some words."},
            "deep": {"description": "Anything."},
        },
    });
    Capability {
        id,
        kind,
        title: "A test",
        description: "Serves the tests of this module.",
        input: input.into(),
        output: json!({"type": "object"}).into(),
        form: Form::Data,
        logs: false,
        retry: if kind == Kind::Command {
            Retry::Keyed
        } else {
            Retry::Safe
        },
        exposure: Exposure {
            route: Some(route),
            tool: match id {
                "test.echo" => Some("majordomus_echo"),
                "test.write" => Some("majordomus_write"),
                "test.ask" => Some("majordomus_ask"),
                "test.wait" => Some("majordomus_wait"),
                "test.work" => Some("majordomus_work"),
                _ => None,
            },
            resource: (id == "test.thing").then_some("majordomus://thing"),
            ..Exposure::default()
        },
        examples: Vec::new(),
        members: None,
        retain: None,
        handler,
    }
}
