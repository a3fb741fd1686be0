//! The tables of the board's file, and every statement on them.
//!
//! | table | a row |
//! |---|---|
//! | `owner` | the epoch of the last owner of a root, by kernel |
//! | `peer` | a peer last known of a root; `own` marks the owner's own client, `handle` is the digest of a secret |
//! | `announcement` | what an HTTP peer announced; of a link peer, whose bridge replays it, only `seq` and `since` count |
//! | `once` | the first result of a keyed request, until acknowledged |
//! | `session` | what a legacy HTTP session told once; without it, a session that must stay ended |
//! | `made` | one row: sessions that began before then are lost: when the file was made (0 of one that is older than this table), or what a clock that was ahead forgot |
//! | `line` | lines of the conformance provider, projected into its file |
//!
//! Times are milliseconds since the epoch of Unix. `user_version` counts the schema; a newer one is left alone.

use std::borrow::Cow;

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use sha2::{Digest as _, Sha256};

use super::peer::millis;
use super::sessions::KeptSession;
use super::store::Owner;
use crate::floor::hex;
use crate::floor::limits::SESSION_ADOPTION;
use crate::registry::OnceKey;

/// The schema's steps; `user_version` says how many were taken.
pub(super) const STEPS: &[&str] = &[
    "
CREATE TABLE owner (root TEXT, kernel TEXT, epoch INTEGER NOT NULL,
    PRIMARY KEY (root, kernel)) WITHOUT ROWID;
CREATE TABLE peer (root TEXT, id TEXT, kernel TEXT NOT NULL, transport TEXT NOT NULL, name TEXT, version TEXT,
    own INTEGER NOT NULL, joined INTEGER NOT NULL, seen INTEGER NOT NULL, until INTEGER, handle TEXT,
    PRIMARY KEY (root, id)) WITHOUT ROWID;
CREATE TABLE announcement (root TEXT, peer TEXT, label TEXT, intent TEXT NOT NULL, scope TEXT NOT NULL,
    seq INTEGER NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (root, peer, label)) WITHOUT ROWID;
CREATE TABLE once (root TEXT, scope TEXT, seq INTEGER, digest TEXT NOT NULL, result TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (root, scope, seq)) WITHOUT ROWID;
CREATE TABLE ended (root TEXT, session TEXT, until INTEGER NOT NULL, PRIMARY KEY (root, session)) WITHOUT ROWID;
CREATE TABLE line (root TEXT, file TEXT, number INTEGER, text TEXT NOT NULL,
    PRIMARY KEY (root, file, number)) WITHOUT ROWID;
",
    // An announcement has an end of its own, where one was asked for.
    "
ALTER TABLE announcement ADD COLUMN until INTEGER;
UPDATE announcement SET until = (SELECT peer.until FROM peer WHERE peer.root = announcement.root AND peer.id = announcement.peer);
ALTER TABLE peer DROP COLUMN until;
",
    // Of a session that has not ended, the next owner knows what its client told once.
    "
CREATE TABLE session (root TEXT, session TEXT, state TEXT, until INTEGER NOT NULL,
    PRIMARY KEY (root, session)) WITHOUT ROWID;
INSERT INTO session (root, session, until) SELECT root, session, until FROM ended;
DROP TABLE ended;
",
    // What an earlier file knew is lost, so a session that is older than this one may have ended.
    "
CREATE TABLE made (at INTEGER NOT NULL);
INSERT INTO made SELECT CASE WHEN EXISTS (SELECT 1 FROM owner) THEN 0
    ELSE CAST(unixepoch('subsec') * 1000 AS INTEGER) END;
",
];

/// A peer as the file keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PeerRow {
    pub(super) id: String,
    pub(super) transport: String,
    pub(super) name: Option<String>,
    pub(super) version: Option<String>,
    pub(super) own: bool,
    pub(super) joined: u64,
    pub(super) seen: u64,
    pub(super) handle: Option<String>,
}

/// An announcement as the file keeps it; the scope is one entry a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AnnouncementRow {
    pub(super) peer: String,
    pub(super) label: String,
    pub(super) intent: String,
    pub(super) scope: String,
    pub(super) seq: u64,
    pub(super) since: u64,
    pub(super) until: Option<u64>,
}

pub(super) fn epoch(tx: &Connection, owner: &Owner) -> rusqlite::Result<Option<u64>> {
    tx.prepare_cached("SELECT epoch FROM owner WHERE root = ?1 AND kernel = ?2")?
        .query_row(params![owner.root, owner.kernel], |row| row.get(0))
        .optional()
}

pub(super) fn set_epoch(tx: &Connection, owner: &Owner, epoch: u64) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT OR REPLACE INTO owner (root, kernel, epoch) VALUES (?1, ?2, ?3)")?
        .execute(params![owner.root, owner.kernel, epoch])
        .map(drop)
}

pub(super) fn peers(connection: &Connection, owner: &Owner) -> rusqlite::Result<Vec<PeerRow>> {
    connection
        .prepare(
            "SELECT id, transport, name, version, own, joined, seen, handle FROM peer
             WHERE root = ?1 AND (transport <> 'stdio' OR kernel = ?2)",
        )?
        .query_map(params![owner.root, owner.kernel], |row| {
            Ok(PeerRow {
                id: row.get(0)?,
                transport: row.get(1)?,
                name: row.get(2)?,
                version: row.get(3)?,
                own: row.get(4)?,
                joined: row.get(5)?,
                seen: row.get(6)?,
                handle: row.get(7)?,
            })
        })?
        .collect()
}

pub(super) fn put_peer(tx: &Connection, owner: &Owner, peer: &PeerRow) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT OR REPLACE INTO peer (root, id, kernel, transport, name, version, own, joined, seen, handle)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        owner.root, peer.id, owner.kernel, peer.transport, peer.name, peer.version, peer.own, peer.joined, peer.seen,
        peer.handle
    ])
    .map(drop)
}

pub(super) fn touch_peer(
    tx: &Connection,
    owner: &Owner,
    id: &str,
    seen: u64,
) -> rusqlite::Result<()> {
    tx.prepare_cached("UPDATE peer SET seen = ?3 WHERE root = ?1 AND id = ?2")?
        .execute(params![owner.root, id, seen])
        .map(drop)
}

pub(super) fn remove_peer(tx: &Connection, owner: &Owner, id: &str) -> rusqlite::Result<()> {
    for statement in [
        "DELETE FROM announcement WHERE root = ?1 AND peer = ?2",
        "DELETE FROM peer WHERE root = ?1 AND id = ?2",
    ] {
        tx.prepare_cached(statement)?
            .execute(params![owner.root, id])?;
    }
    Ok(())
}

pub(super) fn announcements(
    connection: &Connection,
    owner: &Owner,
) -> rusqlite::Result<Vec<AnnouncementRow>> {
    connection
        .prepare("SELECT peer, label, intent, scope, seq, since, until FROM announcement WHERE root = ?1")?
        .query_map([&owner.root], |row| {
            Ok(AnnouncementRow {
                peer: row.get(0)?,
                label: row.get(1)?,
                intent: row.get(2)?,
                scope: row.get(3)?,
                seq: row.get(4)?,
                since: row.get(5)?,
                until: row.get(6)?,
            })
        })?
        .collect()
}

/// Writes an announcement, unless a newer one stands there.
pub(super) fn put_announcement(
    tx: &Connection,
    owner: &Owner,
    row: &AnnouncementRow,
) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT INTO announcement (root, peer, label, intent, scope, seq, since, until)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (root, peer, label) DO UPDATE SET intent = excluded.intent, scope = excluded.scope,
            seq = excluded.seq, since = excluded.since, until = excluded.until
         WHERE excluded.seq >= announcement.seq",
    )?
    .execute(params![
        owner.root, row.peer, row.label, row.intent, row.scope, row.seq, row.since, row.until
    ])
    .map(drop)
}

pub(super) fn remove_announcement(
    tx: &Connection,
    owner: &Owner,
    peer: &str,
    label: &str,
) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM announcement WHERE root = ?1 AND peer = ?2 AND label = ?3")?
        .execute([&owner.root, peer, label])
        .map(drop)
}

/// The scope of a key as the file knows it: handles are made of a client's own, and none may be in a file (I14).
fn scope(key: &OnceKey) -> Cow<'_, str> {
    if key.is_of_client() {
        let digest = Sha256::digest(key.scope.as_bytes());
        return format!("{}{}", OnceKey::HTTP, hex::encode(&digest)).into();
    }
    (&*key.scope).into()
}

/// The first result under a key and the digest of its request.
pub(super) fn once(
    tx: &Connection,
    owner: &Owner,
    key: &OnceKey,
) -> rusqlite::Result<Option<(String, String)>> {
    tx.prepare_cached(
        "SELECT digest, result FROM once WHERE root = ?1 AND scope = ?2 AND seq = ?3",
    )?
    .query_row(params![owner.root, scope(key), key.seq], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
    .optional()
}

pub(super) fn put_once(
    tx: &Connection,
    owner: &Owner,
    key: &OnceKey,
    result: &str,
    at: u64,
) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT INTO once (root, scope, seq, digest, result, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        owner.root,
        scope(key),
        key.seq,
        key.digest,
        result,
        at
    ])
    .map(drop)
}

/// Every key that is kept.
pub(super) fn keys(connection: &Connection, owner: &Owner) -> rusqlite::Result<Vec<(String, u64)>> {
    connection
        .prepare("SELECT scope, seq FROM once WHERE root = ?1")?
        .query_map([&owner.root], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

pub(super) fn remove_once(
    tx: &Connection,
    owner: &Owner,
    scope: &str,
    seq: u64,
) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM once WHERE root = ?1 AND scope = ?2 AND seq = ?3")?
        .execute(params![owner.root, scope, seq])
        .map(drop)
}

pub(super) fn put_ended(
    tx: &Connection,
    owner: &Owner,
    session: &str,
    until: u64,
) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT OR REPLACE INTO session (root, session, until) VALUES (?1, ?2, ?3)")?
        .execute(params![owner.root, session, until])
        .map(drop)
}

/// Writes what a session told, unless it has ended.
pub(super) fn put_session(
    tx: &Connection,
    owner: &Owner,
    session: &str,
    state: &str,
    until: u64,
) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT INTO session (root, session, state, until) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (root, session) DO UPDATE SET state = excluded.state WHERE session.state IS NOT NULL",
    )?
    .execute(params![owner.root, session, state, until])
    .map(drop)
}

/// What is known of a session that began at `began`.
pub(super) fn session(
    connection: &Connection,
    owner: &Owner,
    session: &str,
    began: u64,
) -> rusqlite::Result<KeptSession> {
    let made: u64 = connection
        .prepare_cached("SELECT at FROM made")?
        .query_row([], |row| row.get(0))?;
    let row: Option<Option<String>> = connection
        .prepare_cached("SELECT state FROM session WHERE root = ?1 AND session = ?2")?
        .query_row([&owner.root, session], |row| row.get(0))
        .optional()?;
    Ok(match row {
        None if began < made => KeptSession::Lost,
        None => KeptSession::Unknown,
        Some(None) => KeptSession::Ended,
        Some(Some(told)) => KeptSession::Told(told),
    })
}

/// Forgets what has expired: keys older than `keys_before`, sessions and peers whose time is over at `now`.
pub(super) fn forget(
    tx: &Transaction<'_>,
    owner: &Owner,
    keys_before: u64,
    now: u64,
) -> rusqlite::Result<()> {
    tx.execute(
        "DELETE FROM once WHERE root = ?1 AND at < ?2",
        params![owner.root, keys_before],
    )?;
    // A clock that was ahead forgets too early: what is as old as a session that was forgotten counts as ended.
    tx.execute(
        "UPDATE made SET at = MAX(at, 1 + COALESCE(
            (SELECT MAX(until) - ?3 FROM session WHERE root = ?1 AND until < ?2 AND state IS NULL), 0))",
        params![owner.root, now, millis(SESSION_ADOPTION)],
    )?;
    tx.execute(
        "DELETE FROM session WHERE root = ?1 AND until < ?2",
        params![owner.root, now],
    )?;
    // Peers of a kernel that is no more (a reboot) cannot come back over a link.
    tx.execute(
        "DELETE FROM peer WHERE root = ?1 AND transport = 'stdio' AND (kernel <> ?2 OR own)",
        params![owner.root, owner.kernel],
    )?;
    tx.execute(
        "DELETE FROM announcement WHERE root = ?1 AND peer NOT IN (SELECT id FROM peer WHERE root = ?1)",
        [&owner.root],
    )
    .map(drop)
}
