use bytes::Bytes;

use super::{Answered, Ledger, LinkEnd, Receipt};
use crate::floor::jsonrpc::Frame;
use crate::link::line::{Line, Verb};

fn enter(ledger: &mut Ledger, id: &str, method: &str) -> u64 {
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
    let frame = Frame::parse(Bytes::from(text)).unwrap();
    let id = frame.request_id().unwrap().clone();
    ledger.enter(&frame, &id)
}

fn verbs(lines: &[Line]) -> Vec<(u64, Verb)> {
    lines.iter().map(|line| (line.seq, line.verb)).collect()
}

fn plain(receipt: Receipt) -> Answered {
    Answered {
        receipt,
        initialize: false,
    }
}

/// Guards I6.
#[test]
fn a_new_owner_gets_the_soft_state_first_then_what_was_sent_then_what_was_not() {
    let mut ledger = Ledger::default();
    let hello = enter(&mut ledger, "1", "initialize");
    assert_eq!(
        verbs(&ledger.opening()),
        [(0, Verb::Replayed), (hello, Verb::Frame)]
    );
    ledger.keep(hello, "initialize".to_owned());
    assert!(
        ledger
            .answered(hello)
            .is_some_and(|answered| answered.initialize)
    );
    let sent = enter(&mut ledger, "2", "tools/call");
    assert_eq!(verbs(&ledger.unsent()), [(sent, Verb::Frame)]);
    assert!(ledger.lost(LinkEnd::Broke).is_empty());
    let new = enter(&mut ledger, "3", "tools/call");
    assert_eq!(
        verbs(&ledger.opening()),
        [
            (hello, Verb::Replay),
            (0, Verb::Replayed),
            (sent, Verb::Resend),
            (new, Verb::Frame)
        ]
    );
}

/// Guards I6.
#[test]
fn a_request_that_two_owners_die_of_is_answered_and_not_tried_again() {
    let mut ledger = Ledger::default();
    enter(&mut ledger, "1", "tools/call");
    let listen = enter(&mut ledger, "2", "subscriptions/listen");
    drop(ledger.opening());
    assert!(ledger.lost(LinkEnd::Broke).is_empty());
    drop(ledger.opening());
    let given_up = ledger.lost(LinkEnd::Broke);
    assert_eq!(given_up.len(), 1);
    assert!(String::from_utf8_lossy(&given_up[0].1).contains("\"id\":1,"));
    assert_eq!(verbs(&ledger.unsent()), [(listen, Verb::Resend)]);
}

/// Guards I6.
#[test]
fn a_drained_owner_gives_back_what_it_took_and_leaves_the_rest_new() {
    let mut ledger = Ledger::default();
    let taken = enter(&mut ledger, "1", "tools/call");
    let not_taken = enter(&mut ledger, "2", "tools/call");
    drop(ledger.opening());
    ledger.drained(taken);
    for _ in 0..5 {
        assert!(ledger.lost(LinkEnd::Drained).is_empty());
    }
    assert_eq!(
        verbs(&ledger.unsent()),
        [(taken, Verb::Resend), (not_taken, Verb::Frame)]
    );
}

/// Guards I6.
#[test]
fn a_cancelled_request_is_never_resent_and_its_late_answer_is_nobodys() {
    let mut ledger = Ledger::default();
    let seq = enter(&mut ledger, "\"a\"", "tools/call");
    drop(ledger.unsent());
    assert_eq!(ledger.cancel("\"b\""), None);
    assert_eq!(ledger.cancel("\"a\""), Some(seq));
    assert!(ledger.lost(LinkEnd::Broke).is_empty());
    assert!(ledger.unsent().is_empty());
    assert_eq!(ledger.answered(seq), None);
    assert_eq!(ledger.bytes(), 0);
}

#[test]
fn one_id_used_for_every_call_is_told_apart_by_seq() {
    let mut ledger = Ledger::default();
    let (first, second) = (
        enter(&mut ledger, "1", "ping"),
        enter(&mut ledger, "1", "ping"),
    );
    drop(ledger.unsent());
    assert_eq!(ledger.answered(second), Some(plain(Receipt::None)));
    assert!(ledger.is_pending(first));
}

#[test]
fn a_slot_holds_the_newest_frame_whatever_order_the_answers_take() {
    let mut ledger = Ledger::default();
    let (old, new) = (
        enter(&mut ledger, "1", "tools/call"),
        enter(&mut ledger, "2", "tools/call"),
    );
    for seq in [new, old] {
        ledger.keep(seq, "call/x/".to_owned());
        ledger.wants_receipt(seq);
        assert_eq!(ledger.answered(seq), Some(plain(Receipt::Wanted)));
    }
    assert_eq!(
        verbs(&ledger.opening()),
        [(new, Verb::Replay), (0, Verb::Replayed)]
    );
    ledger.forget("call/x/");
    assert_eq!(verbs(&ledger.opening()), [(0, Verb::Replayed)]);
}

#[test]
fn progress_never_goes_back() {
    let mut ledger = Ledger::default();
    let seq = enter(&mut ledger, "1", "tools/call");
    assert!(ledger.progressed(seq, 1.0));
    assert!(!ledger.progressed(seq, 0.5));
    assert!(!ledger.progressed(seq, 1.0));
    assert!(ledger.progressed(seq, 2.0));
    assert!(!ledger.progressed(seq + 1, 3.0));
}

/// Guards I6.
#[test]
fn a_slot_that_a_dead_owner_named_is_forgotten_with_it() {
    let mut ledger = Ledger::default();
    let seq = enter(&mut ledger, "1", "tools/call");
    drop(ledger.unsent());
    ledger.keep(seq, "call/x/".to_owned());
    ledger.wants_receipt(seq);
    drop(ledger.lost(LinkEnd::Broke));
    drop(ledger.unsent());
    assert_eq!(ledger.answered(seq), Some(plain(Receipt::None)));
    assert_eq!(verbs(&ledger.opening()), [(0, Verb::Replayed)]);
}

#[test]
fn an_open_listen_is_acknowledged_to_the_client_once() {
    let mut ledger = Ledger::default();
    let seq = enter(&mut ledger, "1", "subscriptions/listen");
    assert!(ledger.acknowledged(seq));
    drop(ledger.lost(LinkEnd::Broke));
    assert!(!ledger.acknowledged(seq));
    assert!(!ledger.acknowledged(seq + 1));
}
