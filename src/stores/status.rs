//! What is known of a store without touching it: for people, and for `verify` what two machines compare.

use sha2::{Digest as _, Sha256};

use super::error::StoreError;
use super::last::Last;
use super::place::Place;
use super::schema::Live;
use super::shadow::Shadow;
use crate::floor::hex;
use crate::floor::remote::address::without_secrets;

/// Another machine.
#[derive(Debug, Clone, serde::Serialize, utoipa::ToSchema)]
#[schema(as = StorePeer)]
pub struct Peer {
    /// Its id in this store.
    pub device: String,
    /// What its people call it.
    pub label: String,
    /// When it wrote the last segment that was read here, in milliseconds since 1970.
    pub heard_ms: u64,
}

/// What is known of a store.
#[derive(Debug, Clone, serde::Serialize, utoipa::ToSchema)]
#[schema(as = StoreStatus)]
pub struct Status {
    /// Its name.
    pub store: String,
    /// This machine's id in it.
    pub device: String,
    /// The folder its segments go to.
    pub folder: String,
    /// The address of the remote, without what stands in it for a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<String>,
    /// Insights that are known.
    pub insights: u64,
    /// Insights that are alive in the store.
    pub alive: u64,
    /// Edges that are known, those that were taken away among them.
    pub edges: u64,
    /// What is to be sent.
    pub unsent: u64,
    /// What its tags keep on this machine: insights, and edges of them.
    pub local: u64,
    /// What is to be written, edges whose ends are not alive among it.
    pub waiting: u64,
    /// What the store does not take, and why.
    pub troubles: Vec<String>,
    /// What is worth knowing, and in nobody's way.
    pub advice: Vec<String>,
    /// What came of the last runs.
    pub last: Last,
    /// The other machines.
    pub peers: Vec<Peer>,
    /// SHA-256 of all registers: machines that know the same have the same one.
    pub digest: String,
}

/// Says what is known of a store.
///
/// # Errors
/// Where it is not enabled, or the shadow cannot be read.
pub fn status(place: &Place) -> Result<Status, StoreError> {
    let folder = place.folder()?;
    let shadow = Shadow::open(&place.state)?;
    let both = |condition: &str| -> Result<u64, StoreError> {
        Ok(shadow.count(&format!("insight {condition}"))?
            + shadow.count(&format!("edge {condition}"))?)
    };
    let local = shadow.count("insight WHERE unsent AND local AND number=0")?
        + shadow.count(
            "edge WHERE unsent AND EXISTS (SELECT 1 FROM insight kept
             WHERE kept.local AND kept.number=0 AND kept.id IN (edge.source, edge.target))",
        )?;
    let mut status = Status {
        store: place.name.clone(),
        device: shadow.clock()?.device.to_string(),
        folder: folder.display().to_string(),
        git: place.git()?.map(|url| without_secrets(&url)),
        insights: shadow.count("insight")?,
        alive: shadow.count(r#"insight WHERE instr(seen, '"deleted_at":"n"')"#)?,
        edges: shadow.count("edge")?,
        unsent: both("WHERE unsent")? - local,
        local,
        waiting: both("WHERE pending")?,
        troubles: Vec::new(),
        advice: Vec::new(),
        last: Last::of(place),
        peers: Vec::new(),
        digest: String::new(),
    };
    if place.most > 0 && status.alive > place.most {
        status.advice.push(format!(
            "{} insights are alive, and mnemon keeps {}: it prunes the rest, here alone (MNEMON_MAX_INSIGHTS keeps more)",
            status.alive, place.most
        ));
    }
    let mut read = || -> rusqlite::Result<()> {
        let mut statement = shadow.db.prepare(
            "SELECT 'insight ' || id || ': ' || trouble FROM insight WHERE pending AND trouble IS NOT NULL
             UNION ALL
             SELECT kind || ' edge ' || source || ' to ' || target || ': ' || trouble FROM edge
             WHERE pending AND trouble IS NOT NULL LIMIT 100",
        )?;
        status.troubles = statement
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let mut statement = shadow.db.prepare(
            "SELECT substr(l.key, 7), l.value, CAST(h.value AS INTEGER) FROM meta l
             JOIN meta h ON h.key = 'heard ' || substr(l.key, 7) WHERE l.key GLOB 'label *' ORDER BY 1",
        )?;
        let peers = statement.query_map([], |row| {
            Ok(Peer {
                device: row.get(0)?,
                label: row.get(1)?,
                heard_ms: row.get(2)?,
            })
        })?;
        status.peers = peers.collect::<Result<_, _>>()?;
        let mut hash = Sha256::new();
        for query in [
            "SELECT id || char(10) || known FROM insight ORDER BY id",
            "SELECT source || char(10) || target || char(10) || kind || char(10) || known FROM edge ORDER BY source, target, kind",
        ] {
            let mut statement = shadow.db.prepare(query)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                hash.update(row.get::<_, String>(0)?.as_bytes());
                hash.update([0]);
            }
        }
        status.digest = hex::encode(&hash.finalize());
        Ok(())
    };
    read().map_err(StoreError::shadow)?;
    Ok(status)
}

/// Insights of a store that are alive and say the same, byte for byte: two machines that wrote one fact down. They stay two.
///
/// # Errors
/// Where the store cannot be read.
pub fn twins(place: &Place) -> Result<Vec<Vec<String>>, StoreError> {
    let live = Live::open(&place.live)?;
    let read = || -> rusqlite::Result<Vec<Vec<String>>> {
        let mut statement = live.connection.prepare(
            "SELECT content, id FROM insights WHERE deleted_at IS NULL AND content IN
             (SELECT content FROM insights WHERE deleted_at IS NULL GROUP BY content HAVING count(*)>1)
             ORDER BY content, id",
        )?;
        let mut found = statement.query([])?;
        let (mut all, mut last) = (Vec::<Vec<String>>::new(), None);
        while let Some(row) = found.next()? {
            let content: String = row.get(0)?;
            match all.last_mut().filter(|_| last.as_ref() == Some(&content)) {
                Some(ids) => ids.push(row.get(1)?),
                None => all.push(vec![row.get(1)?]),
            }
            last = Some(content);
        }
        Ok(all)
    };
    read().map_err(StoreError::live)
}
