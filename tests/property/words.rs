//! Other people's words: whatever they write, they stay one bounded line of data for everybody else.

use std::sync::Arc;

use majordomus::board::{Board, Config, Draft, Owner, Place};
use majordomus::registry::{Caller, Changes, PeerId, Presence as _, Transport};
use proptest::prelude::*;

fn board() -> Arc<Board> {
    let config = Config {
        place: Place::Memory,
        owner: Owner {
            root: "root".to_owned(),
            kernel: "kernel".to_owned(),
        },
        checkout: "checkout".to_owned(),
        branch: Arc::new(|| None),
        advice: "Announce before you change files.",
    };
    Board::open(config, Changes::default())
}

fn caller(name: String) -> Caller {
    Caller {
        peer: Some(PeerId::mint()),
        transport: Transport::Stdio,
        name: Some(name),
        version: None,
        hooked: false,
    }
}

proptest! {
    /// Guards I15.
    #[test]
    fn a_greeting_is_bounded_and_holds_no_foreign_line(
        peers in prop::collection::vec((".{0,64}", ".{0,200}", "[a-z*/\\PC]{0,40}"), 0..9)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (board, me) = (board(), caller("me".to_owned()));
        let count = peers.len();
        runtime.block_on(async {
            for (name, intent, entry) in peers {
                let peer = caller(name);
                board.enter(&peer);
                // What cannot be announced is refused, which is fine here.
                drop(board.announce(&peer, Draft { intent, scope: vec![entry], ..Draft::default() }).await);
            }
        });
        let text = board.greeting(&me, Some("http://127.0.0.1:25000"));
        prop_assert!(text.len() < 800, "{} bytes: {}", text.len(), text);
        let lines = 1 + count.min(5) + usize::from(count > 5);
        prop_assert_eq!(text.lines().count(), lines, "{}", text);
        prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", text);
        // Quotation marks only come in pairs: nobody's words can end their own quotation.
        for line in text.lines().skip(1) {
            prop_assert_eq!(line.matches('"').count() % 2, 0, "{}", line);
        }
    }
}
