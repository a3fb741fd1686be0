use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Board, Config, PEERS_URI};
use crate::board::{Draft, Owner, Place, StoreError};
use crate::floor::limits::{COLLISIONS, COLLISIONS_BYTES};
use crate::registry::{
    Caller, Changes, News, OnceKey, PeerId, Presence as _, Refusal, RefusalCode, Transport,
};

mod file;
mod presence;
mod shown;

fn run<T>(f: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(f)
}

fn board_of(root: &str, place: Place) -> Arc<Board> {
    let config = Config {
        place,
        owner: Owner {
            root: root.to_owned(),
            kernel: "kernel".to_owned(),
        },
        checkout: "checkout".to_owned(),
        branch: Arc::new(|| Some("main".to_owned())),
        advice: "Announce before you change files.",
    };
    Board::open(config, Changes::default())
}

fn board(path: &Path) -> Arc<Board> {
    board_of("root", Place::File(path.to_owned()))
}

fn memory() -> Arc<Board> {
    board_of("root", Place::Memory)
}

fn link(name: &str) -> Caller {
    caller(Some(PeerId::mint()), Transport::Stdio, name)
}

fn caller(peer: Option<PeerId>, transport: Transport, name: &str) -> Caller {
    Caller {
        peer,
        transport,
        name: Some(name.to_owned()),
        version: Some("1".to_owned()),
        hooked: false,
    }
}

fn draft(intent: &str, scope: &[&str]) -> Draft {
    Draft {
        intent: intent.to_owned(),
        scope: scope.iter().map(|entry| (*entry).to_owned()).collect(),
        ..Draft::default()
    }
}

fn key(seq: u64, digest: &str) -> OnceKey {
    OnceKey {
        scope: "peer".to_owned(),
        seq,
        digest: digest.to_owned(),
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("board.db")
    }
}
