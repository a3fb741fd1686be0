//! Asking the checkout's server, as the plain HTTP client that a command is.
//!
//! *Owner*: the process that the lease document names and that has *proven* itself. Another user's process may sit on
//! the port, so the token is sent to nobody before an answer to a fresh nonce shows that the other side knows it too;
//! the proof and every later request travel on one TCP connection, so nobody can take the port in between.
//!
//! Plain TCP to 127.0.0.1; proxy variables are not read. Every step has a time limit. Methods and paths are those of
//! the capability's route: nothing here names a capability.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::absence::{self, Absence};
use super::context::Context;
use super::offline;
use super::query;
use super::report::{Exit, Failure, failures};
use super::screen::clean;
use crate::floor::error::Chain;
use crate::floor::limits;
use crate::floor::paths::Site;
use crate::host::HostError;
use crate::http::secrets::Secrets;
use crate::lease::document::Document;
use crate::lease::secret::Token;
use crate::registry::capability::{Capability, Kind};

/// How long connecting and proving may take; a server that is only busy makes it easily.
const PROVE: Duration = Duration::from_secs(2);
/// How long one answer may take; a server that never answers must not hold a terminal.
const ANSWER: Duration = Duration::from_mins(5);
/// The path that proves the server.
const LEASE_PATH: &str = "/lease";
/// The path that gives a one-time code for a page.
const SIGN_IN_PATH: &str = "/api/v1/sign-in/codes";

/// The proven owner, and one connection to it.
#[derive(Debug)]
pub struct Owner {
    sender: SendRequest<Full<Bytes>>,
    address: SocketAddr,
    token: Token,
    /// What its lease document said.
    pub document: Document,
}

impl Owner {
    /// Finds the checkout's owner and makes it prove itself.
    ///
    /// # Errors
    /// Why there is none to ask.
    pub async fn reach(site: &Site) -> Result<Self, Absence> {
        let document = absence::read(site)?;
        let Some(address) = address_of(&document) else {
            return Err(Absence::NotReady(document.state));
        };
        let token = Token::read(site).map_err(|error| Absence::NoToken((&error).into()))?;
        match timeout(PROVE, connect(address)).await {
            Err(_) => Err(Absence::Silent(document.pid)),
            Ok(Err(reason)) => Err(Absence::Unreachable(reason)),
            Ok(Ok(sender)) => {
                let mut owner = Self {
                    sender,
                    address,
                    token,
                    document,
                };
                match timeout(PROVE, owner.prove(site.root_id())).await {
                    Err(_) => Err(Absence::Silent(owner.document.pid)),
                    Ok(true) => Ok(owner),
                    Ok(false) => Err(Absence::Unproven),
                }
            }
        }
    }

    /// Asks for a proof over a fresh nonce. Nothing secret is sent.
    async fn prove(&mut self, root_id: &str) -> bool {
        let nonce = uuid::Uuid::new_v4().simple().to_string();
        let request = self.request(Method::GET, &format!("{LEASE_PATH}?nonce={nonce}"), None);
        let Ok((StatusCode::OK, body)) = self.send(request).await else {
            return false;
        };
        let Ok(answer) = serde_json::from_slice::<Challenge>(&body) else {
            return false;
        };
        answer.instance == self.document.instance
            && answer.root_id == root_id
            && Secrets::new(&self.token.reveal(), root_id).proves(
                &answer.proof,
                &nonce,
                &answer.instance,
                self.address.port(),
            )
    }

    /// Calls a capability through its route.
    ///
    /// # Errors
    /// When it has no route, the connection breaks, or the server refuses.
    pub async fn call(
        &mut self,
        capability: &Capability,
        arguments: &Value,
    ) -> Result<Value, Failure> {
        let Some(route) = capability.exposure.route else {
            return Err(failures::NO_ROUTE
                .fill(&[&capability.id])
                .hint(format!("majordomus describe {}", capability.id)));
        };
        if capability.kind == Kind::Command {
            self.post(route, arguments).await
        } else {
            self.get(&format!("{route}{}", query::render(arguments)))
                .await
        }
    }

    /// Sends an authenticated GET and reads a JSON answer.
    ///
    /// # Errors
    /// When the connection breaks or the server refuses.
    pub async fn get(&mut self, path: &str) -> Result<Value, Failure> {
        let request = self.authorised(self.request(Method::GET, path, None));
        let (status, body) = self.send(request).await?;
        answer(status, &body)
    }

    /// Sends an authenticated POST with a JSON body and reads a JSON answer.
    ///
    /// # Errors
    /// When the connection breaks or the server refuses.
    pub async fn post(&mut self, path: &str, body: &Value) -> Result<Value, Failure> {
        let body = Bytes::from(body.to_string());
        let request = self.authorised(self.request(Method::POST, path, Some(body)));
        let (status, body) = self.send(request).await?;
        answer(status, &body)
    }

    /// The server's root, without a slash at its end.
    #[must_use]
    pub fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Asks for a one-time code that signs a page in.
    ///
    /// # Errors
    /// As [`Self::post`].
    pub async fn sign_in_code(&mut self) -> Result<String, Failure> {
        let answer = self.post(SIGN_IN_PATH, &serde_json::json!({})).await?;
        match answer.get("code").and_then(Value::as_str) {
            Some(code) => Ok(code.to_owned()),
            None => Err(failures::NO_CODE.fill(&[])),
        }
    }

    /// Builds a request that holds no secret.
    fn request(&self, method: Method, path: &str, body: Option<Bytes>) -> Request<Full<Bytes>> {
        let has_body = body.is_some();
        let mut request = Request::new(Full::new(body.unwrap_or_default()));
        *request.method_mut() = method;
        // A path that is no URI only comes from a registry that `validate` refuses; the root answers 404 then.
        *request.uri_mut() = path.parse().unwrap_or_default();
        let headers = request.headers_mut();
        if let Ok(host) = self.address.to_string().parse() {
            headers.insert(HOST, host);
        }
        let value = hyper::header::HeaderValue::from_static;
        headers.insert(ACCEPT, value("application/json"));
        headers.insert(
            USER_AGENT,
            value(concat!("majordomus/", env!("CARGO_PKG_VERSION"))),
        );
        if has_body {
            headers.insert(CONTENT_TYPE, value("application/json"));
        }
        request
    }

    /// Adds the token; only ever called on a proven owner's requests.
    fn authorised(&self, mut request: Request<Full<Bytes>>) -> Request<Full<Bytes>> {
        let bearer = format!("Bearer {}", self.token.reveal());
        if let Ok(mut value) = hyper::header::HeaderValue::from_str(&bearer) {
            value.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, value);
        }
        request
    }

    async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<(StatusCode, Bytes), Failure> {
        let exchange = async {
            self.sender.ready().await.map_err(|error| lost(&error))?;
            let response = self
                .sender
                .send_request(request)
                .await
                .map_err(|error| lost(&error))?;
            let status = response.status();
            let body = Limited::new(response.into_body(), limits::FRAME_BYTES)
                .collect()
                .await
                .map_err(|error| failures::BROKEN_ANSWER.fill(&[&error]))?;
            Ok((status, body.to_bytes()))
        };
        timeout(ANSWER, exchange)
            .await
            .unwrap_or_else(|_| Err(Absence::Silent(self.document.pid).into()))
    }
}

/// The owner went away between its proof and its answer.
fn lost(error: &hyper::Error) -> Failure {
    failures::LEFT.fill(&[&Chain(error)])
}

/// What [`LEASE_PATH`] answers to a nonce; other fields are not of interest here.
#[derive(Debug, serde::Deserialize)]
struct Challenge {
    instance: String,
    root_id: String,
    proof: String,
}

/// The address that the document publishes; reading it has made sure that it is on loopback.
fn address_of(document: &Document) -> Option<SocketAddr> {
    let url = document.url.as_deref()?;
    url.strip_prefix("http://")?.parse().ok()
}

async fn connect(address: SocketAddr) -> Result<SendRequest<Full<Bytes>>, String> {
    let stream = TcpStream::connect(address)
        .await
        .map_err(|error| error.to_string())?;
    drop(stream.set_nodelay(true));
    let (sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| error.to_string())?;
    tokio::spawn(async move {
        // A broken connection shows in the request that waits for it.
        drop(connection.await);
    });
    Ok(sender)
}

/// Reads an answer, or a problem (RFC 9457) as a failure.
fn answer(status: StatusCode, body: &[u8]) -> Result<Value, Failure> {
    if status.is_success() {
        if body.is_empty() {
            return Ok(Value::Null);
        }
        return serde_json::from_slice(body)
            .map_err(|error| failures::NO_JSON_ANSWER.fill(&[&error]));
    }
    let problem: Value = serde_json::from_slice(body).unwrap_or_default();
    let word = |key: &str| problem.get(key).and_then(Value::as_str);
    let cause = word("detail")
        .or_else(|| word("title"))
        .map_or_else(|| format!("the server answered {status}"), clean);
    let exit = if status == StatusCode::CONFLICT {
        Exit::Conflict
    } else {
        Exit::Failed
    };
    let hint = word("hint").map(clean);
    Err(Failure::said_by_server(exit, cause, hint))
}

/// Asks the checkout's owner for what the command of these words stands for.
///
/// # Errors
/// When there is no owner to ask, or it refuses.
pub fn ask(words: &[&str], arguments: &Value, context: &Context) -> Result<Value, Failure> {
    let site = context.checkout()?;
    let registry = offline::registry(Some(&site))?;
    let capability = offline::by_words(&registry, words)?;
    block_on(async {
        let mut owner = Owner::reach(&site).await?;
        owner.call(capability, arguments).await
    })
}

/// Runs a command's future on a runtime of its own.
///
/// # Errors
/// When no runtime can be made, and whatever the future fails with.
pub fn block_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::from(&HostError::Runtime(error)))?
        .block_on(future)
}

#[cfg(test)]
mod tests;
