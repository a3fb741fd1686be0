//! What the board shows: peers, announcements and collisions, ready to be answered.
//!
//! Times are RFC 3339 in UTC. A checkout is shown by the name of its folder; no path of this machine is in any of it.

use serde::Serialize;
use utoipa::ToSchema;

use super::collision::{Claim, Found, Meeting, claims};
use super::peer::{Announcement, Now, Peer};
use super::room::Room;
use crate::floor::clock::rfc3339;
use crate::floor::limits::{PEERS_SHOWN, PEERS_SHOWN_BYTES};
use crate::registry::PeerId;

/// Everyone here, and where their announcements meet.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PeersView {
    /// Your peer id, where you are one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) you: Option<String>,
    /// Everyone here.
    pub(crate) peers: Vec<PeerView>,
    /// Every pair of entries that meet.
    pub(crate) collisions: Vec<PairView>,
    /// Peers, announcements and collisions left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) omitted: usize,
    /// False: some peers may not be back after a change of server.
    pub(crate) complete: bool,
}

/// One peer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PeerView {
    /// Public id.
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// `stdio`, `http` or `api`.
    pub(crate) transport: String,
    /// Name of the checkout's folder.
    pub(crate) checkout: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    pub(crate) joined: String,
    pub(crate) last_seen: String,
    /// Whether its link is there now.
    pub(crate) attached: bool,
    pub(crate) announcements: Vec<AnnouncementView>,
}

/// What a peer is about to do.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AnnouncementView {
    /// Tells announcements of one peer apart.
    pub(crate) label: String,
    pub(crate) intent: String,
    /// Paths and globs.
    pub(crate) scope: Vec<String>,
    pub(crate) since: String,
}

/// One of two that meet.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SideView {
    /// Public id.
    pub(crate) peer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) label: String,
    /// The path or glob.
    pub(crate) entry: String,
    pub(crate) since: String,
}

/// Two entries that meet.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PairView {
    pub(crate) one: SideView,
    pub(crate) other: SideView,
}

/// Somebody else's entry that meets yours.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CollisionView {
    /// Public id.
    pub(crate) peer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) checkout: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    pub(crate) label: String,
    pub(crate) intent: String,
    /// Your entry.
    pub(crate) yours: String,
    /// Theirs.
    pub(crate) theirs: String,
    pub(crate) since: String,
}

/// Where the peers of this board work.
#[derive(Debug, Clone, Default)]
pub(super) struct Where {
    pub(super) checkout: String,
    pub(super) branch: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

pub(super) fn peers(room: &Room, you: Option<PeerId>, place: &Where, now: Now) -> PeersView {
    let claims = claims(room.peers());
    let found = Found::among(&claims);
    let mut left = PEERS_SHOWN_BYTES;
    let mut omitted = found.omitted + room.peers().count().saturating_sub(PEERS_SHOWN);
    let peers = room
        .peers()
        .take(PEERS_SHOWN)
        .map(|each| {
            let mut shown = peer(each, place, now);
            for (label, announcement) in each.standing() {
                match left.checked_sub(announcement.bytes()) {
                    Some(rest) => {
                        left = rest;
                        shown.announcements.push(announced(label, announcement));
                    }
                    None => omitted += 1,
                }
            }
            shown
        })
        .collect();
    PeersView {
        you: you.map(|id| id.to_string()),
        peers,
        collisions: found.meetings.iter().map(pair).collect(),
        omitted,
        complete: room.is_complete(),
    }
}

fn peer(peer: &Peer, place: &Where, now: Now) -> PeerView {
    PeerView {
        id: peer.id.to_string(),
        name: peer.name.clone(),
        version: peer.version.clone(),
        transport: peer.transport.as_str().to_owned(),
        checkout: place.checkout.clone(),
        branch: place.branch.clone(),
        joined: rfc3339(peer.joined),
        last_seen: rfc3339(peer.seen),
        attached: peer.is_attached(now),
        announcements: Vec::new(),
    }
}

fn announced(label: &str, announcement: &Announcement) -> AnnouncementView {
    AnnouncementView {
        label: label.to_owned(),
        intent: announcement.intent.clone(),
        scope: announcement
            .scope
            .iter()
            .map(|entry| entry.as_str().to_owned())
            .collect(),
        since: rfc3339(announcement.since),
    }
}

fn pair(meeting: &Meeting<'_>) -> PairView {
    PairView {
        one: side(&meeting.one, meeting.entries.0),
        other: side(&meeting.other, meeting.entries.1),
    }
}

fn side(claim: &Claim<'_>, entry: &str) -> SideView {
    SideView {
        peer: claim.peer.id.to_string(),
        name: claim.peer.name.clone(),
        label: claim.label.to_owned(),
        entry: entry.to_owned(),
        since: rfc3339(claim.announcement.since),
    }
}

/// What `id`'s announcement under `label` meets, and how many more there are.
pub(super) fn collisions(
    room: &Room,
    id: PeerId,
    label: &str,
    place: &Where,
) -> (Vec<CollisionView>, usize) {
    let claims = claims(room.peers());
    let Some(own) = claims
        .iter()
        .find(|claim| claim.peer.id == id && claim.label == label)
    else {
        return (Vec::new(), 0);
    };
    let found = Found::with(*own, &claims);
    let shown = found
        .meetings
        .iter()
        .map(|meeting| CollisionView {
            peer: meeting.other.peer.id.to_string(),
            name: meeting.other.peer.name.clone(),
            checkout: place.checkout.clone(),
            branch: place.branch.clone(),
            label: meeting.other.label.to_owned(),
            intent: meeting.other.announcement.intent.clone(),
            yours: meeting.entries.0.to_owned(),
            theirs: meeting.entries.1.to_owned(),
            since: rfc3339(meeting.other.announcement.since),
        })
        .collect();
    (shown, found.omitted)
}
