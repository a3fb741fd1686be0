//! What opens a store that has no file.

use std::sync::Arc;

use serde_json::json;

use super::{Owner, Place};
use crate::board::announce::Draft;
use crate::board::live::{Board, Config};
use crate::registry::{Caller, Changes, OnceKey, PeerId, Presence as _, Transport};

fn in_memory() -> Arc<Board> {
    let config = Config {
        place: Place::Memory,
        owner: Owner {
            root: "root".to_owned(),
            kernel: "kernel".to_owned(),
        },
        checkout: "checkout".to_owned(),
        branch: Arc::new(|| None),
        advice: "",
    };
    Board::open(config, Changes::default())
}

/// Guards I8.
#[tokio::test]
async fn without_a_file_no_database_is_opened_for_what_the_room_holds() {
    let board = in_memory();
    let peer = PeerId(uuid::Uuid::now_v7());
    let caller = Caller {
        peer: Some(peer),
        transport: Transport::Stdio,
        name: Some("client".to_owned()),
        version: None,
        hooked: false,
    };
    board.own(peer);
    board.enter(&caller);
    let draft = Draft {
        intent: "work".to_owned(),
        ..Draft::default()
    };
    board.announce(&caller, draft).await.unwrap();
    board.seen(peer);
    assert_eq!(board.peers(Some(peer)).peers.len(), 1);
    board.leave(peer);
    assert!(board.store.is_untouched());

    let key = OnceKey {
        scope: "scope".to_owned(),
        seq: 1,
        digest: "digest".to_owned(),
    };
    let first = board.once(Some(key.clone()), |_| Ok(json!(1))).await;
    let again = board.once(Some(key), |_| Ok(json!(2))).await;
    assert_eq!((first, again), (Ok(json!(1)), Ok(json!(1))));
    assert!(!board.store.is_untouched());
}
