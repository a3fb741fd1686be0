//! Notes that say nearly the same are named to whoever writes the next one, who decides.

use serde_json::{Value, json};

use crate::support::command::succeed;
use crate::support::{Client, Repository};

#[track_caller]
fn remember(client: &Client, arguments: &Value) -> Value {
    client.tool("majordomus_remember", arguments)
}

/// The ids of the notes that are named.
fn similar(answer: &Value) -> Vec<&Value> {
    let named = answer.get("similar").and_then(Value::as_array);
    let named = named.into_iter().flatten();
    named.map(|note| &note["id"]).collect()
}

#[test]
fn a_note_that_says_nearly_the_same_is_named_and_the_new_one_is_saved_all_the_same() {
    let repository = Repository::new();
    let client = repository.attached("one");
    let first = remember(
        &client,
        &json!({ "title": "Deploys are frozen on Fridays", "body": "They kept people at work.", "kind": "decision" }),
    );
    assert_eq!(first.get("similar"), None, "{first}");
    let again = json!({ "title": "On Fridays the deploy is frozen", "body": "They kept people at work!", "kind": "decision" });
    let mut dry = again.clone();
    dry["dry_run"] = true.into();
    let previewed = remember(&client, &dry);
    assert_eq!(similar(&previewed), [&first["id"]], "{previewed}");
    let second = remember(&client, &again);
    assert_eq!(
        second["similar"][0]["title"],
        "Deploys are frozen on Fridays"
    );
    assert_eq!(similar(&second), [&first["id"]], "{second}");
    let listed = client.tool("majordomus_notes", &json!({}));
    assert_eq!(listed["notes"].as_array().unwrap().len(), 2, "{listed}");

    // Another thing is said, or said of another kind.
    for (title, kind) in [
        ("On Fridays the deploy is not frozen", "decision"),
        ("On Fridays the deploy of v2 is frozen", "decision"),
        ("On Fridays the deploy is frozen", "memory"),
    ] {
        let other = json!({ "title": title, "body": "They kept people at work!", "kind": kind, "dry_run": true });
        let other = remember(&client, &other);
        assert_eq!(other.get("similar"), None, "{title}: {other}");
    }

    // Whoever takes the place of both names nobody, and is the only one left to be named.
    let mut third = again;
    third["supersedes"] = json!([first["id"], second["id"]]);
    let third = remember(&client, &third);
    assert_eq!(third.get("similar"), None, "{third}");
    let fourth = remember(&client, &dry);
    assert_eq!(similar(&fourth), [&third["id"]], "{fourth}");

    let said = [
        "remember",
        "On Fridays the deploy is frozen",
        "--body",
        "They kept people at work!",
    ];
    let said = [&said[..], &["--kind", "decision", "--dry-run"]].concat();
    let said = succeed(&mut repository.command(&said)).stdout;
    let said = String::from_utf8(said).unwrap();
    let line = format!("nearly the same: {}", third["id"].as_str().unwrap());
    assert!(said.contains(&line), "{said}");
}

/// What a client sends again is the note that it wrote first, and that note is nobody's twin.
#[test]
fn a_note_that_is_sent_again_is_not_told_of_itself() {
    let repository = Repository::new();
    let _owner = repository.attached("owner");
    let http = repository.http();
    let post = || {
        let note = json!({ "title": "Deploys are frozen on Fridays", "body": "They kept people at work." });
        let http = http.clone().with("Idempotency-Key", "k1");
        http.post("/api/v1/notes/remember", &note)
            .expects(200)
            .json()
    };
    let first = post();
    let again = post();
    assert_eq!(first["id"], again["id"]);
    assert_eq!(again.get("similar"), None, "{again}");
    // Without the key it is another one.
    let note =
        json!({ "title": "Deploys are frozen on Fridays", "body": "They kept people at work." });
    let other = http
        .post("/api/v1/notes/remember", &note)
        .expects(200)
        .json();
    assert_eq!(similar(&other), [&first["id"]], "{other}");
}
