//! Crowds: at the edge of a bound everybody is served, past it the answer is the documented one.

use serde_json::json;

use crate::support::{Client, Repository, checks};

/// Guards I15: the more listen, the later news is told that comes soon after the last; it is never lost.
#[test]
fn who_reads_the_peers_only_when_told_to_sees_the_last_of_many_announcements() {
    let repository = Repository::new();
    let author = repository.attached("author");
    let reader = repository.attached("reader");
    let crowd: Vec<Client> = (0..30)
        .map(|number| repository.attached(&format!("listener-{number}")))
        .collect();
    let peers = json!({ "uri": "majordomus://peers" });
    reader.result("resources/subscribe", &peers);
    reader.inbox().forget_messages();
    let reads = |intent: &str| {
        let intents = || {
            reader.notification("notifications/resources/updated", |_| true);
            reader.inbox().forget_messages();
            let list = reader.tool("majordomus_peers", &json!({}));
            checks::peer(&list, "author").map(checks::intents)
        };
        while intents() != Some(vec![intent.to_owned()]) {}
    };
    for number in 0..20 {
        let intent = format!("number {number}");
        author.tool(
            "majordomus_announce",
            &json!({ "intent": intent, "scope": ["a"] }),
        );
        reads(&intent);
    }
    drop(crowd);
}
