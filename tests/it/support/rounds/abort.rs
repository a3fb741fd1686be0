//! A request that kills its host: two processes at most, never the room.

use serde_json::json;

use super::super::{BOUND, Client, Repository, checks, wait_for};

/// What one round gave.
#[derive(Debug)]
pub(crate) struct Round {
    /// Processes that died.
    pub(crate) died: usize,
}

/// Opens a room of `count` clients, lets one that is not the owner send the poison, and looks at the room.
#[track_caller]
pub(crate) fn round(count: usize) -> Round {
    let repository = Repository::new();
    let clients: Vec<Client> = (0..count)
        .map(|number| repository.attached(&format!("client-{number}")))
        .collect();
    let owner = repository.owner_pid();
    let caller = clients
        .iter()
        .find(|client| Some(client.pid()) != owner)
        .expect("more than one client");
    let id = caller.begin_call("conformance_abort", &json!({}));
    let mut error = None;
    wait_for(
        "an answer to the poison, or the end of who sent it",
        BOUND,
        || {
            error = error
                .take()
                .or_else(|| caller.answer_within(&id, std::time::Duration::from_millis(1)));
            error.is_some() || caller.ended().is_some()
        },
    );
    if let Some(answer) = &error {
        assert_eq!(
            answer["error"]["code"], -32603,
            "the poison's answer: {answer}"
        );
        assert_eq!(caller.inbox().count(&id), 1, "answers to the poison");
    }

    // A process that died of the poison closes its links a moment before it can be seen to have ended, so who lives is
    // asked anew at each look.
    let living = || -> Vec<&Client> {
        clients
            .iter()
            .filter(|client| client.ended().is_none())
            .collect()
    };
    for client in &clients {
        wait_for(
            &format!("the room as {} sees it", client.name()),
            BOUND,
            || {
                if client.ended().is_some() {
                    return true;
                }
                let mut names: Vec<String> = living()
                    .iter()
                    .map(|client| client.name().to_owned())
                    .collect();
                names.sort();
                let id = client.begin_call("majordomus_peers", &json!({}));
                let seen = client.answer_within(&id, BOUND);
                seen.is_some_and(|seen| {
                    checks::attached(&seen["result"]["structuredContent"]) == names
                })
            },
        );
    }
    let died = count - living().len();
    assert!(died <= 2, "{died} processes died of one request");
    Round { died }
}
