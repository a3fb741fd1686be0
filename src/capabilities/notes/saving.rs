//! What writes have in common: who writes, and how far it has come.

use crate::floor::clock;
use crate::floor::error::Chain;
use crate::floor::paths::Site;
use crate::memory::author;
use crate::memory::consent;
use crate::memory::note::Note;
use crate::memory::outbox::{Kept, Key, State, Write};
use crate::memory::outcome::Outcome;
use crate::memory::team::Held;
use crate::registry::{Call, Transport};

use crate::capabilities::services::Services;

/// Who writes, as a call says.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    client: String,
    peer: String,
    /// Under which the write is found again.
    pub(super) key: Option<Key>,
    /// Whether a person may be there: agents come over MCP.
    is_person: bool,
    hooked: bool,
}

impl Writer {
    pub(super) fn of(call: &Call) -> Self {
        let key = call.key.as_ref();
        Self {
            client: call.caller.name.clone().unwrap_or_default(),
            peer: call
                .caller
                .peer
                .map(|peer| peer.to_string())
                .unwrap_or_default(),
            key: key.map(|key| Key::new(&key.scope, key.seq, &key.digest)),
            is_person: call.caller.transport == Transport::Api,
            hooked: call.caller.hooked,
        }
    }

    /// Whether what this writer writes waits for a person.
    pub(super) fn is_reviewed(&self, site: &Site) -> bool {
        let common = site.checkout().map(|checkout| &*checkout.common_dir);
        !self.is_person && common.is_some_and(|common| consent::is_reviewed(site.root(), common))
    }

    /// A write of this writer's, now: the note's new file, or `None` where it goes. `base` is its file before; a note
    /// without one is new, and says who made it and when.
    pub(super) fn write(
        &self,
        site: &Site,
        verb: &str,
        mut note: Note,
        (path, base): (String, Option<Vec<u8>>),
        goes: bool,
    ) -> Write {
        let author = author::of(site.root());
        let at = clock::now_ms();
        let now = Some(clock::rfc3339(at));
        if base.is_some() {
            note.updated = now;
        } else {
            note.author = Some(author.0.clone());
            note.client = (!self.client.is_empty()).then(|| self.client.clone());
            note.created = now;
        }
        Write {
            note: note.id,
            path,
            base,
            bytes: (!goes).then(|| note.render().into_bytes()),
            subject: format!("{verb}: {}", note.title),
            author,
            client: self.client.clone(),
            peer: self.peer.clone(),
            at,
        }
    }

    /// Commits what waits, sends it where this writer's client leaves that to us, and says what came of it.
    pub(super) async fn finish(&self, services: &Services, kept: &Kept) -> Outcome {
        let outcome = self.bring(services, kept).await;
        // The file may have turned out to be damaged by what came after the write, which was in it.
        if !services.memory.has_news() {
            return outcome;
        }
        let (again, key) = (kept.clone(), self.key.clone());
        let kept_again = services
            .memory
            .write(move |team, _| team.keep_again(&again, key.as_ref()));
        match kept_again.await {
            Ok(()) => self.bring(services, kept).await,
            Err(error) => {
                tracing::warn!(error = %Chain(&error), "a note was saved, and its file is gone");
                outcome
            }
        }
    }

    async fn bring(&self, services: &Services, kept: &Kept) -> Outcome {
        match kept.state {
            State::Rejected => return Outcome::Rejected,
            State::Draft => {
                let reviewed = services
                    .site
                    .as_ref()
                    .is_some_and(|site| self.is_reviewed(site));
                return Outcome::Draft { reviewed };
            }
            State::Waiting | State::Committed | State::Published => {}
        }
        // It is safe: what follows only says how far it has come.
        let committed = services.memory.write(|team, _| team.commit()).await;
        if let Err(error) = committed {
            tracing::warn!(error = %Chain(&error), "a note is saved, and could not be committed");
        }
        super::tell(&services.changes, kept.write.note);
        let outcome = match services.memory.sync() {
            Some(sync) if !self.hooked => sync.publish().await,
            _ => return Outcome::HandedToHost,
        };
        // Who sent the rest may have held this one back.
        let kept = kept.clone();
        let held = services.memory.read(move |team, _| team.held_of(&kept));
        match held.await {
            Ok(held) => withheld(&held).unwrap_or(outcome),
            Err(_) => outcome,
        }
    }

    /// Whether a person says so, in whose name.
    pub(super) fn person(&self, site: &Site) -> Option<String> {
        self.is_person.then(|| author::of(site.root()).0)
    }
}

/// What is said of a write that was held back for what was found in it.
fn withheld(held: &[Held]) -> Option<Outcome> {
    let id = held.first()?.note.to_string();
    let what: Vec<String> = held.iter().map(ToString::to_string).collect();
    let what = what.join("; ");
    Some(Outcome::Withheld { id, what })
}
