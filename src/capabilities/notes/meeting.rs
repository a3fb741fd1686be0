//! Meeting the team's notes.

use super::answers::{self, Synced};
use super::arguments::{Direction, Meet};
use super::reading::count;
use crate::capabilities::declare::{answer, read};
use crate::capabilities::services::Services;
use crate::memory::outcome::Act;
use crate::registry::{Answer, Call, refusal};

pub(super) async fn sync(services: Services, call: Call) -> Answer {
    services.writes("notes.sync")?;
    let asked: Meet = read(call.arguments)?;
    let outcome = match services.memory.sync() {
        Some(sync) if asked.adopt => sync.adopt().await,
        Some(sync) => match asked.direction {
            Direction::Both => sync.both().await,
            Direction::Pull => sync.pull().await,
            Direction::Push => sync.publish().await,
        },
        None => return Err(refusal::NO_CHECKOUT.fill(&[])),
    };
    answer(&Synced {
        sync: answers::Sync::of(&outcome, Act::Meet),
        unpublished: count(&services).await?,
    })
}
