//! Who a request speaks for: the bearer token, or a page's own token (I14).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::problem::{Problem, causes};
use super::sign_in::Page;
use super::state::{Auth, Http};

/// What a request proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    /// It holds the checkout's token.
    Token,
    /// It comes from a page that signed in.
    Page(Page),
    /// Nothing was asked.
    Open,
}

impl Credential {
    /// Returns the word under which an `Idempotency-Key` of this credential is kept.
    pub(crate) fn scope(&self) -> String {
        match self {
            Self::Token | Self::Open => "token".to_owned(),
            Self::Page(page) => format!("page {}", page.id),
        }
    }
}

/// Lets a request through to a route that wants a token, and notes what it proved.
pub(crate) async fn require(
    State(http): State<Arc<Http>>,
    mut request: Request,
    next: Next,
) -> Response {
    match credential(&http, request.headers()) {
        Ok(credential) => {
            let _living = matches!(credential, Credential::Page(_)).then(|| http.live());
            request.extensions_mut().insert(credential);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

/// Reads what a request's header proves.
///
/// # Errors
/// [`causes::NO_TOKEN`] or [`causes::OTHER_TOKEN`] where a token is wanted and none of ours is there.
pub(crate) fn credential(http: &Http, headers: &HeaderMap) -> Result<Credential, Problem> {
    let presented = bearer(headers);
    let known = presented.and_then(|token| {
        if http.parts().secrets.is_token(token) {
            return Some(Credential::Token);
        }
        http.parts().sign_in.page(token).map(Credential::Page)
    });
    match (known, http.parts().auth) {
        (Some(credential), _) => Ok(credential),
        (None, Auth::Off) => Ok(Credential::Open),
        (None, Auth::Bearer) => Err(match presented {
            Some(_) => causes::OTHER_TOKEN.fill(&[]),
            None => causes::NO_TOKEN.fill(&[]),
        }),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim_matches(' '))
}
