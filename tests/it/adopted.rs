//! What an HTTP session is to the next owner: the client that opened it goes on, and says nothing twice.

use std::fs;
use std::path::PathBuf;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{BOUND, Client, Http, Reply, Repository, checks, frames, wait_for};

const PEERS: &str = "majordomus://peers";
const UPDATED: &str = "notifications/resources/updated";

/// Waits until the process of `client` is the owner.
#[track_caller]
fn takes_over(repository: &Repository, client: &Client) {
    let what = format!("{} is the owner", client.name());
    repository.ready_when(&what, |lease| lease["pid"] == client.pid());
}

/// The next message of a stream, which must be of `method`.
#[track_caller]
fn told(stream: &mut Reply, method: &str) -> Value {
    let message = stream.event().expect("the stream goes on");
    assert_eq!(message["method"], method, "{message}");
    message
}

/// Calls a tool of a session.
#[track_caller]
fn call(session: &Http, tool: &str, arguments: &Value) -> Reply {
    session.ask("tools/call", &frames::call(tool, arguments))
}

/// Guards I6.
#[test]
fn a_session_keeps_its_name_abilities_and_log_level_when_the_owner_dies() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let http = repository.http();
    let able = http.session(
        "able",
        &json!({ "sampling": {}, "roots": { "listChanged": true } }),
    );
    let unable = http.session("unable", &json!({}));
    able.ask("logging/setLevel", &json!({ "level": "error" }));
    owner.kill();
    takes_over(&repository, &bridge);

    let quiet = call(&able, "test_tool_with_logging", &json!({}));
    let form = quiet.header("content-type");
    assert_eq!(form, Some("application/json"), "it wants errors alone");
    let mut stream = call(&unable, "test_tool_with_logging", &json!({}));
    told(&mut stream, "notifications/message");

    let mut stream = call(&able, "test_sampling", &json!({ "prompt": "a question" }));
    let asked = told(&mut stream, "sampling/createMessage");
    let said = json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "an answer" } });
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": said });
    assert_eq!(able.post("/mcp", &answer).status, 202);
    checks::succeeded(&stream.event().expect("the answer"));
    for (session, tool) in [(&able, "test_elicitation"), (&unable, "test_sampling")] {
        let arguments = json!({ "prompt": "a question", "message": "a question" });
        let key = if tool == "test_sampling" {
            "prompt"
        } else {
            "message"
        };
        let refused = call(session, tool, &json!({ key: arguments[key] })).json();
        assert!(checks::failed(&refused), "{refused}");
    }

    let list = call(&able, "majordomus_peers", &json!({})).json();
    let list = &list["result"]["structuredContent"];
    for name in ["able", "unable"] {
        let peer = checks::peer(list, name).expect("it is there under its name");
        assert_eq!(peer["version"], "1.2.3", "{peer}");
        assert_eq!(peer["attached"], true, "{peer}");
    }
}

/// Guards I6.
#[test]
fn a_session_hears_of_what_it_subscribed_to_when_the_owner_dies() {
    let repository = Repository::new();
    let mut owners = vec![
        repository.attached("first"),
        repository.attached("second"),
        repository.attached("third"),
    ];
    let http = repository.http();
    let [listens, calls, not_any_more] =
        ["listens", "calls", "not-any-more"].map(|name| http.session(name, &json!({})));
    for session in [&listens, &calls, &not_any_more] {
        session.ask("resources/subscribe", &json!({ "uri": PEERS }));
    }
    not_any_more.ask("resources/unsubscribe", &json!({ "uri": PEERS }));
    while owners.len() > 1 {
        let pid = repository.owner_pid();
        let at = owners.iter().position(|owner| Some(owner.pid()) == pid);
        owners.swap_remove(at.expect("one of them owns")).kill();
        repository.ready_when("the next owner", |lease| {
            owners.iter().any(|next| lease["pid"] == next.pid())
        });
        let announce = |intent: &str| {
            owners[0].tool(
                "majordomus_announce",
                &json!({ "intent": intent, "scope": ["a"] }),
            );
        };
        // The first word to this owner is the stream itself for one of them, a call for the other.
        calls.ask("ping", &json!({}));
        for session in [&listens, &calls] {
            let mut stream = session.get("/mcp").expects(200);
            let missed = told(&mut stream, UPDATED);
            assert_eq!(missed["params"]["uri"], PEERS, "what it may have missed");
            let mut lists = 0;
            wait_for("news behind what was missed", BOUND, || {
                announce(&format!("news {lists}"));
                let message = stream.event().expect("the stream goes on");
                lists += 1;
                message["method"] == UPDATED
            });
        }
        let mut stream = not_any_more.get("/mcp").expects(200);
        announce("not for everybody");
        owners[0].call("test_trigger_tool_change", &json!({}));
        owners[0].call("test_trigger_prompt_change", &json!({}));
        let mut heard = Vec::new();
        while heard
            .last()
            .is_none_or(|method| method != "notifications/prompts/list_changed")
        {
            let message = stream.event().expect("the stream goes on");
            heard.push(message["method"].as_str().unwrap_or_default().to_owned());
        }
        assert!(!heard.iter().any(|method| method == UPDATED), "{heard:?}");
    }
}

/// Guards I6: also one that a later owner had taken over before it ended.
#[test]
fn a_session_that_was_ended_is_unknown_to_every_later_owner() {
    let repository = Repository::new();
    let mut owners = vec![
        repository.attached("first"),
        repository.attached("second"),
        repository.attached("third"),
    ];
    let http = repository.http();
    let early = http.session("early", &json!({ "roots": {} }));
    let late = http.session("late", &json!({ "roots": {} }));
    for session in [&early, &late] {
        session.ask("resources/subscribe", &json!({ "uri": PEERS }));
    }
    let gone = |session: &Http| {
        let ping = frames::request(&json!(1), "ping", &json!({}));
        for status in [
            session.post("/mcp", &ping).status,
            session.get("/mcp").status,
            session.send("DELETE", "/mcp").status,
        ] {
            assert_eq!(status, 404);
        }
    };
    assert_eq!(early.send("DELETE", "/mcp").status, 204);
    gone(&early);
    while owners.len() > 1 {
        let pid = repository.owner_pid();
        let at = owners.iter().position(|owner| Some(owner.pid()) == pid);
        owners.swap_remove(at.expect("one of them owns")).kill();
        repository.ready_when("the next owner", |lease| {
            owners.iter().any(|next| lease["pid"] == next.pid())
        });
        gone(&early);
        if owners.len() == 2 {
            late.ask("ping", &json!({}));
            assert_eq!(late.send("DELETE", "/mcp").status, 204);
        }
        gone(&late);
    }
}

/// One session that has ended, one that has not, and the next owner, which finds the board's files changed by `meanwhile`.
fn ended_and_open(meanwhile: impl Fn(&[PathBuf; 3])) -> (Repository, Client, [Http; 2]) {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let next = repository.attached("next");
    let http = repository.http();
    let sessions = ["ended", "open"].map(|name| http.session(name, &json!({})));
    assert_eq!(sessions[0].send("DELETE", "/mcp").status, 204);
    // Frozen, so that the files are changed before it looks at them.
    next.signal(Signal::SIGSTOP);
    owner.kill();
    meanwhile(&board_files(&repository));
    next.signal(Signal::SIGCONT);
    takes_over(&repository, &next);
    (repository, next, sessions)
}

fn board_files(repository: &Repository) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|part| repository.shared().join(format!("board.db{part}")))
}

fn ping(session: &Http) -> Reply {
    session.post("/mcp", &frames::request(&json!(1), "ping", &json!({})))
}

/// Guards I6: whether a session has ended cannot be read, so it is neither ended nor taken over.
#[test]
fn a_session_is_taken_over_only_where_its_end_can_be_ruled_out() {
    let aside = |path: &PathBuf| path.with_extension("aside");
    let (repository, next, [ended, open]) = ended_and_open(|[board, _, _]| {
        fs::rename(board, aside(board)).unwrap();
        fs::create_dir(board).unwrap();
    });
    for session in [&ended, &open] {
        let mut refused = ping(session).expects(503);
        assert_eq!(refused.header("retry-after"), Some("1"));
        let error = refused.json()["error"].clone();
        let message = error["message"].as_str().unwrap_or_default();
        assert!(
            message.starts_with("nobody can tell whether the session has ended: "),
            "{error}"
        );
        assert_eq!(error["data"]["code"], "unavailable", "{error}");
        assert!(error["data"]["hint"].is_string(), "{error}");
        assert_eq!(session.get("/mcp").status, 503);
        assert_eq!(session.send("DELETE", "/mcp").status, 503);
    }
    next.tool("conformance_echo", &json!({ "value": 1 }));

    let [board, _, _] = board_files(&repository);
    fs::remove_dir(&board).unwrap();
    fs::rename(aside(&board), &board).unwrap();
    assert_eq!(ping(&ended).status, 404);
    assert_eq!(ping(&open).status, 200);
}

/// Guards I6: what the file knew is lost, and a session of that time may have ended.
#[test]
fn a_session_that_is_older_than_the_boards_file_has_ended() {
    let damaged: fn(&[PathBuf; 3]) = |[board, log, index]| {
        fs::write(board, "garbage ".repeat(1000)).unwrap();
        for file in [log, index] {
            fs::remove_file(file).unwrap();
        }
    };
    let removed: fn(&[PathBuf; 3]) = |files| {
        for file in files {
            fs::remove_file(file).unwrap();
        }
    };
    // What a newer program wrote is never read by this one, so its clients need not wait for that.
    let newer: fn(&[PathBuf; 3]) = |[board, _, _]| {
        let file = rusqlite::Connection::open(board).unwrap();
        file.pragma_update(None, "user_version", 99).unwrap();
    };
    for meanwhile in [damaged, removed, newer] {
        let (repository, _next, sessions) = ended_and_open(meanwhile);
        for session in &sessions {
            assert_eq!(ping(session).status, 404);
        }
        let another = repository.http().session("another", &json!({}));
        assert_eq!(ping(&another).status, 200);
    }
}

/// A session is begun and ended at a living owner whose board's files were changed by `meanwhile`; then the owner dies.
#[track_caller]
fn ends_over(meanwhile: impl Fn(&Repository, &[PathBuf; 3])) {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let next = repository.attached("next");
    let http = repository.http();
    // What is in the file by now would be enough for a session of this time.
    assert_eq!(
        http.session("before", &json!({}))
            .send("DELETE", "/mcp")
            .status,
        204
    );
    let [board, _, _] = &board_files(&repository);
    let file = rusqlite::Connection::open(board).unwrap();
    let folded = file.query_row("PRAGMA wal_checkpoint(FULL)", [], |row| {
        row.get::<_, i64>(0)
    });
    assert_eq!(folded, Ok(0));
    file.set_db_config(
        rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
        true,
    )
    .unwrap();
    drop(file);
    // Frozen, so that somebody else is the first to come upon it.
    owner.signal(Signal::SIGSTOP);
    meanwhile(&repository, &board_files(&repository));
    owner.signal(Signal::SIGCONT);
    let session = http.session("ended", &json!({}));
    assert_eq!(session.send("DELETE", "/mcp").status, 204);
    owner.kill();
    takes_over(&repository, &next);
    assert_eq!(ping(&session).status, 404);
}

/// Guards I6: the file is shared, so the owner of another checkout may be the one that makes a new one.
#[test]
fn a_session_stays_ended_although_another_owner_had_made_a_new_file() {
    ends_over(|repository, files| {
        for file in files {
            fs::remove_file(file).unwrap();
        }
        let worktree = repository.worktree("beside");
        let beside = worktree.attached("beside");
        let [board, _, _] = files;
        wait_for("a new file", BOUND, || board.exists());
        drop(worktree.http().session("beside", &json!({})));
        drop(beside);
    });
}

/// Guards I6.
#[test]
fn a_session_stays_ended_although_the_files_log_was_removed_before() {
    ends_over(|_, [_, log, _]| fs::remove_file(log).unwrap());
}
