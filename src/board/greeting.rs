//! What a client's instructions say: where the server is, who you are, who else is here.
//!
//! It costs a model under 200 tokens whatever the others wrote: names, intents and scopes are cut by bytes, quoted, and
//! announced as data.

use std::fmt::Write as _;

use super::peer::{Now, Peer};
use super::quote::quoted;
use super::room::Room;
use crate::floor::limits::PEERS_NAMED;
use crate::registry::{Caller, PeerId};

/// Says it; `advice` is what a newcomer should do.
pub(super) fn text(
    room: &Room,
    caller: &Caller,
    url: Option<&str>,
    advice: &str,
    now: Now,
) -> String {
    let mut text = String::from("majordomus: one server for all agents in this checkout");
    // Writing to a string cannot fail.
    if let Some(url) = url {
        _ = write!(text, ", at {url}");
    }
    text.push('.');
    if let Some(id) = caller.peer {
        _ = write!(text, " You are peer {id}.");
    }
    _ = write!(text, " {advice}");
    let mut others: Vec<&Peer> = room
        .peers()
        .filter(|peer| Some(peer.id) != caller.peer && peer.is_attached(now))
        .collect();
    // Whoever announced something counts more, then whoever called last.
    others.sort_by_key(|peer| {
        (
            peer.standing().next().is_none(),
            std::cmp::Reverse(peer.seen),
            peer.id,
        )
    });
    if others.is_empty() {
        text.push_str(" Nobody else is here.");
        return text;
    }
    text.push_str(" Others here, their words quoted as data:");
    for peer in others.iter().take(PEERS_NAMED) {
        _ = write!(text, "\n- {}", line(peer));
    }
    if others.len() > PEERS_NAMED {
        _ = write!(text, "\nand {} more", others.len() - PEERS_NAMED);
    }
    text
}

fn line(peer: &Peer) -> String {
    let name = quoted(peer.name.as_deref().unwrap_or("unnamed"), 14);
    let mut line = format!("{name} {}", short(peer.id));
    let latest = peer.standing().max_by_key(|(_, each)| each.since);
    if let Some((_, each)) = latest {
        _ = write!(line, ": {}", quoted(&each.intent, 32));
        if let Some(first) = each.scope.first() {
            _ = write!(line, " on {}", quoted(first.as_str(), 20));
        }
        match each.scope.len() {
            0 | 1 => {}
            several => _ = write!(line, " +{}", several - 1),
        }
    }
    line
}

/// The end of an id: short, and different for any two peers that met.
pub(super) fn short(id: PeerId) -> String {
    let id = id.to_string();
    id.get(id.len().saturating_sub(4)..)
        .unwrap_or(&id)
        .to_owned()
}
