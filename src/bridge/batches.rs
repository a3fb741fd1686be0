//! Batches of requests, which only revision 2025-03-26 knows: the answers to one leave together. Pure.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::floor::jsonrpc;

/// The batches whose answers are not all here.
#[derive(Debug, Default)]
pub(super) struct Batches {
    /// By the seq of a request: the seq of its batch's first one.
    member_of: BTreeMap<u64, u64>,
    open: BTreeMap<u64, Open>,
}

#[derive(Debug)]
struct Open {
    /// Requests without an answer.
    waiting: usize,
    answers: Vec<Bytes>,
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
    pub(super) fn begin(&mut self, requests: &[u64], answers: Vec<Bytes>) -> Option<Bytes> {
        let Some(first) = requests.first() else {
            return (!answers.is_empty()).then(|| jsonrpc::batch(&answers));
        };
        for seq in requests {
            self.member_of.insert(*seq, *first);
        }
        let waiting = requests.len();
        self.open.insert(*first, Open { waiting, answers });
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
        let first = self.member_of.remove(&seq)?;
        let open = self.open.get_mut(&first)?;
        open.answers.extend(answer.cloned());
        open.waiting -= 1;
        if open.waiting > 0 {
            return None;
        }
        let whole = self.open.remove(&first)?;
        (!whole.answers.is_empty()).then(|| jsonrpc::batch(&whole.answers))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{Batches, Parting};

    #[test]
    fn a_batch_leaves_when_its_last_request_is_settled() {
        let mut batches = Batches::default();
        let answer = Bytes::from_static;
        assert_eq!(batches.begin(&[], vec![]), None);
        assert_eq!(batches.begin(&[], vec![answer(b"1")]), Some(answer(b"[1]")));
        assert_eq!(batches.begin(&[4, 5, 6], vec![answer(b"0")]), None);
        assert_eq!(batches.begin(&[7], vec![]), None);
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
