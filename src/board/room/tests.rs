use std::time::{Duration, Instant};

use super::{Entered, Room};
use crate::board::peer::{Announcement, Now, millis};
use crate::board::scope;
use crate::floor::limits::{BOARD_BYTES, COME_BACK, LABELS};
use crate::registry::{Caller, PeerId, RefusalCode, Transport};

fn start() -> Now {
    Now {
        at: Instant::now(),
        ms: 1_000_000_000_000,
    }
}

fn after(now: Now, step: Duration) -> Now {
    Now {
        at: now.at + step,
        ms: now.ms + millis(step),
    }
}

fn caller(transport: Transport) -> Caller {
    Caller {
        peer: Some(PeerId::mint()),
        transport,
        name: Some("client".to_owned()),
        version: None,
        hooked: false,
    }
}

fn says(intent: &str, entry: &str, seq: u64) -> Announcement {
    Announcement {
        intent: intent.to_owned(),
        scope: scope::parse(&[entry]).unwrap(),
        seq,
        since: seq,
        until: None,
    }
}

fn intents(room: &Room, id: PeerId) -> Vec<String> {
    room.get(id)
        .unwrap()
        .standing()
        .map(|(_, each)| each.intent.clone())
        .collect()
}

#[test]
fn a_broken_link_has_a_bounded_grace() {
    let (mut room, now) = (Room::default(), start());
    let caller = caller(Transport::Stdio);
    let id = caller.peer.unwrap();
    assert_eq!(room.enter(&caller, now), Entered::Changed);
    assert_eq!(room.enter(&caller, now), Entered::Known);
    assert!(room.detach(id, now));
    assert!(!room.detach(id, now), "no news");
    assert!(!room.get(id).unwrap().is_attached(now));
    let late = after(now, Duration::from_millis(4_999));
    assert_eq!(room.sweep(late).peers, []);
    assert_eq!(room.enter(&caller, late), Entered::Changed);
    assert!(room.detach(id, late));
    assert_eq!(room.sweep(after(late, COME_BACK)).peers, [id]);
    assert!(room.get(id).is_none());
}

/// Guards I11.
#[test]
fn an_http_peer_is_here_for_so_long_after_its_last_call() {
    let (mut room, now) = (Room::default(), start());
    let caller = caller(Transport::Http);
    let id = caller.peer.unwrap();
    room.enter(&caller, now);
    let is_here = |later: Duration| room.get(id).unwrap().is_attached(after(now, later));
    assert!(is_here(Duration::from_millis(599_999)));
    assert!(!is_here(Duration::from_mins(10)));
}

#[test]
fn an_older_announcement_never_overwrites_a_newer_one() {
    let (mut room, now) = (Room::default(), start());
    let caller = caller(Transport::Stdio);
    let id = caller.peer.unwrap();
    room.enter(&caller, now);
    assert_eq!(room.announce(id, "", says("second", "a", 2)), Ok(true));
    assert_eq!(room.announce(id, "", says("first", "a", 1)), Ok(false));
    assert_eq!(intents(&room, id), ["second"]);
    // A withdrawal is not undone by an older frame either.
    assert_eq!(room.announce(id, "", says("", "a", 3)), Ok(true));
    assert_eq!(room.announce(id, "", says("second", "a", 2)), Ok(false));
    assert!(intents(&room, id).is_empty());
}

#[test]
fn the_same_words_keep_the_time_since_when_they_stand() {
    let (mut room, now) = (Room::default(), start());
    let caller = caller(Transport::Stdio);
    let id = caller.peer.unwrap();
    room.enter(&caller, now);
    for seq in [1, 2] {
        room.announce(id, "", says("same", "a", seq)).unwrap();
    }
    assert_eq!(room.get(id).unwrap().announcements[""].since, 1);
    room.announce(id, "", says("same", "b", 3)).unwrap();
    assert_eq!(room.get(id).unwrap().announcements[""].since, 3);
}

/// Guards I15.
#[test]
fn labels_are_bounded_and_withdrawn_ones_make_place() {
    let (mut room, now) = (Room::default(), start());
    let caller = caller(Transport::Stdio);
    let id = caller.peer.unwrap();
    room.enter(&caller, now);
    for number in 0..LABELS {
        room.announce(id, &number.to_string(), says("x", "a", 1))
            .unwrap();
    }
    let refusal = room
        .announce(id, "one more", says("x", "a", 1))
        .unwrap_err();
    assert_eq!(refusal.code(), RefusalCode::InvalidInput);
    room.announce(id, "3", says("", "a", 2)).unwrap();
    room.announce(id, "one more", says("x", "a", 3)).unwrap();
    assert!(!room.get(id).unwrap().announcements.contains_key("3"));
}

#[test]
fn peers_without_a_link_expire_by_their_last_call() {
    let (mut room, now) = (Room::default(), start());
    let session = caller(Transport::Http);
    let named = caller(Transport::Api);
    room.enter(&session, now);
    room.enter(&named, now);
    let ten_minutes = after(now, Duration::from_mins(10));
    assert!(
        !room
            .get(session.peer.unwrap())
            .unwrap()
            .is_attached(ten_minutes)
    );
    assert_eq!(room.sweep(ten_minutes).peers, [named.peer.unwrap()]);
    assert_eq!(
        room.sweep(after(now, Duration::from_hours(24))).peers,
        [session.peer.unwrap()]
    );
}

#[test]
fn whoever_is_expected_is_given_up_in_the_end() {
    let (mut room, now) = (Room::default(), start());
    let (back, away) = (caller(Transport::Stdio), PeerId::mint());
    room.expect([back.peer.unwrap(), away], now);
    assert!(!room.is_complete());
    room.returning(&back, now);
    room.enter(&back, now);
    assert!(room.returned(back.peer.unwrap()));
    assert!(!room.is_complete());
    assert_eq!(room.sweep(after(now, COME_BACK)).peers, [away]);
    assert!(room.is_complete());
}

/// Guards I15.
#[test]
fn all_announcements_together_are_bounded() {
    let (mut room, now) = (Room::default(), start());
    let entries: Vec<String> = (0..64)
        .map(|n| format!("{n}/{}", "x".repeat(480)))
        .collect();
    let mut large = says("large", "a", 1);
    large.scope = scope::parse(&entries).unwrap();
    let refused = (0..10).find_map(|_| {
        let caller = caller(Transport::Stdio);
        room.enter(&caller, now);
        (0..LABELS).find_map(|label| {
            room.announce(caller.peer.unwrap(), &label.to_string(), large.clone())
                .err()
        })
    });
    assert_eq!(refused.unwrap().code(), RefusalCode::Unavailable);
    assert!(
        room.peers()
            .map(crate::board::peer::Peer::bytes)
            .sum::<usize>()
            <= BOARD_BYTES
    );
}
