//! Writing one fact down.

use std::time::Duration;

use super::answers::Remembered;
use super::arguments::{Remember, holds_no_secret};
use super::refusals;
use super::saving::Writer;
use crate::capabilities::declare::{answer, read};
use crate::capabilities::services::Services;
use crate::floor::error::Chain;
use crate::memory::note::Note;
use crate::memory::outbox::State;
use crate::memory::place;
use crate::memory::team::Found;
use crate::registry::{Answer, Call, PeerId, refusal};

/// How long a note that is saved waits to be compared with the others.
pub(super) const LOOKING: Duration = Duration::from_secs(2);

pub(super) async fn remember(services: Services, call: Call) -> Answer {
    services.writes("notes.remember")?;
    let writer = Writer::of(&call);
    let asked: Remember = read(call.arguments)?;
    let (draft, dry_run, not_secret) = (asked.draft, asked.dry_run, asked.not_secret);
    let supersedes = asked.supersedes.clone();
    let mut note = asked.note(PeerId::mint().0)?;
    if !not_secret {
        let (looked_at, found) = services
            .memory
            .aside(move || {
                let found = holds_no_secret(&note);
                (note, found)
            })
            .await
            .map_err(|error| refusals::not_saved(&error))?;
        found?;
        note = looked_at;
    }
    if dry_run {
        let similar = similar(&services, note.clone()).await;
        return answer(&Remembered::preview(&note, &similar));
    }
    let by = writer.clone();
    let saved = services.memory.write(move |team, site| {
        // The key comes first: whoever sends a note again must not be told of the twin that it made itself.
        if let Some(key) = &by.key
            && let Some(first) = team.first(key)?
        {
            return Ok(Ok(first));
        }
        for id in supersedes {
            if team.read(id)?.is_none() {
                return Ok(Err(refusal::NO_NOTE.fill(&[&id])));
            }
        }
        let path = place::path(note.kind, note.id, &note.title);
        let kind = note.kind.as_str();
        let write = by.write(site, kind, note, (path, None), false);
        let state = if draft || by.is_reviewed(site) {
            State::Draft
        } else {
            State::Waiting
        };
        let kept = team.keep(&write, by.key.as_ref(), state)?;
        // A person's word goes along with the note; an agent's keeps it here.
        if let (true, Some(person)) = (not_secret, by.person(site)) {
            team.vouch(&kept, &person)?;
        }
        Ok(Ok(kept))
    });
    let kept = saved.await.map_err(|error| refusals::not_saved(&error))??;
    let compare = async {
        // The note that stands there: whoever sends one again is not told of its own.
        match Found::of(&kept) {
            Some(found) => similar(&services, found.note().0).await,
            None => Vec::new(),
        }
    };
    let (outcome, similar) = tokio::join!(writer.finish(&services, &kept), compare);
    let mut remembered = Remembered::of(&kept, &outcome, &similar);
    remembered.sync.beside(services.memory.happened());
    answer(&remembered)
}

/// The notes that say nearly the same. To name them is a favour: who cannot look, or would have to wait for many notes to
/// be indexed first, names none.
async fn similar(services: &Services, note: Note) -> Vec<Found> {
    let found = services.memory.find(move |index| index.twins(&note));
    match tokio::time::timeout(LOOKING, found).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => {
            tracing::debug!(error = %Chain(&error), "similar notes cannot be looked for");
            Vec::new()
        }
        Err(_late) => Vec::new(),
    }
}
