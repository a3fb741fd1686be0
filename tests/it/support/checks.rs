//! Claims that many scenarios make about an answer.

use serde_json::{Value, json};

use super::{BOUND, Client, wait_for};

/// Panics unless a tool call succeeded.
#[track_caller]
pub(crate) fn succeeded(answer: &Value) {
    assert!(
        answer.get("result").is_some() && answer["result"]["isError"] != true,
        "the call failed: {answer}"
    );
}

/// Whether a tool call failed, by a protocol error or by an error result.
pub(crate) fn failed(answer: &Value) -> bool {
    answer.get("error").is_some() || answer["result"]["isError"] == true
}

/// Why an answer was given without an owner, if it says so.
pub(crate) fn degraded(answer: &Value) -> Option<&str> {
    answer["result"]["_meta"]["majordomus/degraded"].as_str()
}

/// The peers of a `peers.list` answer.
pub(crate) fn peers(list: &Value) -> &[Value] {
    list["peers"].as_array().map_or(&[], Vec::as_slice)
}

/// The peer called `name`, if the list has it.
pub(crate) fn peer<'a>(list: &'a Value, name: &str) -> Option<&'a Value> {
    peers(list).iter().find(|peer| peer["name"] == name)
}

/// Names of the attached peers, sorted.
pub(crate) fn attached(list: &Value) -> Vec<String> {
    let mut names: Vec<String> = peers(list)
        .iter()
        .filter(|peer| peer["attached"] == true)
        .filter_map(|peer| peer["name"].as_str().map(str::to_owned))
        .collect();
    names.sort();
    names
}

/// The intents a peer has announced.
pub(crate) fn intents(peer: &Value) -> Vec<String> {
    peer["announcements"]
        .as_array()
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .filter_map(|announcement| announcement["intent"].as_str().map(str::to_owned))
        .collect()
}

/// Waits until all of `clients`, and nobody else, are on one board.
#[track_caller]
pub(crate) fn one_board(clients: &[&Client]) {
    let mut names: Vec<&str> = clients.iter().map(|client| client.name()).collect();
    names.sort_unstable();
    for client in clients {
        wait_for(
            &format!("everybody on the board of {}", client.name()),
            BOUND,
            || {
                let answer = client.call("majordomus_peers", &json!({}));
                if degraded(&answer).is_some() {
                    return false;
                }
                attached(&answer["result"]["structuredContent"]) == names
            },
        );
    }
}
