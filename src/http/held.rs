//! A body that keeps something until it is sent: a connection works for as long as its answer takes.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

/// A body and what lasts as long as it does.
pub(crate) struct Held<T> {
    body: Body,
    _kept: T,
}

impl<T> Held<T> {
    /// Keeps `kept` until the body is sent, or dropped with its connection.
    pub(crate) fn new(body: Body, kept: T) -> Self {
        Self { body, _kept: kept }
    }
}

impl<T: Unpin> hyper::body::Body for Held<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
