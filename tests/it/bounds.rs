//! Crowds: at the edge of a bound everybody is served, past it the answer is the documented one.

use serde_json::json;

use crate::support::{BOUND, Client, Repository, checks, wait_for};

/// Guards I15: news is told later to many, and the last of it is never lost.
#[test]
fn who_reads_the_peers_only_when_told_to_sees_the_last_of_many_announcements() {
    let repository = Repository::new();
    let author = repository.attached("author");
    let readers: Vec<Client> = (0..8)
        .map(|number| repository.attached(&format!("reader-{number}")))
        .collect();
    let peers = json!({ "uri": "majordomus://peers" });
    for reader in &readers {
        reader.result("resources/subscribe", &peers);
        reader.inbox().forget_messages();
    }
    let ids: Vec<_> = (0..100)
        .map(|number| {
            let intent = format!("number {number}");
            author.begin_call(
                "majordomus_announce",
                &json!({ "intent": intent, "scope": ["a"] }),
            )
        })
        .collect();
    for id in &ids {
        checks::succeeded(&author.answer(id));
    }
    for reader in &readers {
        wait_for("a reader that was told of the last one", BOUND, || {
            reader.notification("notifications/resources/updated", |_| true);
            reader.inbox().forget_messages();
            let list = reader.tool("majordomus_peers", &json!({}));
            let intents = checks::peer(&list, "author").map(checks::intents);
            intents.is_some_and(|intents| intents == ["number 99"])
        });
    }
}
