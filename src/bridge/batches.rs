//! The batches of a client whose answers are not all here: the answers to one leave together. Pure.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::floor::jsonrpc::Id;
use crate::mcp::batch::Answers;

/// The batches whose answers are not all here.
#[derive(Debug, Default)]
pub(super) struct Batches {
    /// By the seq of a request: its id, and the seq of its batch's first one.
    member_of: BTreeMap<u64, (Id, u64)>,
    open: BTreeMap<u64, Open>,
}

#[derive(Debug)]
struct Open {
    /// Requests without an answer.
    waiting: usize,
    answers: Answers,
}

/// What becomes of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parting {
    /// It belongs to no batch.
    Alone,
    /// It waits for the rest of its batch.
    Waits,
    /// It was the last: this is the whole batch.
    Whole(Bytes),
}

impl Batches {
    /// Begins a batch of these requests; `answers` are there already. Returns the whole batch if it waits for nothing.
    pub(super) fn begin(&mut self, requests: Vec<(u64, Id)>, answers: Answers) -> Option<Bytes> {
        let Some((first, _)) = requests.first() else {
            return answers.render();
        };
        let (first, waiting) = (*first, requests.len());
        self.open.insert(first, Open { waiting, answers });
        for (seq, id) in requests {
            self.member_of.insert(seq, (id, first));
        }
        None
    }

    /// Takes the answer to `seq`.
    pub(super) fn answered(&mut self, seq: u64, answer: &Bytes) -> Parting {
        if !self.member_of.contains_key(&seq) {
            return Parting::Alone;
        }
        match self.settle(seq, Some(answer)) {
            Some(whole) => Parting::Whole(whole),
            None => Parting::Waits,
        }
    }

    /// `seq` was cancelled, and has no answer. Returns the whole batch if it waited for nothing else.
    pub(super) fn cancelled(&mut self, seq: u64) -> Option<Bytes> {
        self.settle(seq, None)
    }

    fn settle(&mut self, seq: u64, answer: Option<&Bytes>) -> Option<Bytes> {
        let (id, first) = self.member_of.remove(&seq)?;
        let open = self.open.get_mut(&first)?;
        if let Some(answer) = answer {
            open.answers.push(Some(&id), answer);
        }
        open.waiting -= 1;
        if open.waiting > 0 {
            return None;
        }
        self.open.remove(&first)?.answers.render()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{Answers, Batches, Parting};
    use crate::floor::jsonrpc::{Frame, Id};

    fn requests(seqs: &[u64]) -> Vec<(u64, Id)> {
        let frame = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        let id = Frame::parse(frame).unwrap().request_id().unwrap().clone();
        seqs.iter().map(|seq| (*seq, id.clone())).collect()
    }

    fn with(answer: &[u8]) -> Answers {
        let mut answers = Answers::default();
        answers.push(None, answer);
        answers
    }

    #[test]
    fn a_batch_leaves_when_its_last_request_is_settled() {
        let mut batches = Batches::default();
        let answer = Bytes::from_static;
        assert_eq!(batches.begin(vec![], Answers::default()), None);
        assert_eq!(batches.begin(vec![], with(b"1")), Some(answer(b"[1]")));
        assert_eq!(batches.begin(requests(&[4, 5, 6]), with(b"0")), None);
        assert_eq!(batches.begin(requests(&[7]), Answers::default()), None);
        assert_eq!(batches.answered(3, &answer(b"3")), Parting::Alone);
        assert_eq!(batches.answered(6, &answer(b"6")), Parting::Waits);
        assert_eq!(batches.cancelled(4), None);
        let whole = Parting::Whole(answer(b"[0,6,5]"));
        assert_eq!(batches.answered(5, &answer(b"5")), whole);
        assert_eq!(batches.answered(5, &answer(b"5")), Parting::Alone);
        assert_eq!(batches.cancelled(7), None);
        assert_eq!(batches.answered(7, &answer(b"7")), Parting::Alone);
    }
}
