//! What reaches the file, and what the next owner makes of it.

use super::*;
use crate::board::KeptSession;
use crate::floor::limits::SESSION_ADOPTION;

/// Guards I6: effect and key are one.
#[test]
fn a_key_runs_its_effect_once_across_owners() {
    let folder = Folder::new();
    let runs = Arc::new(AtomicU32::new(0));
    let effect = |runs: &Arc<AtomicU32>| {
        let runs = Arc::clone(runs);
        move |effect: &crate::board::Effect<'_>| {
            runs.fetch_add(1, Ordering::SeqCst);
            let line = effect.append_line("file", "text")?;
            Ok(json!({"line": line}))
        }
    };
    let lines = |board: Arc<Board>| async move {
        let read = board
            .once(None, |effect| Ok(json!(effect.lines_after("file", 0)?)))
            .await
            .unwrap();
        read.as_array().map_or(0, Vec::len)
    };
    run(async {
        let first = board(&folder.file());
        first.epoch(1).await;
        assert_eq!(
            first.once(Some(key(1, "d")), effect(&runs)).await,
            Ok(json!({"line": 1}))
        );
        let second = board(&folder.file());
        second.epoch(1).await;
        assert_eq!(
            second.once(Some(key(1, "d")), effect(&runs)).await,
            Ok(json!({"line": 1}))
        );
        assert_eq!(runs.load(Ordering::SeqCst), 1);
        let other = second
            .once(Some(key(1, "other")), effect(&runs))
            .await
            .unwrap_err();
        assert_eq!(other.code(), RefusalCode::Conflict);
        // What is refused leaves neither effect nor key.
        let refused = second
            .once(Some(key(2, "d")), |effect| {
                effect.append_line("file", "never")?;
                Err(StoreError::Refused(Refusal::new(
                    RefusalCode::NotFound,
                    "no",
                )))
            })
            .await;
        assert_eq!(refused.unwrap_err().code(), RefusalCode::NotFound);
        assert_eq!(lines(Arc::clone(&second)).await, 1);
        second.acknowledge("peer", 1);
        assert_eq!(
            second.once(Some(key(1, "new")), effect(&runs)).await,
            Ok(json!({"line": 2}))
        );
    });
}

/// Guards I5: the fence is checked inside each write.
#[test]
fn a_superseded_owner_writes_nothing_and_says_so() {
    let folder = Folder::new();
    run(async {
        let first = board(&folder.file());
        assert_eq!(first.epoch(4).await, 4);
        let other_root = board_of("elsewhere", Place::File(folder.file()));
        assert_eq!(other_root.epoch(0).await, 1);
        let second = board(&folder.file());
        assert_eq!(second.epoch(2).await, 5);
        let late = first
            .once(Some(key(1, "d")), |effect| {
                Ok(json!(effect.append_line("file", "late")?))
            })
            .await;
        let refusal = late.unwrap_err();
        assert_eq!(refusal.code(), RefusalCode::Unavailable);
        assert!(
            refusal.message.contains("superseded by epoch 5"),
            "{refusal}"
        );
        let session = caller(Some(PeerId::mint()), Transport::Http, "session");
        assert!(
            first
                .announce(&session, draft("late", &["a"]))
                .await
                .is_err()
        );
        for owner in [second, other_root] {
            let empty = owner
                .once(None, |effect| Ok(json!(effect.lines_after("file", 0)?)))
                .await;
            assert_eq!(empty, Ok(json!([])));
        }
    });
}

#[test]
fn a_panicking_effect_stops_nothing() {
    run(async {
        let board = memory();
        let refusal = board.once(None, |_| panic!("inside")).await.unwrap_err();
        assert_eq!(refusal.code(), RefusalCode::Internal);
        assert_eq!(board.once(None, |_| Ok(Value::Null)).await, Ok(Value::Null));
    });
}

#[test]
fn a_file_that_is_no_database_is_kept_aside() {
    let folder = Folder::new();
    fs::write(folder.file(), "garbage ".repeat(1000)).unwrap();
    run(async {
        let board = board(&folder.file());
        assert_eq!(board.epoch(7).await, 7);
        assert!(
            board
                .once(Some(key(1, "d")), |_| Ok(Value::Null))
                .await
                .is_ok()
        );
    });
    let kept = fs::read_dir(folder.0.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains(".damaged-"))
        .unwrap();
    assert_eq!(fs::read_to_string(kept).unwrap(), "garbage ".repeat(1000));
    let mode = fs::metadata(folder.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_newer_file_is_left_alone() {
    let folder = Folder::new();
    let newer = rusqlite::Connection::open(folder.file()).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    run(async {
        let board = board(&folder.file());
        assert_eq!(board.epoch(3).await, 3);
        let refusal = board
            .once(Some(key(1, "d")), |_| Ok(Value::Null))
            .await
            .unwrap_err();
        assert_eq!(refusal.code(), RefusalCode::Unavailable);
        assert!(refusal.message.contains("version 99"), "{refusal}");
    });
}

/// A disk that fails costs durable writes and nothing else.
#[test]
fn without_a_file_links_are_served_from_memory() {
    let folder = Folder::new();
    // A folder in the file's place: no user, root neither, can open it.
    fs::create_dir(folder.file()).unwrap();
    run(async {
        let board = board(&folder.file());
        assert_eq!(board.epoch(3).await, 3);
        let one = link("one");
        board.enter(&one);
        board.announce(&one, draft("works", &["a"])).await.unwrap();
        assert_eq!(board.peers(None).peers.len(), 1);
        let direct = caller(None, Transport::Http, "direct");
        let refusal = board
            .announce(&direct, draft("lost", &["a"]))
            .await
            .unwrap_err();
        assert_eq!(refusal.code(), RefusalCode::Unavailable);
        assert!(refusal.hint.is_some());
        assert!(
            !refusal
                .message
                .contains(&folder.0.path().display().to_string()),
            "{refusal}"
        );
        assert_eq!(board.peers(None).peers.len(), 1);
        // The disk is mended: the next write works.
        fs::remove_dir(folder.file()).unwrap();
        board
            .announce(&direct, draft("kept", &["a"]))
            .await
            .unwrap();
        assert_eq!(board.peers(None).peers.len(), 2);
    });
}

/// Guards I5: a folder that is removed under a live owner.
#[test]
fn a_file_that_is_removed_comes_back_with_its_epoch() {
    let folder = Folder::new();
    run(async {
        let board = board(&folder.file());
        assert_eq!(board.epoch(9).await, 9);
        for suffix in ["", "-wal", "-shm"] {
            drop(fs::remove_file(
                folder.file().with_file_name(format!("board.db{suffix}")),
            ));
        }
        assert!(
            board
                .once(Some(key(1, "d")), |_| Ok(Value::Null))
                .await
                .is_ok()
        );
        assert!(folder.file().exists());
        assert_eq!(crate::board::Board::epoch(&board, 0).await, 10);
    });
}

#[test]
fn what_sessions_told_and_that_they_ended_is_there_for_the_next_owner() {
    let folder = Folder::new();
    run(async {
        let first = board(&folder.file());
        first.epoch(1).await;
        drop(first.end_session("gone", u64::MAX / 4));
        first.end_session("expired", 1).await.unwrap();
        first.keep_session("gone", "a call that ended late".to_owned(), u64::MAX / 4);
        first.keep_session("open", "first".to_owned(), u64::MAX / 4);
        first.keep_session("open", "second".to_owned(), u64::MAX / 4);
        first.keep_session("old", "long ago".to_owned(), 1);
        first.kept().await;
        let second = board(&folder.file());
        second.epoch(1).await;
        for (session, kept) in [
            ("gone", KeptSession::Ended),
            ("expired", KeptSession::Unknown),
            ("open", KeptSession::Told("second".to_owned())),
            ("old", KeptSession::Unknown),
            ("never", KeptSession::Unknown),
        ] {
            assert_eq!(
                second.kept_session(session, u64::MAX / 4).await.unwrap(),
                kept,
                "{session}"
            );
        }
        assert_eq!(
            second.kept_session("never", 1).await.unwrap(),
            KeptSession::Lost
        );
        let told = second.kept_session("open", 1).await.unwrap();
        assert_eq!(told, KeptSession::Told("second".to_owned()));
    });
}

/// Guards I6: a start under a clock that is ahead forgets the end of a session, and the clock is set back then.
#[test]
fn a_session_that_was_forgotten_too_early_stays_ended() {
    let folder = Folder::new();
    run(async {
        let first = board(&folder.file());
        first.epoch(1).await;
        let until = crate::floor::clock::now_ms() - 1;
        let began = until - u64::try_from(SESSION_ADOPTION.as_millis()).unwrap();
        first.end_session("gone", until).await.unwrap();
        // As if the file had been made long ago.
        let file = rusqlite::Connection::open(folder.file()).unwrap();
        file.execute("UPDATE made SET at = 0", []).unwrap();
        let second = board(&folder.file());
        second.epoch(1).await;
        let kept = second.kept_session("gone", began).await.unwrap();
        assert_eq!(kept, KeptSession::Lost);
        let kept = second.kept_session("later", began + 1).await.unwrap();
        assert_eq!(kept, KeptSession::Unknown);
    });
}

/// Another program holds the file for long: one waits for it, and whoever stands behind is told the same.
#[test]
fn a_file_that_stays_busy_is_waited_for_once() {
    let folder = Folder::new();
    run(async {
        let board = board(&folder.file());
        board.epoch(1).await;
        let other = rusqlite::Connection::open(folder.file()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let ends = (0..200).map(|number| board.end_session(&number.to_string(), u64::MAX / 4));
        let all = futures_util::future::join_all(ends.collect::<Vec<_>>());
        // Half a second each would be more than three times as long.
        let bound = std::time::Duration::from_secs(30);
        let said = tokio::time::timeout(bound, all)
            .await
            .expect("all are told");
        assert!(said.iter().all(Result::is_err));
        other.execute_batch("COMMIT").unwrap();
        board.end_session("after", u64::MAX / 4).await.unwrap();
    });
}

/// Guards I15.
#[test]
fn a_key_is_known_to_the_next_owner_for_a_day() {
    let folder = Folder::new();
    run(async {
        let first = board(&folder.file());
        first.epoch(1).await;
        for seq in [1, 2] {
            let said = first
                .once(Some(key(seq, "d")), |_| Ok(json!("first")))
                .await;
            assert_eq!(said, Ok(json!("first")));
        }
        let file = rusqlite::Connection::open(folder.file()).unwrap();
        let day = 24 * 60 * 60 * 1000;
        for (seq, age) in [(1, day - 60_000), (2, day + 60_000)] {
            let older = "UPDATE once SET at = at - ?1 WHERE seq = ?2";
            assert_eq!(file.execute(older, [age, seq]).unwrap(), 1);
        }
        let second = board(&folder.file());
        second.epoch(1).await;
        for (seq, known) in [(1, "first"), (2, "second")] {
            let said = second
                .once(Some(key(seq, "d")), |_| Ok(json!("second")))
                .await;
            assert_eq!(said, Ok(json!(known)));
        }
    });
}

#[test]
fn since_when_an_announcement_stands_outlives_its_owner() {
    let folder = Folder::new();
    run(async {
        let one = link("one");
        let says = |seq| Draft {
            seq: Some(seq),
            ..draft("same", &["a"])
        };
        let since = |board: &Board| board.peers(None).peers[0].announcements[0].since.clone();
        let first = board(&folder.file());
        first.epoch(1).await;
        first.enter(&one);
        first.announce(&one, says(7)).await.unwrap();
        let stood = since(&first);
        first.kept().await;
        let later = Instant::now() + Duration::from_millis(3);
        while Instant::now() < later {
            tokio::task::yield_now().await;
        }
        let second = board(&folder.file());
        second.epoch(1).await;
        second.enter(&one);
        second.announce(&one, says(7)).await.unwrap();
        assert_eq!(since(&second), stood);
        let third = board(&folder.file());
        third.epoch(1).await;
        third.enter(&one);
        third.announce(&one, says(8)).await.unwrap();
        assert_ne!(
            since(&third),
            stood,
            "another frame is another announcement"
        );
    });
}
