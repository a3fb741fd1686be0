//! An answer as a stream of server-sent events: what is said meanwhile, then the response, then the end.
//!
//! A request that is not answered within a second becomes one, since clients give up on a header that does not come; a
//! subscription is one from the start. A comment every fifteen seconds keeps idle connections open and finds dead
//! ones. Events carry no id: a broken stream is not resumed here.
//! *Source:* MCP 2026-07-28 `basic/transports/streamable-http`, "Receiving Messages".

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use bytes::{BufMut as _, Bytes, BytesMut};
use hyper::body::Frame;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::outbound::Queue;
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

/// Streams the messages of `queue` until `last` is there. An open stream is life (I11).
pub(crate) fn response(queue: Queue, last: Last, living: Living) -> Response {
    let mut beat = interval_at(Instant::now() + STREAM_BEAT, STREAM_BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut response = Response::new(Body::new(Events {
        queue,
        last: Some(last),
        ending: None,
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
    queue: Queue,
    /// What is awaited; `None` once it is there.
    last: Option<Last>,
    /// The response, while messages before it still wait.
    ending: Option<Bytes>,
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
        if let Poll::Ready(json) = this.queue.poll_next(context) {
            return Poll::Ready(Some(Ok(event(&json))));
        }
        if this.last.is_none() {
            return Poll::Ready(this.ending.take().map(|json| Ok(event(&json))));
        }
        ready!(this.beat.poll_tick(context));
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b":\n\n")))))
    }
}

/// One event. JSON that we render holds no line break.
fn event(json: &[u8]) -> Frame<Bytes> {
    let mut text = BytesMut::with_capacity(json.len() + 24);
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
