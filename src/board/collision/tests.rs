//! Who meets whom, against comparing every pair; and what a crowd costs.

use std::time::Instant;

use super::{Claim, Found, claims};
use crate::board::peer::{Announcement, Hold, Now, Peer};
use crate::board::scope;
use crate::floor::limits::{COLLISIONS, COLLISIONS_BYTES, COMPARISONS};
use crate::registry::{Caller, PeerId, Transport};

fn peer(scope: &[String]) -> Peer {
    let id = PeerId::mint();
    let caller = Caller {
        peer: Some(id),
        transport: Transport::Stdio,
        name: None,
        version: None,
        hooked: false,
    };
    let now = Now {
        at: Instant::now(),
        ms: 1,
    };
    let mut peer = Peer::new(id, &caller, Hold::Link { broken: None }, now);
    let announcement = Announcement {
        intent: "x".repeat(200),
        scope: scope::parse(scope).unwrap(),
        seq: 1,
        since: 1,
        until: None,
    };
    peer.announcements.insert(String::new(), announcement);
    peer
}

fn texts(found: &Found<'_>) -> Vec<[String; 2]> {
    let pair = |(one, other): (&str, &str)| {
        let mut pair = [one.to_owned(), other.to_owned()];
        pair.sort();
        pair
    };
    let mut texts: Vec<_> = found.meetings.iter().map(|m| pair(m.entries)).collect();
    texts.sort();
    texts
}

#[test]
fn whoever_meets_is_found_without_a_look_at_every_pair() {
    let parts = ["a", "ab", "*", "a*", "[a]", ".", "**", "b"];
    for seed in 0..500_usize {
        let part = |n: usize| parts[(seed * 7 + n * 13 + seed * n) % parts.len()];
        let scopes = (0..6).map(|n| {
            let entry = |n| format!("{}/{}", part(n), part(n + 3));
            vec![entry(n), entry(n + seed), part(n * seed).to_owned()]
        });
        let peers: Vec<Peer> = scopes.map(|scope| peer(&scope)).collect();
        let claims = claims(peers.iter());
        // Each with those that come behind it, which compares every pair.
        let mut expected = Vec::new();
        for (index, one) in claims.iter().enumerate() {
            let found = Found::with(*one, &claims[index + 1..]);
            assert_eq!(found.omitted, 0, "too many for this test");
            expected.extend(texts(&found));
        }
        expected.sort();
        let found = Found::among(&claims);
        let named = texts(&found);
        assert_eq!(named.len() + found.omitted, expected.len(), "{expected:?}");
        if found.omitted == 0 {
            assert_eq!(named, expected);
        }
    }
}

/// Guards I15.
#[test]
fn what_is_named_is_bounded_in_number_and_size_and_the_rest_is_counted() {
    for length in [1, 300] {
        let entry = "x".repeat(length);
        let peers: Vec<Peer> = (0..150)
            .map(|_| peer(std::slice::from_ref(&entry)))
            .collect();
        let claims = claims(peers.iter());
        let one = *claims.first().unwrap();
        for (found, all) in [
            (Found::with(one, &claims), 149),
            (Found::among(&claims), 150 * 149 / 2),
        ] {
            let named = found.meetings.len();
            let fits = COLLISIONS.min(COLLISIONS_BYTES / (2 * length + 200));
            assert_eq!((named, named + found.omitted), (fits, all));
        }
    }
}

/// Guards I15.
#[test]
fn past_the_effort_whatever_could_meet_is_counted() {
    let crowd = 1500;
    let peers: Vec<Peer> = (0..crowd).map(|_| peer(&["src/**".to_owned()])).collect();
    let claims: Vec<Claim<'_>> = claims(peers.iter());
    let all = crowd * (crowd - 1) / 2;
    assert!(all > COMPARISONS);
    let found = Found::among(&claims);
    assert_eq!(found.meetings.len() + found.omitted, all);
}
