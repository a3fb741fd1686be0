//! Announcements from outside: the command line, and plain HTTP.

use serde_json::{Value, json};

use crate::support::{BOUND, Repository, checks, wait_for};

/// The labels that stand under the only peer without a link.
fn labels(list: &Value) -> Vec<String> {
    let outside = checks::peers(list)
        .iter()
        .find(|peer| peer["transport"] == "api");
    let standing = outside.and_then(|peer| peer["announcements"].as_array());
    let label = |each: &Value| each["label"].as_str().unwrap().to_owned();
    standing.into_iter().flatten().map(label).collect()
}

#[test]
fn each_announcement_ends_when_it_was_asked_to() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    for (label, time) in [("short", "1s"), ("long", "1h")] {
        let made = repository.cli(&["announce", "work", label, "--label", label, "--for", time]);
        assert!(made.status.success(), "{made:?}");
    }
    let list = || owner.tool("majordomus_peers", &json!({}));
    wait_for("the short one ends, the long one stays", BOUND, || {
        labels(&list()) == ["long"]
    });
    // The next owner reads it from the file, with its end.
    repository.cli(&["announce", "work", "--label", "short", "--for", "1s"]);
    let epoch = repository.ready()["epoch"].clone();
    repository.cli(&["stop"]);
    repository.ready_when("another owner", |lease| lease["epoch"] != epoch);
    wait_for("the same under the next owner", BOUND, || {
        labels(&list()) == ["long"]
    });
}
