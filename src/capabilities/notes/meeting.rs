//! Meeting the team's notes.

use super::answers::{self, Synced, Withheld};
use super::arguments::{Direction, Meet};
use super::reading::{count, withheld};
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
    let held = withheld(&services).await?;
    answer(&Synced {
        sync: answers::Sync::of(&outcome, Act::Meet).holding(&held),
        withheld: Withheld::of(&held),
        unpublished: count(&services).await?,
    })
}
