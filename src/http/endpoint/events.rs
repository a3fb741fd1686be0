//! An answer as a stream of server-sent events: what is said meanwhile, then the response, then the end.
//!
//! A request that is not answered within a second becomes one, since clients give up on a header that does not come; a
//! subscription is one from the start. A comment every fifteen seconds keeps idle connections open and finds dead
//! ones. Events of a session's streams carry ids, with which a client comes back behind the last one that it saw, be it that
//! its connection broke or that it was let go.
//! *Source:* MCP 2026-07-28 `basic/transports/streamable-http`, "Receiving Messages".

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use bytes::{BufMut as _, Bytes, BytesMut};
use hyper::body::Frame;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::outbound::Reader;
use crate::floor::limits::STREAM_BEAT;
use crate::http::state::Living;

/// What a stream ends with: the response, or nothing where there is none to give.
pub(crate) type Last = Pin<Box<dyn Future<Output = Option<Bytes>> + Send>>;

/// Says whether the client takes a stream.
pub(crate) fn accepted(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .any(|range| matches!(range.trim(), "text/event-stream" | "text/*" | "*/*"))
}

/// What a stream's events are called, for a client that may come back; see [`super::legacy_streams`].
#[derive(Debug, Clone)]
pub(crate) struct Naming {
    /// What stands before an event's number in its id.
    pub(crate) prefix: String,
    /// Begin with an event that holds only an id, so that a client can come back before the first one.
    pub(crate) primed: bool,
}

/// Streams what `reader` reads, until `last` is there or the queue ends. An open stream is life (I11).
pub(crate) fn response(
    reader: Reader,
    last: Last,
    naming: Option<Naming>,
    living: Living,
) -> Response {
    let mut beat = interval_at(Instant::now() + STREAM_BEAT, STREAM_BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut response = Response::new(Body::new(Events {
        reader,
        last: Some(last),
        ending: None,
        priming: naming.as_ref().is_some_and(|naming| naming.primed),
        prefix: naming.map(|naming| naming.prefix),
        beat,
        _living: living,
    }));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

/// The body of a stream. Dropped with its connection, and everything that it drives with it.
struct Events {
    reader: Reader,
    /// What is awaited; `None` once it is there.
    last: Option<Last>,
    /// The response, while messages before it still wait.
    ending: Option<Bytes>,
    /// The event with nothing but an id is still to come.
    priming: bool,
    prefix: Option<String>,
    beat: Interval,
    _living: Living,
}

impl hyper::body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        // First of all, since it is what fills the queue.
        if let Some(last) = &mut this.last
            && let Poll::Ready(ending) = last.as_mut().poll(context)
        {
            this.last = None;
            this.ending = ending;
        }
        if std::mem::take(&mut this.priming) {
            let id = format!("{}0", this.prefix.as_deref().unwrap_or_default());
            let text = format!("id: {id}\ndata: \n\n");
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from(text)))));
        }
        match this.reader.poll_next(context) {
            Poll::Ready(Some((number, json))) => {
                let id = this
                    .prefix
                    .as_ref()
                    .map(|prefix| format!("{prefix}{number}"));
                return Poll::Ready(Some(Ok(event(id.as_deref(), &json))));
            }
            Poll::Ready(None) => {
                let wait = this.reader.wait();
                return Poll::Ready(wait.map(|wait| Ok(come_back(wait))));
            }
            Poll::Pending => {}
        }
        if this.last.is_none() {
            return Poll::Ready(this.ending.take().map(|json| Ok(event(None, &json))));
        }
        ready!(this.beat.poll_tick(context));
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b":\n\n")))))
    }
}

/// What a client gets that is let go: how long to wait before it comes back.
fn come_back(wait: Duration) -> Frame<Bytes> {
    Frame::data(Bytes::from(format!("retry: {}\n\n", wait.as_millis())))
}

/// One event. JSON that we render holds no line break.
fn event(id: Option<&str>, json: &[u8]) -> Frame<Bytes> {
    let mut text = BytesMut::with_capacity(json.len() + 96);
    if let Some(id) = id {
        text.put_slice(b"id: ");
        text.put_slice(id.as_bytes());
        text.put_u8(b'\n');
    }
    text.put_slice(b"event: message\ndata: ");
    text.put_slice(json);
    text.put_slice(b"\n\n");
    Frame::data(text.freeze())
}

#[cfg(test)]
mod tests {
    use super::accepted;
    use axum::http::{HeaderMap, HeaderValue};

    #[test]
    fn a_client_takes_a_stream_if_it_says_so() {
        let accepts = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("accept", HeaderValue::from_static(value));
            accepted(&headers)
        };
        assert!(accepts("application/json, text/event-stream"));
        assert!(accepts("text/event-stream;q=0.5"));
        assert!(accepts("*/*"));
        assert!(!accepts("application/json"));
        assert!(!accepted(&HeaderMap::new()));
    }
}
