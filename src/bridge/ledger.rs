//! What a bridge remembers of its client: the frames that wait for an answer, and the soft state that the next owner
//! gets replayed. Pure: no I/O and no time (I6).
//!
//! | a request is | after | and then |
//! |---|---|---|
//! | waiting | it was read from the client | it is sent as `frame` to the next owner that there is |
//! | sent | it left on a link | an answer ends it; a cancellation ends it |
//! | to resend | the link it was sent on ended | it is sent as `resend`, after the replays |
//! | given up | a second owner died while it ran | it is answered with -32603: it may be what kills them |

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::floor::jsonrpc::{Frame, Id};
use crate::floor::limits::DEATHS;
use crate::link::line::{Line, Verb};
use crate::mcp::Revision;
use crate::mcp::failure::{self, Fault};

/// A request without an answer.
#[derive(Debug)]
struct Pending {
    frame: Frame,
    id: Id,
    /// An open listen waits by nature: nobody misses its answer, and it is no suspect when an owner dies.
    stream: bool,
    handshake: bool,
    discovery: bool,
    initialize: bool,
    state: State,
    deaths: u8,
    receipt: bool,
    acknowledged: bool,
    progress: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Sent,
    ToResend,
}

/// How a link ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkEnd {
    /// The owner drained: what it did not answer it gave back.
    Drained,
    /// It broke: what was in flight may be what killed the owner.
    Broke,
}

/// The ledger of one client.
#[derive(Debug, Default)]
pub struct Ledger {
    last_seq: u64,
    pending: BTreeMap<u64, Pending>,
    /// A request may wait to be sent.
    unsent: bool,
    bytes: usize,
    /// Frames by slot, each with the seq it had.
    retained: BTreeMap<String, (u64, Bytes)>,
    /// The slots of requests whose answer is still to come: a host names the slot just before it answers.
    kept_early: BTreeMap<u64, String>,
}

impl Ledger {
    /// Mints the next sequence number.
    pub fn mint(&mut self) -> u64 {
        self.last_seq += 1;
        self.last_seq
    }

    /// Whether no sequence number was minted yet.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.last_seq == 0
    }

    /// Enters a request; returns its seq.
    pub fn enter(&mut self, frame: &Frame, id: &Id) -> u64 {
        let seq = self.mint();
        let method = frame.method().unwrap_or_default();
        self.bytes += frame.raw().len();
        self.unsent = true;
        self.pending.insert(
            seq,
            Pending {
                frame: frame.clone(),
                id: id.clone(),
                stream: method == "subscriptions/listen",
                handshake: is_handshake(method),
                discovery: method == "server/discover",
                initialize: method == "initialize",
                state: State::Waiting,
                deaths: 0,
                receipt: false,
                acknowledged: false,
                progress: f64::NEG_INFINITY,
            },
        );
        seq
    }

    /// Whether a request may wait to be sent.
    #[must_use]
    pub fn has_unsent(&self) -> bool {
        self.unsent
    }

    /// The bytes of all requests without an answer.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a client waits for something; an open listen is no waiting.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.pending.values().any(|pending| !pending.stream)
    }

    /// Whether a request waits for an owner that is more than mere discovery.
    #[must_use]
    pub fn wants_owner(&self) -> bool {
        self.pending.values().any(|pending| !pending.discovery)
    }

    /// Requests of the opening (`initialize`, discovery, lists, ping) that have not been sent anywhere.
    #[must_use]
    pub fn unsent_handshakes(&self) -> Vec<(u64, Frame)> {
        let unsent = |pending: &Pending| pending.handshake && pending.state != State::Sent;
        let pending = self.pending.iter().filter(|(_, pending)| unsent(pending));
        pending
            .map(|(seq, pending)| (*seq, pending.frame.clone()))
            .collect()
    }

    /// Every line that a new link begins with: the replays in the order of their seqs, then what has no answer.
    pub fn opening(&mut self) -> Vec<Line> {
        let mut replays: Vec<(u64, Bytes)> = self.retained.values().cloned().collect();
        replays.sort_by_key(|(seq, _)| *seq);
        let mut lines: Vec<Line> = replays
            .into_iter()
            .map(|(seq, raw)| Line::new(seq, Verb::Replay, raw))
            .collect();
        lines.push(Line::bare(0, Verb::Replayed));
        lines.extend(self.unsent());
        lines
    }

    /// The lines for requests that wait or are to be resent, which count as sent from now on.
    pub fn unsent(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        self.unsent = false;
        for (seq, pending) in &mut self.pending {
            let verb = match pending.state {
                State::Waiting => Verb::Frame,
                State::ToResend => Verb::Resend,
                State::Sent => continue,
            };
            pending.state = State::Sent;
            lines.push(Line::carry(*seq, verb, pending.frame.clone()));
        }
        lines
    }

    /// The owner drains and took nothing past `last`: what is past it waits again, untouched.
    pub fn drained(&mut self, last: u64) {
        self.unsent = true;
        for (_, pending) in self.pending.range_mut(last.saturating_add(1)..) {
            if pending.state == State::Sent {
                pending.state = State::Waiting;
            }
        }
    }

    /// The link ended. Returns the answers for requests that two owners died of.
    pub fn lost(&mut self, end: LinkEnd) -> Vec<(u64, Bytes)> {
        // The next owner decides anew what is to be kept.
        self.kept_early.clear();
        self.unsent = true;
        let mut given_up = Vec::new();
        for (seq, pending) in &mut self.pending {
            if pending.state != State::Sent {
                continue;
            }
            pending.state = State::ToResend;
            pending.receipt = false;
            if end == LinkEnd::Broke && !pending.stream {
                pending.deaths += 1;
                if pending.deaths >= DEATHS {
                    given_up.push(*seq);
                }
            }
        }
        let failure = failure::DIED_TWICE.fill(&[]);
        given_up
            .into_iter()
            .filter_map(|seq| Some((seq, self.remove(seq)?)))
            .map(|(seq, pending)| {
                (
                    seq,
                    failure.answer(Some(&pending.id), Revision::NEWEST_LEGACY),
                )
            })
            .collect()
    }

    /// The answer to `seq` is here. Returns whether the client still waits for it, and whether the host wants an `ack`.
    pub fn answered(&mut self, seq: u64) -> Option<Answered> {
        let slot = self.kept_early.remove(&seq);
        let pending = self.remove(seq)?;
        let answered = Answered {
            receipt: if pending.receipt {
                Receipt::Wanted
            } else {
                Receipt::None
            },
            initialize: pending.initialize,
        };
        if let Some(slot) = slot {
            self.retain(slot, seq, pending.frame.raw().clone());
        }
        Some(answered)
    }

    /// The host asks to keep the frame of `seq` under `slot` when its answer is here.
    pub fn keep(&mut self, seq: u64, slot: String) {
        if self.pending.contains_key(&seq) {
            self.kept_early.insert(seq, slot);
        }
    }

    /// The host asks to empty a slot.
    pub fn forget(&mut self, slot: &str) {
        self.retained.remove(slot);
    }

    /// The host wants to know when the answer to `seq` has arrived.
    pub fn wants_receipt(&mut self, seq: u64) {
        if let Some(pending) = self.pending.get_mut(&seq) {
            pending.receipt = true;
        }
    }

    /// Whether `seq` has no answer yet.
    #[must_use]
    pub fn is_pending(&self, seq: u64) -> bool {
        self.pending.contains_key(&seq)
    }

    /// Whether this is the first acknowledgement of an open listen: a later owner's is for the bridge alone.
    pub fn acknowledged(&mut self, seq: u64) -> bool {
        let pending = self.pending.get_mut(&seq);
        pending.is_some_and(|pending| !std::mem::replace(&mut pending.acknowledged, true))
    }

    /// Whether progress of `seq` has come further than before; it never goes back, whoever reports it.
    pub fn progressed(&mut self, seq: u64, progress: f64) -> bool {
        let Some(pending) = self.pending.get_mut(&seq) else {
            return false;
        };
        let further = progress > pending.progress;
        if further {
            pending.progress = progress;
        }
        further
    }

    /// The client cancels the request that has this id: the newest one, if it used the id twice. Returns its seq.
    pub fn cancel(&mut self, id: &str) -> Option<u64> {
        let found = self
            .pending
            .iter()
            .rev()
            .find(|(_, pending)| pending.id.as_json() == id);
        let seq = found.map(|(seq, _)| *seq)?;
        self.kept_early.remove(&seq);
        self.remove(seq).map(|_| seq)
    }

    /// Gives up everything: one error for each request without an answer.
    pub fn abandon(&mut self, fault: Fault) -> Vec<(u64, Bytes)> {
        let failure = fault.fill(&[]);
        self.kept_early.clear();
        self.bytes = 0;
        let pending = std::mem::take(&mut self.pending).into_iter();
        pending
            .map(|(seq, pending)| {
                (
                    seq,
                    failure.answer(Some(&pending.id), Revision::NEWEST_LEGACY),
                )
            })
            .collect()
    }

    /// A later frame of a slot replaces an earlier one, never the other way round.
    fn retain(&mut self, slot: String, seq: u64, raw: Bytes) {
        let newer = self.retained.get(&slot).is_none_or(|(kept, _)| *kept < seq);
        if newer {
            self.retained.insert(slot, (seq, raw));
        }
    }

    fn remove(&mut self, seq: u64) -> Option<Pending> {
        let pending = self.pending.remove(&seq)?;
        self.bytes -= pending.frame.raw().len();
        Some(pending)
    }
}

/// What was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// Whether the host wants to know.
    pub receipt: Receipt,
    /// It was an `initialize`, whose answer names the revision.
    pub initialize: bool,
}

/// Whether the host wants an `ack`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    /// It does.
    Wanted,
    /// It does not.
    None,
}

/// Frames that the compiled registry can answer without an owner.
fn is_handshake(method: &str) -> bool {
    matches!(
        method,
        "initialize"
            | "ping"
            | "server/discover"
            | "tools/list"
            | "resources/list"
            | "resources/templates/list"
    )
}

#[cfg(test)]
mod tests;
