//! `/lease`: who serves here, answered without a token, at any load, and without asking anybody.
//!
//! With `?nonce=<32 hex digits>` the answer carries a `proof` that this server knows the checkout's token. A client that
//! is about to send the token asks for it first, on the same connection: another user may have taken the port.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use super::problem::causes;
use super::server::Arrival;
use super::state::{Auth, Http};

/// Where it is asked.
pub(crate) const PATH: &str = "/lease";

/// Answers with instance, root id, epoch, whether this process admits, and whether a token is needed.
pub(crate) async fn lease(State(http): State<Arc<Http>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return causes::READ_PROBE
            .fill(&[])
            .allow("GET, HEAD")
            .into_response();
    }
    let nonce = match request.uri().query().map(nonce) {
        Some(Err(())) => {
            return causes::OTHER_NONCE.fill(&[]).into_response();
        }
        Some(Ok(nonce)) => nonce,
        None => None,
    };
    let auth = match http.parts().auth {
        Auth::Bearer => "bearer",
        Auth::Off => "off",
    };
    let mut body = json!({
        "instance": http.parts().owner.instance(),
        "root_id": http.parts().owner.root_id(),
        "epoch": http.parts().owner.epoch(),
        "serving": http.serving(),
        "auth": auth,
    });
    if let (Some(nonce), Some(arrival)) = (nonce, request.extensions().get::<Arrival>()) {
        let instance = http.parts().owner.instance();
        let secrets = &http.parts().secrets;
        body["proof"] = secrets.prove(nonce, instance, arrival.local.port()).into();
    }
    let mut response = Response::new(Body::from(body.to_string()));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Returns the nonce of a query that holds nothing else; `Err` where it holds an ill-formed one.
fn nonce(query: &str) -> Result<Option<&str>, ()> {
    if !query
        .split('&')
        .any(|part| part.split('=').next() == Some("nonce"))
    {
        return Ok(None);
    }
    let nonce = query.strip_prefix("nonce=").ok_or(())?;
    let well_formed = nonce.len() == 32 && nonce.bytes().all(|b| b.is_ascii_hexdigit());
    if well_formed {
        Ok(Some(nonce))
    } else {
        Err(())
    }
}

#[cfg(test)]
mod tests {
    use super::nonce;

    #[test]
    fn only_a_nonce_of_32_hex_digits_is_proven_over() {
        let good = "0123456789abcdef0123456789ABCDEF";
        assert_eq!(nonce(&format!("nonce={good}")), Ok(Some(good)));
        for other in ["", "x=1"] {
            assert_eq!(nonce(other), Ok(None));
        }
        let more = [&*format!("nonce={good}0"), &format!("nonce={good}&x=1")].map(str::to_owned);
        for bad in ["nonce", "nonce=", "nonce=zz", &more[0], &more[1]] {
            assert_eq!(nonce(bad), Err(()), "{bad}");
        }
    }
}
