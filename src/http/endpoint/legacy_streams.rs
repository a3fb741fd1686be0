//! The streams of a session that a GET opens: its own, for news, and those that broke or were let go.

use std::future::pending;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::http::request::Parts as Head;
use axum::response::Response;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::events::{Last, Naming};
use super::headers::{self, LAST_EVENT, SESSION};
use super::legacy::{find, missing, refuse};
use super::live::{Live, OWN, Streaming};
use super::sessions::Found;
use super::{answer, events};
use crate::http::server::Arrival;
use crate::http::state::{Http, Living};
use crate::mcp::{Revision, failure};

/// The names of a stream's events. An empty first one came with 2025-11-25, and earlier clients fail on it.
pub(super) fn naming(live: &Live, stream: u64) -> Naming {
    Naming {
        prefix: live.event_prefix(stream),
        primed: live.session.revision().is_some_and(Revision::polls),
    }
}

/// Opens the session's own stream, or goes on behind the last event that the client saw on any of its streams.
pub(crate) async fn stream(http: &Arc<Http>, head: &Head, living: Living) -> Response {
    let headers = &head.headers;
    let arrival = head.extensions.get::<Arrival>();
    let stopping = arrival
        .map(|arrival| arrival.stopping.clone())
        .unwrap_or_default();
    let Some(text) = headers::only(headers, SESSION) else {
        return missing(None);
    };
    let live = match find(http, text).await {
        Found::Live(live) => live,
        other => return refuse(&other, None),
    };
    if !events::accepted(headers) {
        let status = StatusCode::NOT_ACCEPTABLE;
        return answer::refused(status, None, &failure::NO_STREAM.fill(&[]));
    }
    let seen = headers::only(headers, LAST_EVENT);
    if let Some((number, reader)) = seen.and_then(|event| live.stream_behind(event)) {
        let naming = Naming {
            primed: false,
            ..naming(&live, number)
        };
        if number != OWN {
            return events::response(reader, Box::pin(pending()), Some(naming), living);
        }
        let last = news(http, &live, stopping, true);
        return events::response(reader, last, Some(naming), living);
    }
    // What an earlier owner said, and what was said to nobody, is not known here.
    let missed = live.missed() | seen.is_some();
    let (reader, naming) = (live.own_stream(), naming(&live, OWN));
    let last = news(http, &live, stopping, missed);
    events::response(reader, last, Some(naming), living)
}

/// Tells a session the news for as long as it and this server last.
fn news(http: &Http, live: &Arc<Live>, stopping: CancellationToken, missed: bool) -> Last {
    let mut news = http.parts().engine.changes().listen();
    if missed {
        live.session.missed();
    }
    let live = Streaming::new(live);
    Box::pin(async move {
        loop {
            tokio::select! {
                biased;
                () = live.ended().cancelled() => return None,
                () = stopping.cancelled() => return None,
                heard = news.recv() => match heard {
                    Ok(news) => live.session.hear(&news),
                    Err(RecvError::Lagged(_)) => live.session.missed(),
                    Err(RecvError::Closed) => return None,
                },
            }
        }
    })
}
