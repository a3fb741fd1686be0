//! Batches, which revision 2025-03-26 alone knows: what may stand in one, and its answers, which leave together.

use bytes::{BufMut as _, Bytes, BytesMut};

use super::failure;
use super::revision::Revision;
use crate::floor::jsonrpc::{Frame, FrameError, Id, Kind, faults};
use crate::floor::limits::{CALLS_PER_PEER, FRAME_BYTES};

/// Why a batch is not taken from a client that speaks `revision`, if it is not.
#[must_use]
pub fn objection(revision: Option<Revision>) -> Option<FrameError> {
    (revision != Some(Revision::V20250326)).then(|| faults::NO_BATCH.fill(&[]))
}

/// Reads one message of a batch that has `requests` already: `initialize`, a request of the modern era, another batch,
/// and a request past what one peer may have running have no place there.
///
/// # Errors
/// The error to answer in its place.
pub fn item(raw: Bytes, requests: usize) -> Result<Frame, FrameError> {
    let frame = Frame::parse(raw)?;
    if requests >= CALLS_PER_PEER && frame.request_id().is_some() {
        let id = frame.request_id().cloned();
        return Err(faults::LARGE_BATCH.fill(&[&CALLS_PER_PEER]).about(id));
    }
    let misplaced = match frame.kind() {
        Kind::Request { method, .. } => &**method == "initialize" || frame.revision().is_some(),
        Kind::Batch(_) => true,
        Kind::Notification { .. } | Kind::Response { .. } => false,
    };
    if misplaced {
        let id = frame.request_id().cloned();
        return Err(faults::NOT_IN_A_BATCH.fill(&[]).about(id));
    }
    Ok(frame)
}

/// The answers to one batch, no larger together than one frame may be (I15).
#[derive(Debug, Default)]
pub struct Answers(BytesMut);

impl Answers {
    /// Adds an answer; one that does not fit beside those before it becomes an error for its `id`.
    pub fn push(&mut self, id: Option<&Id>, answer: &[u8]) {
        if self.0.len() + answer.len() < FRAME_BYTES {
            self.append(answer);
        } else {
            let failure = failure::LARGE_ANSWERS.fill(&[]);
            self.append(&failure.answer(id, Revision::V20250326));
        }
    }

    fn append(&mut self, answer: &[u8]) {
        self.0.put_u8(if self.0.is_empty() { b'[' } else { b',' });
        self.0.put_slice(answer);
    }

    /// The array, or nothing where nothing is to be answered.
    #[must_use]
    pub fn render(mut self) -> Option<Bytes> {
        if self.0.is_empty() {
            return None;
        }
        self.0.put_u8(b']');
        Some(self.0.freeze())
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{Answers, item};
    use crate::floor::jsonrpc::Frame;
    use crate::floor::limits::FRAME_BYTES;

    #[test]
    fn a_batch_holds_no_opening_no_modern_request_and_no_batch() {
        let taken = |text: &'static str| item(Bytes::from_static(text.as_bytes()), 0).is_ok();
        assert!(taken(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#));
        assert!(taken(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#));
        assert!(!taken(r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#));
        assert!(!taken(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#));
        assert!(!taken(
            r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#
        ));
    }

    /// Guards I15.
    #[test]
    fn the_answers_are_together_no_larger_than_a_frame() {
        let frame = Bytes::from_static(br#"{"jsonrpc":"2.0","id":"b","method":"ping"}"#);
        let frame = Frame::parse(frame).unwrap();
        let half = vec![b'1'; FRAME_BYTES / 2];
        let mut answers = Answers::default();
        for _ in 0..3 {
            answers.push(frame.request_id(), &half);
        }
        answers.push(frame.request_id(), b"{}");
        let whole = answers.render().unwrap();
        assert!(whole.len() < FRAME_BYTES + 1024);
        let end = String::from_utf8_lossy(&whole[FRAME_BYTES / 2..]);
        assert_eq!(
            end.matches(r#""id":"b","error""#).count(),
            2,
            "the second and the third"
        );
        assert!(end.ends_with(",{}]"));
        assert!(Answers::default().render().is_none());
    }
}
