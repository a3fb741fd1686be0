//! The three routes of the sign-in: mint a code, trade it, renew a page's token.
//!
//! | route | wants | answers |
//! |---|---|---|
//! | `POST /api/v1/sign-in` `{"code"}` | a code | `{"token", "expires_in"}`, 401 for a code that is used, old or unknown |
//! | `POST /api/v1/sign-in/renew` | a page's token | `{"token", "expires_in"}`, 401 once the sign-in is too old, 403 for the checkout's |
//! | `POST /api/v1/sign-in/codes` | the checkout's token | `{"code", "expires_in", "path"}` |
//!
//! A page may not mint codes: its own token would then live for ever.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::auth::Credential;
use super::body::{self, Bound};
use super::problem::{Problem, causes};
use super::sign_in::PageToken;
use super::state::Http;
use crate::floor::limits;

/// Trades a code for a page token.
pub(crate) const EXCHANGE: &str = "/api/v1/sign-in";
/// Renews a page token.
pub(crate) const RENEW: &str = "/api/v1/sign-in/renew";
/// Mints a code.
pub(crate) const CODES: &str = "/api/v1/sign-in/codes";
/// What an exchange may send: nobody has proven anything yet.
const BOUND: Bound = Bound {
    bytes: 4096,
    time: Duration::from_secs(2),
};

/// Answers [`EXCHANGE`].
pub(crate) async fn exchange(State(http): State<Arc<Http>>, request: Request) -> Response {
    answer(trade(&http, request).await)
}

/// Answers [`RENEW`].
pub(crate) async fn renew(State(http): State<Arc<Http>>, request: Request) -> Response {
    answer(again(&http, &request))
}

/// Answers [`CODES`].
pub(crate) async fn codes(State(http): State<Arc<Http>>, request: Request) -> Response {
    answer(mint(&http, &request))
}

async fn trade(http: &Http, request: Request) -> Result<Value, Problem> {
    only_post(request.method())?;
    let (head, body) = request.into_parts();
    body::expect_json(&head.headers)?;
    let sent = body::parse(&body::read(body, BOUND).await?)?;
    let code = sent
        .get("code")
        .and_then(Value::as_str)
        .ok_or_else(|| causes::NO_CODE.fill(&[]))?;
    let token = http
        .parts()
        .sign_in
        .exchange(code)
        .map_err(|error| causes::NO_RANDOMNESS.told(&error))?;
    match token {
        Some(token) => Ok(rendered(&token)),
        None => Err(causes::OTHER_CODE.fill(&[])),
    }
}

fn again(http: &Http, request: &Request) -> Result<Value, Problem> {
    only_post(request.method())?;
    let token = match request.extensions().get::<Credential>() {
        Some(Credential::Page(page)) => http.parts().sign_in.renew(page),
        other => {
            // Who showed the checkout's token is known and may not; who showed nothing may try with a page's.
            return Err(match other {
                Some(Credential::Token) => causes::OWN_TOKEN.fill(&[]),
                _ => causes::NO_PAGE.fill(&[]),
            });
        }
    };
    let token = token.ok_or_else(|| causes::OLD_SIGN_IN.fill(&[]))?;
    Ok(rendered(&token))
}

fn mint(http: &Http, request: &Request) -> Result<Value, Problem> {
    only_post(request.method())?;
    if let Some(Credential::Page(_)) = request.extensions().get::<Credential>() {
        return Err(causes::PAGE_ALONE.fill(&[]));
    }
    let code = http
        .parts()
        .sign_in
        .mint_code()
        .map_err(|error| causes::NO_RANDOMNESS.told(&error))?;
    Ok(json!({
        "path": format!("/docs/#code={code}"),
        "code": code,
        "expires_in": limits::SIGN_IN_CODE.as_secs(),
    }))
}

fn only_post(method: &Method) -> Result<(), Problem> {
    if method == Method::POST {
        return Ok(());
    }
    Err(causes::POSTED_ROUTE.fill(&[]).allow("POST"))
}

fn rendered(token: &PageToken) -> Value {
    json!({ "token": token.token, "expires_in": token.expires_in.as_secs() })
}

fn answer(outcome: Result<Value, Problem>) -> Response {
    match outcome {
        Ok(value) => body::json(&value),
        Err(problem) => problem.into_response(),
    }
}
