//! The routes of the registry: one a capability, and nothing here that names one (I9).
//!
//! The kind decides the method. A query or resource is GET (and HEAD), its arguments the query string, read as the
//! schema says. A command is POST with one JSON object; it runs to its end even if its client hangs up, and only
//! while this process admits commands (I1). `Idempotency-Key` gives a command its key: of two equal requests the
//! second changes nothing (I6); a command that cannot promise that refuses it.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts as Head;
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::auth::Credential;
use super::body::{self, Bound};
use super::problem::{Problem, causes};
use super::state::Http;
use crate::floor::hex;
use crate::floor::limits::IDEMPOTENCY_KEY_CHARS;
use crate::registry::{Call, Capability, Kind, OnceKey, query, takes_key};

/// The header that makes a command keyed.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Two things want one path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the route `{route}` of `{capability}` is one of the server's own")]
pub struct RouteTaken {
    /// The path.
    pub route: &'static str,
    /// The capability that declares it.
    pub capability: &'static str,
}

/// Makes the routes of every capability that has one.
///
/// # Errors
/// A capability declares a path of `own`.
pub(crate) fn routes(http: &Arc<Http>, own: &[&str]) -> Result<Router, RouteTaken> {
    let mut router = Router::new();
    for capability in http.registry().all() {
        let Some(route) = capability.exposure.route else {
            continue;
        };
        if own.contains(&route) {
            return Err(RouteTaken {
                route,
                capability: capability.id,
            });
        }
        let (http, id) = (Arc::clone(http), capability.id);
        let handler = move |request: Request| {
            let http = Arc::clone(&http);
            async move { answer(&http, id, request).await }
        };
        router = router.route(route, any(handler));
    }
    Ok(router)
}

async fn answer(http: &Arc<Http>, id: &'static str, request: Request) -> Response {
    match call(http, id, request).await {
        Ok(value) => body::json(&value),
        Err(problem) => problem.into_response(),
    }
}

async fn call(http: &Arc<Http>, id: &'static str, request: Request) -> Result<Value, Problem> {
    let Some(capability) = http.registry().get(id) else {
        return Err(causes::NO_CAPABILITY.fill(&[]));
    };
    let (head, body) = request.into_parts();
    check_method(capability, &head.method)?;
    if capability.kind != Kind::Command {
        let arguments = from_query(capability, head.uri.query().unwrap_or_default());
        let call = Call::plain(arguments, None);
        return Ok(http.registry().call(capability, call).await?);
    }
    let (arguments, key) = from_body(http, capability, &head, body).await?;
    if key.is_some() {
        takes_key(capability)?;
    }
    if !http.serving() {
        return Err(causes::NOT_OWNER.fill(&[]));
    }
    let call = Call::plain(arguments, key);
    let registry = Arc::clone(http.registry());
    let running = http.work().run(async move {
        match registry.get(id) {
            Some(capability) => Some(registry.call(capability, call).await),
            None => None,
        }
    });
    match running.await.flatten() {
        Some(answer) => Ok(answer?),
        None => Err(causes::LEFT.fill(&[])),
    }
}

fn check_method(capability: &Capability, method: &Method) -> Result<(), Problem> {
    let (fits, allowed) = match capability.kind {
        Kind::Command => (*method == Method::POST, "POST"),
        Kind::Query | Kind::Resource | Kind::Prompt => {
            (matches!(*method, Method::GET | Method::HEAD), "GET, HEAD")
        }
    };
    if fits {
        return Ok(());
    }
    Err(causes::OTHER_METHOD
        .fill(&[&capability.kind, &allowed])
        .allow(allowed))
}

fn from_query(capability: &Capability, text: &str) -> Value {
    let pairs: Vec<_> = form_urlencoded::parse(text.as_bytes()).collect();
    query::arguments(
        capability,
        pairs.iter().map(|(name, word)| (&**name, &**word)),
    )
}

async fn from_body(
    http: &Http,
    capability: &Capability,
    head: &Head,
    body: Body,
) -> Result<(Value, Option<OnceKey>), Problem> {
    let limits = http.parts().limits;
    let bound = Bound {
        bytes: limits.body_bytes,
        time: limits.body_time,
    };
    let raw = body::read(body, bound).await?;
    let arguments = if raw.is_empty() {
        Value::Object(Map::new())
    } else {
        body::expect_json(&head.headers)?;
        body::parse(&raw)?
    };
    let scope = head
        .extensions
        .get::<Credential>()
        .map(Credential::scope)
        .unwrap_or_default();
    let key = idempotency_key(&head.headers)?.map(|key| OnceKey {
        scope: http.parts().secrets.once(&scope, key),
        seq: 0,
        digest: digest(capability.id, &raw),
    });
    Ok((arguments, key))
}

fn digest(id: &str, body: &[u8]) -> String {
    let digest = Sha256::new_with_prefix(id)
        .chain_update(b"\n")
        .chain_update(body);
    hex::encode(&digest.finalize())
}

/// Reads the `Idempotency-Key`.
///
/// # Errors
/// [`causes::OTHER_KEY`] for one that stands twice, is empty, too long, or holds other than visible ASCII.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let key = value.to_str().ok().filter(|key| {
        let visible = |byte: u8| byte.is_ascii_graphic();
        !key.is_empty() && key.len() <= IDEMPOTENCY_KEY_CHARS && key.bytes().all(visible)
    });
    match key {
        Some(key) if values.next().is_none() => Ok(Some(key)),
        _ => Err(causes::OTHER_KEY.fill(&[&IDEMPOTENCY_KEY_CHARS])),
    }
}
