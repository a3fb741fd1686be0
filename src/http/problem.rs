//! Every error that plain HTTP answers, in one table (RFC 9457).
//!
//! A problem has a machine word (`code`), from which status and title follow, a `detail` for people, and a `hint`: what
//! to do next. What HTTP itself has to say stands in [`causes`], and what a call was refused for in
//! [`mod@crate::registry::refusal`]. Nothing in it names a path outside the checkout or a secret (I15).
//! *Source:* RFC 9457, sections 3 and 4.

pub mod causes;

use axum::body::Body;
use axum::http::header::{ALLOW, CONNECTION, CONTENT_TYPE, RETRY_AFTER, UPGRADE, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use crate::registry::{Refusal, RefusalCode};

/// The machine word of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The request makes no sense.
    BadRequest,
    /// The body is not JSON, or nested too deep.
    BadJson,
    /// No token, or not ours.
    Unauthorized,
    /// The request came from another machine.
    ForeignPeer,
    /// `Host` names another machine: DNS rebinding.
    ForeignHost,
    /// Another site sent the browser here.
    ForeignOrigin,
    /// Not allowed here.
    Refused,
    /// Nothing has that name.
    NotFound,
    /// The route has another method.
    MethodNotAllowed,
    /// The body came too slowly.
    SlowBody,
    /// It would overwrite what another one did.
    Conflict,
    /// The body is too large.
    BodyTooLarge,
    /// The body is not declared as JSON.
    UnsupportedMediaType,
    /// A link in no version that is spoken here.
    UpgradeRequired,
    /// The arguments do not fit the schema.
    InvalidInput,
    /// Too much at once.
    Busy,
    /// This process does not serve any more.
    NotServing,
    /// Cannot be done now.
    Unavailable,
    /// Whether it took effect is not known.
    OutcomeUnknown,
    /// A bug, or a disk that failed.
    Internal,
}

/// One row of the table.
struct Row {
    code: Code,
    word: &'static str,
    status: StatusCode,
    /// What helps where the problem itself names nothing better.
    hint: &'static str,
}

const fn row(code: Code, word: &'static str, status: StatusCode, hint: &'static str) -> Row {
    Row {
        code,
        word,
        status,
        hint,
    }
}

/// The table; a test holds that every code stands in it once.
#[rustfmt::skip]
const TABLE: &[Row] = &[
    row(Code::BadRequest, "bad_request", StatusCode::BAD_REQUEST, "/openapi.json says what each route takes"),
    row(Code::BadJson, "bad_json", StatusCode::BAD_REQUEST, "send one JSON object, in UTF-8"),
    row(Code::Unauthorized, "unauthorized", StatusCode::UNAUTHORIZED, "send `Authorization: Bearer TOKEN`; majordomus open signs a browser in"),
    row(Code::ForeignPeer, "foreign_peer", StatusCode::FORBIDDEN, "ask from the machine on which the server runs"),
    row(Code::ForeignHost, "foreign_host", StatusCode::FORBIDDEN, "ask at the address that majordomus status prints"),
    row(Code::ForeignOrigin, "foreign_origin", StatusCode::FORBIDDEN, "open the page itself: majordomus open"),
    row(Code::Refused, "refused", StatusCode::FORBIDDEN, "majordomus status says how this server was started"),
    row(Code::NotFound, "not_found", StatusCode::NOT_FOUND, "/openapi.json lists the routes"),
    row(Code::MethodNotAllowed, "method_not_allowed", StatusCode::METHOD_NOT_ALLOWED, "the header `Allow` names the methods"),
    row(Code::SlowBody, "slow_body", StatusCode::REQUEST_TIMEOUT, "send the body in one go"),
    row(Code::Conflict, "conflict", StatusCode::CONFLICT, "majordomus peers names whom to ask"),
    row(Code::BodyTooLarge, "body_too_large", StatusCode::PAYLOAD_TOO_LARGE, "docs/reference/limits.md has every limit"),
    row(Code::UnsupportedMediaType, "unsupported_media_type", StatusCode::UNSUPPORTED_MEDIA_TYPE, "send `Content-Type: application/json`"),
    row(Code::UpgradeRequired, "upgrade_required", StatusCode::UPGRADE_REQUIRED, "restart the clients of the older build; majordomus status says which build serves"),
    row(Code::InvalidInput, "invalid_input", StatusCode::UNPROCESSABLE_ENTITY, "majordomus describe ID shows the schema and examples"),
    row(Code::Busy, "busy", StatusCode::SERVICE_UNAVAILABLE, "ask again in a second"),
    row(Code::NotServing, "not_serving", StatusCode::SERVICE_UNAVAILABLE, "ask again in a second: another process takes over"),
    row(Code::Unavailable, "unavailable", StatusCode::SERVICE_UNAVAILABLE, "ask again in a moment; majordomus doctor if it stays so"),
    row(Code::OutcomeUnknown, "outcome_unknown", StatusCode::INTERNAL_SERVER_ERROR, "look whether it took effect before you ask again"),
    row(Code::Internal, "internal", StatusCode::INTERNAL_SERVER_ERROR, "majordomus bug-report, and report it with what was asked"),
];

/// Returns the table for the reference: machine word, status, the status in words, and what helps.
pub fn table() -> impl Iterator<Item = (&'static str, u16, &'static str, &'static str)> {
    TABLE.iter().map(|row| {
        let title = row.status.canonical_reason().unwrap_or(row.word);
        (row.word, row.status.as_u16(), title, row.hint)
    })
}

/// A problem on its way to the client.
#[derive(Debug)]
pub struct Problem {
    code: Code,
    detail: String,
    hint: String,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    /// Makes a problem with what happened and what helps. Only [`causes`] and a refused call have such words.
    fn of(code: Code, detail: String, hint: String) -> Self {
        let headers = match code {
            Code::Unauthorized => vec![(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))],
            Code::Busy | Code::NotServing | Code::Unavailable => {
                vec![(RETRY_AFTER, HeaderValue::from_static("1"))]
            }
            Code::SlowBody | Code::BodyTooLarge => {
                vec![(CONNECTION, HeaderValue::from_static("close"))]
            }
            _ => Vec::new(),
        };
        Self {
            code,
            detail,
            hint,
            headers,
        }
    }

    /// Names the methods that the route has.
    #[must_use]
    pub fn allow(mut self, methods: &'static str) -> Self {
        self.headers
            .push((ALLOW, HeaderValue::from_static(methods)));
        self
    }

    /// Names the protocols that could be switched to.
    #[must_use]
    pub fn upgrade(mut self, protocols: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(protocols) {
            self.headers.push((UPGRADE, value));
            self.headers
                .push((CONNECTION, HeaderValue::from_static("upgrade")));
        }
        self
    }

    /// Closes the connection behind the answer.
    #[must_use]
    pub fn closing(mut self) -> Self {
        self.headers
            .push((CONNECTION, HeaderValue::from_static("close")));
        self
    }

    /// Returns the machine word.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// Returns the status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.code.row().status
    }
}

impl Code {
    /// Returns the machine word: `bad_request`, `not_found` …
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.row().word
    }

    fn row(self) -> &'static Row {
        TABLE
            .iter()
            .find(|row| row.code == self)
            .expect("the table has every code, which a test holds")
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal.code() {
            RefusalCode::InvalidInput => Code::InvalidInput,
            RefusalCode::NotFound => Code::NotFound,
            RefusalCode::Conflict => Code::Conflict,
            RefusalCode::Refused => Code::Refused,
            RefusalCode::Unavailable => Code::Unavailable,
            RefusalCode::OutcomeUnknown => Code::OutcomeUnknown,
            RefusalCode::Internal => Code::Internal,
        };
        let hint = refusal.hint.unwrap_or_else(|| code.row().hint.to_owned());
        Self::of(code, refusal.message, hint)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let row = self.code.row();
        let mut body = Map::new();
        let title = row.status.canonical_reason().unwrap_or(row.word);
        // The status says what kind of problem it is, and `code` says it to machines.
        body.insert("type".to_owned(), "about:blank".into());
        body.insert("title".to_owned(), title.into());
        body.insert("status".to_owned(), row.status.as_u16().into());
        body.insert("detail".to_owned(), self.detail.into());
        body.insert("code".to_owned(), row.word.into());
        body.insert("hint".to_owned(), self.hint.into());
        let mut response = Response::new(Body::from(Value::Object(body).to_string()));
        *response.status_mut() = row.status;
        let headers = response.headers_mut();
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        headers.extend(self.headers);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::{Problem, TABLE, causes};
    use crate::registry::{Refusal, RefusalCode};
    use axum::response::IntoResponse as _;
    use std::collections::HashSet;

    #[test]
    fn every_code_has_one_row_and_one_word() {
        let words: HashSet<&str> = TABLE.iter().map(|row| row.word).collect();
        assert_eq!(words.len(), TABLE.len());
        for row in TABLE {
            assert_eq!(row.code.as_str(), row.word);
        }
    }

    #[test]
    fn a_refusal_keeps_its_machine_word() {
        for code in [
            RefusalCode::InvalidInput,
            RefusalCode::NotFound,
            RefusalCode::Conflict,
            RefusalCode::Refused,
            RefusalCode::Unavailable,
            RefusalCode::OutcomeUnknown,
            RefusalCode::Internal,
        ] {
            let problem = Problem::from(Refusal::new(code, "no").hint("majordomus status"));
            assert_eq!(problem.code().as_str(), code.as_str());
        }
    }

    #[test]
    fn an_unauthorized_client_is_told_the_scheme() {
        let response = causes::NO_TOKEN.fill(&[]).into_response();
        assert_eq!(response.status(), 401);
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
        assert_eq!(
            response.headers()["content-type"],
            "application/problem+json"
        );
    }
}
