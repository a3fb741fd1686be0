//! Finding notes and reading them.

use uuid::Uuid;

use super::answers::{EXCERPT, NoteView, Notes, plain};
use super::arguments::{NoteKind, Recall, Which};
use super::refusals;
use super::remember::LOOKING;
use crate::capabilities::declare::{answer, read};
use crate::capabilities::services::Services;
use crate::memory::index::Question;
use crate::memory::left::Left;
use crate::memory::team::{Found, Held};
use crate::registry::{Answer, Call, Member, Refusal, refusal};

pub(super) async fn recall(services: Services, call: Call) -> Answer {
    beside(&services, &call);
    let asked: Recall = read(call.arguments)?;
    let unpublished = count(&services).await?;
    let found = services.memory.find(move |index| {
        let question = Question {
            text: &asked.query,
            paths: &asked.paths,
            kind: asked.kind.map(NoteKind::of_note),
            limit: asked.limit,
        };
        index.search(&question)
    });
    let found = found.await.map_err(|error| refusals::unreadable(&error))?;
    let view = |found| NoteView::of(found, EXCERPT);
    answer(&Notes {
        notes: found.iter().map(view).collect(),
        unpublished,
        withheld: Vec::new(),
        left: Vec::new(),
        slow: slow(&services),
    })
}

pub(super) async fn list(services: Services, call: Call) -> Answer {
    beside(&services, &call);
    let which: Which = read(call.arguments)?;
    let kind = which.kind.map(NoteKind::of_note);
    let notes = if let Some(id) = which.id {
        let found = services.memory.read(move |team, _| {
            if let Some(found) = team.read(id)? {
                return Ok(Some(found));
            }
            Ok(team.draft_of(id)?.as_ref().and_then(Found::of))
        });
        let found = found.await;
        match found.map_err(|error| refusals::unreadable(&error))? {
            Some(found) => vec![Found {
                newer: newer(&services, id).await,
                ..found
            }],
            None => return Err(refusal::NO_NOTE.fill(&[&id])),
        }
    } else if which.pending {
        let pending = services.memory.read(|team, _| {
            let mut pending = team.drafts()?;
            pending.extend(team.unpublished()?);
            Ok(pending)
        });
        let pending = pending
            .await
            .map_err(|error| refusals::unreadable(&error))?;
        let pending = pending.iter().rev().filter_map(Found::of);
        pending
            .filter(|found| kind.is_none_or(|kind| found.kind() == kind))
            .take(which.limit)
            .collect()
    } else {
        let found = services
            .memory
            .find(move |index| index.newest(kind, which.limit));
        found.await.map_err(|error| refusals::unreadable(&error))?
    };
    let left = if which.pending {
        let left = services.memory.read(|team, site| {
            let told = |left: &Left| plain(&left.told(&site.shown(&left.path)));
            Ok(team.left().iter().map(told).collect())
        });
        left.await.map_err(|error| refusals::unreadable(&error))?
    } else {
        Vec::new()
    };
    let most = if which.id.is_some() {
        usize::MAX
    } else {
        EXCERPT
    };
    let view = |found| NoteView::of(found, most);
    answer(&Notes {
        notes: notes.iter().map(view).collect(),
        unpublished: count(&services).await?,
        withheld: withheld(&services)
            .await?
            .iter()
            .map(Held::to_string)
            .collect(),
        left,
        slow: slow(&services),
    })
}

/// Why notes were looked through without their index.
fn slow(services: &Services) -> Option<String> {
    let why = services.memory.without_index()?;
    Some(format!(
        "the index of the notes cannot be used ({}): they were read one by one, which takes longer; to find out more: df -h .git, \
         then majordomus doctor",
        plain(&why)
    ))
}

/// The newest notes, as resources: a client that lists them shows a person what there is to attach, and finds the rest by
/// asking. Where they cannot be read, or have to be indexed first, none is listed.
pub(super) async fn members(services: Services) -> Vec<Member> {
    let found = services.memory.find(|index| index.newest(None, LISTED));
    let found = match tokio::time::timeout(LOOKING, found).await {
        Ok(Ok(found)) => found,
        Ok(Err(_)) | Err(_) => Vec::new(),
    };
    let member = |found: &Found| Member {
        uri: super::uri(found.id),
        name: found.id.to_string(),
        title: plain(&found.note().0.title),
    };
    found.iter().map(member).collect()
}

/// How many notes are listed as resources.
const LISTED: usize = 50;

/// The note that took the place of this one. Whoever reads a note is not kept from it by an index that has to be made first.
async fn newer(services: &Services, id: Uuid) -> Option<Uuid> {
    let found = services.memory.find(move |index| index.one(id));
    match tokio::time::timeout(LOOKING, found).await {
        Ok(Ok(found)) => found.first().and_then(|found| found.newer),
        _ => None,
    }
}

/// Asks for what the team has, beside whoever reads here.
fn beside(services: &Services, call: &Call) {
    if let Some(sync) = services.memory.sync().filter(|_| !call.caller.hooked) {
        sync.beside();
    }
}

/// How many writes of this machine the team does not have.
pub(super) async fn count(services: &Services) -> Result<usize, Refusal> {
    let count = services
        .memory
        .read(|team, _| team.count_unpublished())
        .await;
    count.map_err(|error| refusals::unreadable(&error))
}

/// What is held back.
pub(super) async fn withheld(services: &Services) -> Result<Vec<Held>, Refusal> {
    let held = services.memory.read(|team, _| team.withheld()).await;
    held.map_err(|error| refusals::unreadable(&error))
}
