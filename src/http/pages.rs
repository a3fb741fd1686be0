//! Static files: the front page, Swagger UI and their scripts. Public, and without a secret in them (I14).
//!
//! Our own files are embedded from `share/web/`; a share folder given at start replaces them, read once, then. Swagger
//! UI comes embedded with `utoipa-swagger-ui` (feature `vendored`), so nothing is ever fetched from elsewhere. Its
//! `index.html` and initializer are ours: they sign in, load `/openapi.json` with the page's token, and know no
//! validator.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use utoipa_swagger_ui::Config;

use super::problem::causes;

/// What a page may load: itself. Swagger UI draws with `data:` images and inline styles.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// Where Swagger UI is.
pub(crate) const DOCS: &str = "/docs/";
/// Files of Swagger UI that ours stand in for.
const REPLACED: &[&str] = &["index.html", "swagger-initializer.js"];

/// One of our files: its path, its type, its name below `share/web/`, and its embedded text.
struct Own {
    path: &'static str,
    media_type: &'static str,
    name: &'static str,
    text: &'static str,
}

const OWN: &[Own] = &[
    Own {
        path: "/",
        media_type: "text/html; charset=utf-8",
        name: "index.html",
        text: include_str!("../../share/web/index.html"),
    },
    Own {
        path: DOCS,
        media_type: "text/html; charset=utf-8",
        name: "docs.html",
        text: include_str!("../../share/web/docs.html"),
    },
    Own {
        path: "/web/docs.js",
        media_type: "text/javascript; charset=utf-8",
        name: "docs.js",
        text: include_str!("../../share/web/docs.js"),
    },
    Own {
        path: "/web/front.js",
        media_type: "text/javascript; charset=utf-8",
        name: "front.js",
        text: include_str!("../../share/web/front.js"),
    },
    Own {
        path: "/web/sign-in.js",
        media_type: "text/javascript; charset=utf-8",
        name: "sign-in.js",
        text: include_str!("../../share/web/sign-in.js"),
    },
    Own {
        path: "/web/style.css",
        media_type: "text/css; charset=utf-8",
        name: "style.css",
        text: include_str!("../../share/web/style.css"),
    },
    Own {
        path: "/favicon.ico",
        media_type: "image/svg+xml",
        name: "icon.svg",
        text: include_str!("../../share/web/icon.svg"),
    },
];

/// The static files of one server.
pub(crate) struct Pages {
    own: HashMap<&'static str, (&'static str, Bytes)>,
    swagger: Arc<Config<'static>>,
}

impl Pages {
    /// Takes the embedded files, or those of `share` where it has them.
    pub(crate) fn new(share: Option<&Path>) -> Self {
        let own = OWN.iter().map(|file| {
            let replaced =
                share.and_then(|share| std::fs::read(share.join("web").join(file.name)).ok());
            let bytes = replaced.map_or(Bytes::from_static(file.text.as_bytes()), Bytes::from);
            (file.path, (file.media_type, bytes))
        });
        Self {
            own: own.collect(),
            swagger: Arc::new(Config::default().validator_url("none")),
        }
    }

    /// Returns the paths of our own files.
    pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
        OWN.iter().map(|file| file.path)
    }

    /// Answers a request for a static file.
    pub(crate) fn answer(&self, request: &Request) -> Response {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return causes::READ_FILE
                .fill(&[])
                .allow("GET, HEAD")
                .into_response();
        }
        let path = request.uri().path();
        let found = match self.own.get(path) {
            Some((media_type, bytes)) => Some(page(
                HeaderValue::from_static(media_type),
                Body::from(bytes.clone()),
            )),
            None => path.strip_prefix(DOCS).and_then(|name| self.swagger(name)),
        };
        found.unwrap_or_else(|| causes::NO_FILE.fill(&[]).into_response())
    }

    /// Finds a file of Swagger UI.
    fn swagger(&self, name: &str) -> Option<Response> {
        if name.is_empty() || REPLACED.contains(&name) {
            return None;
        }
        let file = utoipa_swagger_ui::serve(name, Arc::clone(&self.swagger)).ok()??;
        let media_type = HeaderValue::try_from(file.content_type).ok()?;
        let mut response = page(media_type, Body::from(file.bytes.into_owned()));
        if file.gzpipped {
            response
                .headers_mut()
                .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        Some(response)
    }
}

/// Sends `/docs` to `/docs/`, so that relative names resolve; a browser carries the fragment along.
pub(crate) fn to_docs(request: &Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return causes::READ_FILE
            .fill(&[])
            .allow("GET, HEAD")
            .into_response();
    }
    let mut response = StatusCode::SEE_OTHER.into_response();
    response
        .headers_mut()
        .insert(LOCATION, HeaderValue::from_static(DOCS));
    response
}

fn page(media_type: HeaderValue, body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media_type);
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}
