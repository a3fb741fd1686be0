//! Bad input: a clear error on that request, memory bounded, everyone else served.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::launch::Streams;
use crate::support::{BOUND, Client, Repository, checks, frames, wait_for, wait_some};

/// What one process may take while it is abused; a frame of 16 MiB may be held more than once.
const MEMORY_KIB: u64 = 192 * 1024;

/// An owner, a bridge and a witness; the claim is made about the first two, and after each the witness is served.
fn both(claim: impl Fn(&Client)) {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let witness = repository.attached("witness");
    for client in [&owner, &bridge] {
        claim(client);
        client.result("ping", &json!({}));
        checks::one_board(&[&witness, &owner, &bridge]);
        for process in [&owner, &bridge] {
            if let Some(memory) = process.resident_kib() {
                assert!(memory < MEMORY_KIB, "{} takes {memory} KiB", process.name());
            }
        }
    }
}

/// The error code of the `count`th answer that has no usable id.
#[track_caller]
fn error_without_id(client: &Client, count: usize) -> Value {
    let answers = client
        .inbox()
        .answers(&Value::Null, count, BOUND)
        .unwrap_or_else(|| panic!("{} was not told what was wrong", client.name()));
    answers[count - 1]["error"]["code"].clone()
}

/// Guards I15.
#[test]
fn a_line_of_100_megabytes_is_an_error_and_is_not_kept() {
    both(|client| {
        let before = client.inbox().count(&Value::Null);
        let start = r#"{"jsonrpc":"2.0","id":"huge","method":"tools/call","params":{"name":"conformance_echo","arguments":{"value":""#;
        client.write(start.as_bytes()).unwrap();
        let part = vec![b'x'; 1024 * 1024];
        for _ in 0..100 {
            client.write(&part).unwrap();
        }
        client.write(b"\"}}}\n").unwrap();
        let code = wait_some("an error for the huge line", BOUND, || {
            let inbox = client.inbox();
            inbox
                .answer(&json!("huge"), Duration::ZERO)
                .map(|(_, answer)| answer)
                .or_else(|| {
                    inbox
                        .answers(&Value::Null, before + 1, Duration::ZERO)?
                        .pop()
                })
        });
        assert_eq!(code["error"]["code"], -32600, "{code}");
    });
}

/// Guards I15.
#[test]
fn a_line_just_below_the_limit_is_served() {
    both(|client| {
        let id = client.next_id();
        let mut params = frames::call("conformance_safe", &json!({}));
        params["_meta"] = json!({ "filler": "x".repeat(16 * 1024 * 1024 - 1000) });
        client.send(&frames::request(&id, "tools/call", &params));
        checks::succeeded(&client.answer(&id));
    });
}

/// Guards I15: output is bounded as input is.
#[test]
fn an_answer_past_the_limit_is_an_error_for_that_request_alone() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    for client in [&owner, &bridge] {
        // As text and as structure it is twice as long. Unoptimised, it takes the host a while.
        let answer = client.call("conformance_large", &json!({ "bytes": 8_500_000 }));
        assert_eq!(answer["error"]["code"], -32603, "{}", answer["error"]);
        checks::one_board(&[&owner, &bridge]);
    }
}

/// Guards I15.
#[test]
fn text_that_is_no_json_is_a_parse_error() {
    both(|client| {
        let before = client.inbox().count(&Value::Null);
        let lines: [&[u8]; 6] = [
            b"hello\n",
            b"{\"jsonrpc\":\"2.0\",\"id\":1\n",
            b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\xfe\"}\n",
            b"\xf0\x28\x8c\xbc\n",
            b"\x00\x01\x02\n",
            b"{\"a\":1}{\"b\":2}\n",
        ];
        for (number, line) in lines.iter().enumerate() {
            client.write(line).unwrap();
            let code = error_without_id(client, before + number + 1);
            assert!(
                code == -32700 || code == -32600,
                "{code} for {:?}",
                String::from_utf8_lossy(line)
            );
        }
    });
}

/// Guards I15.
#[test]
fn json_10_000_deep_is_an_error() {
    both(|client| {
        let before = client.inbox().total();
        let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
        let frame = format!(
            r#"{{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{{"name":"conformance_echo","arguments":{{"value":{deep}}}}}}}"#
        );
        client.write(format!("{frame}\n").as_bytes()).unwrap();
        wait_for("an error for the deep frame", BOUND, || {
            client.inbox().total() > before
        });
        let answer = client
            .answer_within(&json!("deep"), Duration::ZERO)
            .or_else(|| client.answer_within(&Value::Null, Duration::ZERO))
            .unwrap();
        assert!(
            answer["error"]["code"] == -32700 || answer["error"]["code"] == -32600,
            "{answer}"
        );
    });
}

/// Guards I15: depth at its limit still works.
#[test]
fn json_about_as_deep_as_allowed_is_served() {
    both(|client| {
        let deep: Value =
            serde_json::from_str(&format!("{}1{}", "[".repeat(100), "]".repeat(100))).unwrap();
        checks::succeeded(&client.call("conformance_echo", &json!({ "value": deep })));
    });
}

/// Guards I6.
#[test]
fn equal_ids_in_flight_are_each_answered() {
    both(|client| {
        let id = json!("same");
        let before = client.inbox().count(&id);
        for number in 0..50 {
            let call = frames::call("conformance_slow", &json!({ "ms": 5 * (number % 5) }));
            client.send(&frames::request(&id, "tools/call", &call));
        }
        let answers = client
            .inbox()
            .answers(&id, before + 50, BOUND)
            .expect("fifty answers");
        answers.iter().for_each(checks::succeeded);
        client.result("ping", &json!({}));
        assert_eq!(client.inbox().count(&id), before + 50);
    });
}

/// Guards I6.
#[test]
fn one_id_for_every_call_works() {
    both(|client| {
        let id = json!(0);
        let before = client.inbox().count(&id);
        for number in 0..30 {
            let call = frames::call("conformance_echo", &json!({ "value": number }));
            client.send(&frames::request(&id, "tools/call", &call));
            let answers = client
                .inbox()
                .answers(&id, before + number + 1, BOUND)
                .expect("an answer");
            assert_eq!(
                answers[before + number]["result"]["structuredContent"]["value"],
                number
            );
        }
    });
}

#[test]
fn messages_of_the_wrong_shape_are_errors_or_ignored_and_never_fatal() {
    both(|client| {
        for message in [
            json!({ "jsonrpc": "1.0", "id": 70, "method": "ping" }),
            json!({ "id": 71, "method": "ping" }),
            json!({ "jsonrpc": "2.0", "id": 72, "method": 5 }),
            json!({ "jsonrpc": "2.0", "id": 73, "method": "tools/call", "params": "text" }),
            json!({ "jsonrpc": "2.0", "id": 74, "method": "tools/call", "params": [1] }),
            json!({ "jsonrpc": "2.0", "id": 75 }),
            json!({ "jsonrpc": "2.0", "id": { "a": 1 }, "method": "ping" }),
            json!({ "jsonrpc": "2.0", "id": true, "method": "ping" }),
            json!({ "jsonrpc": "2.0", "id": 999_999, "result": {} }),
            json!({ "jsonrpc": "2.0", "id": 999_998, "error": { "code": 1, "message": "x" } }),
            json!({ "jsonrpc": "2.0", "method": "notifications/no/such" }),
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 123_456 } }),
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": [] }),
            json!([]),
            json!([1, "x", null]),
            json!("text"),
            json!(5),
            Value::Null,
        ] {
            client.send(&message);
        }
        client.write(b"\n\r\n   \n").unwrap();
        client.result("ping", &json!({}));
        for id in [73, 74] {
            let answer = client.answer(&json!(id));
            assert!(answer["error"]["code"].is_i64(), "{answer}");
        }
    });
}

#[test]
fn lines_may_end_with_carriage_return_and_line_feed() {
    both(|client| {
        let id = client.next_id();
        let line = format!("{}\r\n", frames::request(&id, "ping", &json!({})));
        client.write(line.as_bytes()).unwrap();
        assert!(client.answer(&id).get("result").is_some());
    });
}

#[test]
fn a_frame_that_comes_byte_by_byte_holds_nobody_up() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    for (slow, other) in [(&owner, &bridge), (&bridge, &owner)] {
        let id = slow.next_id();
        let line = format!("{}\n", frames::request(&id, "ping", &json!({})));
        for (number, byte) in line.bytes().enumerate() {
            slow.write(&[byte]).unwrap();
            if number % 10 == 0 {
                other.tool("conformance_echo", &json!({ "value": number }));
            }
        }
        assert!(slow.answer(&id).get("result").is_some());
    }
}

/// Guards I11.
#[test]
fn half_a_frame_and_then_the_end_is_an_orderly_end() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    for client in [&bridge, &owner] {
        client
            .write(br#"{"jsonrpc":"2.0","id":5,"method":"pi"#)
            .unwrap();
        client.close();
        assert!(client.exit().success());
    }
}

/// Guards I15: past its outbound limit a client is not read any more; nobody else feels it.
#[test]
fn a_client_that_never_reads_costs_bounded_memory_and_nobody_else_anything() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let deaf = repository
        .launch()
        .name("deaf")
        .stdio(Streams::Unread)
        .start();
    let witness = repository.attached("witness");
    deaf.send(&frames::request(
        &json!(0),
        "initialize",
        &frames::initialize("deaf", frames::LEGACY),
    ));
    // 60 answers of 300 kB are four times what may wait; the writer may block once the process stops to read, so it has a thread.
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for number in 1..=60 {
                let call = frames::call("conformance_large", &json!({ "bytes": 150_000 }));
                let request = frames::request(&json!(number), "tools/call", &call);
                if deaf.try_send(&request).is_err() {
                    return;
                }
            }
        });
        for number in 0..30 {
            witness.tool("conformance_echo", &json!({ "value": number }));
            for process in [&owner, &deaf] {
                if let Some(memory) = process.resident_kib() {
                    assert!(memory < MEMORY_KIB, "{} takes {memory} KiB", process.name());
                }
            }
        }
        // Once it reads, it gets everything.
        deaf.listen();
        for number in 1..=60 {
            checks::succeeded(&deaf.answer(&json!(number)));
        }
        writing.join().unwrap();
    });
}

/// Guards I15: the same abuse by the owner's own client.
#[test]
fn an_owner_whose_client_never_reads_goes_on_serving_others() {
    let repository = Repository::new();
    let deaf = repository
        .launch()
        .name("deaf")
        .stdio(Streams::Unread)
        .start();
    deaf.send(&frames::request(
        &json!(0),
        "initialize",
        &frames::initialize("deaf", frames::LEGACY),
    ));
    repository.ready_when("the deaf client's document", |lease| {
        lease["pid"] == deaf.pid()
    });
    let witness = repository.attached("witness");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1..=60 {
                let call = frames::call("conformance_large", &json!({ "bytes": 150_000 }));
                if deaf
                    .try_send(&frames::request(&json!(number), "tools/call", &call))
                    .is_err()
                {
                    return;
                }
            }
        });
        for number in 0..30 {
            witness.tool("conformance_echo", &json!({ "value": number }));
        }
        if let Some(memory) = deaf.resident_kib() {
            assert!(memory < MEMORY_KIB, "{memory} KiB");
        }
        deaf.kill();
    });
    witness.tool("majordomus_peers", &json!({}));
}

/// Guards I14: whatever connects to the link's port without the token gets nothing and harms nobody.
#[test]
fn strangers_at_the_link_are_turned_away() {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    let link = repository.ready()["link"].as_str().unwrap().to_owned();
    let token = repository.token().unwrap();
    let attempts: [&[u8]; 5] = [
        b"",
        b"\x00\xff\x00\xff\n",
        b"0 hello {}\n0 auth {}\n",
        b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: majordomus-link/1\r\n\r\n0 hello {\"nonce\":\"00\"}\n0 auth {\"proof\":\"00\"}\n1 frame {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
        b"GET /mcp HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: majordomus-link/1\r\n\r\n",
    ];
    for bytes in attempts {
        let mut stream = TcpStream::connect(&link).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(2)))
            .unwrap();
        drop(stream.write_all(bytes));
        drop(stream.shutdown(std::net::Shutdown::Write));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        let text = String::from_utf8_lossy(&answer);
        assert!(!text.contains(&token), "{text}");
        assert!(
            !text.contains("\"result\""),
            "a stranger was served: {text}"
        );
    }
    for client in [&owner, &bridge] {
        let list = client.tool("majordomus_peers", &json!({}));
        assert_eq!(checks::attached(&list), ["bridge", "owner"], "{list}");
    }
}
