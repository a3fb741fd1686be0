//! One HTTP session: some hold a stream open, some a connection, some connect for each call.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use super::bridge::Bridge;
use super::calls::Call;
use super::tally::Seen;
use super::{Common, think};
use crate::support::random::Random;
use crate::support::{BOUND, frames};

const SESSION: &str = "mcp-session-id";
/// What a server says that has no place for a request, and when it wants it again.
const BUSY: &str = "503";
const AFTER: Duration = Duration::from_secs(1);

/// What a session keeps open between its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeps {
    Nothing,
    Connection,
    Stream,
}

/// Where to send.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) address: SocketAddr,
    pub(super) token: String,
}

impl Place {
    pub(super) fn of(common: &Common) -> Self {
        Self {
            address: common.repository.http().address(),
            token: common.repository.token().expect("there is a token"),
        }
    }
}

/// One session.
#[derive(Debug)]
pub(super) struct Session {
    common: Rc<Common>,
    name: String,
    place: Place,
    keeps: Keeps,
    id: Option<String>,
    connection: Option<SendRequest<Full<Bytes>>>,
    last: u64,
}

impl Session {
    /// Initializes it, and opens its stream if it is one of those that have one.
    pub(super) async fn open(common: &Rc<Common>, number: usize) -> Self {
        let mut session = Self {
            common: Rc::clone(common),
            name: format!("session-{number}"),
            place: Place::of(common),
            keeps: match number % 4 {
                0 => Keeps::Stream,
                1 => Keeps::Connection,
                _ => Keeps::Nothing,
            },
            id: None,
            connection: None,
            last: 0,
        };
        let initialize = Call {
            kind: "initialize",
            method: "initialize",
            params: frames::initialize(&session.name, frames::LEGACY),
        };
        session.ask(&initialize).await;
        if session.keeps == Keeps::Stream {
            session
                .ask(&Call {
                    kind: "subscribe",
                    method: "resources/subscribe",
                    params: json!({ "uri": "majordomus://peers" }),
                })
                .await;
            session.stream().await;
        }
        session
    }

    /// Calls until the load is over, and ends the session.
    pub(super) async fn call(mut self, seed: u64) -> Option<Bridge> {
        let mut random = Random::new(seed);
        let thinking = self.common.thinking;
        let mut next = Instant::now() + thinking.first(&mut random);
        loop {
            think(&self.common, next).await;
            if self.common.stop.is_cancelled() {
                break;
            }
            next = Instant::now() + thinking.next(&mut random);
            self.ask(&Call::next(&mut random)).await;
        }
        // A few at a time: all at once are more connections than one server takes.
        let ending = Rc::clone(&self.common);
        let _turn = ending.ending.acquire().await;
        let end = self.request(Method::DELETE, Bytes::new());
        match self.send(end).await {
            Ok(response) if response.status().is_success() => {}
            Ok(response) if response.status().as_str() == BUSY => self.common.tally.busy(),
            other => self
                .common
                .tally
                .breach(format!("{} could not end: {other:?}", self.name)),
        }
        None
    }

    fn request(&self, method: Method, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header(HOST, self.place.address.to_string())
            .header(AUTHORIZATION, format!("Bearer {}", self.place.token))
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json");
        if let Some(id) = &self.id {
            request = request.header(SESSION, id);
        }
        request.body(Full::new(body)).unwrap()
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, String> {
        let stream = TcpStream::connect(self.place.address).await;
        let stream = stream.map_err(|error| format!("connect: {error}"))?;
        let (sender, connection) = handshake(TokioIo::new(stream))
            .await
            .map_err(|error| error.to_string())?;
        drop(tokio::spawn(connection));
        Ok(sender)
    }

    /// Sends a request on the connection that is kept, if there is one that lives, else on a new one.
    async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, String> {
        if let Some(mut kept) = self.connection.take()
            && kept.ready().await.is_ok()
        {
            let copy = Request::builder()
                .method(request.method().clone())
                .uri(request.uri().clone());
            let mut again = copy.body(request.body().clone()).unwrap();
            request.headers().clone_into(again.headers_mut());
            // A server may close a connection that was idle; the request was not read then.
            if let Ok(response) = kept.send_request(request).await {
                self.connection = Some(kept);
                return Ok(response);
            }
            return self.send_anew(again).await;
        }
        self.send_anew(request).await
    }

    async fn send_anew(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, String> {
        let mut sender = self.connect().await?;
        let response = sender.send_request(request).await;
        if self.keeps == Keeps::Connection {
            self.connection = Some(sender);
        }
        response.map_err(|error| error.to_string())
    }

    /// One request and its one answer.
    async fn ask(&mut self, call: &Call) {
        self.last += 1;
        let (id, phase, start) = (self.last, self.common.tally.phase(), Instant::now());
        let answered = timeout(BOUND, self.insist(&call.line(id))).await;
        let answered = answered.unwrap_or_else(|_| Err("no answer".to_owned()));
        let (tally, who, kind) = (&self.common.tally, &self.name, call.kind);
        match answered.as_deref() {
            Ok([seen]) if seen.id == Some(id) => {
                tally.answered(who, kind, phase, start.elapsed(), seen);
            }
            other => tally.breach(format!("{who} asked {kind} {id} and got {other:?}")),
        }
    }

    /// Sends a request again, as it is told to, while the server has more requests than it takes.
    async fn insist(&mut self, line: &[u8]) -> Result<Vec<Seen>, String> {
        loop {
            let request = self.request(Method::POST, Bytes::copy_from_slice(line));
            match self.exchange(request).await {
                Err(error) if error.starts_with(BUSY) => {
                    self.common.tally.busy();
                    sleep(AFTER).await;
                }
                done => return done,
            }
        }
    }

    /// Sends a request and returns every message of its answer that is no news.
    async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Vec<Seen>, String> {
        let response = self.send(request).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.into_body().collect().await;
        let body = body.map_err(|error| error.to_string())?.to_bytes();
        if !status.is_success() {
            let text = String::from_utf8_lossy(&body).into_owned();
            return Err(format!("{status}: {text}"));
        }
        if let Some(id) = headers.get(SESSION) {
            self.id = id.to_str().ok().map(ToOwned::to_owned);
        }
        let kind = headers
            .get(CONTENT_TYPE)
            .map(hyper::header::HeaderValue::as_bytes);
        let messages: Vec<&[u8]> = if kind == Some(b"text/event-stream") {
            body.split(|byte| *byte == b'\n')
                .filter_map(|line| line.strip_prefix(b"data: "))
                .filter(|data| !data.is_empty())
                .collect()
        } else {
            vec![&body]
        };
        let seen: Result<Vec<Seen>, _> = messages.into_iter().map(serde_json::from_slice).collect();
        let mut seen = seen.map_err(|error| error.to_string())?;
        seen.retain(|seen| !seen.is_news());
        Ok(seen)
    }

    /// Opens the session's own stream and reads it until the server ends it, which it does only with the session.
    async fn stream(&self) {
        let request = self.request(Method::GET, Bytes::new());
        let mut sender = self.connect().await.unwrap();
        let response = sender.send_request(request).await.unwrap();
        assert!(response.status().is_success(), "{response:?}");
        let (common, name) = (Rc::clone(&self.common), self.name.clone());
        drop(tokio::task::spawn_local(async move {
            let _open = sender;
            let mut body = response.into_body();
            while let Some(Ok(frame)) = body.frame().await {
                let data = frame.into_data().unwrap_or_default();
                for _ in data.windows(7).filter(|text| text == b"data: {") {
                    common.tally.heard();
                }
            }
            if !common.stop.is_cancelled() {
                common.tally.breach(format!("the stream of {name} ended"));
            }
        }));
    }
}
