use super::{draft, link, memory, run};
use crate::board::Draft;
use crate::registry::Presence as _;

/// Guards I15.
#[test]
fn so_many_peers_are_shown_and_the_rest_is_counted() {
    let board = memory();
    for number in 0..500 {
        board.enter(&link(&number.to_string()));
    }
    let view = board.peers(None);
    assert_eq!((view.peers.len(), view.omitted), (500, 0));
    board.enter(&link("one more"));
    let view = board.peers(None);
    assert_eq!((view.peers.len(), view.omitted), (500, 1));
}

/// Guards I15.
#[test]
fn so_much_of_what_was_announced_is_shown_and_the_rest_is_counted() {
    run(async {
        let board = memory();
        // Without paths nothing has to be compared.
        let intent = "𝄞".repeat(128);
        let most = 1024 * 1024 / intent.len();
        for _ in 0..most / 32 {
            let peer = link("peer");
            for label in 0..32 {
                let says = Draft {
                    label: label.to_string(),
                    ..draft(&intent, &[])
                };
                board.announce(&peer, says).await.unwrap();
            }
        }
        let shown = || {
            let view = board.peers(None);
            let shown = view.peers.iter().map(|peer| peer.announcements.len());
            (shown.sum::<usize>(), view.omitted)
        };
        assert_eq!(shown(), (most, 0));
        let one_more = draft("i", &[]);
        board.announce(&link("one more"), one_more).await.unwrap();
        assert_eq!(shown(), (most, 1));
    });
}

/// Guards I15.
#[test]
fn so_many_collisions_are_named_and_the_rest_is_counted() {
    run(async {
        let board = memory();
        let same = || draft("same", &["a"]);
        board.announce(&link("first"), same()).await.unwrap();
        for met in 1..=100 + 1 {
            let told = board.announce(&link("next"), same()).await.unwrap();
            let named = met.min(100);
            assert_eq!(told.collisions.len(), named);
            assert_eq!(told.omitted, met - named, "{met} are in the way");
        }
    });
}
