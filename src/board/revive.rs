//! HTTP peers, brought back from the file by the next owner.

use super::live::id;
use super::peer::{Announcement, Hold, Peer};
use super::scope;
use super::tables::{AnnouncementRow, PeerRow};
use crate::registry::Transport;

/// A peer without a link as it was, or `None` for one that its bridge brings back itself.
pub(super) fn peer(row: PeerRow, announcements: &[AnnouncementRow]) -> Option<Peer> {
    let transport = [Transport::Http, Transport::Api]
        .into_iter()
        .find(|each| each.as_str() == row.transport)?;
    let hold = match (row.handle, transport) {
        (Some(digest), _) => Hold::Handle { digest },
        (None, Transport::Api) => Hold::Named,
        (None, _) => Hold::Session,
    };
    let announced = announcements
        .iter()
        .filter(|each| each.peer == row.id)
        .filter_map(|each| Some((each.label.clone(), announcement(each)?)))
        .collect();
    Some(Peer {
        id: id(&row.id)?,
        transport,
        name: row.name,
        version: row.version,
        hold,
        joined: row.joined,
        seen: row.seen,
        kept: row.seen,
        announcements: announced,
    })
}

fn announcement(row: &AnnouncementRow) -> Option<Announcement> {
    let entries: Vec<&str> = row.scope.lines().collect();
    Some(Announcement {
        intent: row.intent.clone(),
        scope: scope::parse(&entries).ok()?,
        seq: row.seq,
        since: row.since,
        until: row.until,
    })
}

/// The row of an announcement.
pub(super) fn row(peer: &str, label: &str, announcement: &Announcement) -> AnnouncementRow {
    let entries: Vec<_> = announcement
        .scope
        .iter()
        .map(scope::Entry::as_str)
        .collect();
    AnnouncementRow {
        peer: peer.to_owned(),
        label: label.to_owned(),
        intent: announcement.intent.clone(),
        scope: entries.join("\n"),
        seq: announcement.seq,
        since: announcement.since,
        until: announcement.until,
    }
}
