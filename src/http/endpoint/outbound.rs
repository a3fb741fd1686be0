//! What the server says by itself, on its way to the stream of the request that it is about.
//!
//! A message that belongs to no open stream is dropped: nothing is kept for a stream that may never come. Under
//! pressure the newest message of a key stands for all of it, and a queue past its bound takes no more.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use crate::floor::limits::OUTBOUND_BYTES;
use crate::mcp::{Message, Outbound};

/// Messages that wait for one stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Queue(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    messages: VecDeque<Message>,
    bytes: usize,
    waker: Option<Waker>,
}

impl Queue {
    /// Returns where a session with this one stream sends.
    pub(crate) fn outbound(&self) -> Outbound {
        let queue = self.clone();
        Outbound::to(move |message| queue.push(message))
    }

    /// Adds a message.
    pub(crate) fn push(&self, message: Message) {
        let mut waiting = self.waiting();
        if message.coalesce.is_some() {
            let same = waiting
                .messages
                .iter()
                .position(|other| other.coalesce == message.coalesce);
            if let Some(older) = same.and_then(|at| waiting.messages.remove(at)) {
                waiting.bytes -= older.json.len();
            }
        }
        if waiting.bytes + message.json.len() > OUTBOUND_BYTES {
            return;
        }
        waiting.bytes += message.json.len();
        waiting.messages.push_back(message);
        let waker = waiting.waker.take();
        drop(waiting);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Resolves when something is to be said; cancel safe.
    pub(crate) async fn ready(&self) {
        poll_fn(|context| {
            let mut waiting = self.waiting();
            if !waiting.messages.is_empty() {
                return Poll::Ready(());
            }
            waiting.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Takes the next message, or has the task woken when there is one.
    pub(crate) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Bytes> {
        let mut waiting = self.waiting();
        if let Some(message) = waiting.messages.pop_front() {
            waiting.bytes -= message.json.len();
            return Poll::Ready(message.json);
        }
        waiting.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The queues of one legacy session's requests, by their numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Routes(Arc<Mutex<HashMap<u64, Queue>>>);

impl Routes {
    /// Returns where the session sends.
    pub(crate) fn outbound(&self) -> Outbound {
        let routes = self.clone();
        Outbound::to(move |message| {
            let queue = routes.queues().get(&message.about).cloned();
            if let Some(queue) = queue {
                queue.push(message);
            }
        })
    }

    /// Opens the queue of a request.
    pub(crate) fn open(&self, number: u64) -> Queue {
        self.queues().entry(number).or_default().clone()
    }

    /// Forgets the queue of a request that ended; who holds it still reads what waits.
    pub(crate) fn close(&self, number: u64) {
        drop(self.queues().remove(&number));
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<u64, Queue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use bytes::Bytes;

    use super::Queue;
    use crate::floor::limits::OUTBOUND_BYTES;
    use crate::mcp::Message;

    fn message(coalesce: Option<&str>, json: &Bytes) -> Message {
        Message {
            about: 1,
            coalesce: coalesce.map(ToOwned::to_owned),
            json: json.clone(),
        }
    }

    /// Guards I15.
    #[test]
    fn a_queue_is_bounded_and_keeps_the_newest_of_a_key() {
        let queue = Queue::default();
        let mut context = Context::from_waker(Waker::noop());
        let (old, new) = (Bytes::from_static(b"old"), Bytes::from_static(b"new"));
        queue.push(message(Some("uri"), &old));
        queue.push(message(Some("uri"), &new));
        assert_eq!(queue.poll_next(&mut context), Poll::Ready(new));
        assert_eq!(queue.poll_next(&mut context), Poll::Pending);
        let half = Bytes::from(vec![b'x'; OUTBOUND_BYTES / 2]);
        for _ in 0..5 {
            queue.push(message(None, &half));
        }
        assert!(queue.poll_next(&mut context).is_ready());
        assert!(queue.poll_next(&mut context).is_ready());
        assert_eq!(queue.poll_next(&mut context), Poll::Pending);
    }
}
