//! Queues and their readers.

use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;

use super::{Queue, Reader, Routes};
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
    let reader = queue.reader(None);
    assert_eq!(reader.poll_next(&mut context), Poll::Ready(Some((2, new))));
    assert_eq!(reader.poll_next(&mut context), Poll::Pending);
    let half = Bytes::from(vec![b'x'; OUTBOUND_BYTES / 2]);
    for _ in 0..5 {
        queue.push(message(None, &half));
    }
    assert!(reader.poll_next(&mut context).is_ready());
    assert!(reader.poll_next(&mut context).is_ready());
    assert_eq!(reader.poll_next(&mut context), Poll::Pending);
}

/// Guards I15: a stream that tells the same again and again does not grow, and who comes back hears of it.
#[test]
fn of_news_that_was_read_the_newest_is_kept() {
    let routes = Routes::default();
    let queue = routes.open(0);
    let mut context = Context::from_waker(Waker::noop());
    let reader = queue.reader(None);
    let mut read = |reader: &super::Reader| match reader.poll_next(&mut context) {
        Poll::Ready(event) => event.map(|(number, _)| number),
        Poll::Pending => None,
    };
    for number in 1..=100 {
        queue.push(message(Some("uri"), &Bytes::from_static(b"news")));
        assert_eq!(read(&reader), Some(number));
    }
    assert_eq!(queue.waiting().events.len(), 2);
    assert_eq!(queue.waiting().bytes, 2 * b"news".len());
    let again = queue.reader(Some(7));
    assert_eq!((read(&again), read(&again)), (Some(99), Some(100)));
    assert_eq!(read(&again), None);
    let again = queue.reader(Some(100));
    assert_eq!(read(&again), None);
}

#[test]
fn a_reader_that_comes_back_goes_on_behind_what_it_saw() {
    let routes = Routes::default();
    let queue = routes.open(1);
    let mut context = Context::from_waker(Waker::noop());
    for text in ["a", "b", "c"] {
        queue.push(message(None, &Bytes::from_static(text.as_bytes())));
    }
    queue.end(Some(Bytes::from_static(b"d")));
    let mut read = |after| {
        let reader = queue.reader(after);
        let mut seen = Vec::new();
        while let Poll::Ready(Some((number, _))) = reader.poll_next(&mut context) {
            seen.push(number);
        }
        seen
    };
    assert_eq!(read(None), [1, 2, 3, 4]);
    assert_eq!(read(Some(2)), [3, 4]);
    assert_eq!(read(Some(0)), [1, 2, 3, 4]);
    assert_eq!(read(Some(9)), [] as [u64; 0]);
    let (old, _new) = (queue.reader(Some(0)), queue.reader(Some(0)));
    assert_eq!(
        old.poll_next(&mut context),
        Poll::Ready(None),
        "the newer one reads"
    );
}

#[test]
fn a_reader_that_is_let_go_gets_what_was_said_before_and_is_told_once_when_to_come_back() {
    let routes = Routes::default();
    let queue = routes.open(1);
    let mut context = Context::from_waker(Waker::noop());
    let mut read = |reader: &Reader| match reader.poll_next(&mut context) {
        Poll::Ready(event) => event.map(|(number, _)| number),
        Poll::Pending => panic!("nothing is to come"),
    };
    let say = |coalesce| queue.push(message(coalesce, &Bytes::from_static(b"{}")));
    let wait = Duration::from_millis(7);
    say(None);
    say(Some("uri"));
    let reader = queue.reader(None);
    queue.let_go(wait);
    // It takes the place of the last one that was said before.
    say(Some("uri"));
    queue.end(Some(Bytes::from_static(b"{}")));
    assert_eq!((read(&reader), read(&reader)), (Some(1), None));
    assert_eq!((reader.wait(), reader.wait()), (Some(wait), None));
    let again = queue.reader(Some(1));
    assert_eq!(read(&reader), None, "the newer one reads");
    let rest = [read(&again), read(&again), read(&again)];
    assert_eq!(rest, [Some(3), Some(4), None]);
    assert_eq!(again.wait(), None, "it has everything");
}
